"""Fixed searches whose board counts are a signature of the program, and what a message costs."""

import json
import time
from collections import Counter

import numpy as np

from .. import __version__, games
from ..api.chance import searcher_of
from ..api.facts import compact
from ..api.options import Options
from ..api.perft import perft
from ..api.run import run
from ..cluster.local import InProcessCluster
from ..cluster.protocols import WorkSource
from ..core import processor
from ..engines.pvs.table import new_shared_table
from ..jobs.two_player import EMPTY_RESULT, KINDS, empty_jobs, kinds

_OPENING = "f5d6c3d3c4f4c5b3c2e6c6b4b5d2e3a6c1b6f3d1"
_ENDING = _OPENING + "e1f2a4a3a5g5f1g4h6h5e2g1h1f6g6g3h4b2c7c8"  # 20 squares are empty

_TILES = "2,4,8,16,0,2,4,32,0,0,2,64,0,0,0,128"
_FIBONACCI = "1,3,8,21,0,2,5,34,0,0,1,55,0,0,0,89"

# name → (options, position), of Othello unless they say otherwise; together a few seconds
SEARCHES = {
    "static 8x8": ({"depth": 12, "ordering": "static", "evaluation": "static"}, _OPENING),
    "complex 8x8": ({"depth": 11, "ordering": "static"}, _OPENING),
    "shallow 8x8": ({"depth": 12, "ordering": "shallow:2"}, _OPENING),
    "unordered 8x8": ({"depth": 9, "ordering": "none", "evaluation": "discs"}, _OPENING),
    "minimax 8x8": ({"depth": 6, "algorithm": "minimax"}, _OPENING),
    "pool of 16 8x8": ({"depth": 11, "ordering": "static", "evaluation": "static", "load_factor": 16}, _OPENING),
    "static 10x10": ({"depth": 10, "ordering": "static", "board": (10, 10), "evaluation": "static"}, "startpos"),
    "complex 12x9": ({"depth": 9, "ordering": "static", "board": (12, 9)}, "startpos"),
    "static 16x16": ({"depth": 9, "ordering": "static", "board": (16, 16), "evaluation": "static"}, "startpos"),
    "nodes 6x6": ({"nodes": 3_000_000, "ordering": "static", "board": (6, 6)}, "startpos"),
    "minimax connect4": ({"depth": 7, "game": "connect4", "algorithm": "minimax"}, "startpos"),
    "table 8x8": ({"depth": 13}, _OPENING),
    "table 16x16": ({"depth": 10, "board": (16, 16), "evaluation": "static"}, "startpos"),
    "table of 16 8x8": ({"depth": 13, "load_factor": 16}, _OPENING),
    "table, nodes 6x6": ({"nodes": 3_000_000, "board": (6, 6)}, "startpos"),
    "exact 4x4": ({"exact": True, "board": (4, 4)}, "startpos"),
    "exact 4x5": ({"exact": True, "board": (4, 5)}, "startpos"),
    "exact 8x8": ({"exact": True}, _ENDING),
    "exact connect4": ({"exact": True, "game": "connect4"}, "33445256134"),
    "expectimax 2048": ({"game": "2048", "depth": 9, "min_probability": 1e-4}, _TILES),
    "expectimax 2584": ({"game": "2584", "layers": 3}, _FIBONACCI),
    "expectiminimax": ({"game": "2048", "depth": 13, "algorithm": "expectiminimax", "evaluation": "haskell"}, _TILES),
    "averaged 2048": ({"game": "2048", "depth": 11, "algorithm": "averaged"}, _TILES),
    "ida 2048": ({"game": "2048", "algorithm": "ida", "nodes": 20_000}, _TILES),
}
_EVALUATION = {"othello": "complex", "2048": "rows", "2584": "rows"}  # of searches that name none
_TABLE = 8  # MiB
_PERFT = 9  # plies from the start of 8×8
_JOBS = 100_000  # empty ones, through the master and raw
_TASKS = 3_000  # through mpi4py.futures, which is a hundred times slower


def bench(progress, interrupted):
    """Return (rows, signature): a row (name, nodes, CPU seconds) a search, and the sum of all nodes.

    After an interrupt there are the rows so far and no signature (None).
    """
    rows = []
    for name, (asked, text) in SEARCHES.items():
        name_of_game = asked.get("game", "othello")
        options = Options(**{"game": name_of_game, "evaluation": _EVALUATION.get(name_of_game), **asked})
        searcher = _searcher(options, progress, interrupted)
        rows.append(_row(name, searcher.search([searcher.game.parse(text, searcher.rules)])))
        if interrupted():
            return rows[:-1], None
    game = games.find("othello")
    options = Options("othello", depth=1)
    start = game.start(game.rules())
    count = perft(options, _PERFT, [start], InProcessCluster(KINDS), progress, interrupted)[0]
    if interrupted():
        return rows, None
    rows.append((f"perft {_PERFT} 8x8", sum(count.counts), count.cpu_seconds))
    return rows, sum(nodes for _, nodes, _ in rows)


def bench_positions(options, positions, name, progress, interrupted):
    """Return what ``bench`` does, of one row: Positions that are searched under Options."""
    row = _row(name, _searcher(options, progress, interrupted).search(positions))
    return [row], None if interrupted() else row[1]


def _searcher(options, progress, interrupted):
    cluster = InProcessCluster(kinds(new_shared_table(_TABLE)))
    return searcher_of(options)(options, cluster, progress, interrupted)


def _row(name, outcomes):
    found = list(filter(None, outcomes))
    return name, sum(each.nodes + each.ordering_nodes for each in found), sum(each.cpu_seconds for each in found)


def bench_text(rows, signature):
    """Return the table of ``bench``."""
    lines = [f"{'search':<16} {'nodes':>12} {'CPU s':>8} {'nodes/CPU-s':>13}"]
    for name, nodes, cpu in rows:
        lines.append(f"{name:<16} {nodes:>12,} {cpu:>8.3f} {compact(nodes / max(cpu, 1e-9)):>13}")
    lines.append(f"processor {processor.name()}: {', '.join(processor.instructions()) or 'no AVX2'}")
    return "\n".join([*lines, f"signature {signature or 'unknown: stopped early'}"])


def bench_json(rows, signature):
    """Return ``bench``'s results as one line of JSON."""
    searches = [{"name": name, "nodes": nodes, "cpu_seconds": round(cpu, 6)} for name, nodes, cpu in rows]
    made_for = {"processor": processor.name(), "instructions": processor.instructions()}
    return json.dumps({"signature": signature, "searches": searches, **made_for, "version": __version__})


class EmptySource(WorkSource):
    """A source of ``count`` jobs that are nothing to do."""

    result_dtype = EMPTY_RESULT
    waiting = 0

    def __init__(self, count):
        self.waiting, self._left = count, count
        self._out = Counter()  # by worker, which is a job's id

    @property
    def done(self):
        return self._left == 0

    def take(self, count, worker):
        taken = min(count, self.waiting)
        self.waiting -= taken
        self._out[worker] += taken
        return empty_jobs(taken, worker)

    def finish(self, results):
        """The results are those of one message, so of one worker."""
        self._left -= len(results)
        self._out[int(results["job_id"][0])] -= len(results)

    def lost(self, worker):
        self.waiting += self._out.pop(worker, 0)


def messages(cluster, progress, interrupted, prefetch):
    """Return figures of empty jobs through the real master: jobs a second, and the master's CPU seconds for each."""
    source = EmptySource(_JOBS)
    began = time.process_time()
    took = run(cluster, {"kind": "empty"}, source, progress, interrupted, lambda *_: "empty jobs", prefetch=prefetch)
    cpu = time.process_time() - began
    return {
        "jobs": _JOBS,
        "workers": cluster.workers,
        "jobs_per_second": round(_JOBS / took.seconds),
        "master_cpu_per_job": cpu / _JOBS,
        "messages": sum(worker["messages"] for worker in took.workers),
    }


def peers(comm):
    """Return, on every rank, jobs a second of mpi4py.futures and of bare typed buffers; all ranks call this."""
    return {"futures_per_second": round(_futures(comm)), "raw_per_second": round(_raw(comm))}


def _futures(comm):
    from mpi4py.futures import MPICommExecutor

    rate = 0.0
    with MPICommExecutor(comm, root=0) as executor:
        if executor is not None:
            began = time.perf_counter()
            sum(executor.map(abs, range(_TASKS)))
            rate = _TASKS / (time.perf_counter() - began)
    return rate


def _raw(comm):
    """A master that only receives an answer and sends the next record, one job a message, four ahead a worker."""
    from mpi4py import MPI

    job, answer, status = np.zeros(1, np.dtype("i8,i8,i8,i8")), np.zeros(1, np.dtype("i8,i8,i8,i8")), MPI.Status()
    if comm.Get_rank() > 0:
        while True:
            comm.Recv([job, MPI.BYTE], 0)
            if job[0][0] < 0:
                return 0.0
            comm.Send([answer, MPI.BYTE], 0)
    began, workers = time.perf_counter(), range(1, comm.Get_size())
    sent = 0
    for _ in range(4):
        for worker in workers:
            comm.Send([job, MPI.BYTE], worker)
            sent += 1
    for _ in range(_JOBS):
        comm.Recv([answer, MPI.BYTE], MPI.ANY_SOURCE, status=status)
        if sent < _JOBS:
            comm.Send([job, MPI.BYTE], status.Get_source())
            sent += 1
    rate = _JOBS / (time.perf_counter() - began)
    job[0][0] = -1
    for worker in workers:
        comm.Send([job, MPI.BYTE], worker)
    return rate


def messages_text(figures):
    """Return the table of ``bench --messages``."""
    return (
        f"{figures['jobs']:,} empty jobs, {figures['workers']} worker{'s' * (figures['workers'] > 1)}\n"
        f"  through the master     {figures['jobs_per_second']:>12,} jobs/s in {figures['messages']:,} messages, "
        f"{1e6 * figures['master_cpu_per_job']:.2f} µs of the master's CPU a job\n"
        f"  mpi4py.futures         {figures['futures_per_second']:>12,} tasks/s, one a message\n"
        f"  bare typed buffers     {figures['raw_per_second']:>12,} jobs/s, one a message"
    )
