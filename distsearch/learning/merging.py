"""Merging: what hosts have learnt apart is added to what each of them has, while they play on.

Each host keeps the weights as of the last merge. Its own changes since then go out and are added up over all hosts by
MPI, in the background; when the sum is there, a host adds what the others have changed to what it has by then. Of a
weight that several hosts have changed, either all of the changes count (``sum``), or their mean over those hosts.
"""

import numpy as np

from ..addresses import address, float32s
from ..jit import compiled
from . import team

MODES = "mean", "sum"


@compiled
def _differ(learnt, base, own, total, touched, begin, end):
    learnt, base, own, total = float32s(learnt), float32s(base), float32s(own), float32s(total)
    for i in range(begin, end):
        own[i] = total[i] = learnt[i] - base[i]
        touched[i] = own[i] != 0


@compiled
def _apply(learnt, base, own, total, touched, begin, end, mean):
    learnt, base, own, total = float32s(learnt), float32s(base), float32s(own), float32s(total)
    for i in range(begin, end):
        change = total[i] / np.float32(touched[i]) if mean and touched[i] > 1 else total[i]
        learnt[i] += change - own[i]
        base[i] += change


class Merger:
    """Merges ``Arrays`` of several hosts.

    leaders: a communicator of the hosts' first ranks, None on the others; mode: of MODES; pending: whether changes are
    on their way.
    """

    def __init__(self, leaders, arrays, mode):
        self._leaders, self._arrays, self._mean = leaders, arrays, mode == "mean"
        self._where = [address(each) for each in (arrays.learnt, arrays.base, arrays.own, arrays.total)]
        self._requests, self.pending = [], False

    def compile(self):
        """Compile, or load from disk, all that a merge takes."""
        _differ(*self._where, self._arrays.touched, 0, 0)
        _apply(*self._where, self._arrays.touched, 0, 0, self._mean)

    def do(self, kind, place, size):
        """Do this rank's part of a phase; place: of this rank among the ``size`` of its host."""
        count = len(self._arrays.learnt)
        begin, end = count * place // size, count * (place + 1) // size
        if kind == team.DIFFER:
            _differ(*self._where, self._arrays.touched, begin, end)
        elif kind == team.APPLY:
            _apply(*self._where, self._arrays.touched, begin, end, self._mean)
            self.pending = False
        else:
            self._arrays.base[begin:end] = self._arrays.learnt[begin:end]

    def before(self, kind):
        """What a leader does before the ranks of its host begin a phase."""
        if kind == team.APPLY:
            self._settle()
        elif kind == team.FETCH:
            team.wait(self._leaders.Ibcast(self._arrays.learnt))

    def after(self, kind):
        """What it does when all of them have done it."""
        if kind == team.DIFFER:
            from mpi4py import MPI

            self.pending = True
            parts = [self._arrays.total, *([self._arrays.touched] if self._mean else [])]
            self._requests = [self._leaders.Iallreduce(MPI.IN_PLACE, part) for part in parts]

    def look(self):
        """Give MPI the occasion to go on."""
        for request in self._requests:
            request.Test()

    def _settle(self):
        for request in self._requests:
            team.wait(request)
        self._requests = []
