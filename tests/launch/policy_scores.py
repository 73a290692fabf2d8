"""Every policy against the sequential engine: is the score the same, on real ranks and on virtual workers?

    mpirun -n 5 python tests/launch/policy_scores.py
    python tests/launch/policy_scores.py --simulated 200

Positions of both games on several boards are drawn from a seed, each to be searched to the end of the game or to a
depth, and searched by all policies: on the ranks that there are, on one without mpirun, or on so many virtual workers.
Every wrong score is printed with the command that searches the position again; the exit status is then 1.
"""

import argparse
import functools
import random
import shlex
import sys
import time
from dataclasses import replace
from multiprocessing import get_context
from typing import NamedTuple

from distsearch import games
from distsearch.api.options import Options
from distsearch.api.progress import Silent
from distsearch.api.session import Session
from distsearch.api.simulate import Machine
from distsearch.api.two_player import TwoPlayerSearcher
from distsearch.cluster import mpi_runtime
from distsearch.cluster.local import InProcessCluster
from distsearch.engines.pvs.table import new_shared_table
from distsearch.games.random_play import random_position
from distsearch.jobs.two_player import kinds
from distsearch.tree.policies import POLICIES

SEARCHES = [  # game, board, plies played before, limit: mostly some ten thousand to a million nodes
    ("othello", (6, 6), range(16, 21), {"exact": True}),
    ("connect4", (6, 7), range(10, 15), {"exact": True}),
    ("othello", (8, 8), range(10, 50), {"depth": 8}),
    ("connect4", (6, 7), range(0, 25), {"depth": 13}),
    ("othello", (8, 8), range(46, 50), {"exact": True}),
    ("connect4", (5, 6), range(4, 11), {"exact": True}),
    ("othello", (5, 8), range(0, 25), {"depth": 10}),
    ("connect4", (7, 7), range(0, 30), {"depth": 12}),
]
TABLE = 1  # MiB: so small that of an earlier search of a position hardly anything is left


class Case(NamedTuple):
    """A position to search.

    options: all but the policy; machine: what simulates it, but for how many its workers are, and how fast; seconds: a
    worker alone is to take there, for what is done too soon is not shared out.
    """

    number: int
    position: object
    text: str
    options: Options
    machine: Machine
    seconds: float


def drawn(seed, number):
    """Return the Case of that number."""
    rng = random.Random(f"{seed} {number}")
    name, board, plies, limit = SEARCHES[number % len(SEARCHES)]
    game = games.find(name)
    rules = game.rules(board)
    position = random_position(game, rules, plies, rng)
    options = Options(name, board=board, load_factor=rng.choice((1, 2, 4, 8)), **limit)
    machine = Machine(
        network=rng.choice(("host", "tcp")),
        delay=rng.choice((0.0, 1e-4)),
        spread=rng.choice((0.0, 0.3)),
        jitter=rng.choice((0.0, 0.5)),
        seed=number,
        table=TABLE,
    )
    return Case(number, position, game.text(position, rules), options, machine, rng.choice((0.1, 1.0, 10.0)))


@functools.cache
def _alone():
    """A cluster of one worker, which does each search as one job."""
    return InProcessCluster(kinds(new_shared_table(TABLE)))


def searched(case, cluster, **changed):
    """Return the Outcome of a case on a cluster; changed: of its options."""
    (outcome,) = TwoPlayerSearcher(replace(case.options, **changed), cluster, Silent()).search([case.position])
    return outcome


def sequential(case):
    """Return the Outcome of the sequential engine."""
    return searched(case, _alone(), policy="pool", load_factor=1)


class Checked(NamedTuple):
    """A search of a case. wrong: what is, or None; shared: whether it was more than one job."""

    policy: str
    wrong: str | None
    shared: bool


def checked(case, policy, outcome, expected, command):
    """Compare an Outcome with that of the sequential engine; command: that searches the position again."""
    wrong = None
    if not outcome.complete or (outcome.score, outcome.proved) != (expected.score, expected.proved):
        found = f"{outcome.score:g}{'' if outcome.complete else ' (incomplete)'}"
        wrong = f"{case.number}, {policy}: {found} instead of {expected.score:g}: {command}"
    return Checked(policy, wrong, outcome.jobs > 1)


def command(case, policy, *how):
    """Return the command line of a search; how: its first words, to which others are added."""
    options, given = case.options, [*how, case.options.game, case.text, "--board", "{}x{}".format(*case.options.board)]
    given += ["--exact"] if options.exact else ["--depth", options.depth]
    return shlex.join(map(str, [*given, "--policy", policy, "--load-factor", options.load_factor, "--table", TABLE]))


def on_ranks(session, cases):
    """Yield a Checked of every case and policy on the ranks of a session.

    All cases by one policy come before those by the next, so that tables have forgotten what the last one found.
    """
    expected = [sequential(case) for case in cases]
    launcher = ["mpirun", "-n", session.ranks] if session.ranks > 1 else []
    for policy in POLICIES:
        for case, right in zip(cases, expected):
            again = command(case, policy, *launcher, "distsearch", "search")
            yield checked(case, policy, searched(case, session.cluster, policy=policy), right, again)


def simulated(workers, seed, number):
    """Return a list of a Checked of every policy on so many virtual workers."""
    case = drawn(seed, number)
    expected = sequential(case)
    machine = replace(case.machine, workers=workers, rate=max(1e3, expected.nodes // case.seconds))
    how = [f"--{name}={getattr(machine, name)}" for name in ("network", "rate", "delay", "spread", "jitter", "seed")]
    found = []
    for policy in POLICIES:
        again = command(case, policy, "distsearch", "simulate", f"--workers={workers}", *how)
        found.append(checked(case, policy, searched(case, machine.cluster(), policy=policy), expected, again))
    return found


def on_virtual_workers(args):
    """Yield the same for the virtual workers that the arguments ask for."""
    with get_context("spawn").Pool(args.processes) as pool:
        for found in pool.imap(functools.partial(simulated, args.simulated, args.seed), range(args.positions)):
            yield from found


def report(where, found):
    """Print what is wrong, and a line with counts; return the exit status."""
    began, count, wrong, shared = time.perf_counter(), 0, 0, dict.fromkeys(POLICIES, 0)
    for each in found:
        count += 1
        shared[each.policy] += each.shared
        if each.wrong:
            wrong += 1
            print(each.wrong, flush=True)
    jobs = ", ".join(f"{policy} {number}" for policy, number in shared.items())
    positions, seconds = count // len(POLICIES), time.perf_counter() - began
    print(
        f"{positions} positions on {where}: {count} searches, {wrong} wrong; of several jobs: {jobs}; {seconds:.0f} s"
    )
    return int(wrong > 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--positions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--simulated", type=int, metavar="WORKERS", help="virtual ones, instead of ranks")
    parser.add_argument("--processes", type=int, default=2, help="that simulate side by side")
    args = parser.parse_args()
    if args.simulated:
        return report(f"{args.simulated} virtual workers", on_virtual_workers(args))
    with Session(mpi_runtime.world(), TABLE) as session:
        if session is None:
            return 0
        cases = [drawn(args.seed, number) for number in range(args.positions)]
        return report(f"{session.ranks} rank{'s' * (session.ranks > 1)}", on_ranks(session, cases))


if __name__ == "__main__":
    sys.exit(main())
