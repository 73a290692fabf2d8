"""Messages between the ranks of a communicator, sent and received without waiting for the other side.

Every message is one typed buffer under one tag. No rank blocks in a receive: ranks look for mail with Iprobe and sleep
in between (see ``backoff``), so that many more ranks than cores stay usable.
"""

import time
from collections import deque
from collections.abc import Callable
from functools import partial

import numpy as np
from mpi4py import MPI

from .backoff import sleep_until
from .messages import Message, decode, encode

_TAG = 1
_KEPT = 16  # messages after which they are tested for completion: to test each one took longer than to send it
_SMALL = 4096  # bytes; such a message has come as a whole when any of it has, with the usual settings of either MPI


class Mailbox:
    """The messages that a rank sends, and those that it receives from ``source``.

    A message that is under way is kept with its buffer until MPI is done with it. A large message often travels in
    pieces, each when its sender looks at its mail: waiting for one kept a master from its other workers for 0.7 ms.

    survives: an error about a message to or from a rank is that rank's end, not this one's. ``failed`` are the ranks
    that have ended so; nothing is sent to them, and their messages are dropped.
    """

    def __init__(self, comm: MPI.Comm, source: int = MPI.ANY_SOURCE, survives: bool = False):
        self._comm, self._survives = comm, survives
        self._status = MPI.Status()
        self._sending = []  # (rank, request, buffer)
        self._arriving = deque()  # the same, in the order in which they were sent
        self.failed = set()
        # ``_probe()``: whether a message is here; called for as long as a rank is idle, so without a frame of Python.
        # MPICH sees a message that came while a rank slept in the second call only, so an idle rank calls it twice:
        # that takes 2 of 5 ms off an easy request.
        self._probe = partial(comm.Iprobe, source, _TAG, self._status)

    def send(self, to: int, message: Message) -> int:
        """Start sending; return the number of bytes."""
        buffer = encode(message)
        if len(self._sending) >= _KEPT:
            self.all_sent()
        if to not in self.failed:
            try:
                self._sending.append((to, self._comm.Isend([buffer, MPI.BYTE], dest=to, tag=_TAG), buffer))
            except MPI.Exception as error:
                self._note(to, error)
        return len(buffer)

    def is_behind(self, to: int) -> bool:
        """Whether a rank has not received the latest message to it."""
        return to in self.failed or any(
            rank == to and not self._over(to, request) for rank, request, _ in self._sending
        )

    @property
    def has_mail(self) -> Callable[[], bool]:
        """A function that says whether it is time to ``receive``."""
        return self._on_the_way if self._arriving else self._probe

    def has_mail_of(self, source: int) -> bool:
        """Whether a message of one rank is here, whichever ranks this receives from."""
        return bool(self._comm.Iprobe(source, _TAG))

    def _on_the_way(self):
        return self._probe() or any(request.Get_status() for _, request, _ in self._arriving)

    def receive(self) -> tuple[int, Message, int] | None:
        """Return (sender, Message, bytes) of the next complete message, or None."""
        if self._arriving and (arrived := self._arrived()):
            return arrived
        if not (self._probe() or self._probe()):
            return None
        buffer = np.empty(self._status.Get_count(MPI.BYTE), np.uint8)
        source = self._status.Get_source()
        if len(buffer) <= _SMALL and not (self._arriving and self._awaits(source)):
            self._comm.Recv([buffer, MPI.BYTE], source=source, tag=_TAG)
            return None if source in self.failed else (source, decode(buffer), len(buffer))
        if matched := self._comm.Improbe(source, _TAG):
            self._arriving.append((source, matched.Irecv([buffer, MPI.BYTE]), buffer))
        return self._arrived()

    def _awaits(self, source):
        """Whether a message of a rank is on its way."""
        return any(source == sender for sender, _, _ in self._arriving)

    def _arrived(self):
        """Return the first message that is complete, after those that its sender sent before, or None."""
        before = set()
        for i, (source, request, buffer) in enumerate(self._arriving):
            if source not in before and self._over(source, request):
                del self._arriving[i]
                return None if source in self.failed else (source, decode(buffer), len(buffer))
            before.add(source)
        return None

    def flush(self, seconds: float) -> None:
        """Wait, without spinning, until every message has left, but no longer than so many seconds."""
        end = time.monotonic() + seconds
        sleep_until(lambda: self.all_sent() or time.monotonic() > end)

    def all_sent(self) -> bool:
        """Forget the messages that have left; return whether all have."""
        try:
            self._sending = [sending for sending in self._sending if not sending[1].Test()]
        except MPI.Exception:  # once more, each by itself: those that were complete still are
            self._sending = [sending for sending in self._sending if not self._over(*sending[:2])]
        return not self._sending

    def _over(self, rank, request):
        """Whether a message is complete, or never will be."""
        try:
            return request.Test()
        except MPI.Exception as error:
            self._note(rank, error)
            return True

    def _note(self, rank, error):
        if not self._survives or error.Get_error_class() == MPI.ERR_REVOKED:
            raise error
        self.failed.add(rank)
