"""The report on OthelloX with MPI (NUS): pruning, the pool and its load factor, and the evaluation of a board by all.

What the report measured, and how it counts its figures, is not known here: only what its way costs is compared with
ours. The pool is the report's: subtrees searched by plain alpha-beta, each with a full window, whose
nodes do not depend on timing.
"""

from ...api import parallel_evaluation
from .report import Measurement, Study
from .tables import Figure, Table, heads, percent, ratio

_MIDGAME = "f5d6c3d3c4f4c5b3c2e6c6b4b5d2e3a6c1b6f3d1"  # 20 moves played
_POSITIONS = {"8x8": _MIDGAME, "6x6": "startpos"}  # the two sizes of board
_ORDERINGS = "none", "static", "shallow"
_POLICIES = "pool", "window", "brothers", "split"
_SPREAD_DEPTHS = 6, 8  # of the parallel evaluation, which takes up to milliseconds a board: laptop, cluster


def _options(board, **more):
    return {"game": "othello", "board": board, "evaluation": "complex", "texts": [_POSITIONS[board]], **more}


def _measurements(study_size):
    found = [each for part in (_pruning, _pool, _spread, _policies) for each in part(study_size)]
    return sorted(found, key=lambda each: each.repeat)


def _pruning(study_size):
    """Nodes by depth, of minimax and of alpha-beta with each ordering, by one rank."""
    for board in _POSITIONS:
        for depth in range(1, study_size.choose(7, 9) + 1):
            ways = [("minimax", "none")] if depth <= study_size.choose(7, 8) else []
            for algorithm, ordering in [*ways, *(("alphabeta", ordering) for ordering in _ORDERINGS)]:
                how = {"depth": depth, "algorithm": algorithm, "ordering": ordering}
                yield _search({"part": "pruning", "board": board, **how}, 1, 0, _options(board, **how))


def _pool(study_size):
    """The pool by ranks and load factor, on both boards."""
    for board in _POSITIONS:
        depth = {"8x8": study_size.choose(10, 13), "6x6": study_size.choose(13, 17)}[board]
        for repeat in range(study_size.repeats or 3):
            for ranks in _counts(study_size):
                for factor in study_size.choose((1, 4, 16), (1, 2, 4, 8, 16, 32, 64)) if ranks > 1 else (1,):
                    how = {"depth": depth, "load_factor": factor}
                    point = {"part": "pool", "board": board, "ranks": ranks, **how}
                    yield _search(point, ranks, repeat, _options(board, ordering="static", **how))


def _spread(study_size):
    """Every board evaluated by all ranks."""
    depth = study_size.choose(*_SPREAD_DEPTHS)
    for repeat in range(study_size.repeats or 3):
        for ranks in _counts(study_size):
            point = {"part": "evaluation", "game": "othello", "board": "8x8", "position": "startpos", "depth": depth}

            def body(bench, ranks=ranks):
                return bench.call(spread, ranks, text="startpos", board="8x8", depth=depth)

            yield Measurement({**point, "ranks": ranks}, body, repeat, ranks)


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


def _sections(found, study_size):
    parts = [each for board in _POSITIONS for each in _of_pruning(found, board)]
    parts += [each for board in _POSITIONS for each in _of_pool(found, board)]
    return parts + _of_evaluation(found) + _of_policies(found)


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
    return [
        Table(f"Pruning effect by depth, {board}: nodes", columns, rows, note),
        Figure(f"Nodes by depth, {board}", "depth", "nodes", series),
    ]


def _of_pool(found, board):
    point = {"part": "pool", "board": board}
    counts, factors = found.points("ranks", **point), found.points("load_factor", **point)
    depth = ", ".join(map(str, found.points("depth", **point)))
    of = f"{board}, depth {depth}"
    shared = [count for count in counts if count > 1]
    balance = {f"{count} ranks": _line(found, point, count, factors, "load_balance", count - 1) for count in shared}
    size = "pool size (load factor × workers)"
    yield Figure(f"Load balance against pool size, {of}", size, "load balance", balance, share=True)
    for name, title in (
        ("nodes", "Nodes evaluated"),
        ("boards_per_second", "Nodes a second"),
        ("communication_computation", "Communication ÷ computation"),
    ):
        series = {f"load factor {factor}": _by_ranks(found, point, counts, factor, name) for factor in factors}
        share = name == "communication_computation"
        yield Figure(f"{title} by processes and load factor, {of}", "ranks", title.lower(), series, share=share)
    rows = []
    for count in counts:
        for factor in factors:
            if row := _scaled(found, {**point, "ranks": count, "load_factor": factor}, point):
                rows.append((count, factor, *row))
    columns = heads(
        "ranks | load factor | seconds | speedup by time | efficiency by time | speedup by nodes | "
        "efficiency by nodes | nodes ÷ 1 rank's | load balance | comm. ÷ comp. | idle"
    )
    note = (
        "By time: seconds of one rank's search ÷ seconds. By nodes: nodes a second ÷ those of one rank, which does "
        "not count nodes that one rank would not have searched. Efficiency divides by ranks; one is the master."
    )
    yield Table(f"Speedup and efficiency both ways, {of}", columns, rows, note)
    for name, title in (("seconds", "time"), ("boards_per_second", "nodes")):
        series = {f"load factor {factor}": _speedups(found, point, counts, factor, name) for factor in factors}
        yield Figure(f"Speedup by {title}, {of}", "ranks", f"speedup by {title}", series, ideal=True)


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
    points, one = [], found.median(name, **point, ranks=1)
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
    alone = {**point, "ranks": 1}
    by_time = ratio(found.median("seconds", **alone), seconds)
    by_nodes = ratio(rate, found.median("boards_per_second", **alone))
    more = ratio(found.median("nodes", **at), found.median("nodes", **alone))
    per_rank = [percent(ratio(each, at["ranks"])) for each in (by_time, by_nodes)]
    shares = [percent(found.median(name, **at)) for name in ("communication_computation", "time_share.idle")]
    balance = found.median("load_balance", **at)
    return seconds, by_time, per_rank[0], by_nodes, per_rank[1], more, balance, *shares


def _of_evaluation(found):
    point = {"part": "evaluation"}
    rows = []
    for count in found.points("ranks", **point):
        at = {**point, "ranks": count}
        seconds, nodes, rate = (found.median(name, **at) for name in ("seconds", "jobs", "boards_per_second"))
        sharing = {"part": "pool", "board": "8x8", "ranks": count, "load_factor": 4 if count > 1 else 1}
        speedup = ratio(found.median("seconds", **point, ranks=1), seconds)
        relation = found.median("communication_computation", **at) if count > 1 else None
        rates = rate, found.median("boards_per_second", **sharing)
        rows.append((count, int(nodes), seconds, 1e6 * seconds / nodes, speedup, relation, *rates))
    columns = heads(
        "ranks | nodes evaluated | seconds | µs a node | speedup | comm. ÷ comp. | nodes/s | nodes/s, sharing the tree"
    )
    note = (
        "A board's squares are spread by Scatterv, and what each rank counts on its own is gathered. The search around "
        "it is in Python, about 8 µs a board; evaluating a whole board takes a rank 0.03 µs, which is all there is to "
        "share. The last column is the pool at load factor 4, deeper."
    )
    return [Table("The parallel evaluation of one board at a time, 8x8", columns, rows, note)]


def _of_policies(found):
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
        searched = point["board"], point["position"], point["depth"]
        scores.setdefault(searched, set()).add(row["result"]["score"])
    return [
        f"{board} to depth {depth} has the scores {sorted(each)}"
        for (board, _, depth), each in scores.items()
        if len(each) > 1
    ]


_TITLE = "OthelloX with MPI: the report's figures, made again"
STUDY = Study("othellox", _TITLE, _measurements, _sections, _complaints)
