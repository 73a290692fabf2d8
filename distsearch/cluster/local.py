"""The transport of a single rank: master and one worker in one process, taking turns."""

import time
from collections import deque

from .master import Begin, Halt, Leave, Master, Received
from .messages import decode, encode
from .worker import Worker


class LocalCluster:
    """Runs sources of work on the one worker of this process; messages pass through their encoded form."""

    ranks = 1
    workers = 1

    def __init__(self, kinds):
        self._master = Master({1: "here"})
        self._worker = Worker(kinds)

    clock = staticmethod(time.perf_counter)

    def run(self, setup, source, watch, prefetch=2):
        """Have ``source`` done; ``watch(state)`` is called between slices and returns True to stop early.

        Returns the workers' METRICS_RECORDs by rank.
        """
        mail = deque(self._master.handle(Begin(setup, source, prefetch)))
        halted = False
        while self._master.running:
            while mail:
                self._pass_on(mail.popleft().message, mail)
            if self._master.running and not halted and watch(self._master.state):
                halted = True
                mail.extend(self._master.handle(Halt()))
            elif self._worker.has_work:
                answers = self._worker.work()
                self._answer(answers, mail, time.perf_counter())
        return self._master.metrics

    def _pass_on(self, message, mail):
        began = time.perf_counter()
        buffer = encode(message)
        answers = self._worker.handle(decode(buffer))
        self._worker.timers.messages += 1
        self._worker.timers.bytes += len(buffer)
        self._answer(answers, mail, began)

    def _answer(self, answers, mail, began):
        """Hand a worker's messages to the master; all time since ``began`` is communication."""
        timers = self._worker.timers
        for answer in answers:
            buffer = encode(answer)
            mail.extend(self._master.handle(Received(1, decode(buffer))))
            timers.messages += 1
            timers.bytes += len(buffer)
        timers.communication += time.perf_counter() - max(began, timers.started)

    def close(self):
        """Let the worker go."""
        for outgoing in self._master.handle(Leave()):
            self._worker.handle(outgoing.message)
