"""Failure detector: which workers must be pinged, and which were silent for so long that they are declared lost."""

from collections.abc import Collection, Iterable

_COMPILES = 120.0  # seconds: a kernel takes seconds, on a busy computer more; a worker is heard before each of them
LAST_WAITS = 10  # timeouts for which a master waits for its last worker, as no other can do its work
_STEP = 6  # parts of the timeout; time in which the master did not look counts for one at most


class Liveness:
    """Knows when each worker was heard from last. The caller, which has the clock and the mail, asks it often.

    Where the master itself was away for long, all mail has waited for it: such a time counts for a sixth of the
    timeout at most.

    Args:
        timeout: seconds of silence after which a worker is lost; after a third of it, it is pinged.
        ranks: of the workers.
        now: seconds.
        compiles: extra seconds for workers that may be compiling.
        last: timeouts after which the worker that was heard from last is lost, where all are silent.
    """

    def __init__(
        self, timeout: float, ranks: Iterable[int], now: float = 0.0, compiles: float = _COMPILES, last: int = 1
    ):
        self.timeout, self._latest, self._compiles, self._last = timeout, now, compiles, last
        self._passed = 0.0  # seconds that count
        self._heard = dict.fromkeys(ranks, 0.0)
        self._pinged = dict.fromkeys(ranks, 0.0)

    def heard(self, rank: int, now: float) -> None:
        """Note a message; one of a lost worker does not count until it has ``rejoined``."""
        if rank in self._heard:
            self._heard[rank] = self._pass(now)

    def due(self, now: float) -> list[int]:
        """Return the ranks to ping now; they are due again after another third of the timeout."""
        passed, third = self._pass(now), self.timeout / 3
        ranks = [rank for rank, heard in self._heard.items() if passed - max(heard, self._pinged[rank]) >= third]
        self._pinged.update(dict.fromkeys(ranks, passed))
        return ranks

    def silent(self, now: float, preparing: Collection[int] = ()) -> list[int]:
        """Return the ranks that are lost by now; preparing: those that may be compiling."""
        passed = self._pass(now)

        def is_silent(rank, timeouts):
            waits = timeouts * self.timeout + (self._compiles if rank in preparing else 0.0)
            return passed - self._heard[rank] >= waits

        lost = [rank for rank in self._heard if is_silent(rank, 1)]
        if lost and len(lost) == len(self._heard):
            last = max(lost, key=lambda rank: self._heard[rank])
            if not is_silent(last, self._last):
                lost.remove(last)
        return lost

    def lost(self, rank: int) -> None:
        """Expect nothing more from a lost worker."""
        self._heard.pop(rank, None)

    def rejoined(self, rank: int, now: float) -> None:
        """Note that a lost worker is there after all."""
        self._heard[rank] = self._pinged[rank] = self._pass(now)

    def _pass(self, now):
        self._passed += min(max(now - self._latest, 0.0), self.timeout / _STEP)
        self._latest = max(self._latest, now)
        return self._passed
