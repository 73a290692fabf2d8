"""Searches that idle ranks of a host may join: each rank publishes in shared memory the job that it searches.

Every rank has a slot. While its rank searches a large job the slot is *open*: it holds the job's record, and idle ranks
may search the same job, by the engine's shared table, until the slot's sequence number changes. Only the owner answers
the job. It adds what the ranks that joined have spent, which each writes to its own slot.

A slot is written by its rank alone. Nothing is locked: a rank that reads a record while it changes finds another
sequence number afterwards. What a rank has spent on a job stays in its slot until it joins another one.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

SLOTS = 256  # ranks of a host that can share their jobs; others have none
_HEAD = 12  # words of a slot before the record
_SIZE = 64  # words
_FLAGS = SLOTS // 8  # words behind the slots: a byte for each, 1 while it is open
WORDS = SLOTS * _SIZE + _FLAGS

# Words of a slot: odd while it is open; the setup and run of the job; bytes of its record.
_SEQUENCE, _SETUP, _RUN, _BYTES = range(4)
# The job that this rank has joined, last or now: its slot + 1 (0: none) and sequence number; 1 if it is searched now;
# what this rank has spent on it, this time and before.
_JOINED, _JOINED_SEQUENCE, _AT_IT, _NODES, _NANOSECONDS, _NODES_BEFORE, _NANOSECONDS_BEFORE = range(4, 11)
_RENEWED = 11  # counts the slices of work of its rank while it is open
MOST_BYTES = 8 * (_SIZE - _HEAD)  # of a record
PATIENCE = 2.0  # seconds without a slice after which an owner counts as lost; it may rejoin


class Open(NamedTuple):
    """A job that can be joined: where it is open, of which setup and run, its record (uint8)."""

    slot: int
    sequence: int
    setup: int
    run: int
    record: np.ndarray


class Joint:
    """The slots of a host, as the rank of one of them sees them.

    words: int64, shared by the host's ranks and zero at first; slot: of this rank; ranks: of the host, by slot.
    """

    def __init__(self, words: np.ndarray, slot: int, ranks: int):
        self._slots = words[:-_FLAGS].reshape(SLOTS, _SIZE)[:ranks]
        self._flags = words[-_FLAGS:].view(np.uint8)[:ranks].data
        self._own, self._slot = self._slots[slot], slot
        self._done = {}  # slot → sequence number of a job that was searched to its end here, or failed
        self._renewed = {}  # slot → its count of slices when this rank last looked, and since when it is that
        self._own[_SEQUENCE] += self._own[_SEQUENCE] & 1
        self._flags[slot] = 0

    # Of an owner.

    @property
    def is_open(self) -> bool:
        """Whether the job of this rank can be joined."""
        return bool(self._own[_SEQUENCE] & 1)

    def open(self, setup: int, run: int, record: np.ndarray) -> None:
        """Have other ranks join a job: numbers of its setup and run, its record as bytes (uint8)."""
        own = self._own
        own[_SETUP], own[_RUN], own[_BYTES] = setup, run, len(record)
        own[_HEAD:].view(np.uint8)[: len(record)] = record
        own[_SEQUENCE] += 1
        own[_RENEWED] += 1
        self._flags[self._slot] = 1

    def renew(self) -> None:
        """Say that the owner of an open job is still at work."""
        self._own[_RENEWED] += 1

    @property
    def joined(self) -> bool:
        """Whether another rank searches the job of this one."""
        return bool(self._at_it(self._slot))

    @property
    def spent(self) -> tuple[int, float]:
        """(nodes, CPU seconds) that ranks which have joined the job of this one have spent on it."""
        at = self._slots
        rows = at[(at[:, _JOINED] == self._slot + 1) & (at[:, _JOINED_SEQUENCE] == self._own[_SEQUENCE])]
        nodes = int((rows[:, _NODES] + rows[:, _NODES_BEFORE]).sum())
        return nodes, 1e-9 * int((rows[:, _NANOSECONDS] + rows[:, _NANOSECONDS_BEFORE]).sum())

    def close(self) -> tuple[int, float]:
        """End what other ranks search of the job of this one; return ``spent``."""
        if not self.is_open:
            return 0, 0.0
        spent = self.spent
        self._own[_SEQUENCE] += 1
        self._flags[self._slot] = 0
        return spent

    def _at_it(self, slot):
        """Return how many ranks search the open job of a slot, its owner apart."""
        at = self._slots
        here = (at[:, _JOINED] == slot + 1) & (at[:, _JOINED_SEQUENCE] == at[slot, _SEQUENCE]) & (at[:, _AT_IT] == 1)
        return int(np.count_nonzero(here))

    # Of a rank that joins.

    @property
    def any_open(self) -> bool:
        """Whether any rank has an open job; an idle rank asks this 200 times a second, so it has to be quick."""
        return 1 in bytes(self._flags)

    def find(self, setups: Collection[int], now: float) -> Open | None:
        """Return the Open job with the fewest ranks at it that this rank is not done with, or None.

        setups: numbers of those that this rank knows; now: seconds, by any clock of this rank.
        """
        sequences = self._slots[:, _SEQUENCE]
        found = [
            slot
            for slot in np.flatnonzero(sequences & 1).tolist()
            if self._done.get(slot) != sequences[slot]
            and self._slots[slot, _SETUP] in setups
            and self._is_at_work(slot, now)
        ]
        if not found:
            return None
        slot = min(found, key=self._at_it)
        row = self._slots[slot]
        sequence, size = int(row[_SEQUENCE]), int(row[_BYTES])
        record = row[_HEAD:].view(np.uint8)[:size].copy()
        job = Open(slot, sequence, int(row[_SETUP]), int(row[_RUN]), record)
        # its owner may have ended it meanwhile, and may be writing the next one's record
        return job if sequence & 1 and self.lasts(job, now) and job.setup in setups else None

    def lasts(self, job: Open, now: float) -> bool:
        """Whether an Open job can still be joined: it is open, and its owner has not died."""
        return self._slots[job.slot, _SEQUENCE] == job.sequence and self._is_at_work(job.slot, now)

    def _is_at_work(self, slot, now):
        """Whether the owner of a slot has done a slice since this rank last looked, or within PATIENCE seconds."""
        count = int(self._slots[slot, _RENEWED])
        seen, since = self._renewed.get(slot, (None, now))
        if count != seen:
            self._renewed[slot] = count, now
        return count != seen or now - since < PATIENCE

    def join(self, job: Open) -> tuple[int, int]:
        """Say that this rank searches a job; return the addresses of its sequence number and of nodes spent here."""
        own = self._own
        if own[_JOINED] == job.slot + 1 and own[_JOINED_SEQUENCE] == job.sequence:
            own[_NODES_BEFORE] += own[_NODES]
            own[_NANOSECONDS_BEFORE] += own[_NANOSECONDS]
        else:
            own[_JOINED] = own[_NODES_BEFORE] = own[_NANOSECONDS_BEFORE] = 0
        own[_NODES] = own[_NANOSECONDS] = 0
        own[_JOINED_SEQUENCE] = job.sequence
        own[_JOINED], own[_AT_IT] = job.slot + 1, 1
        base, row = self._slots.ctypes.data, 8 * _SIZE
        return base + row * job.slot + 8 * _SEQUENCE, base + row * self._slot + 8 * _NODES

    def spend(self, nodes: int, seconds: float) -> None:
        """Note what the joined job has taken here so far; within a slice the engine writes the nodes itself."""
        self._own[_NODES], self._own[_NANOSECONDS] = nodes, int(1e9 * seconds)

    def leave(self, done: Open | None = None) -> None:
        """Say that this rank searches no other rank's job any more.

        done: an Open job that this rank is not to join again: it came to its end here, or failed.
        """
        self._own[_AT_IT] = 0
        if done is not None:
            self._done[done.slot] = done.sequence
