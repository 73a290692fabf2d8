"""Searches on virtual workers that die, are slow, and send their messages late: is the score the right one?

    python -m tests.api.faulty_runs --runs 5000 --seed 1

Each run is drawn from its own seed: game, board, position, policy, machine and faults; some are interrupted, saved, and
go on in another cluster. Its score, or counts, must be those of a cluster of one worker, and nothing may be left to do
in the cluster. Failures are printed with their seeds; ``--runs 1 --seed S`` tells how one went. A table at the end says
what was covered.
"""

import argparse
import functools
import os
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import replace
from math import inf
from multiprocessing import get_context
from types import SimpleNamespace
from typing import NamedTuple
from unittest.mock import patch

from distsearch.api import solve
from distsearch.api.book import BookAnswers
from distsearch.api.chance import searcher_of
from distsearch.api.perft import perft
from distsearch.api.progress import Silent
from distsearch.api.solve import Answers, StreamSolver, TextPositions
from distsearch.cluster.local import InProcessCluster
from distsearch.cluster.messages import HEADER, MessageType
from distsearch.engines.pvs.table import new_shared_table
from distsearch.formats.checkpoint import NO_CHECKPOINT, Checkpoint, CheckpointHandle, fingerprint
from distsearch.jobs.two_player import kinds

from .faulty_cases import drawn
from .virtual_ranks import FAILURE

LONGEST = 10_000  # worker timeouts, after which a run is interrupted, and so counts as wrong
MOST_TURNS = 10**6  # of a cluster that is closed, until nothing is left to do
_NAMES = (None, *(each.name for each in MessageType))


class Signals:
    """Has a part of a run saved and ended when it is time; stands for ``Interrupts``.

    The first turn after such a time does nothing, so that a stream gets to look at signals.
    """

    def __init__(self, cluster, saves, ends):
        self.save, self._cluster = False, cluster
        self._times, self._saves = [*saves, ends], len(saves)
        self._due = self._seen = 0  # how many of these have passed, and how many of them were acted on
        self._turn, cluster.turn = cluster.turn, self._turn_unless_due

    def _turn_unless_due(self):
        before, now = self._due, self._cluster.clock()
        self._due = sum(now >= each for each in self._times)
        return self._due == before and self._turn()

    def interrupted(self):
        if self._due > self._seen:
            self.save = self.save or self._seen < self._saves  # an end without a save stands for a kill
            self._seen = self._due
            self._cluster.sample()
        return self._due == len(self._times)


class Here(NamedTuple):
    """What ``StreamSolver`` takes for a session."""

    cluster: object
    interrupted: object


def answers(case, cluster, interrupted=lambda: False, checkpoint=NO_CHECKPOINT, **changed):
    """Return what a cluster finds, as JSON has it; interrupted: of the search; changed: of the case's options."""
    options, quiet = replace(case.options, **changed), Silent()
    if case.way == "perft":
        counts = perft(options, case.depth, case.positions, cluster, quiet, interrupted, checkpoint)
        return [[count.complete, count.counts] for count in counts]
    searcher = searcher_of(options)(options, cluster, quiet, interrupted)
    if case.way == "solve":
        _try_briefly(searcher, case.first_try)
        return _solved(case, searcher, Here(cluster, interrupted), checkpoint)
    return [_found(outcome) for outcome in searcher.search(case.positions, checkpoint)]


def _solved(case, searcher, session, checkpoint):
    """Return the answers to a stream of positions, of which a checkpoint has the first ones and the state of others."""
    state = checkpoint.state or {"answers": [], "at_work": None}
    done = state["answers"]
    texts = [searcher.game.text(each, searcher.rules) for each in case.positions[len(done) :]]

    def maybe_save(make):
        checkpoint.maybe_save(lambda: {"answers": list(done), "at_work": make()})

    lines, handle = TextPositions(searcher.game, searcher.rules, texts), CheckpointHandle(state["at_work"], maybe_save)
    book = BookAnswers(None, case.options, session.cluster)
    solving = StreamSolver(session, searcher, lines, checkpoint=handle, book=book)
    by_clock = SimpleNamespace(perf_counter=session.cluster.clock, sleep=lambda seconds: None)
    with patch.object(solve, "time", by_clock):  # by real time a seed would not repeat itself
        for part in solving:
            done += map(_found, Answers(searcher, lambda: None, book).outcomes(part))
    return done


def _try_briefly(searcher, nodes):
    """Have a searcher's streams take positions for hard after so many nodes."""
    make = searcher.stream

    def stream(*args, **options):
        made = make(*args, **options)
        made._first_try = made._first_try and nodes
        return made

    searcher.stream = stream


def _found(outcome):
    return [outcome.complete, outcome.score, outcome.moves and _scores(outcome.moves)]


def _scores(moves):
    return sorted([move["move"], move["score"]] for move in moves)


@functools.cache
def kinds_alone():
    """The kinds of job of the reference worker, which has a table of its own."""
    return kinds(new_shared_table(1))


def expected(case):
    """Return the answers of one worker."""
    alone = {"policy": "pool"} if case.way == "chance" else {"policy": "pool", "load_factor": 1}
    return answers(case, InProcessCluster(kinds_alone()), **alone)


class Done(NamedTuple):
    """How a run went: what is wrong (None: nothing), and what happened."""

    seed: int
    way: str
    policy: str
    wrong: str | None
    counts: Counter
    messages: Counter  # that arrived, by the name of their type


def do(seed, tell=lambda line: None):
    """Do the run of a seed; return how it went. tell(line): told what happened."""
    case, counts, messages = drawn(seed), Counter(), Counter()
    tell(f"{case.way} {case.options}")
    try:
        with tempfile.TemporaryDirectory() as folder:
            found = _by_parts(case, os.path.join(folder, "checkpoint"), counts, messages, tell)
        right = expected(case)
        wrong = None if found == right else f"{found} instead of {right}"
    except Exception:
        wrong = traceback.format_exc()
    return Done(seed, case.way, str(case.options.policy), wrong, counts, messages)


def _by_parts(case, path, counts, messages, tell):
    """Return the answers of a case's parts, each of which goes on where the one before it was saved."""
    path = path if len(case.parts) > 1 or case.parts[0].saves else None
    for number, part in enumerate(case.parts):
        tell(f"{part}")
        cluster = part.cluster()
        _count_messages(cluster, messages)
        found = _whatever_fails(case, part, cluster, path, number, counts)
        _count(part, cluster, counts, tell)
        _check_rest(cluster)
        counts["restarts"] += number > 0
        if all(complete for complete, *_ in found) and len(found) == len(case.positions):
            break
    return found


def _whatever_fails(case, part, cluster, path, number, counts):
    """Return the answers of a part; if a worker fails, try up to twice more, the last time with all setups sent anew.

    path: of the checkpoint, or None; number: of the part.
    """
    ends = min(part.ends, LONGEST * part.machine.faults.worker_timeout)
    for attempt in range(3):
        signals = Signals(cluster, part.saves, ends)
        checkpoint = NO_CHECKPOINT
        if path is not None:
            search = fingerprint(case.options, case.positions)
            checkpoint = Checkpoint(path, search, number + attempt > 0, signals, lambda text: None, interval=inf)
        try:
            return answers(case, cluster, signals.interrupted, checkpoint)
        except RuntimeError as error:
            if FAILURE not in str(error):
                raise
        counts["failures"] += 1
        for setup in list(cluster._master._registry.setups) if attempt else ():
            cluster.drop(setup)
    raise AssertionError("a worker fails for ever")


def _count_messages(cluster, messages):
    """Count the messages of a cluster as they arrive."""

    def counting(take):
        def counted(*ranks, buffer):
            messages[_NAMES[HEADER.unpack_from(buffer)[1]]] += 1
            take(*ranks, buffer)

        return lambda *arguments: counted(*arguments[:-1], buffer=arguments[-1])

    cluster._deliver, cluster._receive = counting(cluster._deliver), counting(cluster._receive)


def _count(part, cluster, counts, tell):
    faults, now = part.machine.faults, cluster.clock()
    died = {rank for rank, when in faults.deaths.items() if when <= now}
    lost = [rank for rank, _ in cluster.lost]
    tell(f"died {sorted(died)}, lost {lost}, back {[rank for rank, _ in cluster.rejoined]}, {now:.4f} s")
    counts["deaths"] += len(died)
    counts["losses"] += len(lost)
    counts["losses by mistake"] += sum(faults.deaths.get(rank, inf) > now for rank in lost)
    counts["rejoins"] += len(cluster.rejoined)
    counts["results ignored"] += cluster.ignored


def _check_rest(cluster):
    """Close a cluster: all messages arrive, and no living worker has work for ever."""
    turn = type(cluster).turn
    cluster.close()
    assert any(not turn(cluster) for _ in range(MOST_TURNS)), "messages for ever"
    alive = {rank: each.worker for rank, each in cluster._workers.items() if each.dies > cluster.clock()}
    assert not [rank for rank, worker in alive.items() if worker.has_work], "a worker is left at work"


def table(runs):
    """Return what some Dones have covered, as text."""
    messages = sum((done.messages for done in runs), Counter())
    rows = {
        "runs by way": Counter(done.way for done in runs),
        "runs by policy": Counter(done.policy for done in runs),
        "what happened": sum((done.counts for done in runs), Counter()),
        "messages": {name: messages[name] for name in _NAMES[1:] if messages[name]},
        "no message": dict.fromkeys(set(_NAMES[1:]) - messages.keys(), 0),
    }
    return "\n".join(
        f"{title:15} " + ", ".join(f"{name} {n:,}" for name, n in row.items()) for title, row in rows.items()
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1, help="of the first run; the others follow")
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    if args.runs == 1:
        print(do(args.seed, print).wrong or "the right answer")
        return
    began, runs = time.perf_counter(), []
    with get_context("spawn").Pool(args.processes) as pool:
        for done in pool.imap_unordered(do, range(args.seed, args.seed + args.runs), chunksize=4):
            runs.append(done)
            if done.wrong:
                print(f"seed {done.seed}: {done.wrong}", flush=True)
    print(table(runs))
    failed = sum(done.wrong is not None for done in runs)
    print(f"{args.runs:,} runs from seed {args.seed} on, {failed} wrong; {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
