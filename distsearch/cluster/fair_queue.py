"""Fair sharing of one processor among several members."""

from collections.abc import Hashable
from typing import Any


class FairQueue:
    """Start-time fair queuing: next is the member with the least time so far, divided by its weight.

    A new member starts level with the one that has had the least: time that it did not want is not saved up. A member
    that left with more than that and joins again still has it; else a stream of short jobs, each of which leaves when
    it is done, would take all the time. (Goyal, Vin, Cheng: Start-time fair queuing, 1996, with the time that a turn
    took instead of its plan.)
    """

    def __init__(self):
        self._had = {}  # member → seconds by weight
        self._ahead = {}  # the same of those that left with more than the least

    def __len__(self) -> int:
        return len(self._had)

    def __contains__(self, member: Hashable) -> bool:
        return member in self._had

    def join(self, member: Hashable) -> None:
        """Give a member a share from now on."""
        least = self._forget()
        self._had[member] = self._ahead.pop(member, least)

    def leave(self, member: Hashable) -> None:
        """Give a member no more."""
        self._ahead[member] = self._had.pop(member)
        self._forget()

    def _forget(self):
        """Return what the one with the least has had; the others that have left are level with it by now."""
        least = min(self._had.values(), default=None)
        if least is None:
            self._ahead.clear()
            return 0.0
        if self._ahead:
            self._ahead = {member: had for member, had in self._ahead.items() if had > least}
        return least

    def first(self) -> Any:
        """Return the member that goes next; among equals the one that joined last, which may need little."""
        if len(self._had) == 1:
            return next(iter(self._had))
        return min(reversed(self._had), key=self._had.__getitem__)

    def charge(self, member: Hashable, seconds: float, weight: float = 1.0) -> None:
        """Note that a member has had so many seconds."""
        self._had[member] += seconds / weight
