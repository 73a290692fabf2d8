"""Waiting without spinning: how long a rank sleeps between two looks at its mail."""

import time

_SHORTEST, _LONG, _LONGEST = 50e-6, 1e-3, 5e-3  # seconds
_PATIENCE = 1.0  # idle for so many seconds, a rank looks at its mail every 5 ms instead of every one


def pause(idle):
    """Return how long to sleep after ``idle`` seconds without mail: as long again, within bounds."""
    return _LONGEST if idle >= _PATIENCE else min(max(idle, _SHORTEST), _LONG)


def wake_up(since, arrival):
    """Return when a rank that sleeps since ``since`` first looks at its mail at or after ``arrival`` (seconds)."""
    now = since
    while now < arrival:
        nap = pause(now - since)
        steady = since + _PATIENCE if nap == _LONG else arrival if nap == _LONGEST else now
        naps = max(1, int((min(arrival, steady) - now) / nap))  # equal naps in one step
        now += naps * nap
    return now


def sleep_until(ready, nap=None):
    """Sleep, a little longer each time, until ``ready()``, which is asked twice, as MPI wants it.

    nap(seconds): how, ``time.sleep`` if None; if it returns True, sleep begins with the shortest again.
    """
    nap = nap or time.sleep
    while True:
        since, again = time.perf_counter(), False
        while not again and (idle := time.perf_counter() - since) < _PATIENCE:
            if ready() or ready():
                return
            again = nap(pause(idle))
        # whatever runs here is cold in the caches by then: less of it is what keeps an idle rank below 1% of a core
        while not again:
            if ready() or ready():
                return
            again = nap(_LONGEST)


class BackOff:
    """The same for whoever has more to do than to wait: sleeps a little longer each time, until an event."""

    def __init__(self):
        self.reset()

    def reset(self):
        """Something happened: start from the shortest sleep again."""
        self._since = time.perf_counter()

    @property
    def seconds(self):
        """How long to sleep now."""
        return pause(time.perf_counter() - self._since)
