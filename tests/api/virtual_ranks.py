"""Virtual workers of other kinds: with many jobs at work, of which they offload parts as a GPU does, or that fail."""

import itertools
from math import inf
from typing import NamedTuple

import numpy as np

from distsearch.cluster.protocols import BatchRunner
from distsearch.core.errors import UserError
from distsearch.games.interface import Position, legal_moves, step
from distsearch.jobs import offloaded
from distsearch.jobs.setups import rules_of
from distsearch.jobs.two_player import TO_THE_END

SLOTS = 3
SLICE = 300  # nodes between two looks at the mail
NOTHING = -(10**9), 10**9  # bounds of a score
FAILURE = "drawn to fail"


class _Reply:
    """A position after a move of a job, and the bounds of its score that are known."""

    def __init__(self, move, position):
        self.move, self.position = move, position
        self.low, self.high = NOTHING
        self.part = None  # number of the part as which it is offloaded


class _Job:
    """A job at work: the replies that it has left to search, the last of them first."""

    def __init__(self, record, replies):
        self.record, self.replies = record, replies
        self.is_whole = not replies  # the plain runner searches it as it is
        self.low, self.high = int(record["low"]), int(record["high"])
        self.best, self.move, self.nodes = NOTHING[0], None, 0

    @property
    def least(self):
        """What a reply must be better than."""
        return max(self.best, self.low)

    @property
    def is_done(self):
        return not self.is_whole and (not self.replies or self.best >= self.high)

    def improve(self, move, score):
        if score > self.best:
            self.best, self.move = score, move


class OffloadingRunner(BatchRunner):
    """Solves each job by its replies, one after another, and asks others meanwhile whether later ones are better.

    plain: a ``SolveRunner``; clock: the worker's, which goes on by ``seconds`` for each node.
    """

    slots = SLOTS

    def __init__(self, setup, plain, clock, seconds):
        self._game, self._rules = rules_of(setup)
        self._plain, self._clock, self._seconds = plain, clock, seconds
        self.job_dtype, self.result_dtype = plain.job_dtype, plain.result_dtype
        self._jobs = {}  # id → _Job
        self._searched = None  # (id, _Reply, or None for the job itself) at the plain runner
        self._numbers = itertools.count(1)
        self._parts, self._rows, self._requested = {}, [], None  # number → _Reply

    def compile(self):
        self._plain.compile()

    def open(self, run):
        self._plain.open(run)
        self._parts, self._rows, self._requested = {}, [], None

    @property
    def at_work(self):
        return len(self._jobs)

    @property
    def nodes(self):
        return sum(job.nodes for job in self._jobs.values())

    def unsearched(self, jobs):
        return self._plain.unsearched(jobs)

    def has(self, job):
        return job in self._jobs

    def add(self, jobs):
        for record in jobs:
            position, replies = Position(tuple(record["state"])), []
            if record["depth"] == TO_THE_END and not record["budget"]:
                moves = legal_moves(self._game, position, self._rules)
                replies = [_Reply(m, step(self._game, position, self._rules, m)) for m in moves]
            self._jobs[int(record["job_id"])] = _Job(record.copy(), replies[::-1])

    def narrow(self, job, low, high):
        self._jobs[job].low, self._jobs[job].high = low, high

    def drop(self, job):
        return self._end(job, self.unsearched(self._jobs[job].record.reshape(1)))

    def stop(self):
        records = [self.drop(job) for job in list(self._jobs)]
        return np.concatenate([*records, np.zeros(0, self.result_dtype)])

    def offload(self, count, depth_left):
        self._requested = count, depth_left

    def new_offloads(self):
        rows, self._rows = self._rows, []
        return np.concatenate(rows) if rows else np.zeros(0, np.int64)

    def on_offload_results(self, rows):
        for number, low, high in rows.tolist():
            if number in self._parts:
                reply = self._parts.pop(number)
                reply.low, reply.high = max(reply.low, low), min(reply.high, high)

    def advance(self):
        if self._searched is None:
            self._begin(next(iter(self._jobs)))
        self._offload()
        if self._searched is None:  # what was known was enough
            return self._done()
        id_, reply = self._searched
        before = self._plain.nodes
        done = self._plain.advance(SLICE)
        self._clock.now += (self._plain.nodes - before) * self._seconds
        self._jobs[id_].nodes += self._plain.nodes - before
        if not done:
            return self._done()
        result, self._searched = self._plain.result(0.0, 0.0), None
        if reply is None:
            del self._jobs[id_]
            return result
        self._jobs[id_].improve(reply.move, -float(result["score"][0]))
        return self._done()

    def _begin(self, id_):
        """Have the plain runner search a job's next reply that matters, if there is one."""
        job = self._jobs[id_]
        if job.is_whole:
            self._search(id_, None, job.record)
        while job.replies and self._searched is None and job.best < job.high:
            reply = job.replies.pop()
            self._end_part(reply)
            if not self._goes_on(reply):
                job.improve(reply.move, -float(self._game.final(reply.position.state, self._rules)))
            elif -reply.low <= job.least:
                continue  # no better than what is known
            elif -reply.high >= job.high or reply.low == reply.high:
                job.improve(reply.move, float(-reply.high))
            else:
                question = job.record.copy()
                question["state"] = reply.position.state
                question["low"], question["high"] = max(-job.high, reply.low), min(-job.least, reply.high)
                self._search(id_, reply, question)

    def _search(self, id_, reply, question):
        self._plain.begin(question)
        self._searched = id_, reply

    def _goes_on(self, reply):
        return bool(legal_moves(self._game, reply.position, self._rules))

    def _offload(self):
        """Ask others about replies that are not searched yet, once there is a score to compare them with."""
        wanted, most = self._requested or (0, 0)
        for id_, job in self._jobs.items():
            for reply in job.replies if job.move is not None and job.best < job.high else ():
                left = int(self._game.moves_left(reply.position.state, self._rules))
                fits = reply.part is None and self._goes_on(reply) and (not most or left <= most)
                if fits and len(self._parts) < wanted:
                    reply.part = number = next(self._numbers)
                    self._parts[number] = reply
                    state, beta = reply.position.state, -int(job.least)
                    self._rows.append(offloaded.row(id_, number, beta - 1, beta, left, state))

    def _end_part(self, reply):
        if self._parts.pop(reply.part, None):
            self._rows.append(offloaded.row(0, reply.part, 0, 0, 0, reply.position.state))

    def _done(self):
        """Return the records of the jobs that are done."""
        at_plain = self._searched and self._searched[0]
        done = [id_ for id_, job in self._jobs.items() if id_ != at_plain and job.is_done]
        return np.concatenate([np.zeros(0, self.result_dtype), *map(self._answer, done)])

    def _answer(self, id_):
        job = self._jobs[id_]
        record = self.unsearched(job.record.reshape(1))
        record["complete"], record["nodes"], record["score"] = True, job.nodes, min(max(job.least, job.low), job.high)
        if "line" in (record.dtype.names or ()) and job.move is not None:
            record["line_length"], record["line"][0, 0] = 1, job.move
        return self._end(id_, record)

    def _end(self, id_, record):
        """End a job; return its record. With it the parts end that are offloaded."""
        if self._searched and self._searched[0] == id_:
            self._plain.result(0.0, 0.0)
            self._searched = None
        for reply in self._jobs.pop(id_).replies:
            self._parts.pop(reply.part, None)
        return record


class SearchAsGpu(NamedTuple):
    """Makes a virtual worker of a cluster one with many jobs at work, if it solves positions; seconds: for a node."""

    rank: int
    seconds: float

    def __call__(self, cluster):
        virtual = cluster._workers[self.rank]
        kinds = virtual.worker._kinds

        def make(setup):
            return OffloadingRunner(setup, kinds["solve"](setup)._runner, virtual.clock, self.seconds)

        virtual.worker._kinds = {**kinds, "solve": make}


class FailOnce(NamedTuple):
    """Has a virtual worker of a cluster fail, and tell the master: after so many jobs, or as it compiles if None."""

    rank: int
    jobs: int | None

    def __call__(self, cluster):
        worker = cluster._workers[self.rank].worker
        worker._guarded = True
        worker._kinds = {name: _failing(kind, [self.jobs]) for name, kind in worker._kinds.items()}


def _failing(kind, left):
    """Return a kind of job whose runners fail once; left: jobs until then in a list, or None."""

    def fail(*_):
        left[0] = inf
        raise UserError(FAILURE)  # of which nothing is printed

    def make(setup):
        runner = kind(setup)
        if left[0] is None:
            runner.compile = fail
            return runner
        begin = runner.begin

        def begin_or_fail(job):
            left[0] -= 1
            if left[0] == 0:
                fail()
            begin(job)

        runner.begin = begin_or_fail
        return runner

    return make
