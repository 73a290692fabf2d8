"""Searches on virtual workers that die, are slow, and send their messages late: is the score the right one?

    python tests/api/faulty_runs.py --runs 5000 --seed 1

Each run is drawn from its own seed: game, board, position, policy, machine and faults. Its score, or counts, must be
those of a cluster of one worker. Failures are printed with their seeds; ``--runs 1 --seed S`` tells how one went.
"""

import argparse
import functools
import random
import time
import traceback
from collections import Counter
from dataclasses import replace
from math import inf
from multiprocessing import get_context
from typing import NamedTuple

from distsearch import games
from distsearch.api.book import BookAnswers
from distsearch.api.options import Options
from distsearch.api.perft import perft
from distsearch.api.progress import Silent
from distsearch.api.simulate import Machine
from distsearch.api.solve import solve
from distsearch.api.two_player import TwoPlayerSearcher
from distsearch.cluster.local import InProcessCluster
from distsearch.cluster.simulated import Faults
from distsearch.cluster.submaster import blocks
from distsearch.engines.pvs.table import new_shared_table
from distsearch.games.random_play import random_positions
from distsearch.jobs.two_player import kinds
from distsearch.tree.policies import POLICIES

SEARCHES = [  # game, board, plies played before, limits
    ("othello", (4, 4), range(0, 7), [{"exact": True}]),
    ("othello", (6, 6), range(21, 29), [{"exact": True}]),
    ("othello", (6, 6), range(0, 26), [{"depth": depth} for depth in (2, 4, 5)]),
    ("connect4", (4, 5), range(4, 13), [{"exact": True}]),
    ("connect4", (5, 6), range(12, 21), [{"exact": True}]),
    ("connect4", (6, 7), range(0, 31), [{"depth": depth} for depth in (3, 6, 7)]),
]
WAYS = ["search"] * 6 + ["moves", "perft", "solve", "solve"]
LONGEST = 10_000  # deadlines: what takes longer hangs
FIRST_SLICE = 1000  # nodes, of a worker that does not know its rate yet
SHORTEST_DEADLINE = 0.03  # seconds: a worker takes 14 ms at most for a batch of positions, and hears nothing meanwhile


class Case(NamedTuple):
    """A run to do: how (see WAYS), and of what; first_try: nodes after which a stream's position is hard."""

    way: str
    options: Options
    positions: list
    depth: int  # of perft
    first_try: int
    machine: Machine


def random_faults(rng, workers, submasters, rate):
    """Faults of all ranks but a worker and its sub-master, if it has one, so that some worker is always left."""
    leaders = blocks(workers + submasters + 1, submasters)
    spared = next(([leader, rng.choice(ranks)] for leader, ranks in leaders.items()), [rng.randint(1, workers)])
    ranks = [rank for rank in range(1, workers + submasters + 1) if rank not in spared]
    rng.shuffle(ranks)
    deadline = max(SHORTEST_DEADLINE, rng.choice((6, 6, 20, 100)) * FIRST_SLICE / rate)
    dying, slow, late = (ranks[: rng.choice((0, 0, 1, 2, workers))] for _ in range(3) if rng.shuffle(ranks) is None)
    span = 10 ** rng.uniform(-4, 0) * 1e5 / rate  # of most runs at such a rate
    return Faults(
        deadline,
        {rank: rng.uniform(0, span) for rank in dying},
        {rank: rng.choice((3, 10, 100)) for rank in slow},
        {rank: rng.choice((0.02, 0.3)) for rank in late},
        deadline * rng.choice((0.1, 1, 3)),
    )


def drawn(seed):
    """Return the Case of a seed."""
    rng = random.Random(seed)
    name, board, plies, limits = rng.choice(SEARCHES)
    limit, way, policy = rng.choice(limits), rng.choice(WAYS), rng.choice(list(POLICIES))
    game = games.find(name)
    count = rng.choice((1, 5, 40)) if way == "solve" else 1
    positions = random_positions(game, game.rules(board), plies, count, rng)
    options = Options(name, board=board, policy=policy, all_moves=way == "moves", **limit)
    workers, rate = rng.randint(2, 12), rng.choice((1e4, 1e5, 1e6))  # slow ones have more that is worth sharing out
    submasters = rng.choice((0, 0, rng.randint(1, min(4, workers))))
    machine = Machine(
        workers,
        rng.choice(("tcp", "host")),
        delay=rng.choice((0.0, 1e-4)),
        jitter=rng.choice((0.0, 0.3)),
        rate=rate,
        seed=seed,
        table=1,
        submasters=submasters,
        faults=random_faults(rng, workers, submasters, rate),
    )
    return Case(way, options, positions, rng.randint(2, 4), rng.choice((20, 300, 10**6)), machine)


class Here(NamedTuple):
    """What ``solve`` takes for a session."""

    cluster: object
    interrupted: object
    progress = Silent()


def answers(case, cluster, interrupted=lambda: False, **changed):
    """Return what a cluster finds; interrupted: of the search; changed: of the case's options."""
    options, quiet = replace(case.options, **changed), Silent()
    if case.way == "perft":
        counts = perft(options, case.depth, case.positions, cluster, quiet, interrupted)
        return [(count.complete, count.counts) for count in counts]
    searcher = TwoPlayerSearcher(options, cluster, quiet, interrupted)
    if case.way == "solve":
        _try_briefly(searcher, case.first_try)
        book = BookAnswers(None, options, cluster)
        texts = (searcher.game.text(each, searcher.rules) for each in case.positions)
        found = solve(Here(cluster, interrupted), searcher, texts, book)
    else:
        found = searcher.search(case.positions)
    return [(outcome.complete, outcome.score, outcome.moves and _scores(outcome.moves)) for outcome in found]


def _try_briefly(searcher, nodes):
    """Have a searcher's streams take positions for hard after so many nodes."""
    make = searcher.stream

    def stream(*args, **options):
        made = make(*args, **options)
        made._first_try = made._first_try and nodes
        return made

    searcher.stream = stream


def _scores(moves):
    return sorted((move["move"], move["score"]) for move in moves)


@functools.cache
def kinds_alone():
    """The kinds of job of the worker whose answers are right: its table is no other search's."""
    return kinds(new_shared_table(1))


class Done(NamedTuple):
    """How a run went: what is wrong (None: nothing), and the numbers that are of interest."""

    seed: int
    wrong: str | None
    counts: Counter


def do(seed, tell=lambda line: None):
    """Do the run of a seed; return how it went. tell(line): told what happened."""
    case = drawn(seed)
    tell(f"{case.way} {case.options}\n{case.machine}")
    cluster = case.machine.cluster()
    try:
        found = answers(case, cluster, lambda: cluster.clock() > LONGEST * case.machine.faults.worker_timeout)
        expected = answers(case, InProcessCluster(kinds_alone()), policy="pool", load_factor=1)
        wrong = None if found == expected else f"{found} instead of {expected}"
    except Exception:
        wrong = traceback.format_exc()
    died = {rank for rank, when in case.machine.faults.deaths.items() if when <= cluster.clock()}
    lost = [rank for rank, _ in cluster.lost]
    tell(f"died {sorted(died)}, lost {lost}, back {[rank for rank, _ in cluster.rejoined]}, {cluster.clock():.4f} s")
    counts = Counter(
        deaths=len(died),
        losses=len(lost),
        restarts=len(cluster.rejoined),
        ignored=cluster.ignored,
        suspicions=sum(case.machine.faults.deaths.get(rank, inf) > cluster.clock() for rank in lost),
    )
    return Done(seed, wrong, counts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1, help="of the first run; the others follow")
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    if args.runs == 1:
        print(do(args.seed, print).wrong or "the right answer")
        return
    began, total, failed = time.perf_counter(), Counter(), 0
    with get_context("spawn").Pool(args.processes) as pool:
        for done in pool.imap_unordered(do, range(args.seed, args.seed + args.runs), chunksize=4):
            total += done.counts
            if done.wrong:
                failed += 1
                print(f"seed {done.seed}: {done.wrong}", flush=True)
    counts = ", ".join(f"{number:,} {name}" for name, number in total.items())
    print(f"{args.runs:,} runs, {failed} wrong; {counts}; {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
