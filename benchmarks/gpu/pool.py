"""Measure one search by a GPU rank and CPU ranks together, compared with each of them alone, by turns.

    mpirun -n 16 python benchmarks/gpu/pool.py                  # rank 0 the master, rank 1 a GPU, 14 ranks on cores
    mpirun -n 4 python benchmarks/gpu/pool.py --emulated        # the script itself, on small boards, without a GPU

One JSON line a row. ``ways``: ``gpu`` (the master and the GPU rank), ``cpu`` (the master and the others), ``both``.
Every way has all positions of a case, in a session of its own that has searched another position before, so nothing is
compiled and no table knows them. Ways take turns, ``--turns`` times over (3); ``seconds``: the least of these, and all
of them, wall time from the question to the last answer; ``gain``: of both over the better of the others. Cases:

- ``hard``: single positions of Connect 4 like those of class L1_R3 (6 to 9 stones, 28 plies to go or more), one by one
- ``empty``: the empty 6x7 board
- ``middle``: 1,000 positions like those of L1_R2 (8 to 14 stones, 14 to 27 plies to go), a file
- ``endings``: 100,000 positions of Othello with 10 to 12 empty squares, a file
- ``mixed``: 990 positions like those of ``middle`` and 10 like those of ``hard``, shuffled, a file
- ``mixed endings``: 19,800 positions of Othello with 8 to 12 empty squares and 200 with 15 to 18, shuffled, a file
- ``deep``: one position of Othello with 22 empty squares
- ``leaves``: the same, where the GPU rank takes subtrees of up to 16 empty squares: by ``brothers``, null windows as
  they come, and by ``window``, all subtrees of a breadth-first pool at a time (``--loads``: subtrees a worker); ``cpu``
  stays without policies, as it is fastest

Scores of the three ways are compared; a difference ends the script with status 1.
"""

import argparse
import itertools
import random
import sys
import tempfile
import time
import traceback

import numpy as np
from mpi4py import MPI

from distsearch import games
from distsearch.api import devices
from distsearch.api.options import resolve
from distsearch.api.report import Report
from distsearch.api.session import Session
from distsearch.games import othello
from distsearch.games.interface import Position, as_state, legal_moves
from distsearch.games.random_play import random_positions
from distsearch.gpu import connect4 as on_gpu
from distsearch.gpu import device
from distsearch.gpu.solver import GpuSolver
from distsearch.jobs import gpu_two_player
from distsearch.jobs.gpu_solvers import OthelloToEnd
from distsearch.studies.gpu_bench import othello as on_bench
from distsearch.studies.gpu_bench.timing import print_row
from distsearch.testing.emulated_gpu import EmulatedGpu
from distsearch.tree import search_tree

WAYS = "gpu", "cpu", "both"
CASES = "hard", "empty", "middle", "endings", "mixed", "mixed endings", "deep", "leaves"
_LEAVES_OF = 16  # empty squares of a GPU's subtrees, at most, in the case ``leaves``


def drawn(game, board, left, count, seed, fits=lambda positions: positions):
    """Return texts of positions of random games with so many moves left (a range), as far as they ``fit``."""
    module, rng, found = games.find(game), random.Random(seed), []
    rules = module.rules(board)
    squares = board[0] * board[1] - (4 if game == "othello" else 0)
    plies = range(squares - left.stop + 1, squares - left.start + 1)
    while len(found) < count:
        positions = [
            each
            for each in random_positions(module, rules, plies, max(count, 8), rng)
            if len(legal_moves(module, each, rules)) > 1
        ]
        found += fits(positions)
    return [module.text(Position(*each), rules) for each in found[:count]]


def remote(gpu, board, plies):
    """Return a function that keeps positions of Connect 4 which end, if both play well, within a range of plies."""
    rules = games.find("connect4").rules(board)
    solver = GpuSolver(gpu, games.find("connect4"), rules, 1024 if board == (6, 7) else 1)

    def fits(positions):
        states = np.array([each.state for each in positions], np.uint64).reshape(-1, 2)
        scores, _, _, _ = solver.solve(states)
        left = on_gpu.left(states, rules)
        won = left - 2 * (np.abs(scores) - 1) - (left + (scores > 0)) % 2
        to_go = np.where(scores == 0, left, won)
        return [positions[i] for i in np.flatnonzero((to_go >= plies.start) & (to_go < plies.stop))]

    return fits


def endings(board, empties, count):
    """Return texts of end games of Othello, by compiled random games."""
    rules = othello.rules(board)
    states = on_bench.drawn("random", count, (empties.start, empties.stop - 1), 2, rules)
    return [othello.text(Position(as_state(state), 0), rules) for state in states]


def cases(gpu, tiny, wanted, count):
    """Yield (name, game, board, texts, whether they are one file) of each case."""
    board, large = ((4, 6), (6, 6)) if tiny else ((6, 7), (8, 8))
    files = 20 if tiny else 1000

    def connect4_positions(plies, count, seed, remoteness):
        return drawn("connect4", board, plies, count, seed, remote(gpu, board, remoteness))

    hard = (range(15, 17), range(8, 43)) if tiny else (range(33, 37), range(28, 43))
    middle = (range(10, 14), range(1, 12)) if tiny else (range(28, 35), range(14, 28))
    make = {
        "hard": lambda: ("connect4", board, connect4_positions(hard[0], count, 4, hard[1]), False),
        "empty": lambda: ("connect4", board, ["startpos"], False),
        "middle": lambda: ("connect4", board, connect4_positions(middle[0], files, 3, middle[1]), True),
        "endings": lambda: (
            "othello",
            large,
            endings(large, range(6, 8) if tiny else range(10, 13), files if tiny else 100_000),
            True,
        ),
        "mixed": lambda: (
            "connect4",
            board,
            shuffled(
                connect4_positions(middle[0], files * 99 // 100, 3, middle[1])
                + connect4_positions(hard[0], max(1, files // 100), 4, hard[1])
            ),
            True,
        ),
        "mixed endings": lambda: (
            "othello",
            large,
            shuffled(
                endings(large, range(5, 8) if tiny else range(8, 13), 20 * files * 99 // 100)
                + endings(large, range(9, 10) if tiny else range(15, 19), max(1, 20 * files // 100))
            ),
            True,
        ),
        "deep": lambda: (
            "othello",
            large,
            drawn("othello", large, range(11, 12) if tiny else range(22, 23), 1, 5),
            False,
        ),
    }
    make["leaves"] = make["deep"]
    for name in wanted:
        yield name, *make[name]()


def shuffled(texts):
    return random.Random(7).sample(texts, len(texts))


def wait(comm):
    """Wait for all ranks without a core's work."""
    request = comm.Ibarrier()
    while not request.Test():
        time.sleep(1e-3)


class Pool:
    """The three ways, each a communicator of the ranks that take part in it."""

    def __init__(self, comm, emulated, table):
        rank = self.rank = comm.Get_rank()
        self.comm, self._table = comm, table
        parts = {"gpu": rank < 2, "cpu": rank != 1, "both": True}
        self._comms = {way: comm.Split(0 if parts[way] else MPI.UNDEFINED, rank) for way in WAYS}
        gpu = EmulatedGpu(1) if emulated and rank == 1 else None

        def chosen(comm, name):  # in all ways rank 1 alone has a GPU
            return gpu if emulated or rank != 1 or name == "cpu" else device.Gpu(0)

        devices.chosen = chosen

    def measured(self, way, game, board, texts, as_file, **options):
        """Return (seconds, scores) of a way, on rank 0; options: of the searches."""
        comm, found = self._comms[way], None
        if comm != MPI.COMM_NULL:
            with Session(comm, table=self._table, device="cpu" if way == "cpu" else "auto", book="none") as session:
                if session:
                    found = self._searched(session, game, board, texts, as_file, options)
        wait(self.comm)
        return found

    def _searched(self, session, game, board, texts, as_file, options):
        size = f"{board[0]}x{board[1]}"
        session.search(game, drawn(game, board, range(9, 12), 1, 99)[0], size, exact=True)
        if as_file:
            lines_of(session, game, size, texts[: session.ranks])  # the brief kind of job is a setup of its own
        began = time.perf_counter()
        if as_file:
            scores = lines_of(session, game, size, texts)
        else:
            scores = [session.search(game, text, size, exact=True, **options).score for text in texts]
        return time.perf_counter() - began, scores


def lines_of(session, game, size, texts):
    """Return the scores of a file of positions, as ``distsearch solve`` writes them."""
    options, module, rules = resolve(game, size, None, exact=True)
    with tempfile.TemporaryFile() as file:
        file.write("".join(f"{text}\n" for text in texts).encode())
        file.seek(0)
        written = []
        report = Report(session, options, module, rules, file.fileno(), "lines", False, print)
        report.run(written.append)
    return [int(line.rsplit(None, 1)[1]) for line in b"".join(written).splitlines()]


def leaves(pool, args, asked, expected):
    """Measure all ranks together where the GPU rank takes subtrees of an exact search of Othello.

    expected: the scores; returns whether others were found.
    """
    gpu_two_player.does_parts = lambda setup: True
    OthelloToEnd.MOST = _LEAVES_OF
    wrong, ways = False, [{"policy": "brothers"}]
    ways += [{"policy": "window", "load_factor": load} for load in map(float, args.loads.split(","))]
    for options in ways:
        for way in "gpu", "both":
            found = [pool.measured(way, *asked, **options) for _ in range(args.turns)]
            if pool.rank == 0:
                differ = any(scores != expected for _, scores in found)
                wrong |= differ
                seconds = [round(seconds, 4) for seconds, _ in found]
                print_row(case="leaves", way=way, **options, seconds=seconds, differ=differ)
    return wrong


def sweep(pool, args, case):
    """Measure all ranks together where offloading begins at other times, and with other sizes of parts."""
    name, *asked = case
    for alone, grains in itertools.product(map(int, args.alone.split(",")), map(float, args.grains.split(","))):
        gpu_two_player._ALONE, search_tree._MIN_JOBS_IN_AN_OFFLOAD = alone, grains
        found = [pool.measured("both", *asked) for _ in range(args.turns)]
        if pool.rank == 0:
            print_row(sweep=name, alone=alone, grains=grains, seconds=[round(seconds, 4) for seconds, _ in found])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--emulated", action="store_true")
    parser.add_argument("--cases", default=",".join(CASES), help="some of them, separated by commas")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--hard", type=int, default=8, help="positions of the case of that name")
    parser.add_argument("--table", type=int, default=None, help="MiB of the CPU ranks' table")
    parser.add_argument("--alone", default="", help="launches before parts are offloaded, to compare (numbers)")
    parser.add_argument("--loads", default="4,16,64", help="of the case ``leaves``: subtrees a worker, to compare")
    parser.add_argument("--grains", default="2", help="sizes of such parts, likewise (see tree/search_tree.py)")
    args = parser.parse_args()
    comm = MPI.COMM_WORLD
    rank, tiny = comm.Get_rank(), args.emulated
    if comm.Get_size() < 3:
        raise SystemExit("pool.py takes three ranks or more: mpirun -n 16 python benchmarks/gpu/pool.py")
    pool = Pool(comm, tiny, args.table or (2 if tiny else None))
    gpu = (EmulatedGpu(1) if tiny else device.Gpu(0)) if rank == 1 else None
    made = cases(gpu, tiny, args.cases.split(","), 2 if tiny else args.hard)
    wrong = False
    for _ in args.cases.split(","):
        case = next(made) if rank == 1 else None
        wait(comm)
        name, game, board, texts, as_file = comm.bcast(case, 1)
        rows = {way: [] for way in WAYS}
        for _, way in itertools.product(range(1 if tiny else args.turns), WAYS):
            rows[way].append(pool.measured(way, game, board, texts, as_file))
        if rank == 0:
            best = {way: min(seconds for seconds, _ in found) for way, found in rows.items()}
            differ = any(scores != rows["cpu"][0][1] for found in rows.values() for _, scores in found)
            wrong |= differ
            alone = min(best["gpu"], best["cpu"])
            print_row(
                case=name,
                positions=len(texts),
                ranks=comm.Get_size(),
                seconds={way: round(seconds, 4) for way, seconds in best.items()},
                all={way: [round(seconds, 4) for seconds, _ in found] for way, found in rows.items()},
                gain=alone / best["both"],
                differ=differ,
            )
        if name == "leaves":
            wrong |= leaves(pool, args, (game, board, texts, as_file), rows["cpu"][0][1] if rank == 0 else None)
        if game == "connect4" and not as_file and args.alone:
            sweep(pool, args, (name, game, board, texts, as_file))
    wrong = comm.bcast(wrong)
    if wrong:
        sys.exit(1)


if __name__ == "__main__":
    try:
        main()
    except Exception:
        traceback.print_exc()
        sys.stderr.flush()
        MPI.COMM_WORLD.Abort(1)
