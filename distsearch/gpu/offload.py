"""Parts of a GPU's search that are lent to others: what feeds ``cuda/lending.cuh``.

Some more groups than the card's own go down its trees. Each stays where so little is left that one CPU is quick at it,
and the host hands that position on; the group takes the answer up when it comes. All of this is between two launches.
"""

import itertools

import numpy as np

MOST = 96  # parts that are lent out at a time
LOAN = np.dtype([("state", "u8", 2), ("status", "i4"), ("beta", "i4"), ("value", "i4"), ("job", "i4")])
_NUMBERS = itertools.count()  # of a process: an answer that comes late is nobody else's
_FREE, _LENT, _ANSWERED, _FRESH = range(4)


class Lender:
    """Lends parts of the positions that a ``solver.GpuSolver`` is at.

    ``out``: number of a loan → (job: which of the solver's positions, state, beta: is its score beta or more?).
    """

    def __init__(self, gpu, kernel, parameters):
        self._kernel = kernel
        self._record = np.zeros(
            (),
            np.dtype(
                [
                    ("search", parameters),
                    ("loans", "u8"),
                    ("first", "i4"),
                    ("count", "i4"),
                    ("wanted", "i4"),
                    ("left", "i4"),
                ],
                align=True,
            ),
        )
        self._loans = np.zeros(MOST, LOAN)
        self._device = gpu.array(MOST, LOAN)
        self._numbers = np.full(MOST, -1, np.int64)  # of the loan in each place
        self.out = {}

    def clear(self):
        """Nothing is lent out any more: the solver begins something else."""
        self._loans["status"] = _FREE
        self.out = {}

    def lend(self, search, groups, shared, lanes, wanted, left, answers):
        """Lend until ``wanted`` are out, of at most ``left`` moves each; return (numbers of new ones, of old ones).

        search, groups, shared: of the solver's launches, see there; answers: number → a bound of the score on the side
        where it lies. The old ones are not out any more: their answers have come, or others know better.
        """
        loans = self._loans
        for place, number in enumerate(self._numbers.tolist()):
            if number in self.out and number in answers:
                loans["status"][place], loans["value"][place] = _ANSWERED, answers[number]
        record = self._record
        record["search"] = search
        record["search"]["groups"] = groups + MOST
        record["loans"], record["first"], record["count"] = self._device.address, groups, MOST
        record["wanted"], record["left"] = min(wanted, MOST), left
        self._device.set(loans)
        self._kernel(record, -(-MOST * lanes // 32), 32, shared)
        self._loans = loans = self._device.get()
        there = set(self._numbers[loans["status"] == _LENT].tolist())
        gone = [number for number in self.out if number not in there]
        for number in gone:
            del self.out[number]
        return self._begun(), gone

    def _begun(self):
        fresh, loans = np.flatnonzero(self._loans["status"] == _FRESH), self._loans
        numbers = self._numbers[fresh] = np.array([next(_NUMBERS) for _ in fresh], np.int64)
        loans["status"][fresh] = _LENT
        for number, loan in zip(numbers.tolist(), loans[fresh], strict=True):
            self.out[number] = int(loan["job"]), loan["state"].copy(), int(loan["beta"])
        return numbers.tolist()
