"""What the owners of one job on several hosts tell one another while their hosts search it together.

The engine says what is to be told, see ``search.news``. Whoever owns the job on a host sends that to the others about
every ``EVERY`` seconds, in one small message each, and puts what comes from them into the table that its host shares.
"""

import numpy as np

from .messages import NEWS, Message, Outgoing, from_records, to_records

EVERY = 4e-4  # seconds between two messages to the same owner
# And for each of the others, since a message takes its sender and who receives it about 10 µs together.
_FOR_EACH = 4e-5
_HEAD = 4  # words before the others: the job, the number of the host, how many entries, how many words of orders
_NOTHING = np.zeros((0, 2), np.uint64)


class Exchange:
    """Of the owner of a job.

    run, node: whose job it is, and its node; host: the number of this host among those that search the job; ranks: the
    owners by host; now: seconds.
    """

    def __init__(self, run, node, host, ranks, now):
        self.run, self.node, self.host, self.ranks = run, node, host, ranks
        self.every = max(EVERY, _FOR_EACH * (len(ranks) - 1))
        self._due, self._since = now, None  # when to tell the next time, and which entries and orders were told
        self._entries, self._orders, self._marks = [], [], dict.fromkeys(range(len(ranks)), _NOTHING)
        self._changed = True  # marks, since the engine was told of them

    def take_in(self, message):
        """Keep what another owner has sent, until the engine has time for it."""
        words = to_records(message.payload, np.uint64)
        node, host, entries, orders = words[:_HEAD].tolist()
        if message.run == self.run and node == self.node and host != self.host and host in self._marks:
            orders_from, marks_from = _HEAD + 2 * entries, _HEAD + 2 * entries + orders
            self._entries.append(words[_HEAD:orders_from].reshape(-1, 2))
            self._orders.append(words[orders_from:marks_from])
            self._marks[host], self._changed = words[marks_from:].reshape(-1, 2), True

    def apply(self, runner):
        """Have the engine of the job's runner know what has come."""
        if self._entries:
            runner.take_in(np.concatenate(self._entries))
            for orders in self._orders:
                runner.take_in_orders(orders)
            self._entries, self._orders = [], []
        if self._changed:
            runner.set_elsewhere(np.concatenate(list(self._marks.values())), len(self.ranks), self.host)
            self._changed = False

    def messages(self, runner, now):
        """Return what is to be sent now, as Outgoing messages."""
        if now < self._due:
            return []
        if self._since is None:  # what was found before goes to nobody
            self._since = runner.news(1 << 62)[-1], runner.orders(1 << 62)[-1]
        self._due = now + self.every
        entries, marks, told = runner.news(self._since[0])
        orders, orders_told = runner.orders(self._since[1])
        self._since = told, orders_told
        head = np.array((self.node, self.host, len(entries), len(orders)), np.uint64)
        payload = from_records(np.concatenate((head, entries.ravel(), orders, marks.ravel())))
        return [
            Outgoing(rank, Message(NEWS, self.run, payload)) for i, rank in enumerate(self.ranks) if i != self.host
        ]  # fmt: skip

    def end(self, runner):
        """Have the engine search alone on this host again."""
        runner.set_elsewhere(_NOTHING, 0, 0)
