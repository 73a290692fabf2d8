"""The report on 2048 in parallel Haskell (Columbia): expectiminimax plain and pruned, on one core and on several.

Five ways to search the same boards. Base: every node of the tree, by one engine; AB: alpha-beta by the same; Par+Base
and Par+AB: a pool whose jobs are the nodes at the par depth, without pruning and with alpha-beta, each with the full
window; Brothers: Young Brothers Wait on the same nodes. Its sparks, converted or not, are jobs here, used or wasted.

Times are of other things: the report's are means of about 100 trials, and what a trial is, it does not say; its slides
merge a merged tile again, and it passes windows through chance unchanged, so that its pruned values differ from its
plain ones. Here the rules are those of 2048, and the search is exact; what can be compared is how many times faster
than Base a way is. Its par depth p is ``--par-depth`` p + 1 of Par+Base and Par+AB, and p + 2 of Brothers, where
younger children are searched by one core below it.
"""

import math
import random
import statistics
import time

from ... import evaluation, games
from ...api.chance import apply_initial_chance
from ...api.intervals import share_interval
from ...api.options import resolve
from ...engines.expectiminimax import Expectiminimax
from ...games.interface import legal_moves, step
from .directions import HELD, MISSING, NOT_HELD, Direction, every, larger, lowest_at
from .haskell2048_windows import FIRST, Listing, merges_again, near_win, squares_of
from .study import VALUES, Exhibit, Measurement, Plan, Study
from .tables import UNKNOWN, Figure, Table, compared, heads, percent, ratio, shown

_EVALUATION = "haskell"
_PLAYED = 30, 100  # moves that are played at random before a board is taken
_ALONE = {"Base": False, "AB": True}  # by one engine: whether pruned
_PARALLEL = {
    "Par+Base": {"pruning": "none", "policy": "pool"},
    "Par+AB": {"pruning": "alphabeta", "policy": "pool"},
    "Brothers": {"pruning": "alphabeta", "policy": "brothers"},
}
_WAYS = *_ALONE, *_PARALLEL
THEIRS = {  # mean seconds of a trial to depth 7 on 8 cores, and how many trials, by the digits of the means
    "Base": (92.95407920792074, "101"),
    "AB": (30.68809677419355, "93, or 31, 62, 124"),
    "Par+Base": (21.447784313725496, "102 or 51"),
    "Par+AB": (15.334137254901966, "102 or 51"),
    "Brothers": (9.028725490196079, "102 or 51"),
}
_TIMES = (("Par+Base", "Base", 4), ("Par+AB", "AB", 2))  # as stated, with 8 cores: so many times as fast as that
_BY_PAR_DEPTH = {  # seconds by their par depth: the final table's, at what was chosen for it, and one more of Brothers
    "Par+Base": {2: THEIRS["Par+Base"][0]},
    "Par+AB": {2: THEIRS["Par+AB"][0]},
    "Brothers": {1: THEIRS["Brothers"][0], 2: 10.06},
}
_BEHIND = {"Par+Base": 1, "Par+AB": 1, "Brothers": 2}  # ours less theirs
_FASTEST = {"Par+Base": 2, "Par+AB": 2, "Brothers": 2}  # their par depth
_CONVERTED = {"Par+Base": (2, 0.8), "Par+AB": (2, 0.8), "Brothers": (1, 0.52)}  # most sparks: at, share
_JOBS = "jobs_used", "jobs_wasted", "jobs_cut"
_WHAT_BECAME = "Used: a job's value mattered as it came; wasted: it did not; cut: never handed out."
_FLAT = 1.2  # Brothers' times at all par depths but 0, the longest over the shortest
_DEPTH, _CORES = 7, 8  # of the report's final table
_NEAR = 3  # where a win is a move away
_DIFFERENT, _NO_WIN = 1e-3, 1e6  # of values: what is another one, and what no terms but a win's make up for
_DEEP = 13  # where a search takes seconds here, as one to depth 7 does there
_PAR_DEPTH = 3  # ours: behind the first move, its tile and the tile's place


def sample_positions(count, seed):
    """Return (game, rules, Positions): some after random moves, on which the player has another; by the seed."""
    game = games.find("2048")
    rules, rng = game.rules(), random.Random(seed)
    return game, rules, [_board(game, rules, rng) for _ in range(count)]


def _board(game, rules, rng):
    while True:
        position = apply_initial_chance(game, game.start(rules), rules, rng.getrandbits(32))
        for _ in range(rng.randrange(*_PLAYED)):
            if not (moves := legal_moves(game, position, rules)):
                break
            position = apply_initial_chance(
                game, step(game, position, rules, rng.choice(moves)), rules, rng.getrandbits(32)
            )
        if legal_moves(game, position, rules):
            return position


def _alone(bench, way, depth, count, seed):
    """Search boards with one engine on this rank; return the figures, and for Base the value of every move."""
    game, rules, positions = sample_positions(count, seed)
    chosen = evaluation.find(game, _EVALUATION, rules)
    engine = Expectiminimax(game, rules, chosen, prune=_ALONE[way])
    engine.compile()
    total, scores, moves, values = 0, [], [], []
    began = time.perf_counter()
    for position in positions:
        engine.begin(position.state, depth)
        while not engine.advance(10**6):
            if bench.interrupted():
                return {}
        found = engine.result()
        total += found.nodes
        scores.append(found.value)
        moves.append(game.move_text(found.move, rules))
        values.append({game.move_text(m, rules): value for m, value in found.values.items()})
    figures = {"seconds": time.perf_counter() - began, "nodes": total, "scores": scores, "moves": moves}
    return {**figures, "values": values} if way == "Base" else figures


def _together(bench, way, depth, count, seed, ranks, par_depth):
    """Search boards by a session of the first ranks; return the figures."""
    asked = {"evaluation": _EVALUATION, "algorithm": "expectiminimax", "depth": depth, "par_depth": par_depth}
    options, _, _ = resolve("2048", **asked, **_PARALLEL[way])
    _, _, positions = sample_positions(count, seed)
    with bench.session(ranks, table=0) as session:
        searcher = session.searcher(options)
        next(searcher.search(positions[:1]), None)  # after which all ranks have the kernels
        began = time.perf_counter()
        found = list(searcher.search(positions))
        seconds = time.perf_counter() - began
    summed = "nodes", "jobs_used", "jobs_wasted", "jobs_cut"
    sums = {name: sum(getattr(one, name) for one in found) for name in summed}
    each = {"scores": [one.score for one in found], "moves": [one.move for one in found]}
    return {"seconds": seconds, **sums, **each}


def _ranks(study_size):
    """Return the ranks of the final table: 8 workers if they can be had, or else as many as there are."""
    return min(study_size.ranks, _CORES + 1)


def _final(study_size):
    """All ways to the report's depth, and deeper, by every number of cores from 1 to 8."""
    for depth in _DEPTH, _DEEP:
        for repeat in range(study_size.repeats or (3 if depth == _DEPTH else study_size.choose(1, 3))):
            for way in _ALONE:
                yield _measured(study_size, way, depth, repeat)
            for ranks in range(2, _CORES + 2):
                for way in _PARALLEL:
                    yield _measured(study_size, way, depth, repeat, ranks, _PAR_DEPTH)


def _by_par_depth(study_size):
    for repeat in range(study_size.repeats or study_size.choose(1, 3)):
        for depth in _DEPTH, _DEEP:
            for par_depth in range(1, study_size.choose(6, _DEPTH)):
                for way in _PARALLEL:
                    yield _measured(study_size, way, depth, repeat, max(2, _ranks(study_size)), par_depth)


def _by_depth(study_size):
    for depth in (1, 4, _DEPTH, 10, _DEEP):
        for way in _ALONE:
            yield _measured(study_size, way, depth, 0)
        for way in _PARALLEL:
            if depth > _PAR_DEPTH:
                yield _measured(study_size, way, depth, 0, max(2, _ranks(study_size)), _PAR_DEPTH)


def _windows(study_size):
    """Base, and alpha-beta with windows that pass chance unchanged, on the same boards."""
    count, seed = study_size.choose(30, 200), study_size.seed

    def body(bench):
        game, rules, positions = sample_positions(count, seed)
        chosen = evaluation.find(game, _EVALUATION, rules)
        engine, listing, rows = Expectiminimax(game, rules, chosen, prune=False), Listing(game, rules, chosen), []
        for position in positions:
            if bench.interrupted():
                return {}
            engine.begin(position.state, _DEPTH)
            while not engine.advance(10**6):
                pass
            exact, found = engine.result(), listing.moves(position.state, _DEPTH)
            chosen_move = max(found, key=found.get)
            rows.append((exact.value, max(found.values()), exact.values[chosen_move]))
        return {"rows": rows}

    point = {"game": "2048", "way": "windows unchanged", "positions": count, "seed": seed}
    yield Measurement(point, body)

    def at_the_end(bench):
        """The same on boards with a win at hand, where the first window ends; and what merging again would change."""
        game, rules, positions = sample_positions(count, seed)
        chosen = evaluation.find(game, _EVALUATION, rules)
        engine, listing, rows, moves = (
            Expectiminimax(game, rules, chosen, prune=False),
            Listing(game, rules, chosen),
            [],
            [],
        )
        for position in positions:
            if bench.interrupted():
                return {}
            squares = squares_of(game, position, rules)
            moves.append(merges_again(squares))
            text = ",".join(str(tile) for row in near_win(squares) for tile in row)
            state = game.parse(text, rules).state
            engine.begin(state, _NEAR)
            while not engine.advance(10**6):
                pass
            exact, found = engine.result(), listing.moves(state, _NEAR)
            won = sum(value >= FIRST[1] for value in exact.values.values())
            rows.append((won, exact.value, exact.values[max(found, key=found.get)]))
        return {"rows": rows, "moves": moves}

    yield Measurement({**point, "way": "a win at hand"}, at_the_end)


def _measured(study_size, way, depth, repeat, ranks=1, par_depth=None):
    count = 100 if depth <= _DEPTH else study_size.choose(10, 100) if depth == 10 else study_size.choose(3, 20)
    point = {"game": "2048", "way": way, "depth": depth, "ranks": ranks, "positions": count, "seed": study_size.seed}
    given = depth, count, study_size.seed
    if par_depth is None:
        return Measurement(point, lambda bench: _alone(bench, way, *given), repeat)
    return Measurement(
        {**point, "par_depth": par_depth}, lambda bench: _together(bench, way, *given, ranks, par_depth), repeat, ranks
    )


def _for_depths(make):
    """Return the function that makes the sections of both depths."""

    def sections(found, study_size):
        return [each for depth in (_DEPTH, _DEEP) for each in make(found, depth)]

    return sections


def _ranks_by_par_depth(found, depth):
    """Return the ranks with which most par depths were measured, the most of these."""
    counts = {n: len(found.points("par_depth", depth=depth, ranks=n)) for n in found.points("ranks", depth=depth)}
    return max(counts, key=lambda ranks: (counts[ranks], ranks), default=1)


def _of_par_depth(found, depth):
    rows, times = [], {}
    point = {"depth": depth, "ranks": _ranks_by_par_depth(found, depth)}
    for par_depth in found.points("par_depth", **point):
        for way in _PARALLEL:
            at = {**point, "way": way, "par_depth": par_depth}
            if (jobs := _jobs(found, at)) is not None:
                theirs = par_depth - _BEHIND[way]
                theirs = theirs if theirs >= 0 else None
                seconds = found.median("seconds", **at), _BY_PAR_DEPTH[way].get(theirs)
                most, share = _CONVERTED[way]
                sparks = f"about {percent(share)}" if theirs == most else None
                rows.append((par_depth, theirs, way, *seconds, found.median("nodes", **at), *jobs, sparks))
                times.setdefault(way, []).extend(found.spread(par_depth, "seconds", **at))
    columns = heads(
        "par depth | theirs | way | seconds | theirs (of a trial) | nodes | jobs used | jobs wasted | jobs cut | used "
        "| sparks converted, theirs"
    )
    note = (
        f"Depth {depth}, {point['ranks']} ranks, sums over all positions. {_WHAT_BECAME} The report has sparks, which "
        "are converted or not, and names only the largest share of each way."
    )
    return [
        Table(f"Time and jobs by par depth, depth {depth}", columns, rows, note),
        Figure(f"Time by par depth, depth {depth}", "par depth, plies", "seconds", times),
    ]


def _jobs(found, at):
    """Return (used, wasted, cut, share used) of the jobs of measurements, or None where there are none."""
    jobs = [found.median(name, **at) for name in _JOBS]
    return None if None in jobs else (*jobs, percent(ratio(jobs[0], sum(jobs))))


def _of_cores(found, depth):
    base = found.median("seconds", depth=depth, way="Base")
    times, speedups, rows = {}, {}, []
    for way in _WAYS:
        at = {"depth": depth, "way": way}
        for ranks in found.points("ranks", **at):
            how = {**at, "ranks": ranks, **({"par_depth": _PAR_DEPTH} if way in _PARALLEL else {})}
            cores = max(1, ranks - 1)
            for point in found.spread(cores, "seconds", **how):
                times.setdefault(way, []).append(point)
                if base:
                    speedups.setdefault(way, []).append((cores, base / point[1], base / point[3], base / point[2]))
            if jobs := _jobs(found, how):
                rows.append((way, cores, *jobs))
    note = f"Cores are workers: a rank more is the master. Par depth {_PAR_DEPTH}. The report's curves are {UNKNOWN}."
    return [
        Figure(f"Time by cores, depth {depth}", "cores", "seconds", times, note=note),
        Figure(f"Speedup over Base by cores, depth {depth}", "cores", "speedup", speedups, True, note),
        Table(
            f"Jobs by cores, depth {depth}",
            ("way", "cores", "jobs used", "jobs wasted", "jobs cut", "used"),
            rows,
            f"{note} {_WHAT_BECAME} The report has sparks.",
        ),
    ]


def _final_table(found, depth):
    rows, most = [], max(found.points("ranks", depth=depth), default=1)
    base, pruned = (found.median("seconds", depth=depth, way=way) for way in _ALONE)
    for way in _WAYS:
        how = {"ranks": 1} if way in _ALONE else {"ranks": most, "par_depth": _PAR_DEPTH}
        seconds, searched = (found.median(name, depth=depth, way=way, **how) for name in ("seconds", "nodes"))
        took, trials = THEIRS[way]
        times = [(ratio(one, seconds), THEIRS[name][0] / took) for name, one in (("Base", base), ("AB", pruned))]
        rows.append((way, searched, seconds, f"{took:.5f}", trials, *compared(*times[0]), *times[1]))
    columns = heads(
        "way | nodes | seconds, ours | a trial, theirs | trials | Base ÷ it, ours | Base ÷ it, theirs | ours ÷ theirs "
        "| AB ÷ it, ours | AB ÷ it, theirs"
    )
    of = max(found.points("positions", depth=depth), default=0)
    note = (
        f"Ours: {of} positions on {most} ranks, {most - 1} of them workers; theirs: to depth {_DEPTH} on {_CORES} "
        f"cores, means of so many trials; what a trial is, is {UNKNOWN}."
    )
    if depth == _DEPTH:
        note += " One of our searches takes less than a message and its answer: compare nodes, and the greater depth."
    return [Table(f"The final table, maximum depth {depth}", columns, rows, note)]


def _of_depth(found, study_size):
    rows, times = [], {}
    for depth in found.points("depth"):
        most = max(found.points("ranks", depth=depth, par_depth=_PAR_DEPTH), default=1)
        for way in _WAYS:
            how = {"ranks": 1} if way in _ALONE else {"ranks": most, "par_depth": _PAR_DEPTH}
            at = {"depth": depth, "way": way, **how}
            seconds = found.median("seconds", **at)
            if seconds is not None:
                (count,) = found.points("positions", **at)
                base = found.median("seconds", depth=depth, way="Base")
                searched, took = found.median("nodes", **at) / count, 1e3 * seconds / count
                rows.append((depth, way, count, searched, took, ratio(base, seconds)))
                times.setdefault(way, []).append((depth, took))
    columns = "maximum depth", "way", "positions", "nodes a position", "ms a position", "Base ÷ it"
    note = (
        "A move and what follows it are 3 plies. Parallel ways have the most ranks that were measured at a depth. The "
        f"report's figures of this are {UNKNOWN}."
    )
    return [
        Table("The maximum depth", columns, rows, note),
        Figure("Time a position by maximum depth", "maximum depth, plies", "ms a position", times),
    ]


def _complaints(found):
    """Say where a way has another score than Base, or a worse move; or does not save the nodes that it must save."""
    wrong = []
    for row in found.rows():
        point, result = row["point"], row["result"]
        if "depth" not in point:
            continue
        same = {name: point[name] for name in ("depth", "positions", "seed")}
        for base in found.rows(way="Base", **same)[:1]:
            for i, (score, move) in enumerate(zip(result["scores"], result["moves"], strict=True)):
                true = base["result"]["scores"][i]
                for what, value in (("score", score), ("move", base["result"]["values"][i].get(move))):
                    if value is None or not math.isclose(value, true, rel_tol=1e-9, abs_tol=1e-9):
                        wrong.append(f"{point['way']}, depth {point['depth']}, board {i}: {what} {value}, not {true}")
    searched = {way: found.median("nodes", depth=_DEPTH, way=way, ranks=1) for way in _ALONE}
    if None not in searched.values() and searched["AB"] >= searched["Base"]:
        wrong.append("AB has searched no fewer nodes than Base")
    for ranks in found.points("ranks", way="Brothers", depth=_DEPTH, par_depth=_PAR_DEPTH):
        at = {"depth": _DEPTH, "ranks": ranks, "par_depth": _PAR_DEPTH}
        ours, pooled = (found.median("nodes", way=way, **at) for way in ("Brothers", "Par+AB"))
        if pooled is not None and ours > pooled:
            wrong.append(f"Brothers has searched more nodes than Par+AB on {ranks} ranks")
    return wrong


def _par_depths(found, way, figure):
    """Return [(their par depth, values)] of a way, to the greater depth, where times are of work."""
    at = {"depth": _DEEP, "way": way, "ranks": _ranks_by_par_depth(found, _DEEP)}
    depths = [(n - _BEHIND[way], n) for n in found.points("par_depth", **at)]
    return [(theirs, found.values(figure, **at, par_depth=n)) for theirs, n in depths if theirs >= 0]


def _of_windows(found, study_size):
    rows = []
    for row in found.rows(way="windows unchanged"):
        exact = row["result"]["rows"]
        wrong = sum(not math.isclose(value, found_here, rel_tol=1e-9) for value, found_here, _ in exact)
        worse = [1 - chosen / value for value, _, chosen in exact if chosen < value * (1 - 1e-9)]
        share = f"{percent(wrong / len(exact))} ({percent(share_interval(wrong, len(exact))[0])} or more)"
        lost = percent(statistics.fmean(worse)) if worse else None
        rows.append((len(exact), share, percent(len(worse) / len(exact)), lost))
    columns = "boards", "another value than Base", "a worse move", "worse by, of its value"
    note = (
        f"Alpha-beta to depth {_DEPTH} as the report lists it: from 0 to 2³⁰, the window unchanged through chance. "
        "Base has the exact values, as this program's AB has: exhibit 7 checks that."
    )
    return [Table("Windows through chance", columns, rows, note), *_of_wins(found)]


def _of_wins(found):
    for row in found.rows(way="a win at hand"):
        rows, moves = row["result"]["rows"], row["result"]["moves"]
        tied = sum(won > 1 for won, *_ in rows)
        lost = [value - chosen for _, value, chosen in rows]
        worse, less_likely = sum(each > _DIFFERENT for each in lost), sum(each > _NO_WIN for each in lost)
        cells = len(rows), *(percent(count / len(rows)) for count in (tied, worse, less_likely))
        note = (
            f"Alpha-beta to depth {_NEAR} as listed, on the same boards with two tiles 1024 in a corner, next to one "
            "another. A 2048 tile adds 10¹², and the first window ends at 2³⁰: moves beyond it are alike, and the "
            "first is taken. A worse move: by the plain search; without a win at once: one that it gives 10⁶ less."
        )
        columns = "boards", "several moves beyond the end", "a worse move", "without a win at once"
        yield Table("Where the first window ends", columns, [cells], note)
        changed, chained = (sum(column) for column in zip(*moves, strict=True))
        cells = changed, chained, percent(chained / changed)
        note = "In the report a merged tile merges again: [2, 2, 4, 8] becomes [16]. The moves are of the same boards."
        yield Table("Tiles that merge again", ("moves", "to another board", "share"), [cells], note)


def _time_directions(found):
    least = [
        lowest_at("6.1", f"{way} takes the least time at par depth {best}", _par_depths(found, way, "seconds"), best)
        for way, best in _FASTEST.items()
    ]
    return [*least, _flat(found)]


def _flat(found):
    """Return whether Brothers takes about as long at all par depths but 0."""
    stated = f"Brothers takes as long at every par depth from 1 on (within {percent(_FLAT - 1)})"
    means = {at: statistics.fmean(each) for at, each in _par_depths(found, "Brothers", "seconds") if at and each}
    if len(means) < 2:
        return Direction("6.1", stated, "", MISSING)
    text = "means at " + ", ".join(f"{at}: {shown(mean)}" for at, mean in means.items())
    return Direction("6.1", stated, text, HELD if max(means.values()) <= _FLAT * min(means.values()) else NOT_HELD)


def _spark_directions(found):
    directions = []
    for way, (best, share) in _CONVERTED.items():
        stated = f"of {way} most sparks are converted at par depth {best}, about {percent(share)}"
        jobs = {}
        for name in _JOBS:
            for at, values in _par_depths(found, way, name):
                jobs.setdefault(at, []).append(sum(values))
        shares = {at: used / (used + wasted + cut) for at, (used, wasted, cut) in jobs.items() if used}
        if len(shares) < 2 or best not in shares:
            directions.append(Direction("6.1", stated, "", MISSING))
            continue
        if _PARALLEL[way]["pruning"] == "none":
            directions.append(Direction("6.1", stated, "nothing is pruned, so each job is used", MISSING))
            continue
        most = max(shares, key=shares.get)
        text = f"most jobs are used at {most}, {percent(shares[most])}; at {best} {percent(shares[best])}"
        directions.append(Direction("6.1", stated, text, HELD if most == best else NOT_HELD))
    return directions


def _final_directions(found):
    """The order of the ways, at the greater depth: to depth 7 a search takes less than a message and its answer."""
    most = max(found.points("ranks", depth=_DEEP), default=1)

    def seconds(way):
        how = {"ranks": 1} if way in _ALONE else {"ranks": most, "par_depth": _PAR_DEPTH}
        return found.values("seconds", depth=_DEEP, way=way, **how)

    order = [
        (f"{slow} and {fast}", larger("7", "", seconds(slow), seconds(fast), "s"))
        for slow, fast in zip(_WAYS, _WAYS[1:], strict=False)
    ]
    return [
        every("7", "each way takes less time than the one before: " + ", ".join(_WAYS), order),
        *(
            larger(
                "7",
                f"{fast} is {times} times as fast as {slow} (or more); the time of {slow} ÷ {times}, and of {fast}",
                [each / times for each in seconds(slow)],
                seconds(fast),
                "s",
            )
            for fast, slow, times in _TIMES
        ),
    ]


_FINAL, _PAR_DEPTHS, _DEPTHS = Plan(_final, (1.2, 5)), Plan(_by_par_depth, (0.7, 4)), Plan(_by_depth, (0.2, 0.3))
_LISTED = Plan(_windows, (0.2, 0.1))
_EXHIBITS = (
    Exhibit(
        "6.1",
        "6.1",
        "time and sparks by par depth",
        (_PAR_DEPTHS,),
        _for_depths(_of_par_depth),
        VALUES,
        lambda found: [*_time_directions(found), *_spark_directions(found)],
    ),
    Exhibit("6.2", "6.2", "time and speedup by cores", (_FINAL,), _for_depths(_of_cores)),
    Exhibit("7", "7", "the final table", (_FINAL,), _for_depths(_final_table), VALUES, _final_directions),
    Exhibit("9", "9", "time by maximum depth", (_DEPTHS, _FINAL), _of_depth),
    Exhibit("windows", "", "what windows that pass chance unchanged change", (_LISTED,), _of_windows),
)
_TITLE = "2048 in parallel Haskell: the report's tables, made again"
STUDY = Study("haskell2048", _TITLE, _EXHIBITS, _complaints)
