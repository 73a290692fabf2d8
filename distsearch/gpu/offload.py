"""Parts of a GPU's search that are offloaded to other ranks: what feeds ``cuda/offload.cuh``.

Some more groups than the GPU's own go down its trees. Each stays where so little is left that one CPU is quick at it,
and the host hands that position on; the group takes the answer up when it comes. All of this is between two launches.
"""

import itertools

import numpy as np

from .structs import struct

MOST = 96  # parts that are offloaded at a time
PART = struct(  # what a group of these and the host tell one another
    "Part",
    [
        ("state", "u8", 2),  # position that is offloaded
        ("status", "i4"),
        ("beta", "i4"),  # the CPU's question: is its score beta or more?
        ("value", "i4"),  # its answer, a bound of the score on the side where it lies
        ("job", "i4"),  # whose tree it is
    ],
    align=16,
)
_NUMBERS = itertools.count()  # of a process: an answer that comes late is of no other part
_FREE, _OFFLOADED, _ANSWERED, _NEW = range(4)


class Offloader:
    """Offloads parts of the positions that a ``solver.GpuSolver`` is at.

    ``out``: number of a part → (job: which of the solver's positions, state, beta: is its score beta or more?).
    """

    def __init__(self, gpu, kernel, parameters):
        self._kernel = kernel
        self._record = np.zeros((), parameters)
        self._parts = np.zeros(MOST, PART)
        self._device = gpu.array(MOST, PART)
        self._numbers = np.full(MOST, -1, np.int64)  # of the part in each place
        self.out = {}

    def clear(self):
        """Nothing is offloaded any more: the solver begins something else."""
        self._parts["status"] = _FREE
        self.out = {}

    def offload(self, search, groups, shared, lanes, wanted, left, answers):
        """Offload until ``wanted`` are out, of at most ``left`` moves each; return (numbers of new ones, of old ones).

        search, groups, shared: of the solver's launches, see there; answers: number → a bound of the score on the side
        where it lies. The old ones are not out any more: their answers have come, or others know better.
        """
        parts = self._parts
        for place, number in enumerate(self._numbers.tolist()):
            if number in self.out and number in answers:
                parts["status"][place], parts["value"][place] = _ANSWERED, answers[number]
        record = self._record
        record["search"] = search
        record["search"]["groups"] = groups + MOST
        record["parts"], record["first"], record["count"] = self._device.address, groups, MOST
        record["wanted"], record["left"] = min(wanted, MOST), left
        self._device.set(parts)
        self._kernel(record, -(-MOST * lanes // 32), 32, shared)
        self._parts = parts = self._device.get()
        there = set(self._numbers[parts["status"] == _OFFLOADED].tolist())
        gone = [number for number in self.out if number not in there]
        for number in gone:
            del self.out[number]
        return self._begun(), gone

    def _begun(self):
        new, parts = np.flatnonzero(self._parts["status"] == _NEW), self._parts
        numbers = self._numbers[new] = np.array([next(_NUMBERS) for _ in new], np.int64)
        parts["status"][new] = _OFFLOADED
        for number, part in zip(numbers.tolist(), parts[new], strict=True):
            self.out[number] = int(part["job"]), part["state"].copy(), int(part["beta"])
        return numbers.tolist()
