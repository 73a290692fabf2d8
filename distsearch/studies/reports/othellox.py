"""The report on OthelloX with MPI (NUS): pruning, the pool and its load factor, and the evaluation of a board by all.

No number of its eleven figures survives; what the report says of them is checked. Two pools are measured, both of
subtrees that plain alpha-beta searches with full windows, so nodes do not depend on timing. Ours has two jobs a worker
and counts subtrees by workers; the report's has one at a time, counts them by processes, and begins from the initial
position.
"""

import statistics

from ...api import parallel_evaluation
from .directions import HELD, NOT_HELD, Direction, every, larger, rising
from .study import DIRECTIONS, Exhibit, Measurement, Plan, Study
from .tables import Figure, Table, heads, percent, ratio

_MIDGAME = "f5d6c3d3c4f4c5b3c2e6c6b4b5d2e3a6c1b6f3d1"  # 20 moves played
_POSITIONS = {"8x8": _MIDGAME, "6x6": "startpos"}  # the two sizes of board
_ORDERINGS = "none", "static", "shallow"
_POLICIES = "pool", "window", "brothers", "split"
_SPREAD_DEPTHS = 6, 8  # of the parallel evaluation, which takes up to milliseconds a board: laptop, cluster
_SPREAD = "static", "complex"  # the report's evaluation, and the whole one
_POOLS = {"ours": "two jobs a worker", "theirs": "the report's experiment"}  # by how they are set up
_QUEUED = 1, 2, 4  # jobs a worker


def _options(board, **more):
    return {"game": "othello", "board": board, "evaluation": "complex", "texts": [_POSITIONS[board]], **more}


def _pruning(study_size):
    """Nodes by depth, of minimax and of alpha-beta with each ordering, by one rank."""
    for board in _POSITIONS:
        for depth in range(1, study_size.choose(7, 9) + 1):
            ways = [("minimax", "none")] if depth <= study_size.choose(7, 8) else []
            for algorithm, ordering in [*ways, *(("alphabeta", ordering) for ordering in _ORDERINGS)]:
                how = {"depth": depth, "algorithm": algorithm, "ordering": ordering}
                yield _search({"part": "pruning", "board": board, **how}, 1, 0, _options(board, **how))


def _pool(study_size):
    """The pool by ranks and load factor, on both boards, as ours and as the report's."""
    for board, position in _POSITIONS.items():
        depth = {"8x8": study_size.choose(10, 12), "6x6": study_size.choose(13, 16)}[board]
        for repeat in range(study_size.repeats or 3):
            for ranks in _counts(study_size):
                for factor in study_size.choose((1, 4, 16), (1, 4, 16, 64)) if ranks > 1 else (1,):
                    how = {"depth": depth, "load_factor": factor}
                    point = {"part": "pool", "setup": "ours", "board": board, "ranks": ranks, **how}
                    yield _search(point, ranks, repeat, _options(board, ordering="static", **how))
                    point = {**point, "setup": "theirs", "position": "startpos"}
                    if ranks == 1 and position == "startpos":
                        continue  # one rank has no pool: the same search
                    processes = {"load_factor": factor * ranks / max(1, ranks - 1), "prefetch": 1}
                    asked = {**_options(board, ordering="static"), **how, **processes, "texts": ["startpos"]}
                    yield _search(point, ranks, repeat, asked)


def _queue(study_size):
    """The pool with one job or several at a worker."""
    depth = study_size.choose(10, 13)
    for repeat in range(study_size.repeats or 3):
        for ranks in _counts(study_size)[1:]:
            for prefetch in _QUEUED:
                how = {"depth": depth, "load_factor": 4, "prefetch": prefetch}
                point = {"part": "queue", "board": "8x8", "ranks": ranks, **how}
                yield _search(point, ranks, repeat, _options("8x8", ordering="static", **how))


def _spread(study_size):
    """Every board evaluated by all ranks."""
    depth = study_size.choose(*_SPREAD_DEPTHS)
    for repeat in range(study_size.repeats or 3):
        for ranks in _counts(study_size):
            for chosen in _SPREAD:
                asked = {"text": "startpos", "board": "8x8", "depth": depth, "evaluation": chosen}
                point = {"part": "evaluation", "game": "othello", "position": "startpos", "ranks": ranks}
                point |= {name: asked[name] for name in ("board", "depth", "evaluation")}

                def body(bench, ranks=ranks, asked=asked):
                    return bench.call(spread, ranks, **asked)

                yield Measurement(point, body, repeat, ranks)


def _policies(study_size):
    """The policies that share one search with a table, compared with the pool of the same."""
    depth = study_size.choose(12, 17)
    for repeat in range(study_size.repeats or 3):
        for ranks in _counts(study_size):
            for policy in _POLICIES:
                how = {"depth": depth, "policy": policy}
                point = {"part": "policies", "board": "8x8", "ranks": ranks, **how}
                yield _search(point, ranks, repeat, _options("8x8", **how), table=64)


def _search(point, ranks, repeat, how, table=0):
    point = {"game": "othello", "position": how["texts"][0], **point}
    return Measurement(point, lambda bench: bench.search(ranks=ranks, table=table, **how), repeat, ranks)


def _counts(study_size):
    return study_size.choose((1, 2, 3, 4, 5), (1, 2, 4, 8, 16, 32, 64))


def spread(comm, text, interrupted=lambda: False, **options):
    """Search a position with every board evaluated by all ranks of ``comm``; return the figures, on rank 0."""
    checked, game, rules = parallel_evaluation.checked("othello", **options)
    found = parallel_evaluation.search(comm, checked, game.parse(text, rules), interrupted)
    if found is None:
        return None
    names = "seconds", "jobs", "score", "ranks", "workers", "boards_per_second", "complete", "communication_computation"
    return {"nodes": found.nodes, **{name: getattr(found, name) for name in names}}


def _of_pruning(found, board):
    rows = []
    point = {"part": "pruning", "board": board}
    for depth in found.points("depth", **point):
        nodes = {}
        for algorithm, ordering in (("minimax", "none"), *(("alphabeta", each) for each in _ORDERINGS)):
            at = {**point, "depth": depth, "algorithm": algorithm, "ordering": ordering}
            counted = [found.median(name, **at) for name in ("nodes", "ordering_nodes")]
            nodes[algorithm, ordering] = None if None in counted else int(sum(counted))
        full, static = nodes["minimax", "none"], nodes["alphabeta", "static"]
        rows.append((depth, *nodes.values(), percent(ratio(static, full))))
    columns = "depth", "minimax", "alpha-beta, none", "static", "shallow", "static ÷ minimax"
    note = "Nodes: positions reached by a move or a pass; those of the searches that order moves are counted as well."
    series = {name: [(cells[0], cells[i]) for cells in rows if cells[i]] for i, name in enumerate(columns[:-1]) if i}
    if not rows:
        return []
    return [
        Table(f"Pruning effect by depth, {board}: nodes", columns, rows, note),
        Figure(f"Nodes by depth, {board}", "depth", "nodes", series),
    ]


def _pools(found):
    """Yield (point, what it is, numbers of ranks, load factors) of the pools that were measured."""
    for board in _POSITIONS:
        for setup, called in _POOLS.items():
            point = {"part": "pool", "board": board, "setup": setup}
            if counts := found.points("ranks", **point):
                depth = ", ".join(map(str, found.points("depth", **point)))
                start = " from the start" if setup == "theirs" else ""
                yield point, f"{board}{start}, depth {depth}, {called}", counts, found.points("load_factor", **point)


def _balance(found, study_size):
    for point, of, counts, factors in _pools(found):
        by = {count: count if point["setup"] == "theirs" else count - 1 for count in counts if count > 1}
        series = {
            f"{count} ranks": _line(found, point, count, factors, "load_balance", each) for count, each in by.items()
        }
        size = f"pool size (load factor × {'processes' if point['setup'] == 'theirs' else 'workers'})"
        yield Figure(f"Load balance against pool size, {of}", size, "load balance", series, share=True)


def _by_processes(name, title, share=False, note=""):
    """Return the function that makes Figures of a figure by processes and load factor."""

    def sections(found, study_size):
        for point, of, counts, factors in _pools(found):
            series = {f"load factor {factor}": _by_ranks(found, point, counts, factor, name) for factor in factors}
            at = f"{title} by processes and load factor, {of}"
            yield Figure(at, "ranks", title.lower(), series, note=note, share=share)

    return sections


def _communication(found, study_size):
    for point, of, counts, factors in _pools(found):
        series = {
            f"load factor {factor}": [
                (count, *_spread_of(values))
                for count in counts
                if count > 1 and (values := _waiting(found, {**point, "ranks": count, "load_factor": factor}))
            ]
            for factor in factors
        }
        note = (
            "Of the workers' time: all that is not computation, waiting for a job included, as in the report, divided "
            "by computation."
        )
        title = f"Communication ÷ computation by processes and load factor, {of}"
        yield Figure(title, "ranks", "communication ÷ computation", series, note=note, share=True)


def _waiting(found, point):
    """Return communication with waiting over computation, of each repeat in which workers computed."""
    return [(1 - busy) / busy for busy in found.values("time_share.busy", **point) if busy]


def _spread_of(values):
    return statistics.median(values), min(values), max(values)


def _speedup(found, study_size):
    for point, of, counts, factors in _pools(found):
        for name, title in (("seconds", "time"), ("boards_per_second", "nodes")):
            series = {f"load factor {factor}": _speedups(found, point, counts, factor, name) for factor in factors}
            yield Figure(f"Speedup by {title}, {of}", "ranks", f"speedup by {title}", series, ideal=True)


def _both_ways(found, study_size):
    columns = heads(
        "ranks | load factor | seconds | speedup by time | efficiency by time | speedup by nodes | "
        "efficiency by nodes | nodes ÷ 1 rank's | load balance | comm. ÷ comp. | idle"
    )
    note = (
        "By time: seconds of one rank's search ÷ seconds. By nodes: nodes a second ÷ those of one rank, which does "
        "not count nodes that one rank would not have searched. Efficiency divides by ranks; one is the master. "
        "Communication without waiting, which is idle."
    )
    for point, of, counts, factors in _pools(found):
        rows = []
        for count in counts:
            for factor in factors:
                if row := _scaled(found, {**point, "ranks": count, "load_factor": factor}, point):
                    rows.append((count, factor, *row))
        yield Table(f"Speedup and efficiency both ways, {of}", columns, rows, note)


def _alone(point):
    """Return what one rank's search of a pool is found by: on 6x6 both setups have the same."""
    setup = "ours" if _POSITIONS[point["board"]] == "startpos" else point["setup"]
    return {**point, "setup": setup, "ranks": 1}


def _line(found, point, count, factors, name, workers):
    return [
        each
        for factor in factors
        for each in found.spread(factor * workers, name, **point, ranks=count, load_factor=factor)
    ]


def _by_ranks(found, point, counts, factor, name):
    return [
        each
        for count in counts
        if count > 1
        for each in found.spread(count, name, **point, ranks=count, load_factor=factor)
    ]


def _speedups(found, point, counts, factor, name):
    points, one = [], found.median(name, **_alone(point))
    for x, middle, low, high in _by_ranks(found, point, counts, factor, name) if one else []:
        if name == "seconds":
            points.append((x, one / middle, one / high, one / low))
        else:
            points.append((x, middle / one, low / one, high / one))
    return points


def _scaled(found, at, point):
    """Return seconds, speedups, efficiencies and more of a point, against one rank's; None if it was not measured."""
    seconds, rate = found.median("seconds", **at), found.median("boards_per_second", **at)
    if seconds is None:
        return None
    alone = _alone(point) if "setup" in point else {**point, "ranks": 1}
    by_time = ratio(found.median("seconds", **alone), seconds)
    by_nodes = ratio(rate, found.median("boards_per_second", **alone))
    more = ratio(found.median("nodes", **at), found.median("nodes", **alone))
    per_rank = [percent(ratio(each, at["ranks"])) for each in (by_time, by_nodes)]
    shares = [percent(found.median(name, **at)) for name in ("communication_computation", "time_share.idle")]
    balance = found.median("load_balance", **at)
    return seconds, by_time, per_rank[0], by_nodes, per_rank[1], more, balance, *shares


def _of_evaluation(found, study_size):
    rows, series = [], {}
    for chosen in found.points("evaluation", part="evaluation"):
        point = {"part": "evaluation", "evaluation": chosen}
        for count in found.points("ranks", **point):
            at = {**point, "ranks": count}
            seconds, nodes, rate = (found.median(name, **at) for name in ("seconds", "jobs", "boards_per_second"))
            sharing = {"part": "pool", "setup": "ours", "board": "8x8", "load_factor": 4 if count > 1 else 1}
            speedup = ratio(found.median("seconds", **point, ranks=1), seconds)
            relation = found.median("communication_computation", **at) if count > 1 else None
            rates = rate, found.median("boards_per_second", **sharing, ranks=count)
            rows.append((chosen, count, int(nodes), seconds, 1e6 * seconds / nodes, speedup, relation, *rates))
            series.setdefault(chosen, []).extend(found.spread(count, "boards_per_second", **at))
    columns = heads(
        "evaluation | ranks | nodes evaluated | seconds | µs a node | speedup | comm. ÷ comp. | nodes/s | "
        "nodes/s, sharing the tree (complex)"
    )
    note = (
        "Rank 0 counts too. static, the report's: each rank is sent its piece of the board, has the weights of all "
        "squares, multiplies square by square and adds; what they find is gathered. complex: each is sent the whole "
        "board and counts on its squares. The search around it is in Python, some microseconds a board; evaluating a "
        "whole board takes a rank 0.03 µs, which is all there is to share. The last column is the pool at load factor "
        "4, deeper."
    )
    return [
        Table("The parallel evaluation of one board at a time, 8x8", columns, rows, note),
        Figure("Nodes a second by parallel evaluation, 8x8", "ranks", "nodes a second", series),
    ]


def _of_queue(found, study_size):
    rows = []
    for count in found.points("ranks", part="queue"):
        for prefetch in found.points("prefetch", part="queue", ranks=count):
            at = {"part": "queue", "ranks": count, "prefetch": prefetch}
            shares = (percent(found.median(f"time_share.{name}", **at)) for name in ("busy", "communication", "idle"))
            times = found.values("seconds", **at)
            rows.append((count, prefetch, *_spread_of(times), found.median("boards_per_second", **at), *shares))
    columns = heads("ranks | jobs a worker | seconds | least | most | nodes/s | computing | communicating | waiting")
    note = "The pool at load factor 4: how many jobs a worker has at a time. The report has one."
    return [Table("Jobs queued at a worker, 8x8", columns, rows, note)]


def _of_policies(found, study_size):
    point, rows = {"part": "policies"}, []
    counts = found.points("ranks", **point)
    for count in counts:
        for policy in _POLICIES:
            at = {**point, "policy": policy}
            if row := _scaled(found, {**at, "ranks": count}, at):
                seconds, by_time, per_rank, _, _, more, balance, relation, idle = row
                rows.append((count, policy, seconds, by_time, per_rank, more, balance, relation, idle))
    columns = heads(
        "ranks | policy | seconds | speedup | efficiency | nodes ÷ 1 rank's | load balance | comm. ÷ comp. | idle"
    )
    series = {policy: _policy_speedups(found, point, counts, policy) for policy in _POLICIES}
    depth = ", ".join(map(str, found.points("depth", **point)))
    note = "The search with a table; pool and window at 4 subtrees a worker. Speedup is over the same on one rank."
    return [
        Table(f"The same under other policies, 8x8, depth {depth}", columns, rows, note),
        Figure(f"Speedup under policies, 8x8, depth {depth}", "ranks", "speedup by time", series, ideal=True),
    ]


def _policy_speedups(found, point, counts, policy):
    at = {**point, "policy": policy}
    one = found.median("seconds", **at, ranks=1)
    return [
        (x, one / middle, one / high, one / low)
        for count in counts
        if one and count > 1
        for x, middle, low, high in found.spread(count, "seconds", **at, ranks=count)
    ]


def _complaints(found):
    """Say of which positions two searches to one depth have different scores."""
    scores = {}
    for row in found.rows():
        point = row["point"]
        searched = point["board"], point["position"], point["depth"], point.get("evaluation", "complex")
        scores.setdefault(searched, set()).add(row["result"]["score"])
    return [
        f"{board} to depth {depth} has the scores {sorted(each)}"
        for (board, _, depth, _), each in scores.items()
        if len(each) > 1
    ]


def _across(found, place, stated, values, by="load_factor", falling=False):
    """Return whether a figure of the report's pool is larger at most ranks (or load factor) than at least.

    values(point): the figure's; two ranks have one worker, with nothing to balance, and are left out.
    """
    other, parts = ("ranks" if by == "load_factor" else "load_factor"), []
    for board in _POSITIONS:
        point = {"part": "pool", "setup": "theirs", "board": board}
        for fixed in found.points(other, **point):
            at = {**point, other: fixed}
            if other == "ranks" and fixed < 3:
                continue
            series = [(f"{x}", values({**at, by: x})) for x in found.points(by, **at) if by != "ranks" or x > 2]
            named = "load factor" if by == "load_factor" else "ranks"
            ends = [series[0], series[-1]] if len(series) > 1 else []
            of = f"{board}, {fixed} {'ranks' if other == 'ranks' else 'load factor'}, {named}"
            parts.append((of, rising(place, stated, ends, falling)))
    return every(place, stated, parts)


def _balance_directions(found):
    stated = "better with a larger pool"
    return [_across(found, "Fig 2", stated, lambda at: found.values("load_balance", **at))]


def _nodes_directions(found):
    def nodes(at):
        return found.values("nodes", **at)

    return [
        _across(found, "Fig 3", "grows with processes", nodes, by="ranks"),
        _across(found, "Fig 3", "grows with the pool", nodes),
    ]


def _evaluation_directions(found):
    parts = []
    for ranks in found.points("ranks", part="evaluation", evaluation="static"):
        at = {"part": "evaluation", "evaluation": "static"}
        alone, shared = (found.values("boards_per_second", **at, ranks=n) for n in (1, ranks))
        if ranks > 1:
            parts.append((f"{ranks} ranks", larger("Fig 4", "no gain at ordinary sizes", alone, shared, "nodes/s")))
    return [every("Fig 4", "no gain at ordinary sizes", parts)]


def _rate_directions(found):
    def rates(at):
        return found.values("boards_per_second", **at)

    parts = []
    for board in _POSITIONS:
        for ranks in found.points("ranks", part="pool", board=board, setup="theirs"):
            at = {"part": "pool", "board": board, "setup": "theirs", "ranks": ranks}
            measured = [(factor, rates({**at, "load_factor": factor})) for factor in found.points("load_factor", **at)]
            if ranks > 2 and len(measured) > 1:
                best = max(measured[1:], key=lambda each: statistics.median(each[1]))
                name = f"{board}, {ranks} ranks, load factors {best[0]} (the best) and {measured[0][0]}"
                parts.append((name, larger("Fig 5", "", best[1], measured[0][1], "nodes/s")))
    return [
        _across(found, "Fig 5", "nodes a second grow with processes", rates, by="ranks"),
        every("Fig 5", "larger pools are better, up to a size (here: one is better than the smallest)", parts),
    ]


def _speedup_directions(found):
    parts = []
    for board, place in zip(_POSITIONS, ("Fig 6", "Fig 8"), strict=True):
        at = {"part": "pool", "setup": "theirs", "board": board}
        one = found.values("seconds", **_alone(at))
        for ranks in found.points("ranks", **at):
            for factor in found.points("load_factor", **at, ranks=ranks):
                times = found.values("seconds", **at, ranks=ranks, load_factor=factor)
                if ranks > 1 and one and times:
                    best = max(one) / min(times) / ranks
                    of, text = f"{board}, {ranks} ranks, load factor {factor}", f"efficiency {best:.2f} at most"
                    parts.append((of, Direction(place, "sub-linear", text, HELD if best < 1 else NOT_HELD)))
    return [every("Fig 6, 8", "sub-linear", parts)]


def _communication_directions(found):
    stated = "its share grows with the pool"
    return [_across(found, "Fig 7, 9", stated, lambda at: _waiting(found, at))]


def _queue_directions(found):
    parts = []
    for ranks in found.points("ranks", part="queue"):
        one, two = (found.values("seconds", part="queue", ranks=ranks, prefetch=n) for n in _QUEUED[:2])
        parts.append((f"{ranks} ranks", larger("conclusion", "queueing jobs at workers helps", one, two, "s")))
    return [every("conclusion", "queueing jobs at workers helps", parts)]


_PRUNING, _POOL = Plan(_pruning, (0.2, 0.5)), Plan(_pool, (0.8, 14))
_QUEUE, _SPREADING, _SHARING = Plan(_queue, (0.3, 3)), Plan(_spread, (0.2, 1)), Plan(_policies, (0.5, 5))
_RATE = _by_processes("boards_per_second", "Nodes a second")
_EXHIBITS = (
    Exhibit(
        "fig1",
        "Fig 1",
        "minimax and alpha-beta: nodes by depth",
        (_PRUNING,),
        lambda found, study_size: [each for board in _POSITIONS for each in _of_pruning(found, board)],
    ),
    Exhibit("fig2", "Fig 2", "load balance by pool size", (_POOL,), _balance, DIRECTIONS, _balance_directions),
    Exhibit(
        "fig3",
        "Fig 3",
        "boards evaluated by processes and pool",
        (_POOL,),
        _by_processes("nodes", "Nodes evaluated"),
        DIRECTIONS,
        _nodes_directions,
    ),
    Exhibit(
        "fig4",
        "Fig 4",
        "one board evaluated by all processes",
        (_SPREADING, _POOL),
        _of_evaluation,
        DIRECTIONS,
        _evaluation_directions,
    ),
    Exhibit("fig5", "Fig 5", "nodes a second by processes", (_POOL,), _RATE, DIRECTIONS, _rate_directions),
    Exhibit("fig6", "Fig 6, 8", "speedup by processes", (_POOL,), _speedup, DIRECTIONS, _speedup_directions),
    Exhibit(
        "fig7",
        "Fig 7, 9",
        "communication, waiting included, over computation",
        (_POOL,),
        _communication,
        DIRECTIONS,
        _communication_directions,
    ),
    Exhibit("fig10", "Fig 10, 11", "efficiency by nodes a second and by speedup", (_POOL,), _both_ways),
    Exhibit(
        "queue", "conclusion", "one job or several at a worker", (_QUEUE,), _of_queue, DIRECTIONS, _queue_directions
    ),
    Exhibit("policies", "", "other ways to share one search", (_SHARING,), _of_policies),
)
_TITLE = "OthelloX with MPI: the report's figures, made again"
STUDY = Study("othellox", _TITLE, _EXHIBITS, _complaints)
