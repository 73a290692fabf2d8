"""The report on Connect 4 with CUDA (Michigan): exact scores of 1,000 positions, by one core and by a GPU.

Its table has five rows: the sequential solver, and the GPU's with and without its table of positions, each begun
breadth-first to depth S = 1 and S = 4 on the host. Which rows exactly, and their figures, is not known here but for
nodes a microsecond, which were worked out anew from the report's own files: its printed table has the columns of times
and of nodes exchanged for one another.
"""

import re
import time

from ... import evaluation
from ...engines.alphabeta import AlphaBeta
from ...games import connect4 as game
from ...gpu.solver import GpuSolver
from . import connect4_positions as positions
from .report import Measurement, Study
from .tables import UNKNOWN, Table, compared, heads, ratio

_SEQUENTIAL, _PLAIN = "sequential", "plain alpha-beta"
_THEIRS = {_SEQUENTIAL: 3.67}  # nodes a microsecond, over Test_L3_R1
_THEIR_BEST_GPU, _THEIRS_SLOWER = 1.06, "33 to 55"
_OF_REPORT = "L3_R1"  # whose positions the report has
_DEPTHS = 1, 4  # S
_SLICE = 1 << 20  # nodes of plain alpha-beta at a time
_GPU_TABLE = {"R1": 32, "R2": 4096, "R3": 4096}  # MiB: one that stays in the L2 cache where little is stored
_NO_TABLE = 1 << 10  # moves left from which on the GPU's table would be used
_COUNTS = {  # positions: on a laptop, on a cluster
    "L3_R1": (1000, 1000),
    "L2_R1": (1000, 1000),
    "L2_R2": (200, 1000),
    "L1_R1": (50, 1000),
    "L1_R2": (10, 1000),
    "L1_R3": (0, 10),
}
_FIGURES = {
    "AT, µs": "average time",
    "TT, s": "total time",
    "ANE": "average nodes explored",
    "TNE": "total nodes explored",
    "ATH": "average table hits",
    "TTH": "total table hits",
}


def _sets(size):
    """Return [(what of a point tells which positions, the class among it; what makes these Positions)]."""
    path = getattr(size.asked, "positions", None)
    if path is not None:
        found = positions.of_file(path, size.choose(1000, None))
        which = {"class": path, "positions": len(found.texts), "file": positions.digest(found)}
        return [(which, lambda: found)]
    counts = {name: size.choose(*each) for name, each in _COUNTS.items()}
    return [
        ({"class": name, "positions": count}, lambda name=name, count=count: positions.drawn(name, count, size.seed))
        for name, count in counts.items()
        if count
    ]


def _measurements(size):
    found = []
    for which, make in _sets(size):
        name, point = which["class"], {"game": "connect4", **which, "seed": size.seed}
        for repeat in range(size.repeats or size.choose(1, 3)):
            found.append(Measurement({**point, "way": _SEQUENTIAL}, _alone(make), repeat))
            if _class_of(name) == _OF_REPORT:
                found.append(Measurement({**point, "way": _PLAIN}, _plainly(make), repeat))
            for ranks in size.choose((3, 5), (5, 9, 17, 33, 64)):
                found.append(_on_ranks({**point, "way": f"{ranks} ranks"}, make, ranks, repeat))
            for tabled in (False, True) if _class_of(name).endswith("R1") else (True,):
                ways = [({**point, "way": _gpu_way(split, tabled)}, split) for split in _DEPTHS]
                found += [_on_gpu(way, make, split, tabled, repeat) for way, split in ways]
    return sorted(found, key=lambda each: each.repeat)


def _class_of(name):
    """Return the class that a set of positions is of: its own name, or what its file's name says; "" if nothing."""
    found = re.search("L[123]_R[123]", name)
    return found[0] if found else ""


def _gpu_way(split, tabled):
    return f"GPU, S = {split}{', table' * tabled}"


def _result(given, seconds, nodes, table_hits, scores, **more):
    figures = {"seconds": seconds, "nodes": nodes, "table_hits": table_hits, "scores": scores}
    return {**figures, **more, "known": given.scores, "source": given.source}


def _alone(make):
    """One core's solver: CPU seconds."""

    def body(bench):
        given = make()
        found, seconds = positions.solved(positions.states(given.texts))
        nodes, hits = int(found["nodes"].sum()), int(found["table_hits"].sum())
        return _result(given, seconds, nodes, hits, found["score"].tolist())

    return body


def _plainly(make):
    """Alpha-beta without a table, by one core: CPU seconds."""

    def body(bench):
        given, rules = make(), game.rules()
        engine = AlphaBeta(game, rules, evaluation.find(game, "outcome", rules), ordering="none")
        engine.compile()
        nodes, seconds, scores = 0, 0.0, []
        for text in given.texts:
            state, began = game.parse(text, rules).state, time.process_time()
            engine.begin(state)
            while not engine.advance(_SLICE):
                if bench.interrupted():
                    return {}
            seconds += time.process_time() - began
            nodes += engine.nodes
            scores.append(int(engine.result().score))
        return _result(given, seconds, nodes, 0, scores)

    return body


def _on_ranks(point, make, ranks, repeat):
    """Positions handed out to ranks, as ``solve`` does it: wall time."""

    def body(bench):
        given = make()
        asked = {"game": "connect4", "exact": True}
        bench.search(given.texts[: 2 * ranks], ranks, positions.MIB, **asked)  # after which all ranks have the kernels
        found = bench.search(given.texts, ranks, positions.MIB, **asked)
        figures = (found[key] for key in ("seconds", "nodes", "table_hits", "scores"))
        return _result(given, *figures, ranks=found["ranks"], workers=found["workers"])

    return Measurement(point, body, repeat, ranks)


def _on_gpu(point, make, split, tabled, repeat):
    def body(bench):
        given, rules = make(), game.rules()
        mib = _GPU_TABLE.get(_class_of(point["class"])[-2:], 4096) if tabled else 1
        how = {"table_mib": mib, "split": split, "table_left": None if tabled else _NO_TABLE}
        states = positions.states(given.texts)
        GpuSolver(bench.gpu, game, rules, **how).solve(states[:1])  # its kernel is compiled and loaded then
        solver = GpuSolver(bench.gpu, game, rules, **how)  # with an empty table
        began = time.perf_counter()
        solver.begin(states)
        while not solver.advance():
            if bench.interrupted():
                return {}
        scores, complete, _, counts = solver.result()
        seconds = time.perf_counter() - began
        more = {"complete": bool(complete.all()), "device": bench.gpu.name}
        return _result(given, seconds, counts["nodes"], counts["hits"], scores.tolist(), **more)

    return Measurement(point, body, repeat, gpus=1)


def _sections(found, size):
    tables = [_table(found, name) for name in found.points("class")]
    return tables + [_exchanged(found, name) for name in found.points("class")[:1]]


def _figures(found, at):
    """Return {figure: value} of the report's table, medians of repeats; None if that was not measured."""
    seconds, nodes, hits = (found.median(name, **at) for name in ("seconds", "nodes", "table_hits"))
    if seconds is None:
        return None
    (count,) = found.points("positions", **at)
    found = {"AT, µs": 1e6 * seconds / count, "TT, s": seconds, "ANE": nodes / count, "TNE": int(nodes)}
    return {**found, "nodes/µs": nodes / seconds / 1e6, "ATH": hits / count, "TTH": int(hits)}


def _table(found, name):
    rows, best = [], None
    first = _figures(found, {"class": name, "way": _SEQUENTIAL})
    for way in found.points("way", **{"class": name}):
        figures = _figures(found, {"class": name, "way": way})
        theirs = None
        if _class_of(name) == _OF_REPORT:
            theirs = _THEIRS.get(way)
        times = ratio(first and first["AT, µs"], figures["AT, µs"])
        rows.append((way, *figures.values(), times, *compared(figures["nodes/µs"], theirs)[1:]))
        best = figures
    (count,) = found.points("positions", **{"class": name})
    columns = ("", *(best or {}), "times as fast as the first", "nodes/µs, theirs", "ours ÷ theirs")
    meaning = "; ".join(f"{short.partition(',')[0]}: {long}" for short, long in _FIGURES.items())
    note = (
        f"{count} positions of {_described(name)}. {meaning}. Nodes are positions reached by a move, on a GPU as well. "
        "sequential: CPU time of one core, whose table of 1 MiB is always there and goes on from position to position; "
        "plain alpha-beta: without any table, a call from Python each. Ranks: wall time of solve, the reading and "
        "writing of positions included; one of them is the master. GPU: wall time, transfers included."
    )
    if _class_of(name) == _OF_REPORT:
        note += (
            f" Theirs, put right: sequential {_THEIRS[_SEQUENTIAL]} nodes/µs, their best GPU run {_THEIR_BEST_GPU} "
            f"(which of the rows is {UNKNOWN}), in time {_THEIRS_SLOWER} times slower than sequential."
        )
    return Table(f"Connect 4, {count} positions, class {_described(name)}", columns, rows, note)


def _described(name):
    level, _, rank = name.partition("_")
    if name not in positions.CLASSES:
        return name
    return f"{name} ({positions.NAMES[level]}, {positions.NAMES[rank]})"


def _exchanged(found, name):
    """Return our table with its columns exchanged as the report's are, to compare with what it prints."""
    rows = []
    for way in found.points("way", **{"class": name}):
        f = _figures(found, {"class": name, "way": way})
        rows.append((way, f["ANE"], f["TNE"], f["AT, µs"], f["TT, s"], ratio(1, f["nodes/µs"]), f["nodes/µs"]))
    columns = heads(
        " | under AT: nodes | under TT: nodes | under ANE: µs | under TNE: s | their quotient | nodes/µs, put right"
    )
    note = (
        "Ours as the report prints its own: what is headed time are nodes, and what is headed nodes is time. The "
        "quotient of the columns as they are headed is microseconds a node: it takes a slow way for a fast one."
    )
    return Table(f"The same with the report's exchange of columns, class {_described(name)}", columns, rows, note)


def _complaints(found):
    """Say where a way has other scores than the first of its class, or than are known."""
    wrong = []
    for name in found.points("class"):
        rows = found.rows(**{"class": name})
        for row in rows:
            first, scores = rows[0]["result"]["scores"], row["result"]["scores"]
            for i, (score, true, known) in enumerate(zip(scores, first, row["result"]["known"], strict=True), 1):
                if score != true or known not in (None, score):
                    known_as = true if known is None else known
                    wrong.append(f"{name}, position {i}, {row['point']['way']}: score {score}, not {known_as}")
    return wrong


_TITLE = "Connect 4 with CUDA: the report's table, made again, its columns put right"
STUDY = Study("connect4", _TITLE, _measurements, _sections, _complaints)
