"""The exchange between the owners of one job on several hosts, which search it together.

The engine exports entries, see ``engines.pvs.table_exchange``. The owner of the job on a host sends them to the other
owners about every ``EVERY`` seconds, in one small message each, and imports theirs into the table that its host shares.
"""

import struct
from collections.abc import Sequence

import numpy as np

from .messages import Message, MessageType, Outgoing, to_records
from .protocols import JobRunner

EVERY = 4e-4  # seconds between two messages to the same owner
# And for each of the others, since a message costs about 10 µs, sending and receiving.
_FOR_EACH = 4e-5
# A host that has not acknowledged so many messages gets the next one only after so many seconds, or they would pile up
# there while its owner does something else. Where nothing comes from it either, this delay doubles with each message:
# MPI queues a limited number of them, which a host without a network would use up, and then blocks in MPI_Isend.
_UNSEEN, _PATIENCE = 8, 0.02
# Before entries, orders and marks: the job, the number of the host, the number of this message and of the latest one
# that has come from its receiver, how many entries, how many words of orders.
_HEAD = struct.Struct("=6q")
_ALL = 1 << 62  # more than there ever are
NOTHING = np.zeros((0, 2), np.uint64)


class Exchange:
    """One owner's side of the exchange about a job.

    run, job_id: of the job; host: the number of this host among those that search the job; ranks: the owners by host;
    now: seconds.
    """

    def __init__(self, run: int, job_id: int, host: int, ranks: Sequence[int], now: float):
        self.run, self.job_id, self.host, self.ranks = run, job_id, host, ranks
        self.every = max(EVERY, _FOR_EACH * (len(ranks) - 1))
        self._due, self._since = now, None  # when to send the next time, and up to where entries and orders were sent
        self._entries, self._orders = [], []
        self._marks: dict[int, np.ndarray] = dict.fromkeys(range(len(ranks)), NOTHING)
        self._changed = True  # marks, since the engine got them
        # by host: messages sent, those that have been seen, the latest one that has come, when the last was sent, and
        # how many were since anything came
        self._sent, self._seen, self._came = [0] * len(ranks), [0] * len(ranks), [0] * len(ranks)
        self._sent_at, self._unanswered = [now] * len(ranks), [0] * len(ranks)

    def take_in(self, message: Message) -> None:
        """Keep what another owner has sent, until the engine has time for it."""
        job_id, host, number, seen, entries, orders = _HEAD.unpack_from(message.payload)
        words = to_records(message.payload[_HEAD.size :], np.uint64)
        if message.run == self.run and job_id == self.job_id and host != self.host and host in self._marks:
            self._came[host], self._unanswered[host] = number, 0
            if seen <= self._sent[host]:  # else of another exchange
                self._seen[host] = seen
            orders_from, marks_from = 2 * entries, 2 * entries + orders
            self._entries.append(words[:orders_from].reshape(-1, 2))
            self._orders.append(words[orders_from:marks_from])
            self._marks[host], self._changed = words[marks_from:].reshape(-1, 2), True

    def apply(self, runner: JobRunner) -> None:
        """Give what has come to the engine of the job's runner."""
        if self._entries:
            runner.import_updates(np.concatenate(self._entries), np.concatenate(self._orders))
            self._entries, self._orders = [], []
        if self._changed:
            runner.set_remote_marks(np.concatenate(list(self._marks.values())), len(self.ranks), self.host)
            self._changed = False

    def messages(self, runner: JobRunner, now: float) -> list[Outgoing]:
        """Return the Outgoing messages that are due."""
        if now < self._due:
            return []
        if self._since is None:  # begin with what is found from now on
            *_, self._since = runner.export_updates((_ALL, _ALL))
        self._due = now + self.every
        entries, orders, marks, self._since = runner.export_updates(self._since)
        content = entries.tobytes() + orders.tobytes() + marks.tobytes()
        found = []
        for host, rank in enumerate(self.ranks):
            if host == self.host or self._is_behind(host, now):
                continue
            self._sent[host], self._sent_at[host] = self._sent[host] + 1, now
            self._unanswered[host] += 1
            numbers = self._sent[host], self._came[host]
            head = _HEAD.pack(self.job_id, self.host, *numbers, len(entries), len(orders))
            found.append(Outgoing(rank, Message(MessageType.TT_UPDATE, self.run, head + content)))
        return found

    def _is_behind(self, host, now):
        """Whether a host has many messages to acknowledge, and its delay is not over."""
        delay = _PATIENCE * 2.0 ** max(self._unanswered[host] - _UNSEEN, 0)
        return self._sent[host] - self._seen[host] >= _UNSEEN and now - self._sent_at[host] < delay

    def end(self, runner: JobRunner) -> None:
        """Have the engine search alone on this host again."""
        runner.set_remote_marks(NOTHING, 0, 0)
