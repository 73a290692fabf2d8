"""A request at work: the runs that it takes, its answers as they come, and what is known before."""

import time
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from .request import Request

_TELLING = 0.002  # seconds of answers in a turn: the words for a drawn board of Connect 4 may take 40 ms


class _Task(ABC):
    """What tasks share: a run at a time, a clock for partial answers, and ways to end.

    over: nothing more will come, ``state`` and ``failure`` say what to tell (see ``request.Request``); answered:
    positions so far; nodes: searched so far, which never falls; more: there are answers that wait for the next turn.
    """

    nodes: int
    solver: Any = None  # another searcher that it needs

    def __init__(self, cluster: Any, searcher: Any, request: Request):
        self._cluster, self.searcher, self._request = cluster, searcher, request
        self._next_progress = time.monotonic() + (request.progress or 0.0)
        self.over, self.state, self.failure = False, "done", ""
        self.answered = 0
        self.more = False
        self._run = None

    @property
    @abstractmethod
    def _complete(self) -> bool:
        """Whether every position has its answer."""

    @abstractmethod
    def _halt(self) -> None:
        """Have the run end."""

    @abstractmethod
    def _advance(self, now: float) -> None:
        """Tell what is new, and go on."""

    @abstractmethod
    def _so_far(self, now: float) -> tuple[int, Any]:
        """Return (index, Outcome) of what is known of a position that is at work."""

    def _begin(self, source, searcher):
        # a priority of 10 is worth ten times the share of the client's other requests
        weight = 10 ** (self._request.priority / 10)
        self._run = self._cluster.begin(searcher.setup(), source, client=self._request.client, weight=weight)
        self._began = time.monotonic()

    @property
    def _open(self):
        return self._cluster.is_open(self._run)

    @property
    def _nodes_at_work(self):
        return self._cluster.state(self._run).nodes_at_work if self._open else 0

    def cancel(self) -> None:
        """End without more answers."""
        self._halt_as("cancelled")

    def fail(self, why: str) -> None:
        """The same, for a mistake of ours."""
        self._halt_as("failed", why)

    def _halt_as(self, state, why=""):
        if self.state == "done":
            self.state, self.failure = state, why
            self._halt()

    def turn(self, now: float) -> None:
        """Tell what is new, and go on as far as that is up to this task; now: of ``time.monotonic``."""
        if self.state == "done":
            self._advance(now)
        self.over = not self._open and (self.state != "done" or self._complete)

    def _answer(self, index, outcome):
        self.answered += 1
        self._request.on_answer(index, outcome)

    def _tell(self, now):
        """Tell what is known so far, if it is time to."""
        request = self._request
        if request.progress is not None and now >= self._next_progress and self._open:
            self._next_progress = now + request.progress
            request.on_progress(*self._so_far(now))


class Positions(_Task):
    """Positions that are searched to the end or to a depth, all in one run."""

    def __init__(self, cluster, searcher, request):
        super().__init__(cluster, searcher, request)
        positions = request.positions
        self._stream = searcher.stream(capacity=1 << (len(positions) - 1).bit_length())
        self._stream.add(np.array([position.state for position in positions], np.uint64))
        self._stream.closed = True
        self._told = np.zeros(len(positions), bool)
        self._begin(self._stream, searcher)

    @property
    def nodes(self):
        return self._stream.nodes + self._nodes_at_work

    @property
    def _complete(self):
        return self.answered == len(self._told)

    def _halt(self):
        self._stream.halted = True
        self._cluster.halt(self._run)

    def _advance(self, now):
        if self._stream.answered > self.answered:
            end = time.perf_counter() + _TELLING
            for index, record in self._stream.collect_any():
                self._told[index] = True
                self._answer(index, self._outcome(index, record, now))
                if time.perf_counter() > end:  # the other clients are not to wait for thousands
                    break
        self.more = self._stream.answered > self.answered
        self._tell(now)

    def _outcome(self, index, record, now):
        pool = self._stream.grown.pop(index, None)
        outcome = self.searcher.answer(self._request.positions[index], record, pool)
        if len(self._told) == 1:
            outcome.seconds = now - self._began
        return outcome

    def _so_far(self, now):
        index = int(np.argmin(self._told))
        position, pool = self._request.positions[index], self._stream.pool(index)
        return index, self.searcher.partial(position, pool, self.nodes, now - self._began)


class Deepenings(_Task):
    """Positions that are searched deeper and deeper until a limit ends it, one after another.

    solver: searches each to the end in the time that is left, None: none does.
    """

    def __init__(self, cluster, searcher, request, solver=None):
        super().__init__(cluster, searcher, request)
        self.solver = solver
        self._earlier = 0  # nodes of positions that are done
        self._next()

    def _next(self):
        self._halted = False
        self._deepened, self._nodes_before = None, 0  # the deepening's Outcome, and nodes, while the solver is at work
        self._source = self.searcher.deepen(self._request.positions[self.answered])
        self._begin(self._source, self.searcher)

    def _solve(self, deepened):
        """Go on from the Outcome of the deepening."""
        self._halted = False
        self._deepened, self._nodes_before = deepened, self._source.all_nodes
        self._source = self.solver.tree(self._request.positions[self.answered])
        self._begin(self._source, self.solver)

    @property
    def nodes(self):
        return self._earlier + self._nodes_of_this

    @property
    def _nodes_of_this(self):
        return self._nodes_before + self._source.all_nodes + self._nodes_at_work

    @property
    def _complete(self):
        return self.answered == len(self._request.positions)

    def _halt(self):
        self._halted = True
        self._cluster.halt(self._run)

    def _advance(self, now):
        if self._open:
            self._watch_the_clock(now)
            self._tell(now)
        if not self._open:
            self._conclude(now)

    def _watch_the_clock(self, now):
        # it starts with the workers, which may have a kernel to load first
        if not self._cluster.state(self._run).started:
            self._began = now
        limit = self.searcher.deepening_seconds
        if self._deepened is not None:
            limit = self.searcher.seconds - self._deepened.seconds
        late = limit is not None and now - self._began >= limit
        # without a first iteration there is no answer; it takes a few nodes, and the wait for another request's slice
        if late and not self._halted and (self._deepened or self._source.completed) is not None:
            self._halt()

    def _conclude(self, now):
        """Answer the position at work, and go on to the next one."""
        position, seconds = self._request.positions[self.answered], now - self._began
        if self._deepened is not None:
            solved = self.solver.known(position, self._source, seconds)
            outcome = self.searcher.solved(self._deepened, solved, False)
        else:
            outcome = self.searcher.deepened(position, self._source, seconds, False)
            if self.solver is not None and not outcome.proved and seconds < self.searcher.seconds:
                self._solve(outcome)
                return
        self._answer(self.answered, outcome)
        if not self._complete:
            self._earlier += self._nodes_of_this
            self._next()

    def _so_far(self, now):
        position, seconds = self._request.positions[self.answered], now - self._began
        if self._deepened is not None:
            seconds += self._deepened.seconds
            return self.answered, replace(self._deepened, complete=False, nodes=self._nodes_of_this, seconds=seconds)
        if self._source.completed is None:
            return self.answered, self.searcher.partial(position, None, self._nodes_of_this, seconds)
        return self.answered, self.searcher.deepened(position, self._source, seconds, True)
