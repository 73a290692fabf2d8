"""A request at work: the runs that it takes, its answers as they come, and what is known before."""

import math
import time
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from ..api.compiling import NotCompiledError
from ..cluster.protocols import TopNode, WorkSource
from ..core.errors import UserError, print_error
from ..formats.checkpoint import source_and_seconds
from .request import Request

_WORTH_KEEPING = 1.0  # seconds of a search that is cancelled
_LAST_SAVE = 1.5  # seconds for its workers to say how far they are: the service takes two to end
_TELLING = 0.002  # seconds of answers in a turn: the words for a drawn board of Connect 4 may take 40 ms


class Task(ABC):
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

    @property
    @abstractmethod
    def _at_work(self) -> tuple[int, WorkSource | None]:
        """(index of a position that is at work, the source of its jobs, None where it is one job)."""

    def top(self, most: int) -> tuple[Any, list[TopNode]]:
        """Return (a Position at work, up to ``most`` nodes of its tree, see ``WorkSource.top``)."""
        index, source = self._at_work
        return self._request.positions[index], source.top(most) if source else []

    def _begin(self, source, setup, **how):
        # a priority of 10 is worth ten times the share of the client's other requests
        weight = 10 ** (self._request.priority / 10)
        self._run = self._cluster.begin(setup, source, client=self._request.client, weight=weight, **how)
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
        if not self._open and (failure := self._cluster.failure(self._run)):
            self.fail(failure)
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


class Positions(Task):
    """Positions that are searched to the end or to a depth, all in one run; checkpoints: ``Checkpoints``, or None."""

    def __init__(self, cluster, searcher, request, checkpoints=None):
        super().__init__(cluster, searcher, request)
        positions, self._kept = request.positions, checkpoints and checkpoints.of(request)
        self._save_every = checkpoints.interval if checkpoints else 0.0
        capacity = 1 << (len(positions) - 1).bit_length()
        states = np.array([position.state for position in positions], np.uint64)

        state = self._kept.state if self._kept else None
        try:
            self._go_on_from(state, searcher, capacity, states)
        except NotCompiledError:  # it begins again once it is
            raise
        except Exception as error:
            self._give_up_state()
            if state is None or not isinstance(error, UserError):
                raise
            print_error(f"distsearch: {error}")  # a damaged file costs no request its answer
            self._go_on_from(None, searcher, capacity, states)
        self._stream.closed = True
        self._told = np.zeros(len(positions), bool)
        self._begin(self._stream, searcher.setup())
        self._next_save = self._began + self._save_every
        self._saving, self._save_until = False, math.inf  # whether workers were asked for a state, and how long to wait

    @property
    def nodes(self):
        return self._stream.nodes + self._nodes_at_work

    @property
    def _complete(self):
        return self.answered == len(self._told)

    @property
    def _at_work(self):
        number = self._stream.grown_number
        return (0, None) if number is None else (number, self._stream.pool(number))

    def _halt(self):
        now = time.monotonic()
        if self._kept and self._open and self.state == "cancelled" and now - self._began >= _WORTH_KEEPING:
            self._save_until = now + _LAST_SAVE
            self._ask_state()
        else:
            self._end_run()

    def _end_run(self):
        self._stream.halted = True
        self._cluster.halt(self._run)

    def fail(self, why: str) -> None:
        super().fail(why)
        self._give_up_state()

    def _go_on_from(self, state, searcher, capacity, states):
        self._has_file = state is not None
        snapshot, self._seconds_before = source_and_seconds(state)
        self._stream = searcher.stream(capacity=capacity, snapshot=snapshot)
        self._stream.add(states)

    def _give_up_state(self):
        if self._kept:
            self._kept.give_up()

    def turn(self, now: float) -> None:
        super().turn(now)
        if self._saving and (now >= self._save_until or not self._cluster.awaits_progress(self._run)):
            self._saving = False
            try:
                self._save(now)
            finally:
                if self.state != "done":
                    self._end_run()

    def _ask_state(self):
        """Have the workers say how far they are. One that gets ready for another search does so when it is."""
        if not self._saving:
            self._saving = True
            self._cluster.ask_progress(self._run)

    def _save(self, now):
        """Save what the workers have said. Where some are late, what was saved before is worth more."""
        late = self._cluster.awaits_progress(self._run)
        if not self._kept or not self._open or self._complete or late and self._has_file:
            return
        source, seconds = self._stream.snapshot(self._cluster.progress(self._run)), now - self._began
        self._kept.save(lambda: {"source": source, "seconds": self._seconds_before + seconds})
        self._has_file = True

    def _advance(self, now):
        if self._kept and now >= self._next_save:
            self._next_save = now + self._save_every
            self._ask_state()
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
            outcome.seconds = self._seconds_before + now - self._began
        if self._kept:
            self._kept.remove()
        return outcome

    def _so_far(self, now):
        index = int(np.argmin(self._told))
        position, pool = self._request.positions[index], self._stream.pool(index)
        return index, self.searcher.partial(position, pool, self.nodes, self._seconds_before + now - self._began)


class _InTurn(Task):
    """Positions that are searched one after another, each in one run or several."""

    _nodes_of_this: int  # nodes of the position at work, which never fall

    def __init__(self, cluster, searcher, request):
        super().__init__(cluster, searcher, request)
        self._earlier = 0  # nodes of positions that are done
        self._halted = False  # the run at work is to end
        self._spent = 0.0  # seconds of runs of the position at work that are over
        self._next()

    @abstractmethod
    def _next(self):
        """Begin the first run of the position at work."""

    @abstractmethod
    def _conclude(self, position, seconds):
        """Return the Outcome of the position at work after so many seconds, or begin another run and return None."""

    @property
    @abstractmethod
    def _limit(self) -> float | None:
        """Seconds that the run at work may take, None: any."""

    @property
    @abstractmethod
    def _has_answer(self) -> bool:
        """Whether the position at work would have an answer if its run ended now."""

    @property
    def nodes(self):
        return self._earlier + self._nodes_of_this

    @property
    def _complete(self):
        return self.answered == len(self._request.positions)

    @property
    def _position(self):
        return self._request.positions[self.answered]

    def _halt(self):
        self._halted = True
        self._cluster.halt(self._run)

    def _advance(self, now):
        if self._open:
            self._watch_the_clock(now)
            self._tell(now)
        if self._open:
            return
        outcome = self._conclude(self._position, self._spent + now - self._began)
        if outcome is None:
            return
        nodes = self._nodes_of_this
        self._answer(self.answered, outcome)
        if not self._complete:
            self._earlier, self._spent = self._earlier + nodes, 0.0
            self._next()

    def _begin(self, source, setup):
        self._halted = False
        super()._begin(source, setup)

    def _watch_the_clock(self, now):
        # it starts with the workers, which may have a kernel to load first
        if not self._cluster.state(self._run).started:
            self._began = now
        late = self._limit is not None and now - self._began >= self._limit
        # without a first iteration there is no answer; it takes a few nodes, and the wait for another request's slice
        if late and not self._halted and self._has_answer:
            self._halt()


class Deepenings(_InTurn):
    """Positions of a game of two players that are searched deeper and deeper until a limit ends it.

    solver: searches each to the end in the time that is left, None: none does.
    """

    def __init__(self, cluster, searcher, request, solver=None):
        self.solver = solver
        super().__init__(cluster, searcher, request)

    def _next(self):
        self._deepened, self._nodes_before = None, 0  # the deepening's Outcome, and nodes, while the solver is at work
        self._source = self.searcher.deepen(self._position)
        self._begin(self._source, self.searcher.setup())

    def _solve(self, deepened):
        """Go on from the Outcome of the deepening."""
        self._deepened, self._nodes_before, self._spent = deepened, self._source.all_nodes, deepened.seconds
        self._source = self.solver.tree(self._position)
        self._begin(self._source, self.solver.setup())

    @property
    def _nodes_of_this(self):
        return self._nodes_before + self._source.all_nodes + self._nodes_at_work

    @property
    def _at_work(self):
        return self.answered, self._source

    @property
    def _limit(self):
        return self.searcher.deepening_seconds if self._deepened is None else self.searcher.seconds - self._spent

    @property
    def _has_answer(self):
        return (self._deepened or self._source.completed) is not None

    def _conclude(self, position, seconds):
        if self._deepened is not None:
            solved = self.solver.known(position, self._source, seconds - self._spent)
            return self.searcher.solved(self._deepened, solved, False)
        outcome = self.searcher.deepened(position, self._source, seconds, False)
        if self.solver is None or outcome.proved or seconds >= self.searcher.seconds:
            return outcome
        self._solve(outcome)
        return None

    def _so_far(self, now):
        seconds = self._spent + now - self._began
        if self._deepened is not None:
            return self.answered, replace(self._deepened, complete=False, nodes=self._nodes_of_this, seconds=seconds)
        return self.answered, self.searcher.so_far(self._position, self._source, self._nodes_of_this, seconds)


class Iterated(_InTurn):
    """Positions of a game against chance, each searched once or, under a limit of time, deeper and deeper."""

    def _next(self):
        self._iterations = self.searcher.deepen(self._position)
        self._begin_iteration()

    def _begin_iteration(self):
        self._begin(self._iterations.pool, self.searcher.setup_of(self._iterations))

    @property
    def _nodes_of_this(self):
        return self._iterations.counts["nodes"] + self._nodes_at_work

    @property
    def _at_work(self):
        return self.answered, self._iterations.pool

    @property
    def _limit(self):
        return None if self.searcher.seconds is None else self.searcher.seconds - self._spent

    @property
    def _has_answer(self):
        return self._iterations.completed is not None

    def _conclude(self, position, seconds):
        if self._iterations.conclude() and seconds < self.searcher.seconds:
            self._spent = seconds
            self._iterations.go_deeper()
            self._begin_iteration()
            return None
        return self.searcher.deepened(position, self._iterations, seconds, False)

    def _so_far(self, now):
        seconds = self._spent + now - self._began
        outcome = self.searcher.deepened(self._position, self._iterations, seconds, True)
        outcome.nodes = self._nodes_of_this
        return self.answered, outcome
