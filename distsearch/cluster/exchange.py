"""What the owners of one job on several hosts tell one another while their hosts search it together.

The engine says what is to be told, see ``search.news``. Whoever owns the job on a host sends that to the others about
every ``EVERY`` seconds, in one small message each, and puts what comes from them into the table that its host shares.
"""

import numpy as np

from .messages import NEWS, Message, Outgoing, from_records, to_records

EVERY = 4e-4  # seconds between two messages to the same owner
# And for each of the others, since a message takes its sender and who receives it about 10 µs together.
_FOR_EACH = 4e-5
_HEAD = 3  # words before the entries: the job, the number of the host, how many entries
_NOTHING = np.zeros((0, 2), np.uint64)


class Exchange:
    """Of the owner of a job.

    run, node: whose job it is, and its node; host: the number of this host among those that search the job; ranks: the
    owners by host; now: seconds.
    """

    def __init__(self, run, node, host, ranks, now):
        self.run, self.node, self.host, self.ranks = run, node, host, ranks
        self.every = max(EVERY, _FOR_EACH * (len(ranks) - 1))
        self._due, self._since = now, None
        self._entries, self._marks = [], dict.fromkeys(range(len(ranks)), _NOTHING)
        self._changed = True  # marks, since the engine was told of them

    def take_in(self, message):
        """Keep what another owner has sent, until the engine has time for it."""
        words = to_records(message.payload, np.uint64)
        node, host, entries = words[:_HEAD].tolist()
        if message.run == self.run and node == self.node and host != self.host and host in self._marks:
            rows = words[_HEAD:].reshape(-1, 2)
            self._entries.append(rows[:entries])
            self._marks[host], self._changed = rows[entries:], True

    def apply(self, runner):
        """Have the engine of the job's runner know what has come."""
        if self._entries:
            runner.take_in(np.concatenate(self._entries))
            self._entries = []
        if self._changed:
            runner.set_elsewhere(np.concatenate(list(self._marks.values())), len(self.ranks), self.host)
            self._changed = False

    def messages(self, runner, now):
        """Return what is to be sent now, as Outgoing messages."""
        if now < self._due:
            return []
        if self._since is None:  # what was found before goes to nobody
            _, _, self._since = runner.news(1 << 62)
        self._due = now + self.every
        entries, marks, self._since = runner.news(self._since)
        head = np.array([[self.node, self.host, len(entries)]], np.uint64).ravel()
        payload = from_records(np.concatenate((head, entries.ravel(), marks.ravel())))
        return [
            Outgoing(rank, Message(NEWS, self.run, payload)) for i, rank in enumerate(self.ranks) if i != self.host
        ]  # fmt: skip

    def end(self, runner):
        """Have the engine search alone on this host again."""
        runner.set_elsewhere(_NOTHING, 0, 0)
