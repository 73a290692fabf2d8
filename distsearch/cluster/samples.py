"""What workers' timers say while they work, asked of all of them at once and taken in as it comes."""

from collections.abc import Iterable

import numpy as np

from .messages import METRICS_RECORD, NO_RUN, Message, MessageType, Outgoing, to_records


class Samples:
    """The latest sample of each worker. A worker that has not answered is not asked again, however long it takes.

    latest: rank → METRICS_RECORD, also of workers that were lost later.
    """

    def __init__(self):
        self.latest: dict[int, np.void] = {}
        self._awaited: set[int] = set()  # ranks that were asked and have not answered

    def request(self, ranks: Iterable[int]) -> list[Outgoing]:
        """Return the messages that ask these ranks, workers or sub-masters."""
        asked = [rank for rank in ranks if rank not in self._awaited]
        self._awaited.update(asked)
        return [Outgoing(rank, Message(MessageType.METRICS_REQUEST, NO_RUN)) for rank in asked]

    def take_in(self, sender: int, message: Message) -> None:
        """Take in METRICS of a worker, or of all workers of a sub-master."""
        self._awaited.discard(sender)
        for record in to_records(message.payload, METRICS_RECORD):
            self.latest[int(record["rank"]) or sender] = record

    def lost(self, rank: int) -> None:
        """Expect no answer of a lost worker."""
        self._awaited.discard(rank)

    @property
    def complete(self) -> bool:
        """Whether all that were asked have answered."""
        return not self._awaited
