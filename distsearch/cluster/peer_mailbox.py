"""Messages between workers of several hosts that search one job together; see ``exchange``.

They have a communicator of their own. No answer depends on whether they arrive, and an error about them is ignored.
While MPI has not sent the latest message to a rank, that rank gets no other.
"""

from mpi4py import MPI

from . import mpi_runtime
from .mailbox import Mailbox
from .worker import Worker
from .worker_links import Failures, next_message


class PeerMailbox:
    """The messages of one worker; comm: of all ranks. It must be kept until all messages have left."""

    def __init__(self, comm: MPI.Intracomm):
        self._comm, self._mailbox = comm, Mailbox(comm, survives=True)
        self._failures = Failures(comm) if mpi_runtime.tells_of_failures() else None

    def exchange(self, worker: Worker) -> tuple[int, int]:
        """Take in a Worker's messages, and send those that it has; return (bytes, messages)."""
        size = messages = 0
        while arrived := self._receive():
            worker.handle(arrived[1])
            size, messages = size + arrived[2], messages + 1
        for to, message in worker.peer_messages():
            if not self._mailbox.is_behind(to):
                size, messages = size + self._mailbox.send(to, message), messages + 1
        return size, messages

    def close(self) -> None:
        """Receive what has come, and free the communicator, together with all ranks."""
        while self._receive():
            pass
        self._comm.Free()

    def _receive(self):
        return next_message(self._mailbox, self._failures, self._skip_the_lost)

    def _skip_the_lost(self):
        self._mailbox.failed |= self._failures.ranks() if self._failures else set()
