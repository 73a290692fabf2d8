"""Calls of several threads, one at a time."""

import functools
import threading
from collections.abc import Callable, Generator, Iterator
from typing import Any, Concatenate, ParamSpec, Protocol, Self, TypeVar

from ..core.errors import UserError

T = TypeVar("T")
P = ParamSpec("P")


class Turns:
    """A context that one thread is in at a time, as often as it likes; others wait for it.

    only: a thread that alone may enter, since MPI was started for it alone; None: any.
    """

    def __init__(self):
        self._lock, self._depth = threading.RLock(), 0
        self._abandoned: list[Generator[Any, None, None]] = []  # closed when no call is at work
        self.only: threading.Thread | None = None

    def __enter__(self) -> Self:
        if self.only is not None and not self._may_enter():
            raise UserError(
                f"MPI was started for thread {self.only.name} alone, and {threading.current_thread().name} calls: "
                "start it for several threads, as mpi4py does unless told otherwise"
            )
        self._close_abandoned()
        self._lock.acquire()
        self._depth += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        self._lock.release()
        self._close_abandoned()  # now that others can have the lock: they left theirs to this thread

    def call_if_free(self, function: Callable[[], None]) -> None:
        """Call a function, unless another thread is in the context or this one may not enter."""
        if self._may_enter() and self._lock.acquire(blocking=False):
            self._depth += 1
            try:
                function()
            finally:
                self._depth -= 1
                self._lock.release()
            self._close_abandoned()

    def abandon(self, steps: Generator[Any, None, None]) -> None:
        """Close a generator now, or once no call is at work: the collector of garbage calls this at any moment.

        In a thread that may not enter it is left to the next call of the one that may.
        """
        self._abandoned.append(steps)
        self._close_abandoned()

    def _may_enter(self):
        return self.only is None or threading.current_thread() is self.only

    def _close_abandoned(self):
        """Close what was abandoned, unless a call is at work, at whose end that is done."""
        while self._abandoned and not self._depth and self._may_enter() and self._lock.acquire(blocking=False):
            self._depth += 1  # what is abandoned meanwhile is for the next round
            try:
                if self._abandoned:
                    self._abandoned.pop().close()
            finally:
                self._depth -= 1
                self._lock.release()


class HasTurns(Protocol):
    """What has methods that are ``one_at_a_time``."""

    turns: Turns


S = TypeVar("S", bound=HasTurns)


def one_at_a_time(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Return a method whose calls wait for those of other threads."""

    @functools.wraps(method)
    def in_turn(self: S, *args: P.args, **named: P.kwargs) -> T:
        with self.turns:
            return method(self, *args, **named)

    return in_turn


def in_steps(method: Callable[Concatenate[S, P], Generator[T, None, None]]) -> Callable[Concatenate[S, P], "Steps[T]"]:
    """The same for a generator: other threads have their turns between two steps of it."""

    @functools.wraps(method)
    def begun(self: S, *args: P.args, **named: P.kwargs) -> Steps[T]:
        return Steps(self.turns, method(self, *args, **named))

    return begun


class Steps(Iterator[T]):
    """A generator that takes each step in turn. Any thread may take the next one."""

    def __init__(self, turns: Turns, steps: Generator[T, None, None]):
        self._turns, self._steps = turns, steps

    def __next__(self) -> T:
        with self._turns:
            return next(self._steps)

    def close(self) -> None:
        """Leave it half-way."""
        with self._turns:
            self._steps.close()

    def __del__(self) -> None:
        self._turns.abandon(self._steps)
