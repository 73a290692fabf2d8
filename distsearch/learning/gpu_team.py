"""Learners on GPUs, which work phase by phase as a ``Team`` does: a rank has a GPU, and its games stay there.

One GPU learns from a game as soon as that is over, or at every move. Several play in rounds of a launch each. With
``games`` each learns from all games that any of them has ended in a round, in the same order, so all weights are the
same up to rounding. What they tell one another of a game is its moves, two bits each: chance is a function of seed and
number, so a GPU plays a game over faster than a host could send its boards. With ``weights`` each learns from its own
games, and what their weights have changed by is put together every so many games.
"""

import time

import numpy as np

from ..gpu import learning as gpu_learning
from .cpu_team import FETCH, LEARN, QUIT
from .rank_group import wait

EXCHANGES = "games", "weights"
_TOLD = 3  # numbers that say what a phase is


class GpuTeam:
    """All ranks, a GPU each: collective over ``comm`` (an mpi4py communicator, or None for this process alone).

    exchange: of EXCHANGES; merge: ``sum`` or ``mean`` of changes of a weight, every ``merge_every`` games; forward:
    whether games are learnt from as they are played. place, here: number of this rank among those of its host, and how
    many these are; the rest is as of a ``Team`` with one copy of the weights.
    """

    copies, merger = 1, None

    def __init__(self, comm, exchange="games", merge="mean", merge_every=2000, forward=False):
        self.comm = comm if comm is not None and comm.Get_size() > 1 else None
        self.ranks = self.hosts = self.here = 1
        self.rank = self.place = 0
        if self.comm is not None:
            self._find_hosts(comm)
        self.first, self.first_here = self.rank == 0, self.place == 0
        self._games_go_round = self.comm is not None and exchange == "games"
        self._merges = self.comm is not None and exchange == "weights"
        self._merge, self._merge_every = merge, merge_every
        self._mode = (
            gpu_learning.RECORD if self._games_go_round else gpu_learning.FORWARD if forward else gpu_learning.BACKWARD
        )
        self._base, self._given = None, False
        self.at_work = self.stopped = False
        self.others_cpu = self.merging = 0.0

    def _find_hosts(self, comm):
        from mpi4py import MPI

        host = comm.Split_type(MPI.COMM_TYPE_SHARED)
        self.place, self.here = host.Get_rank(), host.Get_size()
        host.Free()
        self.ranks, self.rank = comm.Get_size(), comm.Get_rank()
        self.hosts = comm.allreduce(int(self.place == 0))

    def join(self, arrays, learner):
        """Take the Arrays that hold weights before and after, and this rank's GpuLearner."""
        self._arrays, self._learner = arrays, learner

    def meet(self):
        """Wait until all ranks are here."""
        if self.comm is not None:
            wait(self.comm.Ibarrier())

    def work(self):
        """Work for rank 0, on any other rank, until it says QUIT."""
        told = np.zeros(_TOLD, np.int64)
        while True:
            wait(self.comm.Ibcast(told))
            if told[0] == QUIT:
                return
            self._take_part(*told.tolist(), lambda: None)

    def phase(self, kind, first=0, games=0, active=None, merges=None, between=lambda: None):
        """Have all ranks do a phase, on rank 0; return the results of its games in the order of their numbers.

        As of a ``Team``; between() is called after every launch. Games that were not begun have results of 0.
        """
        self._tell(kind, first, games)
        self.stopped = False
        self._take_part(kind, first, games, between)
        return self._arrays.results[:games]

    def stop(self):
        """Have the phase end early, on rank 0: games at work are played to their ends, others not begun."""
        self.stopped = True

    def finish(self):
        """Let the other ranks go, on rank 0. If it failed in the middle of a phase, only ending the job helps them."""
        if not self.at_work:
            self._tell(QUIT, 0, 0)

    def settle(self):
        """Have the arrays hold what this rank's GPU has learnt."""
        self._learner.download(self._arrays.weights, self._arrays.traces)

    def cpu_seconds(self):
        """Return what this rank has used of CPU."""
        return time.process_time()

    def _tell(self, *told):
        if self.comm is not None:
            wait(self.comm.Ibcast(np.array(told)))

    def _take_part(self, kind, first, games, between):
        """Do a phase with the other ranks, which wait for this one if it fails: ``at_work`` stays True then."""
        self.at_work = True
        self._phase(kind, first, games, between)
        self.at_work = False

    def _phase(self, kind, first, games, between):
        if not self._given:
            self._give()
        if kind == FETCH:
            return
        self._arrays.results[:games] = 0
        share = first + games * self.rank // self.ranks, first + games * (self.rank + 1) // self.ranks
        self._learner.begin(first, *share, self._mode if kind == LEARN else gpu_learning.WATCH)
        over, ended, merged = False, 0, 0
        while not over:
            found, over = self._round(kind == LEARN)
            rows = np.stack([found["score"] + 1, found["largest"], found["moves"]], axis=1)
            self._arrays.results[found["number"], :3] = rows
            self._arrays.results[found["number"], 3] = kind == LEARN
            ended += len(found)
            if self._merges and kind == LEARN and (over or ended // self._merge_every > merged):
                self._put_together()
                merged = ended // self._merge_every
            between()
        if self.comm is not None:
            self.others_cpu = sum(self.comm.allgather(time.process_time())) - time.process_time()

    def _give(self):
        """Have all GPUs begin with the weights of rank 0."""
        if self.comm is not None:
            wait(self.comm.Ibcast(self._arrays.learnt))
        self._learner.upload(self._arrays.weights, self._arrays.traces)
        if self._merges:
            self._base = self._arrays.learnt.copy()
        self._given = True

    def _round(self, learning):
        """Play for a launch, and learn; return (the games that have ended on all ranks, whether all are over)."""
        found = self._learner.launch()
        words = np.zeros(0, np.uint32)
        if learning and self._games_go_round:
            found, words = self._learner.records(found)
        if self.comm is None:
            if self.stopped:
                self._learner.stop()
            return found, self._learner.over
        told = np.zeros((self.ranks, 4), np.int64)
        wait(self.comm.Iallgather(np.array([len(found), len(words), self._learner.over, self.stopped]), told))
        over = bool(told[:, 2].all())
        if told[:, 3].any():
            self._learner.stop()
        found, words = self._gathered(found, told[:, 0]), self._gathered(words, told[:, 1])
        if learning and self._games_go_round:
            found["words"] += np.repeat(np.cumsum(told[:, 1]) - told[:, 1], told[:, 0])
            self._learner.learn_recorded(found, words)
        return found, over

    def _gathered(self, own, counts):
        """Return what all ranks have, one's behind another's."""
        every = np.zeros(int(counts.sum()), own.dtype)
        size = own.dtype.itemsize
        sent, received = np.ascontiguousarray(own).view(np.uint8), every.view(np.uint8)
        wait(self.comm.Iallgatherv(sent, (received, counts * size)))
        return every

    def _put_together(self):
        """Have all GPUs go on with what all have changed weights by: the sum, or the mean of those that have.

        Traces are sums of errors, so all changes of them count.
        """
        from mpi4py import MPI

        began, weights = time.perf_counter(), self._arrays.weights.size
        self.settle()
        changes = self._arrays.learnt - self._base
        if self._merge == "mean":
            times = (changes[:weights] != 0).astype(np.float32)
            wait(self.comm.Iallreduce(MPI.IN_PLACE, times))
        wait(self.comm.Iallreduce(MPI.IN_PLACE, changes))
        if self._merge == "mean":
            changes[:weights] /= np.maximum(times, 1)
        self._base += changes
        self._arrays.learnt[:] = self._base
        self._learner.upload(self._arrays.weights, self._arrays.traces)
        self.merging += time.perf_counter() - began
