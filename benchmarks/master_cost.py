"""The master's CPU time for a job: a search on virtual workers, whose messages a new master handles once more.

    python benchmarks/master_cost.py --workers 63
    mpirun -n 2 python benchmarks/master_cost.py --workers 63

Solves an Othello position, reached by random moves from a seed, on virtual workers, and keeps every event that the
master gets. Then a new master gets the same events, and nothing else is done: microseconds of CPU a job and a
message, minima of the repeats. The parts: to decode incoming messages, the source of work, the master without these,
and to encode outgoing messages. On two ranks, the second one sends the workers' messages by MPI, a few ahead, and
takes what is sent to them, so that MPI's calls and wakeups are counted as well. On real ranks
it is ``master_seconds`` over ``jobs`` of ``search --json``, which includes the sleeps between two messages.

What MPI adds, divided by the messages, is ``Network.handling`` of ``cluster/simulated.py``; what is left of a job,
divided by the messages that the master gets, is ``Processors.message``.
"""

import argparse
import random
import time
from collections import Counter, deque
from typing import NamedTuple

import numpy as np
from mpi4py import MPI

from distsearch import games
from distsearch.api.options import Options
from distsearch.api.progress import Silent
from distsearch.api.two_player import TwoPlayerSearcher
from distsearch.cluster.events import Begin, Received
from distsearch.cluster.mailbox import Mailbox
from distsearch.cluster.master import Master
from distsearch.cluster.messages import MessageType, decode, encode
from distsearch.cluster.simulated import NETWORKS, Processors, SimulatedCluster
from distsearch.cluster.wakeup import Wakeup
from distsearch.engines.pvs.table import new_shared_table
from distsearch.games.interface import legal_moves, step
from distsearch.jobs.two_player import TO_THE_END, kinds

_NAMED = [MessageType[name] for name in ("SETUP", "READY", "OPEN", "JOBS", "RESULTS", "JOB_UPDATE", "SPLIT")]
_AHEAD = 8  # messages that wait for the master while it handles one
_TAG, _MOST = 1, 1 << 20


class Event(NamedTuple):
    """An event of the master: a worker's message or another one."""

    sender: int
    buffer: bytearray  # of a worker's message
    own: object  # another event, or None
    replies: int  # messages that followed

    def with_source(self, source):
        """Return it for a new master."""
        if self.own is None:
            return Received(self.sender, decode(self.buffer))
        return self.own._replace(source=source) if isinstance(self.own, Begin) else self.own


class Recording(SimulatedCluster):
    """A simulated cluster that keeps the events of its master."""

    def __init__(self, *how):
        super().__init__(*how)
        self.recorded, self._replies = [], 0

    def _take_in(self, rank, event):
        super()._take_in(rank, event)
        if isinstance(event, Received):
            self.recorded.append(Event(event.sender, encode(event.message), None, self._replies))
        else:
            self.recorded.append(Event(0, None, event, self._replies))

    def _send(self, rank, now, outgoing):
        self._replies = len(outgoing)
        return super()._send(rank, now, outgoing)


class Traced:
    """A source that keeps the calls of its methods."""

    def __init__(self, source):
        self._source, self.calls = source, []

    def __getattr__(self, name):
        return getattr(self._source, name)

    def _traced(self, name, *arguments):
        self.calls.append((name, arguments))
        return getattr(self._source, name)(*arguments)

    def take(self, count, worker):
        return self._traced("take", count, worker)

    def finish(self, results):
        return self._traced("finish", results)

    def job_updates(self, idle_workers):
        return self._traced("job_updates", idle_workers)

    def on_split(self, job, remainder, subtree):
        return self._traced("on_split", job, remainder, subtree)


class Search:
    """A search on virtual workers, which a new master can repeat."""

    def __init__(self, args, game, rules, position):
        cluster = Recording(kinds(new_shared_table(64)), args.workers, NETWORKS["host"], Processors(args.rate))
        options = Options("othello", policy=args.policy, exact=True)
        self._searcher, self._position = TwoPlayerSearcher(options, cluster, Silent()), position
        self.outcome = next(self._searcher.search([position]))
        self.recorded, self.virtual = cluster.recorded, cluster.master_busy
        self._hosts = dict.fromkeys(range(1, args.workers + 1), "virtual0")
        self.jobs = self.outcome.jobs

    def source(self):
        return self._searcher._pool([self._position.state], TO_THE_END)

    def master(self):
        return Master(self._hosts)


def random_position(game, rules, empties, rng):
    position = game.start(rules)
    while game.moves_left(position.state, rules) > empties:
        moves = legal_moves(game, position, rules)
        position = step(game, position, rules, rng.choice(moves)) if moves else game.start(rules)
    return position


def handle(search, source, work):
    """Have a new master handle it all; ``work(message)`` is done with what goes out. Return the CPU seconds."""
    master = search.master()
    began = time.process_time()
    for event in search.recorded:
        for _, message in master.handle(event.with_source(source)):
            work(message)
    return time.process_time() - began


def decoding(search):
    began = time.process_time()
    for event in search.recorded:
        event.with_source(None)
    return time.process_time() - began


def asking(calls, source):
    """Return the CPU seconds of a new source that gets the same calls."""
    began = time.process_time()
    for name, arguments in calls:
        if not source.done and source.waiting >= 0:  # which the master wants to know each time
            getattr(source, name)(*arguments)
    return time.process_time() - began


def alone(search, repeats):
    """Print what a job costs without MPI, and its parts; return the microseconds."""
    traced, sent = Traced(search.source()), []
    handle(search, traced, sent.append)
    received, outcome = [decode(event.buffer) for event in search.recorded if event.own is None], search.outcome
    print(f"{outcome.position}: {outcome.score}, {outcome.nodes:,} nodes, {outcome.jobs} jobs, {outcome.seconds:.2f} s")
    print("received", _counted(received, search.jobs))
    print("sent    ", _counted(sent, search.jobs))
    took = {"decode": [], "source": [], "handle": [], "all": []}
    for _ in range(repeats):
        took["decode"].append(decoding(search))
        took["source"].append(asking(traced.calls, search.source()))
        took["handle"].append(handle(search, search.source(), lambda message: None))
        took["all"].append(handle(search, search.source(), encode))
    a_job = {name: 1e6 * min(values) / search.jobs for name, values in took.items()}
    parts = {
        "decode": a_job["decode"],
        "source": a_job["source"],
        "master": a_job["handle"] - a_job["decode"] - a_job["source"],
        "encode": a_job["all"] - a_job["handle"],
    }
    print(f"{a_job['all']:.1f} µs a job, {a_job['all'] * search.jobs / (len(received) + len(sent)):.1f} µs a message")
    print(", ".join(f"{name} {value:.1f}" for name, value in parts.items()))
    print(f"the virtual master's: {1e6 * search.virtual / search.jobs:.1f} µs a job", flush=True)
    return a_job["all"]


def _counted(sent, jobs):
    counts = Counter(message.type.name if message.type in _NAMED else "others" for message in sent)
    return f"{len(sent) / jobs:.2f} a job: " + ", ".join(f"{name} {n / jobs:.3f}" for name, n in counts.most_common())


def handle_by_mpi(search, comm, name):
    """The same as ``handle`` with the other rank for all workers; name: of its wakeup socket."""
    mailbox, wakeup, master, source = Mailbox(comm), Wakeup(), search.master(), search.source()
    comm.Barrier()
    took, began = 0.0, time.process_time()
    for event in search.recorded:
        what = event.with_source(source)
        if event.own is None:
            arrived = mailbox.receive()
            if arrived is None:  # to wait does not count
                took += time.process_time() - began
                while (arrived := mailbox.receive()) is None:
                    time.sleep(0)
                began = time.process_time()
            what = Received(event.sender, arrived[1])
        called = set()
        for rank, message in master.handle(what):
            mailbox.send(1, message)
            if rank != event.sender and message.type != MessageType.JOB_UPDATE:
                called.add(rank)
        for _ in called:
            wakeup.notify(name)
    took += time.process_time() - began
    mailbox.flush()
    wakeup.close()
    return took


def play_the_workers(comm, wakeup, events):
    """Send the messages of (buffer or None, replies), never too far ahead of what has come back."""
    room, expected = np.empty(_MOST, np.uint8), deque()
    comm.Barrier()
    for buffer, replies in [*events, *[(None, 0)] * _AHEAD]:
        if buffer is not None:
            comm.Send([buffer, MPI.BYTE], 0, _TAG)
        expected.append(replies)
        if len(expected) > _AHEAD:
            for _ in range(expected.popleft()):
                comm.Recv([room, MPI.BYTE], 0, _TAG)
        wakeup.empty()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=63)
    parser.add_argument("--empties", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=2e6, help="nodes a second of a virtual worker")
    parser.add_argument("--policy", default="brothers")
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    comm, wakeup = MPI.COMM_WORLD, Wakeup()
    if comm.Get_rank() == 1:
        events = comm.recv()
        comm.send(wakeup.name, 0)
        for _ in range(args.repeats):
            play_the_workers(comm, wakeup, events)
        return
    game = games.find("othello")
    rules = game.rules((8, 8))
    position = random_position(game, rules, args.empties, random.Random(args.seed))
    search = Search(args, game, rules, position)
    cost = alone(search, args.repeats)
    if comm.Get_size() == 2:
        comm.send([(event.buffer, event.replies) for event in search.recorded], 1)
        name = comm.recv()
        by_mpi = 1e6 * min(handle_by_mpi(search, comm, name) for _ in range(args.repeats)) / search.jobs
        received = sum(event.own is None for event in search.recorded)
        sent = sum(event.replies for event in search.recorded)
        print(f"{by_mpi:.1f} µs a job with MPI, which is {by_mpi - cost:.1f} of it")
        handling, message = (by_mpi - cost) * search.jobs / (received + sent), cost * search.jobs / received
        print(f"for virtual clusters: {handling:.1f} µs of handling, {message:.1f} µs a message")


if __name__ == "__main__":
    main()
