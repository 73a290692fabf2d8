"""What a job costs the master in CPU time: a search on virtual workers, its messages handled once more.

    python benchmarks/master_cost.py --workers 63 --ranks 3

Solves an Othello position, reached by random moves from a seed, on virtual workers, and keeps every event that the
master gets. Then a new master gets the same events, and nothing else is done: microseconds of CPU a job and a
message, minima of the repeats. The parts: to decode what comes in, what the source of work takes, what the master does
besides, and to encode what goes out. ``--ranks``: the same search by mpirun on so many ranks, where MPI's calls and the
looks for mail are counted as well.
"""

import argparse
import json
import random
import shutil
import subprocess
import sys
import time
from collections import Counter

from distsearch import games
from distsearch.cluster import messages
from distsearch.cluster.master import Begin, Master, Received
from distsearch.cluster.messages import decode, encode
from distsearch.cluster.simulated import NETWORKS, Processors, SimulatedCluster
from distsearch.games.interface import legal_moves, step
from distsearch.search.table import far_table
from distsearch.service.options import Options
from distsearch.service.progress import Silent
from distsearch.service.search import Searcher
from distsearch.tree.jobs import TO_THE_END, kinds

_NAMES = {getattr(messages, name): name for name in ("SETUP", "READY", "OPEN", "JOBS", "RESULTS", "STEER", "GAVE")}


class Recording(SimulatedCluster):
    """A simulated cluster that keeps what its master gets: (sender, buffer), and the events that are no messages."""

    def __init__(self, *how):
        super().__init__(*how)
        self.recorded = []

    def _act(self, event):
        received = isinstance(event, Received)
        self.recorded.append((event.sender, encode(event.message)) if received else (None, event))
        super()._act(event)


class Traced:
    """A source that keeps what it is asked."""

    def __init__(self, source):
        self._source, self.calls = source, []
        self.result_dtype = source.result_dtype

    waiting = property(lambda self: self._source.waiting)
    done = property(lambda self: self._source.done)
    saved = property(lambda self: self._source.saved)

    def _asked(self, name, *arguments):
        self.calls.append((name, arguments))
        return getattr(self._source, name)(*arguments)

    def take(self, count, worker):
        return self._asked("take", count, worker)

    def finish(self, results):
        return self._asked("finish", results)

    def wishes(self, idle):
        return self._asked("wishes", idle)

    def gave(self, job, rest, part):
        return self._asked("gave", job, rest, part)


def random_position(game, rules, empties, rng):
    position = game.start(rules)
    while game.moves_left(position.state, rules) > empties:
        moves = legal_moves(game, position, rules)
        position = step(game, position, rules, rng.choice(moves)) if moves else game.start(rules)
    return position


def handle(recorded, hosts, source, work):
    """Have a new master handle it all; ``work(message)`` is done with what goes out. Return (CPU seconds, messages)."""
    master, out = Master(hosts), Counter()
    events = [
        (sender, event._replace(source=source) if isinstance(event, Begin) else event) for sender, event in recorded
    ]
    took = -time.process_time()
    for sender, event in events:
        for _, message in master.handle(event if sender is None else Received(sender, decode(event))):
            work(message)
    took += time.process_time()
    return took, out


def decoding(recorded):
    began = time.process_time()
    for sender, event in recorded:
        if sender is not None:
            decode(event)
    return time.process_time() - began


def asking(calls, source):
    """Return the CPU seconds of a new source that is asked the same."""
    began = time.process_time()
    for name, arguments in calls:
        if not source.done and source.waiting >= 0:  # which the master wants to know each time
            getattr(source, name)(*arguments)
    return time.process_time() - began


def virtual(args, game, rules, position):
    """Print what a job costs without MPI."""
    processors = Processors(args.rate)
    cluster = Recording(kinds(far_table(64)), args.workers, NETWORKS["host"], processors)
    searcher = Searcher(Options("othello", policy=args.policy, exact=True), cluster, Silent())
    outcome = next(searcher.search([position]))
    hosts = dict.fromkeys(range(1, args.workers + 1), "virtual0")

    def source():
        return searcher._pool([position.state], TO_THE_END)

    traced, sent = Traced(source()), []
    handle(cluster.recorded, hosts, traced, sent.append)
    received = [decode(event) for sender, event in cluster.recorded if sender is not None]
    print(
        f"{outcome.position}: {outcome.score}, {outcome.nodes:,} boards, {outcome.jobs} jobs, {outcome.seconds:.2f} s"
    )
    print("received", _counted(received, outcome.jobs))
    print("sent    ", _counted(sent, outcome.jobs))
    took = {"decode": [], "source": [], "handle": [], "all": []}
    for _ in range(args.repeats):
        took["decode"].append(decoding(cluster.recorded))
        took["source"].append(asking(traced.calls, source()))
        took["handle"].append(handle(cluster.recorded, hosts, source(), lambda message: None)[0])
        took["all"].append(handle(cluster.recorded, hosts, source(), encode)[0])
    a_job = {name: 1e6 * min(values) / outcome.jobs for name, values in took.items()}
    parts = {
        "decode": a_job["decode"], "source": a_job["source"],
        "master": a_job["handle"] - a_job["decode"] - a_job["source"], "encode": a_job["all"] - a_job["handle"],
    }  # fmt: skip
    print(f"{a_job['all']:.1f} µs a job, {a_job['all'] * outcome.jobs / (len(received) + len(sent)):.1f} µs a message")
    print(", ".join(f"{name} {value:.1f}" for name, value in parts.items()))
    print(f"virtual master {1e6 * cluster.master_busy / outcome.jobs:.1f} µs a job", flush=True)


def _counted(sent, jobs):
    counts = Counter(_NAMES.get(message.type, "others") for message in sent)
    return f"{len(sent) / jobs:.2f} a job: " + ", ".join(f"{name} {n / jobs:.3f}" for name, n in counts.most_common())


def real(args, text):
    """Print what a job costs on real ranks."""
    command = [shutil.which("mpirun"), "-n", str(args.ranks), sys.executable, "-m", "distsearch", "search", "othello"]
    runs = []
    for _ in range(args.repeats):
        how = [text, "--exact", "--policy", args.policy, "--json"]
        done = subprocess.run([*command, *how], capture_output=True, text=True, check=True)
        runs.append(json.loads(done.stdout))
    costs = [f"{1e6 * run['master_seconds'] / run['jobs']:.1f}" for run in runs]
    print(f"{args.ranks} ranks: {', '.join(costs)} µs a job, of {[run['jobs'] for run in runs]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=63)
    parser.add_argument("--empties", type=int, default=22)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=2e6, help="boards a second of a virtual worker")
    parser.add_argument("--policy", default="split")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--ranks", type=int, default=0)
    args = parser.parse_args()
    game = games.find("othello")
    rules = game.rules((8, 8))
    position = random_position(game, rules, args.empties, random.Random(args.seed))
    virtual(args, game, rules, position)
    if args.ranks:
        real(args, game.text(position, rules))


if __name__ == "__main__":
    main()
