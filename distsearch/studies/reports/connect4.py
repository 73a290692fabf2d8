"""The report on Connect 4 with CUDA (Michigan): exact scores of 1,000 positions, by one core and by a GPU.

Its table has five rows: the sequential solver, and the GPU's with and without its table of positions, each begun
breadth-first to depth S = 1 and S = 4 on the host. The columns of times and of nodes are exchanged for one another in
print, which counting the listing's calls shows; here they are put right.
"""

import functools
import re
import time

from ...games import connect4 as game
from ...gpu.solver import GpuSolver
from . import connect4_positions as positions
from .connect4_listed import Listed
from .directions import every, larger
from .study import VALUES, Exhibit, Measurement, Plan, Study
from .tables import Table, heads, ratio

_SEQUENTIAL, _LISTED = "sequential", "negamax as listed"
_GPU_WAYS = "GPU, S = 1", "GPU, S = 1, table", "GPU, S = 4", "GPU, S = 4, table"
_THEIRS = {  # over Test_L3_R1: microseconds and nodes a position, table hits a position
    _LISTED: (77.351, 283.591, None),
    "GPU, S = 1": (2544.273, 402.254, None),
    "GPU, S = 1, table": (3376.461, 399.448, 1.049),
    "GPU, S = 4": (3599.069, 3804.356, None),
    "GPU, S = 4, table": (4293.899, 3774.369, 7.611),
}
_OF_REPORT = "L3_R1"  # whose positions the report has
_DEPTHS = 1, 4  # S
_COUNTED = {"S = 1": (1,), "S = 4": (4,), "S = 4, ending at wins": (4, False)}  # S, whether its list goes past wins
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
    """Return [(what of a point tells which positions, the class among it; make(interrupted) -> these Positions)]."""
    path = getattr(size.asked, "positions", None)
    if path is not None:
        found = positions.of_file(path, size.choose(1000, None))
        which = {"class": path, "positions": len(found.texts), "file": positions.digest(found)}
        return [(which, lambda interrupted: found)]
    counts = {name: size.choose(*each) for name, each in _COUNTS.items()}
    return [
        ({"class": name, "positions": count}, functools.partial(positions.drawn, name, count, size.seed))
        for name, count in counts.items()
        if count
    ]


def _measurements(size):
    """Return all measurements: those of the report's class first."""
    found = []
    for which, make in _sets(size):
        name, point = which["class"], {"game": "connect4", **which, "seed": size.seed}
        for repeat in range(size.repeats or size.choose(1, 3)):
            found.append(Measurement({**point, "way": _SEQUENTIAL}, _alone(make), repeat))
            if _class_of(name) == _OF_REPORT:
                found.append(Measurement({**point, "way": _LISTED}, _as_listed(make, 0), repeat))
                for way, how in _COUNTED.items() if repeat == 0 else ():
                    found.append(Measurement({**point, "way": f"{_LISTED}, {way}"}, _as_listed(make, *how), repeat))
            for ranks in size.choose((3, 5), (5, 9, 17, 33, 64)):
                found.append(_on_ranks({**point, "way": f"{ranks} ranks"}, make, ranks, repeat))
            for tabled in (False, True) if _class_of(name).endswith("R1") else (True,):
                ways = [({**point, "way": _gpu_way(split, tabled)}, split) for split in _DEPTHS]
                found += [_on_gpu(way, make, split, tabled, repeat) for way, split in ways]
    return found


def _class_of(name):
    """Return the class that a set of positions is of: its own name, or what its file's name says; "" if nothing."""
    found = re.search("L[123]_R[123]", name)
    return found[0] if found else ""


def _gpu_way(split, tabled):
    return f"GPU, S = {split}{', table' * tabled}"


def _result(given, seconds, nodes, table_hits, scores, **more):
    figures = {"seconds": seconds, "nodes": nodes, "table_hits": table_hits, "scores": scores}
    return {**figures, **more, "known": given.scores, "source": given.source}


def _of(make, body):
    """Return what a Measurement calls: ``body(bench, given)`` of the positions that ``make`` gives."""

    def measured(bench):
        given = make(bench.interrupted)
        return {} if bench.interrupted() else body(bench, given)

    return measured


def _alone(make):
    """One core's solver: CPU seconds."""

    def body(bench, given):
        found, seconds = positions.solved(positions.states(given.texts))
        nodes, hits = int(found["nodes"].sum()), int(found["table_hits"].sum())
        return _result(given, seconds, nodes, hits, found["score"].tolist())

    return _of(make, body)


def _as_listed(make, split, past_wins=True):
    """The report's listing by one core: CPU seconds; split: its S, whose part on the host is not timed, or 0."""

    def body(bench, given):
        rules, listed = game.rules(), Listed()
        states = [game.parse(text, rules).state for text in given.texts]
        began, found = time.process_time(), []
        for state in states:
            found.append(listed.spread(state, split, past_wins) if split else listed.score(state))
            if bench.interrupted():
                return {}
        seconds = time.process_time() - began
        nodes, scores = sum(calls for _, calls in found), [int(score) for score, _ in found]
        return _result(given, None if split else seconds, nodes, 0, scores)

    return _of(make, body)


def _on_ranks(point, make, ranks, repeat):
    """Positions handed out to ranks, as ``solve`` does it: wall time."""

    def body(bench, given):
        asked = {"game": "connect4", "exact": True}
        bench.search(given.texts[: 2 * ranks], ranks, positions.MIB, **asked)  # after which all ranks have the kernels
        found = bench.search(given.texts, ranks, positions.MIB, **asked)
        figures = (found[key] for key in ("seconds", "nodes", "table_hits", "scores"))
        return _result(given, *figures, ranks=found["ranks"], workers=found["workers"])

    return Measurement(point, _of(make, body), repeat, ranks)


def _on_gpu(point, make, split, tabled, repeat):
    def body(bench, given):
        rules = game.rules()
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

    return Measurement(point, _of(make, body), repeat, gpus=1)


def _figures(found, at):
    """Return {figure: value} of the report's table, medians of repeats; None if that was not measured."""
    seconds, nodes, hits = (found.median(name, **at) for name in ("seconds", "nodes", "table_hits"))
    if nodes is None:
        return None
    (count,) = found.points("positions", **at)
    micro = None if seconds is None else 1e6 * seconds
    found = {"AT, µs": ratio(micro, count), "TT, s": seconds, "ANE": nodes / count, "TNE": int(nodes)}
    return {**found, "nodes/µs": ratio(nodes, micro), "ATH": hits / count, "TTH": int(hits)}


def _of_report(found, size):
    """Return the tables of the report's class, whose rows are next to theirs."""
    names = [name for name in found.points("class") if _class_of(name) == _OF_REPORT]
    return [each for name in names for each in (_beside(found, name), _exchanged(found, name))]


def _beside(found, name):
    rows = []
    for way, (their_time, their_nodes, their_hits) in _THEIRS.items():
        if (figures := _figures(found, {"class": name, "way": way})) is None:
            continue
        time, nodes = figures["AT, µs"], figures["ANE"]
        times = time, their_time, _times(ratio(their_time, time))
        rate = figures["nodes/µs"], their_nodes / their_time
        ours_first = _figures(found, {"class": name, "way": _LISTED})
        slower = ratio(time, ours_first and ours_first["AT, µs"]), their_time / _THEIRS[_LISTED][0]
        hits = (None, None) if their_hits is None else (figures["ATH"], their_hits)
        rows.append((way, *times, nodes, their_nodes, *rate, *slower, *hits))
    columns = heads(
        " | µs a position | theirs | times as fast | nodes a position | theirs | nodes/µs | theirs | time ÷ listed | "
        "theirs | table hits a position | theirs"
    )
    count = max(found.points("positions", **{"class": name}), default=0)
    note = (
        f"{count} positions of {_described(name)}; theirs: 1,000 of the same class. Listed: one core, CPU time. GPU: "
        "ours has all positions in one launch and ends at wins, with transfers; theirs has a launch a position, "
        "without allocation and copies. Our GPU's search is not the listing. Without a table, positions that "
        "several groups of lanes search together are still looked up in one of 1 MiB."
    )
    return Table("The five rows, put right, next to ours", columns, rows, note)


def _times(value):
    return None if value is None else f"{value:.3g}×"


def _of_classes(found, size):
    return [_table(found, name) for name in found.points("class")]


def _table(found, name):
    rows, best = [], None
    first = _figures(found, {"class": name, "way": _SEQUENTIAL})
    for way in found.points("way", **{"class": name}):
        figures = _figures(found, {"class": name, "way": way})
        rows.append((way, *figures.values(), ratio(first and first["AT, µs"], figures["AT, µs"])))
        best = figures
    (count,) = found.points("positions", **{"class": name})
    columns = ("", *(best or {}), "times as fast as the first")
    meaning = "; ".join(f"{short.partition(',')[0]}: {long}" for short, long in _FIGURES.items())
    note = (
        f"{count} positions of {_described(name)}. {meaning}. Nodes are positions reached by a move, on a GPU as well, "
        "and calls of the listing. sequential: CPU time of one core, whose table of 1 MiB is always there and goes on "
        "from position to position; the listing has none. S = 1, 4 of the listing: only its calls are counted. Ranks: "
        "wall time of solve, the reading and writing of positions included; one of them is the master. GPU: wall time, "
        "transfers included."
    )
    return Table(f"Connect 4, {count} positions, class {_described(name)}", columns, rows, note)


def _directions(found):
    """What follows of the report's table once its columns are put right."""
    name = next((each for each in found.points("class") if _class_of(each) == _OF_REPORT), _OF_REPORT)

    def values(figure, way):
        return found.values(figure, way=way, **{"class": name})

    def pairs(stated, figure, ways, unit):
        parts = [(f"{more} and {less}", larger("Table 1", "", values(figure, more), values(figure, less), unit))
                 for more, less in ways]  # fmt: skip
        return every("Table 1", stated, parts)

    def rates(stated):
        speeds = {
            way: [n / (1e6 * s) for n, s in zip(values("nodes", way), values("seconds", way), strict=True)]
            for way in (_LISTED, *_GPU_WAYS)
        }
        parts = [(way, larger("Table 1", "", speeds[way], speeds[_LISTED], "nodes/µs")) for way in _GPU_WAYS]
        return every("Table 1", stated, parts)

    tabled = [(f"GPU, S = {split}, table", f"GPU, S = {split}") for split in _DEPTHS]
    fewer = [(less, more) for more, less in tabled]
    deeper = [("GPU, S = 4", "GPU, S = 1"), ("GPU, S = 4, table", "GPU, S = 1, table")]
    listed = [(f"{_LISTED}, S = 4", f"{_LISTED}, S = 1"), (f"{_LISTED}, S = 1", _LISTED)]
    return [
        pairs("the GPU takes longer than one core", "seconds", [(way, _LISTED) for way in _GPU_WAYS], "s"),
        pairs("S = 4 explores more nodes than S = 1, and that more than one core", "nodes", listed, "calls"),
        pairs("S = 4 explores more nodes than S = 1 on the GPU", "nodes", deeper, "nodes"),
        pairs("the table saves nodes", "nodes", fewer, "nodes"),
        pairs("the table costs time", "seconds", tabled, "s"),
        # what it concludes from its columns as they are printed
        pairs("its conclusion: the table saves time", "seconds", fewer, "s"),
        rates("its conclusion: the GPU explores more nodes a microsecond than one core"),
    ]


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
        quotient = ratio(1, f["nodes/µs"])
        rows.append((way, f["ANE"], f["TNE"], f["AT, µs"], f["TT, s"], quotient, f["nodes/µs"]))
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


_SOLVED = Plan(_measurements, (1, 5))
_EXHIBITS = (
    Exhibit("table1", "Table 1", "five ways to solve 1,000 positions", (_SOLVED,), _of_report, VALUES, _directions),
    Exhibit("classes", "", "all classes of positions, by cores, ranks and a GPU", (_SOLVED,), _of_classes),
)
_TITLE = "Connect 4 with CUDA: the report's table, made again, its columns put right"
STUDY = Study("connect4", _TITLE, _EXHIBITS, _complaints)
