"""What the master sends to workers whose processes have ended. No rank needs another one here."""

from distsearch.cluster.messages import Message, MessageType
from distsearch.cluster.wakeup import Wakeup


class Comm:
    """A communicator of which no message arrives; ``sent``: to which ranks messages were sent."""

    def __init__(self):
        self.sent = []

    def Isend(self, what, dest, tag):  # noqa: N802
        self.sent.append(dest)
        return self

    def Iprobe(self, *_):  # noqa: N802
        return False

    def Test(self):  # noqa: N802
        return True


class Machine:
    """Sends each of its ranks a message, whatever happens."""

    def __init__(self, ranks):
        self._ranks = ranks

    def handle(self, event):
        return [(rank, Message(MessageType.JOB_UPDATE, 1)) for rank in self._ranks]


def test_a_worker_that_has_died_takes_few_messages():
    from mpi4py import MPI

    from distsearch.cluster.worker_links import WorkerLinks

    comm, ranks, host = Comm(), [1, 2], MPI.Get_processor_name()
    own, *others = wakeups = [Wakeup() for _ in range(3)]
    known = [(host, each.name) for each in wakeups]
    links = WorkerLinks(comm, Machine(ranks), None, ranks, known, own, worker_timeout=10.0, survives=True)
    others[0].close()  # as the end of its process does
    for _ in range(100):
        links.dispatch(None)
    assert comm.sent.count(2) == 100
    assert comm.sent.count(1) < 8
    others[1].close()
    own.close()
