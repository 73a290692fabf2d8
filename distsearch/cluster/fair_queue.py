"""Who goes next where several want the same processor."""


class FairQueue:
    """Start-time fair queuing: next is who has had the least so far, counted in time over weight.

    Whoever comes starts level with the one that has had the least: time that one did not want is not saved up. Who
    comes again with more than that still has had it, or a stream of short jobs, each of which leaves when it is done,
    would take all the time there is. (Goyal, Vin, Cheng: Start-time fair queuing, 1996, with the time that a turn took
    instead of its plan.)
    """

    def __init__(self):
        self._had = {}  # who → seconds by weight
        self._ahead = {}  # the same of those that left with more than the least

    def __len__(self):
        return len(self._had)

    def __contains__(self, who):
        return who in self._had

    def join(self, who):
        """``who`` wants a share from now on."""
        least = self._forget()
        self._had[who] = self._ahead.pop(who, least)

    def leave(self, who):
        """``who`` wants no more."""
        self._ahead[who] = self._had.pop(who)
        self._forget()

    def _forget(self):
        """Return what the one with the least has had; the others that have left are level with it by now."""
        least = min(self._had.values(), default=None)
        if least is None:
            self._ahead.clear()
            return 0.0
        if self._ahead:
            self._ahead = {who: had for who, had in self._ahead.items() if had > least}
        return least

    def first(self):
        """Return who goes next; among equals the one that joined last, which may need little."""
        if len(self._had) == 1:
            return next(iter(self._had))
        return min(reversed(self._had), key=self._had.__getitem__)

    def charge(self, who, seconds, weight=1.0):
        """``who`` has had so many seconds."""
        self._had[who] += seconds / weight
