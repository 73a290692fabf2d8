"""The report on 2048 in parallel Haskell (Columbia): expectiminimax plain and pruned, on one core and on several.

Five ways to search the same boards. Base: every node of the tree, by one engine; AB: alpha-beta by the same; Par+Base
and Par+AB: a pool whose jobs are the nodes at the par depth, without pruning and with alpha-beta, each with the full
window; Brothers: Young Brothers Wait on the same nodes. Its sparks, converted or not, are jobs here, used or wasted.

Times are of other things: the report does not say here of how many moves its own are, its slides merge a merged tile
again, and it passes windows through chance unchanged, so that its pruned values differ from its plain ones. Here the
rules are those of 2048, and the search is exact; what can be compared is how many times faster than Base a way is.
"""

import math
import random
import time

from ... import evaluation, games
from ...api.chance import apply_initial_chance
from ...api.options import resolve
from ...engines.expectiminimax import Expectiminimax
from ...games.interface import legal_moves, step
from .report import Measurement, Study
from .tables import UNKNOWN, Figure, Table, compared, heads, ratio

_EVALUATION = "haskell"
_PLAYED = 30, 100  # moves that are played at random before a board is taken
_ALONE = {"Base": False, "AB": True}  # by one engine: whether pruned
_PARALLEL = {
    "Par+Base": {"pruning": "none", "policy": "pool"},
    "Par+AB": {"pruning": "alphabeta", "policy": "pool"},
    "Brothers": {"pruning": "alphabeta", "policy": "brothers"},
}
_WAYS = *_ALONE, *_PARALLEL
_THEIRS = {"Base": 92.95, "AB": 30.69, "Par+Base": 21.45, "Par+AB": 15.33, "Brothers": 9.03}  # s: depth 7, 8 cores
_DEPTH, _CORES = 7, 8  # of the report's final table
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


def _measurements(study_size):
    found = [each for part in (_final, _by_par_depth, _by_depth) for each in part(study_size)]
    return sorted({(*each.point.items(), each.repeat): each for each in found}.values(), key=lambda each: each.repeat)


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
            for par_depth in range(1, study_size.choose(5, _DEPTH)):
                for way in _PARALLEL:
                    yield _measured(study_size, way, depth, repeat, max(2, _ranks(study_size)), par_depth)


def _by_depth(study_size):
    for depth in (1, 4, _DEPTH, 10, _DEEP):
        for way in _ALONE:
            yield _measured(study_size, way, depth, 0)
        for way in _PARALLEL:
            if depth > _PAR_DEPTH:
                yield _measured(study_size, way, depth, 0, max(2, _ranks(study_size)), _PAR_DEPTH)


def _measured(study_size, way, depth, repeat, ranks=1, par_depth=None):
    count = 100 if depth <= _DEPTH else study_size.choose(10, 100) if depth == 10 else study_size.choose(3, 20)
    point = {"game": "2048", "way": way, "depth": depth, "ranks": ranks, "positions": count, "seed": study_size.seed}
    given = depth, count, study_size.seed
    if par_depth is None:
        return Measurement(point, lambda bench: _alone(bench, way, *given), repeat)
    return Measurement(
        {**point, "par_depth": par_depth}, lambda bench: _together(bench, way, *given, ranks, par_depth), repeat, ranks
    )


def _sections(found, study_size):
    depths = _DEPTH, _DEEP
    parts = [each for depth in depths for each in _of_par_depth(found, depth)]
    parts += [each for depth in depths for each in _of_cores(found, depth)]
    parts += [_final_table(found, depth) for depth in depths]
    return parts + _of_depth(found)


def _of_par_depth(found, depth):
    rows, times = [], {}
    point = {"depth": depth, "ranks": max(found.points("ranks", depth=depth), default=1)}
    for par_depth in found.points("par_depth", **point):
        for way in _PARALLEL:
            at = {**point, "way": way, "par_depth": par_depth}
            jobs = [found.median(name, **at) for name in ("jobs_used", "jobs_wasted", "jobs_cut")]
            if None not in jobs:
                rows.append((par_depth, way, found.median("seconds", **at), found.median("nodes", **at), *jobs))
                times.setdefault(way, []).extend(found.spread(par_depth, "seconds", **at))
    columns = "par depth", "way", "seconds", "nodes", "jobs used", "jobs wasted", "jobs cut"
    note = (
        f"Depth {depth}, {point['ranks']} ranks, sums over all positions. Used: its value mattered as it came; wasted: "
        f"it did not; cut: never handed out. The report has sparks, whose numbers are {UNKNOWN}."
    )
    return [
        Table(f"Time and jobs by par depth, depth {depth}", columns, rows, note),
        Figure(f"Time by par depth, depth {depth}", "par depth, plies", "seconds", times),
    ]


def _of_cores(found, depth):
    base = found.median("seconds", depth=depth, way="Base")
    times, speedups = {}, {}
    for way in _WAYS:
        at = {"depth": depth, "way": way}
        for ranks in found.points("ranks", **at):
            how = {**at, "ranks": ranks, **({"par_depth": _PAR_DEPTH} if way in _PARALLEL else {})}
            cores = max(1, ranks - 1)
            for point in found.spread(cores, "seconds", **how):
                times.setdefault(way, []).append(point)
                if base:
                    speedups.setdefault(way, []).append((cores, base / point[1], base / point[3], base / point[2]))
    note = f"Cores are workers: a rank more is the master. Par depth {_PAR_DEPTH}. The report's curves are {UNKNOWN}."
    return [
        Figure(f"Time by cores, depth {depth}", "cores", "seconds", times, note=note),
        Figure(f"Speedup over Base by cores, depth {depth}", "cores", "speedup", speedups, True, note),
    ]


def _final_table(found, depth):
    rows, most = [], max(found.points("ranks", depth=depth), default=1)
    base = found.median("seconds", depth=depth, way="Base")
    for way in _WAYS:
        how = {"ranks": 1} if way in _ALONE else {"ranks": most, "par_depth": _PAR_DEPTH}
        seconds, searched = (found.median(name, depth=depth, way=way, **how) for name in ("seconds", "nodes"))
        ours, theirs = ratio(base, seconds), _THEIRS["Base"] / _THEIRS[way]
        rows.append((way, searched, seconds, _THEIRS[way], *compared(ours, theirs)))
    columns = heads(
        "way | nodes | seconds, ours | seconds, theirs | Base ÷ it, ours | Base ÷ it, theirs | ours ÷ theirs"
    )
    of = max(found.points("positions", depth=depth), default=0)
    note = (
        f"Ours: {of} positions on {most} ranks, {most - 1} of them workers; theirs: to depth {_DEPTH} on {_CORES} "
        f"cores, of how much play is {UNKNOWN}."
    )
    if depth == _DEPTH:
        note += " One of our searches takes less than a message and its answer: compare nodes, and the greater depth."
    return Table(f"The final table, maximum depth {depth}", columns, rows, note)


def _of_depth(found):
    rows, times = [], {}
    most = max(found.points("ranks"), default=1)
    for depth in found.points("depth"):
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
    note = f"A move and what follows it are 3 plies. {most} ranks. The report's figures of this are {UNKNOWN}."
    return [
        Table("The maximum depth", columns, rows, note),
        Figure("Time a position by maximum depth", "maximum depth, plies", "ms a position", times),
    ]


def _complaints(found):
    """Say where a way has another score than Base, or a worse move; or does not save the nodes that it must save."""
    wrong = []
    for row in found.rows():
        point, result = row["point"], row["result"]
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


_TITLE = "2048 in parallel Haskell: the report's tables, made again"
STUDY = Study("haskell2048", _TITLE, _measurements, _sections, _complaints)
