"""Measure what several GPUs of one host gain: files, one search, whole games and training, a rank for each GPU.

    mpirun -n 5 python -m benchmarks.gpu.cards              # rank 0 the master, 4 GPUs; as many as there are ranks for
    mpirun -n 3 python -m benchmarks.gpu.cards --emulated   # the script itself, on small boards, without a GPU

One JSON line for each row and number of GPUs: 1, 2, 4 and so on. ``share``: how many times as fast as one GPU, divided
by their number, so 1 is all that can be gained: by seconds, of games and training by moves a second. Each session but
of training has had a short case of its kind before it is timed. Parts:

- ``empty``, ``seven``: the empty boards of Connect 4 of 6x7 and 7x7, exact, by the policy that is the default
- ``middle``: Connect 4 positions with 8 to 14 stones and 14 to 27 plies to go, a file (``--positions``)
- ``endings``: 400,000 positions of Othello with 10 to 12 empty squares, a file
- ``play``: games of 2584 and 2048 by searches of 2 and 3 layers
- ``train``: games of 2584 with no search and with one of 3 layers, by both ``--exchange games`` and ``weights``; no
  master: all ranks but the last learn

Scores of files and searches by several GPUs are compared with those by one; a difference ends the script with status 1.
"""

import argparse
import sys
import time
import traceback

from mpi4py import MPI

from benchmarks.gpu.pool import drawn, endings, lines_of, remote, wait
from distsearch.api import devices
from distsearch.api.progress import Silent
from distsearch.api.session import Session
from distsearch.evaluation.ntuple import SMALLER
from distsearch.gpu import device
from distsearch.learning.options import TrainOptions
from distsearch.learning.train import Files, train
from distsearch.studies.gpu_bench.timing import print_row
from distsearch.testing.emulated_gpu import EmulatedGpu

PARTS = "empty", "seven", "middle", "endings", "play", "train"
GAMES = {("2584", 2): 16_384, ("2584", 3): 2_000, ("2048", 2): 8_000, ("2048", 3): 1_000}  # that are played


def numbers(most):
    """Return 1, 2, 4 and so on up to ``most``."""
    return [1 << i for i in range(most.bit_length())]


class Cards:
    """Communicators of the first ranks, each worker of which has a GPU of its own."""

    def __init__(self, comm, tiny):
        self.comm, self.rank, self.tiny, self._gpu = comm, comm.Get_rank(), tiny, None
        self.numbers = numbers(comm.Get_size() - 1)
        self._comms = {k: comm.Split(0 if self.rank <= k else MPI.UNDEFINED, self.rank) for k in self.numbers}
        self._learners = {k: comm.Split(0 if self.rank < k else MPI.UNDEFINED, self.rank) for k in self.numbers}
        if tiny:
            devices.chosen = lambda comm, name: EmulatedGpu(1) if comm.Get_rank() else None

    def in_session(self, cards, asked):
        """Return what ``asked`` makes of a session of so many GPUs, on rank 0."""
        comm, found = self._comms[cards], None
        if comm != MPI.COMM_NULL:
            with Session(comm, table=1 if self.tiny else None, device="gpu", book="none") as session:
                if session:
                    found = asked(session)
        wait(self.comm)
        return found

    def learn(self, cards, **options):
        """Return the moves a second of training by so many GPUs, on rank 0."""
        comm, found, gpu = self._learners[cards], None, EmulatedGpu(1) if self.tiny else None
        if comm != MPI.COMM_NULL:
            asked = TrainOptions("2584", tuples="3x4", device="gpu", seed=1, **options)
            found = train(asked, Files(), comm, Silent(), lambda: False, lambda line: None, gpu)
        wait(self.comm)
        return found and found.moves / found.seconds


def searched(game, board, texts, as_file):
    """Return a function of a session that returns (seconds, scores)."""
    size = f"{board[0]}x{board[1]}"

    def asked(session):
        if as_file:
            lines_of(session, game, size, texts[: 64 * session.ranks])
        else:
            session.search(game, drawn(game, board, range(9, 12), 1, 99)[0], size, exact=True)
        began = time.perf_counter()
        if as_file:
            scores = lines_of(session, game, size, texts)
        else:
            scores = [session.search(game, text, size, exact=True).score for text in texts]
        return time.perf_counter() - began, scores

    return asked


def measure_search(cards, part, game, board, texts, as_file):
    """Print rows of exact searches; return whether scores differ."""
    first, differ = None, False
    for k in cards.numbers:
        found = [cards.in_session(k, searched(game, board, texts, as_file)) for _ in range(1 if cards.tiny else 2)]
        if cards.rank:
            continue
        best = min(seconds for seconds, _ in found)
        first = first or (best, found[0][1])
        differ |= any(scores != first[1] for _, scores in found)
        print_row(part=part, gpus=k, positions=len(texts), seconds=best, all=[each for each, _ in found],
                  times=first[0] / best, share=first[0] / best / k)  # fmt: skip
    return differ


def measure_rates(cards, rates, **named):
    """Print rows of moves a second; rates(k): returns them on rank 0."""
    first = None
    for k in cards.numbers:
        rate = rates(k)
        if cards.rank == 0:
            first = first or rate
            print_row(**named, gpus=k, moves_per_second=rate, times=rate / first, share=rate / first / k)


def play(cards):
    for (game, layers), games in GAMES.items():
        count = 4 if cards.tiny else games
        chosen = "rows" if cards.tiny else SMALLER[game]

        def rate(session, game=game, layers=layers, count=count, chosen=chosen):
            session.play(game, session.ranks, layers=1, evaluation=chosen)
            found = session.play(game, count, layers=1 if cards.tiny else layers, evaluation=chosen, seed=1)
            return found.moves / found.seconds

        measure_rates(cards, lambda k, rate=rate: cards.in_session(k, rate), part="play", game=game, layers=layers)


def learn(cards):
    for layers, games in (0, 300_000), (3, 2_000):
        for exchange in "games", "weights":
            options = {"layers": layers, "games": games, "exchange": exchange}
            if cards.tiny:
                options |= {"layers": min(layers, 1), "games": 6}
            if exchange == "weights":
                options |= {"merge": "mean"}
            measure_rates(cards, lambda k, options=options: cards.learn(k, **options), part="train", **options)


def positions_of(part, tiny, count, gpu):
    """Return (game, board, texts, whether they are a file)."""
    if part in ("empty", "seven"):
        small = (4, 4) if part == "empty" else (4, 5)
        return "connect4", small if tiny else (6, 7) if part == "empty" else (7, 7), ["startpos"], False
    if part == "endings":
        board, empty = ((6, 6), range(6, 8)) if tiny else ((8, 8), range(10, 13))
        return "othello", board, endings(board, empty, 40 if tiny else 400_000), True
    board, left, plies = ((4, 6), range(10, 14), range(1, 12)) if tiny else ((6, 7), range(28, 35), range(14, 28))
    return "connect4", board, drawn("connect4", board, left, count, 3, remote(gpu, board, plies)), True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--emulated", action="store_true")
    parser.add_argument("--parts", default=",".join(PARTS), help="some of them, separated by commas")
    parser.add_argument("--positions", type=int, default=10_000, help="of the part middle")
    args = parser.parse_args()
    comm, tiny, differ = MPI.COMM_WORLD, args.emulated, False
    if comm.Get_size() < 2:
        raise SystemExit("cards.py takes two ranks or more: mpirun -n 5 python -m benchmarks.gpu.cards")
    if unknown := set(args.parts.split(",")) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}")
    cards = Cards(comm, tiny)
    for part in args.parts.split(","):
        if part == "play":
            play(cards)
        elif part == "train":
            learn(cards)
        else:
            asked = None
            if comm.Get_rank() == 1:
                gpu = EmulatedGpu(1) if tiny else device.Gpu(0)
                asked = positions_of(part, tiny, 40 if tiny else args.positions, gpu)
                gpu.close()
            wait(comm)
            differ |= measure_search(cards, part, *comm.bcast(asked, 1))
    if comm.bcast(differ):
        sys.exit(1)


if __name__ == "__main__":
    try:
        main()
    except Exception:
        traceback.print_exc()
        sys.stderr.flush()
        MPI.COMM_WORLD.Abort(1)
