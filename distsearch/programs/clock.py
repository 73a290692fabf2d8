"""The clock of a side in a game of the Go Text Protocol: a main time, then periods of so many moves each."""

from dataclasses import dataclass

from ..api.clock import Clock


@dataclass
class PeriodClock(Clock):
    """A clock with periods behind the main time.

    stones: moves that have to be made in ``left``, 0 in the main time; period: (seconds, moves) of each period, None
    for a main time alone.
    """

    stones: int = 0
    period: tuple[float, int] | None = None

    def give(self, expected: float) -> float:
        """As ``Clock.give`` does; in a period ``expected`` does not matter."""
        return super().give(self.stones or expected)

    def spend(self, seconds: float) -> bool:
        """As ``Clock.spend`` does; a period begins where the main time, or the moves of a period, are used up."""
        in_period, in_time = self.stones > 0, super().spend(seconds)
        self.stones = max(self.stones - 1, 0)
        if self.period and (not self.stones if in_period else not self.left):
            self.left, self.stones = self.period
            return in_time or not in_period
        return in_time
