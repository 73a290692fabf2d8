"""The transport of a single rank: master and one worker in one process, taking turns."""

import platform
import time
from collections import deque
from collections.abc import Callable, Mapping

from .cluster import Cluster
from .events import Received
from .master import Master
from .messages import decode, encode
from .protocols import Runner
from .worker import Worker


class InProcessCluster(Cluster):
    """Runs sources of work on the one worker of this process; messages pass through their encoded form.

    Arguments as for ``Worker``.
    """

    ranks = 1
    workers = 1

    def __init__(
        self,
        kinds: Mapping[str, Callable[[dict], Runner]],
        guarded: bool = False,
        gpu_clock: Callable[[], float] | None = None,
    ):
        super().__init__()
        self.hosts = {1: platform.node()}
        self._master = Master(self.hosts)
        self._worker = Worker(kinds, guarded=guarded, gpu_clock=gpu_clock)
        self._mail = deque()  # to the worker

    def turn(self) -> bool:
        """Bring the worker its mail and have it do a slice of work; return whether there was any."""
        if not self._mail and not self._worker.has_work:
            return False
        self._rest.reset()
        while self._mail:
            self._bring(self._mail.popleft())
        if self._worker.has_work:
            answers = self._worker.work()
            self._answer(answers, time.perf_counter())
        return True

    def _act(self, event):
        self._mail.extend(outgoing.message for outgoing in self._master.handle(event))

    def _bring(self, message):
        began = time.perf_counter()
        buffer = encode(message)
        answers = self._worker.handle(decode(buffer))
        self._worker.timers.messages += 1
        self._worker.timers.bytes += len(buffer)
        self._answer(answers, began)

    def _answer(self, answers, began):
        """Hand a worker's messages to the master; all time since ``began`` is communication."""
        timers = self._worker.timers
        for answer in answers:
            buffer = encode(answer)
            self._act(Received(1, decode(buffer)))
            timers.messages += 1
            timers.bytes += len(buffer)
        timers.communicated(max(began, timers.started), time.perf_counter())
