"""Signals as flags that a search looks at: to end with its best result so far, and to save how far it is."""

import signal
import time
from contextlib import contextmanager

_CAUGHT = signal.SIGINT, signal.SIGTERM, signal.SIGUSR1
_AGAIN = 1.0  # seconds; a terminal and mpirun both pass Ctrl-C on, so one key press may arrive twice
_early: list[int] = []  # signals to save that came while there was no ``Interrupts``


class Interrupts:
    """A context in which SIGINT and SIGTERM set ``signal`` instead of ending the process.

    Another one, more than a second later, ends it all the same. They and SIGUSR1 also set ``save``, which the keeper of
    a checkpoint sets back.
    """

    def __init__(self):
        self.signal = None
        self.save = False

    def __enter__(self):
        self._old = {number: signal.signal(number, self._note) for number in _CAUGHT}
        if _early:
            _early.clear()
            self.save = True
        return self

    def __exit__(self, *_):
        for number, handler in self._old.items():
            signal.signal(number, handler)

    def _note(self, number, _frame):
        now = time.monotonic()
        self.save = True
        if number == signal.SIGUSR1:
            return
        if self.signal is None:
            self.signal, self._when = number, now
        elif now - self._when > _AGAIN:
            raise KeyboardInterrupt(number)

    @contextmanager
    def suspended(self):
        """While this lasts, signals do what they did before: for waiting that cannot look at a flag."""
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()

    def forgive(self):
        """The signal was a wish to end, and that is what was done."""
        self.signal = None

    @property
    def exit_status(self):
        """0, or 128 + the signal's number, as shells count."""
        return 128 + self.signal if self.signal else 0


def note_early():
    """Keep a SIGUSR1 that comes outside of an ``Interrupts`` for the next one, instead of ending this process."""
    signal.signal(signal.SIGUSR1, lambda number, _: _early.append(number))


def ignore():
    """Let rank 0 decide: a worker that dies at Ctrl-C would take the result with it."""
    for number in _CAUGHT:
        signal.signal(number, signal.SIG_IGN)
