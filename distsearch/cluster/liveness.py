"""Who is still there: which workers are to be asked, and which were silent for so long that they are taken for lost."""

_COMPILES = 900.0  # seconds: compiling takes up to minutes, on a busy computer more, and looks at no mail
LAST_WAITS = 10  # deadlines for which a master waits for its last worker, as nobody can do its work instead
_STEP = 6  # parts of the deadline, of which time in which nobody looked counts for one at most


class Liveness:
    """Knows when each worker was heard from last. Whoever has a clock and the mail asks it several times a deadline.

    deadline: seconds; who was silent for so long is lost, and who was silent for a third of it is to be asked whether
    it is there. ranks: of the workers; now: seconds; compiles: how much longer who may be compiling is waited for;
    last: deadlines after which the one that was heard from last is lost, where all are silent.
    Where the master itself was away for long, all mail has waited for it: such a time counts for a sixth of the
    deadline at most.
    """

    def __init__(self, deadline, ranks, now=0.0, compiles=_COMPILES, last=1):
        self._deadline, self._latest, self._compiles, self._last = deadline, now, compiles, last
        self._passed = 0.0  # seconds that count
        self._heard = dict.fromkeys(ranks, 0.0)
        self._asked = dict.fromkeys(ranks, 0.0)

    def heard(self, rank, now):
        """A message has come; of a lost worker it says nothing until it is ``rejoined``."""
        if rank in self._heard:
            self._heard[rank] = self._pass(now)

    def due(self, now):
        """Return the ranks that are to be asked (PING) now; they are due again after another third of the deadline."""
        passed, third = self._pass(now), self._deadline / 3
        ranks = [rank for rank, heard in self._heard.items() if passed - max(heard, self._asked[rank]) >= third]
        self._asked.update(dict.fromkeys(ranks, passed))
        return ranks

    def silent(self, now, preparing=()):
        """Return the ranks that are to be taken for lost now; preparing: those that may be compiling."""
        passed = self._pass(now)

        def is_silent(rank, deadlines):
            waits = deadlines * self._deadline + (self._compiles if rank in preparing else 0.0)
            return passed - self._heard[rank] >= waits

        lost = [rank for rank in self._heard if is_silent(rank, 1)]
        if lost and len(lost) == len(self._heard):
            last = max(lost, key=self._heard.get)
            if not is_silent(last, self._last):
                lost.remove(last)
        return lost

    def lost(self, rank):
        """A worker was taken for lost: nothing is to be heard from it."""
        self._heard.pop(rank, None)

    def rejoined(self, rank, now):
        """A lost worker was there after all."""
        self._heard[rank] = self._asked[rank] = self._pass(now)

    def _pass(self, now):
        self._passed += min(max(now - self._latest, 0.0), self._deadline / _STEP)
        self._latest = max(self._latest, now)
        return self._passed
