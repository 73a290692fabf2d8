"""Learning without a search on all ranks of a host, with private pages and without, compared with one rank alone.

    mpirun -n 15 python benchmarks/private_pages.py
    mpirun -n 15 python benchmarks/private_pages.py --networks 2584:3x4 --seeds 1,2,3

For each network: rank 0 alone, while the others sleep; all ranks as if there were no private pages; and all ranks.
Each learns from ``--games`` games, then plays others without learning, which give the average and its standard error;
then it learns for ``--seconds`` more, which give the moves a second, and how many times those of one rank. ``first``:
moves a second of the games before, where pages are shared for a while. ``merging``: of rank 0's time after them. With
several seeds averages are means, and errors are those among seeds, or of the games if that is more, as in
``learning.py``. It takes about a minute, and another one where kernels are still to be compiled.
"""

import argparse
import math
import statistics
import time

from distsearch import games
from distsearch.evaluation import ntuple
from distsearch.evaluation.tuple_network import sizes
from distsearch.learning import cpu_team as teams
from distsearch.learning.cpu_team import Team, shared_size
from distsearch.learning.learner import Learner
from distsearch.learning.private_pages import private_pages
from distsearch.learning.rank_group import wait
from distsearch.learning.shared_arrays import RESULTS, Arrays

RATE = 0.1
WATCHED = 1 << 62  # number of the first game without learning


class Learning:
    """One training by all ranks of ``comm``, or by this process alone (None); ``lead`` runs it on rank 0."""

    def __init__(self, comm, name, tuples, seed, private):
        self.team, game = Team(comm), games.find(name)
        team, tuples = self.team, ntuple.checked_tuples(game, tuples, (4, 4))
        if team.copies > 1:
            raise SystemExit("this is for ranks of one host")
        self.arrays = Arrays(team.sharers, 1, sum(sizes(tuples, 1 << game.BITS)), False, shared_size(team.ranks))
        self.pages = private_pages(self.arrays, team.place, team.ranks, RATE) if private else None
        self.learner = Learner(game, game.rules(), tuples, True, (), self.arrays, RATE, seed, pages=self.pages)
        if team.first:
            self._compile()
        team.meet()
        if not team.first:
            self._compile()
        team.join(self.arrays, self.learner, None, self.pages)
        team.meet(count_from_here=True)
        self.begun = 0

    def _compile(self):
        self.learner.compile()
        if self.pages is not None:
            self.pages.compile()

    def lead(self, count, evaluated, seconds):
        """Return (average, its error, moves a second of the first games, and of later ones, share of merging)."""
        first = self._rate(count, math.inf)
        scores = (self.team.phase(teams.WATCH, WATCHED, evaluated)[:, 0] - 1).tolist()
        error = statistics.stdev(scores) / math.sqrt(evaluated)
        merging = 0.0 if self.pages is None else self.pages.seconds
        later = self._rate(1 << 40, seconds)
        share = 0.0 if self.pages is None else (self.pages.seconds - merging) / seconds
        return statistics.fmean(scores), error, first, later, share

    def _rate(self, count, seconds):
        """Learn from so many games, or for so long; return the moves a second."""
        began, moves, last = time.perf_counter(), 0, self.begun + count

        def between():
            if time.perf_counter() - began > seconds and not self.team.stopped:
                self.team.stop()

        while self.begun < last and time.perf_counter() - began < seconds:
            found = self.team.phase(teams.LEARN, self.begun, min(last - self.begun, RESULTS), between=between)
            moves += int(found[found[:, 0] > 0, 2].sum())
            self.begun += len(found)
        return moves / (time.perf_counter() - began)

    def close(self):
        if self.pages is not None:
            self.pages.close()
        self.arrays.close()


def measured(args, comm, network, seed, private):
    """Return what ``lead`` does, on rank 0."""
    learning = Learning(comm, *network.split(":"), seed, private)
    found = None
    if learning.team.first:
        found = learning.lead(args.games, args.evaluated, args.seconds)
        learning.team.finish()
    else:
        learning.team.work()
    learning.close()
    return found


def row(args, network, what, found, base):
    """Print what was measured with all seeds; return (mean, its error, moves a second)."""
    averages, errors, first, later, shares = map(list, zip(*found, strict=True))
    among = statistics.stdev(averages) if len(averages) > 1 else 0.0
    error = max(among, statistics.fmean(errors)) / math.sqrt(len(averages))
    mean, rate = statistics.fmean(averages), statistics.fmean(later)
    base = base or (mean, error, rate)
    apart = (mean - base[0]) / math.hypot(error, base[1])
    print(
        f"| {network} | {what} | {statistics.fmean(first):,.0f} | {rate:,.0f} | {rate / base[2]:.2f} | "
        f"{statistics.fmean(shares):.1%} | {mean:,.0f} ± {error:,.0f} | {apart:+.2f} |",
        flush=True,
    )
    return base


def main():
    from mpi4py import MPI

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default="2584:3x4,2048:4x6", help="game:tuples, several with commas")
    parser.add_argument("--games", type=int, default=20_000)
    parser.add_argument("--evaluated", type=int, default=1000, help="games without learning")
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--seeds", default="1")
    args, comm = parser.parse_args(), MPI.COMM_WORLD
    first, ranks = comm.Get_rank() == 0, comm.Get_size()
    if first:
        print("| network | ranks | first | moves/s | times | merging | average | standard errors from one rank |")
        print("|---|---|---|---|---|---|---|---|", flush=True)
    for network in args.networks.split(","):
        base = None
        for what, private in (("1", False), (f"{ranks}, all shared", False), (f"{ranks}", True)):
            alone, found = what == "1", []
            for seed in map(int, args.seeds.split(",")):
                if first or not alone:
                    found.append(measured(args, None if alone else comm, network, seed, private))
                wait(comm.Ibarrier())
            if first:
                base = row(args, network, what, found, base)


if __name__ == "__main__":
    main()
