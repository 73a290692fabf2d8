"""Waiting without spinning."""

import time

_SHORTEST, _LONG, _LONGEST = 50e-6, 1e-3, 5e-3  # seconds
_PATIENCE = 1.0  # idle for so many seconds, a rank looks at its mail every 5 ms instead of every one


class BackOff:
    """Sleeps a little longer each time, from 50 µs to 1 ms, and to 5 ms after a second without any event."""

    def __init__(self):
        self.reset()

    def reset(self):
        """Something happened: start from the shortest sleep again."""
        self._pause = _SHORTEST
        self._since = time.perf_counter()

    def sleep(self):
        """Sleep once."""
        time.sleep(self._pause)
        idle = time.perf_counter() - self._since
        self._pause = min(self._pause * 2, _LONGEST if idle > _PATIENCE else _LONG)
