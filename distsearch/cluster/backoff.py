"""Sleep without spinning: how long a rank sleeps between two looks at its mail."""

import time
from collections.abc import Callable

_SHORTEST, _LONG, _LONGEST = 50e-6, 1e-3, 5e-3  # seconds
_PATIENCE = 1.0  # seconds; after so much idle time, a rank looks at its mail every 5 ms, before every millisecond


def pause(idle: float) -> float:
    """Return how long to sleep after ``idle`` seconds without mail: as long again, within bounds."""
    return _LONGEST if idle >= _PATIENCE else min(max(idle, _SHORTEST), _LONG)


def wake_up(since: float, arrival: float) -> float:
    """Return when a rank that sleeps since ``since`` first looks at its mail at or after ``arrival`` (seconds)."""
    now = since
    while now < arrival:
        sleep = pause(now - since)
        steady = since + _PATIENCE if sleep == _LONG else arrival if sleep == _LONGEST else now
        sleeps = max(1, int((min(arrival, steady) - now) / sleep))  # equal sleeps in one step
        now += sleeps * sleep
    return now


def sleep_until(ready: Callable[[], bool], sleep: Callable[[float], bool | None] | None = None) -> None:
    """Sleep, a little longer each time, until ``ready()``, which is called twice, as MPI needs it.

    sleep(seconds): how, ``time.sleep`` if None; if it returns True, the next sleep is the shortest again.
    """
    sleep = sleep or time.sleep
    while True:
        since, again = time.perf_counter(), False
        while not again and (idle := time.perf_counter() - since) < _PATIENCE:
            if ready() or ready():
                return
            again = sleep(pause(idle))
        # this code is cold in the caches by then: less of it keeps an idle rank below 1% of a core
        while not again:
            if ready() or ready():
                return
            again = sleep(_LONGEST)


class BackOff:
    """The same for a caller that does more than wait: sleeps a little longer each time, until an event."""

    def __init__(self):
        self.reset()

    def reset(self) -> None:
        """Start from the shortest sleep again."""
        self._since = time.perf_counter()

    @property
    def seconds(self) -> float:
        """How long to sleep now."""
        return pause(time.perf_counter() - self._since)
