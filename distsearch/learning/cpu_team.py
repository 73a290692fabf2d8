"""Learners of all ranks, which work phase by phase.

All ranks of a host share a copy of the weights, or several copies are shared by some of them each. Rank 0 says what the
next phase is. The first rank of each other copy hears of it by a message, everybody else by words that are shared like
the weights: so what sharers have to tell one another takes no messages, however many they are.
No rank spins: one that waits looks at those words, or at MPI, and sleeps in between.
"""

import time

import numpy as np

from ..cluster import mpi_runtime
from ..cluster.backoff import sleep_until
from ..core.pointers import int64_struct, set_fields
from . import td
from .rank_group import wait

QUIT, LEARN, WATCH, FETCH = range(4)  # kinds of phases, see ``Team.phase``

# Behind what ``td`` shares: a PHASE; then for each rank the number of the last phase that it has done, and the
# microseconds of CPU that it has used.
PHASE = int64_struct(
    "number",
    "kind",
    "active",  # how many ranks take part
)
EACH = td.SHARED_SIZE + 8
_DONE, _CPU, _EACH_SIZE = 0, 1, 8  # a cache line each

_SLICE = 5e-3  # seconds between two looks at words and messages
_STOP, _RESULTS, _FIGURES = 7, 8, 9  # tags
_TOLD = 5  # numbers that say what a phase is


def shared_size(ranks):
    """Return how many words so many ranks share."""
    return EACH + _EACH_SIZE * ranks


class Team:
    """All ranks: collective over ``comm`` (an mpi4py communicator, or None for this process alone).

    sharing: how many ranks of a host share one copy of the weights, 0: all of them. copy, copies: number of this rank's
    copy, and how many there are; sizes: how many ranks share each; place: this rank's among those of its copy; first,
    first_here: whether it is rank 0, and whether it is the first of its host; sharers: a communicator of the ranks of
    its copy, None for a process alone; leaders: one of the copies' first ranks, None elsewhere; hosts: how many there
    are; here: copies on this host.
    """

    def __init__(self, comm, sharing=0):
        self.comm = self.sharers = self.leaders = None
        self.ranks = self.hosts = self.here = 1
        self.first = self.first_here = True
        self.place, self.copy, self.copies, self.sizes = 0, 0, 1, [1]
        if comm is not None and comm.Get_size() > 1:
            self._split(comm, sharing)
        self.merger, self.others_cpu, self.merging = None, 0.0, 0.0
        self._at_work = self._merging = False
        self._stopping = []  # messages on their way, and what they say
        self._phase, self._budget = 0, 1  # moves of a slice: one of a deep search may take long

    def _split(self, comm, sharing):
        from mpi4py import MPI

        host = comm.Split_type(MPI.COMM_TYPE_SHARED)
        size, rank = host.Get_size(), host.Get_rank()
        each = sharing or size
        self.comm, self.ranks, self.first, self.first_here = comm, comm.Get_size(), comm.Get_rank() == 0, rank == 0
        self.hosts, self.here = comm.allreduce(int(rank == 0)), -(-size // each)
        self.sharers = host.Split(rank // each, rank)
        self.place = self.sharers.Get_rank()
        leaders = comm.Split(0 if self.place == 0 else MPI.UNDEFINED)
        self.leaders = leaders if self.place == 0 else None
        size = self.sharers.Get_size()
        told = (self.leaders.Get_rank(), self.leaders.allgather(size)) if self.place == 0 else None
        self.copy, self.sizes = self.sharers.bcast(told)
        self.copies = len(self.sizes)
        host.Free()

    def join(self, arrays, learner, merger=None, pages=None):
        """Take the Arrays, this rank's Learner, of the first of a copy among several its Merger, and PrivatePages."""
        self._arrays, self._learner, self.merger, self._pages = arrays, learner, merger, pages
        self._words = arrays.shared
        self._now = self._words[td.SHARED_SIZE : td.SHARED_SIZE + len(PHASE)].view(PHASE)[0]

    def meet(self, count_from_here=False):
        """Wait until all ranks are here; count_from_here: what they have used of CPU so far is not for learning."""
        if count_from_here:
            self._words[EACH + _EACH_SIZE * self.place + _CPU] = self._cpu()
        if self.comm is not None:
            wait(self.comm.Ibarrier())
            if count_from_here:
                self.others_cpu = sum(self.comm.allgather(time.process_time())) - self.cpu_seconds()

    def _cpu(self):
        return int(time.process_time() * 1e6)

    def work(self):
        """Work for rank 0, on any other rank, until it says QUIT."""
        while True:
            told = self._heard()
            if told[0] == QUIT:
                return
            self._take_part(told, lambda: None)

    def phase(self, kind, first=0, games=0, active=None, merges=None, between=lambda: None):
        """Have all ranks do a phase, on rank 0; return the results of its games in the order of their numbers.

        LEARN, WATCH: play ``games`` games from number ``first`` on, and learn from them or not; FETCH: all copies
        become what this one is. active: ranks of this copy that play, None: all of all; merges: how many there are in
        between, and one at the end, None: not even that. between(): called every few milliseconds. Games that were
        stopped, see ``stop``, have results of 0.
        """
        told = [kind, first, games, 0 if active is None else active, -1 if merges is None else merges]
        self._at_work = True
        self._tell(told)
        found = self._take_part(told, between)
        self._at_work = False
        return found

    def stop(self):
        """Have the phase end early, on rank 0: games that are at work are given up, others not begun."""
        self._arrays.games["stop"] = 1
        told = np.array([self._phase])
        self._stopping = [(self.leaders.Isend(told, copy, _STOP), told) for copy in range(1, self.copies)]

    @property
    def stopped(self):
        """Whether the phase at work was told to stop."""
        return bool(self._arrays.games["stop"])

    def finish(self):
        """Let the other ranks go, on rank 0. If it failed in the middle of a phase, only ending the job helps them."""
        if self._at_work:
            return
        self._tell([QUIT] + [0] * (_TOLD - 1))
        if self.place == 0 and self.sizes[0] > 1:
            self._now["kind"], self._now["number"] = QUIT, self._phase + 1

    def settle(self):
        """Have the arrays hold what was learnt: they do."""

    def cpu_seconds(self):
        """Return what the ranks of this copy have used of CPU."""
        return float(self._words[EACH + _CPU :: _EACH_SIZE].sum()) * 1e-6

    def _tell(self, told):
        """Tell the leaders of the other copies what the next phase is."""
        if self.copies > 1:
            wait(self.leaders.Ibcast(np.array(told)))

    def _heard(self):
        """Return what the next phase is: of a message, or of the words that are shared."""
        if self.place == 0:
            told = np.zeros(_TOLD, np.int64)
            wait(self.leaders.Ibcast(told))
            if told[0] == QUIT:
                self._now["kind"], self._now["number"] = QUIT, self._phase + 1
            return told.tolist()
        sleep_until(lambda: (self._look_for_lost_ranks(), self._now["number"] > self._phase)[1])
        return [int(self._now["kind"]), 0, 0, int(self._now["active"]), -1]

    def _take_part(self, told, between):
        """Do a phase; return the results of its games on rank 0."""
        kind, first, games, active, merges = told
        self._merging = merges >= 0
        if self.place == 0:
            share = self._share(first, games, active)
            if self._merging:
                self.merger.begin(merges, share[1] - share[0])
            if kind == FETCH:
                self.merger.fetch()
            self._announce(kind, *share, active)
        else:
            self._phase += 1
        if kind in (LEARN, WATCH) and (not active or self.place < active):
            # pages are for ranks that learn together: one alone has no other to wait for
            pages = self._pages if kind == LEARN and not active else None
            self._play(kind == LEARN, between, pages)
        self._words[EACH + _EACH_SIZE * self.place + _CPU] = self._cpu()
        self._words[EACH + _EACH_SIZE * self.place + _DONE] = self._phase
        if self.place > 0:
            return None
        slots = self._words[EACH + _DONE :: _EACH_SIZE][: self.sizes[self.copy]]  # other copies may have more ranks
        sleep_until(lambda: (self._look(between), self._look_for_lost_ranks(), (slots >= self._phase).all())[2])
        if self._merging:
            self._merging = False
            self.merger.end(lambda: self._look(between))
        return self._gathered(first, games, active, share, between) if kind in (LEARN, WATCH) else None

    def _share(self, first, games, active, copy=None):
        """Return (number of the first game, the one after the last) that are a copy's of a phase."""
        copy = self.copy if copy is None else copy
        if active:
            return (first, first + games) if copy == 0 else (first, first)
        before, size, ranks = sum(self.sizes[:copy]), self.sizes[copy], sum(self.sizes)
        return first + games * before // ranks, first + games * (before + size) // ranks

    def _announce(self, kind, begin, end, active):
        """Tell this copy's ranks of a phase."""
        self._arrays.results[: end - begin] = 0
        set_fields(self._arrays.games, first=begin, next=begin, limit=end, stop=0)
        set_fields(self._now, kind=kind, active=active)
        self._phase += 1
        self._now["number"] = self._phase  # last: it tells that the others are there

    def _play(self, learning, between, pages):
        self._learner.learning = learning
        if pages is not None:
            pages.begin()
        while True:
            began, before = time.perf_counter(), self._learner.moves
            over = self._learner.run(self._budget if pages is None else min(self._budget, pages.left))
            took, played = time.perf_counter() - began, self._learner.moves - before
            if pages is not None:
                pages.look(played)
            if over:
                if pages is not None:
                    pages.end()
                return
            self._budget = max(1, round((self._budget + played * _SLICE / max(took, 1e-6)) / 2))
            if self.place == 0:
                self._look(between)
            if self._arrays.games["stop"]:
                self._learner.give_up()

    def _look(self, between):
        """What a copy's first rank does between slices of work."""
        between()
        if self._merging:
            games = self._arrays.games
            self.merger.look(int(games["next"] - games["first"]))
        if self.copies > 1 and not self.first and self.leaders.Iprobe(0, _STOP):
            told = np.zeros(1, np.int64)
            self.leaders.Recv(told, 0, _STOP)
            if told[0] == self._phase:  # else it was on its way when that phase ended
                self._arrays.games["stop"] = 1

    def _look_for_lost_ranks(self):
        """What a rank does while it polls shared memory: under ULFM, MPI raises an exception if a rank was lost."""
        if mpi_runtime.tells_of_failures() and self.comm is not None:
            self.comm.Iprobe()

    def _gathered(self, first, games, active, share, between):
        """Return all copies' results on rank 0; the others send theirs."""
        own = self._arrays.results[: share[1] - share[0]]
        if self.copies == 1:
            return own
        if not self.first:
            wait(self.leaders.Isend(np.ascontiguousarray(own), 0, _RESULTS))
            wait(self.leaders.Isend(np.array([self.cpu_seconds()]), 0, _FIGURES))
            return None
        found = [own]
        self.others_cpu = 0.0
        for copy in range(1, self.copies):
            begin, end = self._share(first, games, active, copy)
            theirs, cpu = np.zeros((end - begin, td.RESULT_SIZE), np.int64), np.zeros(1)
            wait(self.leaders.Irecv(theirs, copy, _RESULTS), lambda: self._look(between))
            wait(self.leaders.Irecv(cpu, copy, _FIGURES))
            found.append(theirs)
            self.others_cpu += float(cpu[0])
        return np.concatenate(found)
