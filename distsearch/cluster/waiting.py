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


class BackOff:
    """Sleeps a little longer each time, from 50 µs to 1 ms, and 5 ms after a second without any event."""

    def __init__(self):
        self.reset()

    def reset(self):
        """Something happened: start from the shortest sleep again."""
        self._since = time.perf_counter()

    def sleep(self):
        """Sleep once."""
        time.sleep(pause(time.perf_counter() - self._since))
