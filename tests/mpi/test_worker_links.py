"""What the master sends to workers whose processes have ended. No rank needs another one here."""

import contextlib
import time
from types import SimpleNamespace

import pytest

from distsearch.cluster.messages import Message, MessageType
from distsearch.cluster.wakeup import Wakeup
from distsearch.core.errors import RanksLostError


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


def test_workers_of_other_hosts_hear_of_a_rank_that_compiles(monkeypatch):
    from mpi4py import MPI

    from distsearch.cluster.worker_links import WorkerLinks
    from distsearch.core import kernel_cache

    comm, host, own, other = Comm(), MPI.Get_processor_name(), Wakeup(), Wakeup()
    known = [(host, own.name), (host, other.name), ("elsewhere", b"\0one"), ("elsewhere", b"\0two")]
    links = WorkerLinks(comm, Machine([]), None, [1, 2, 3], known, own, worker_timeout=0.1, survives=True)
    monkeypatch.setattr(kernel_cache, "busy", [links.be_heard])
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        kernel_cache.about_to_compile("a kernel")
    assert 4 <= comm.sent.count(2) == comm.sent.count(3) <= 10
    assert comm.sent.count(1) == 0
    other.close()
    own.close()


def test_a_worker_is_heard_of_while_it_compiles():
    from mpi4py import MPI

    from distsearch.cluster.mailbox import Mailbox
    from distsearch.cluster.mpi import _Guard, _heard_while_compiling
    from distsearch.core import kernel_cache

    comm, wakeup = Comm(), Wakeup()
    guard = _Guard(0.1, 7, {7: (MPI.Get_processor_name(), wakeup.name)})
    with _heard_while_compiling(guard, Mailbox(comm)):
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            kernel_cache.about_to_compile("a kernel")
    kernel_cache.about_to_compile("another one")
    assert 4 <= comm.sent.count(7) == len(comm.sent) <= 11
    assert not kernel_cache.busy
    wakeup.close()


def test_a_silent_master_is_lost_on_another_host_and_not_on_this_one():
    from mpi4py import MPI

    from distsearch.cluster.mpi import _Guard

    here, wakeup = MPI.Get_processor_name(), Wakeup()
    guards = [_Guard(0.02, 0, [(host, wakeup.name)]) for host in (here, "elsewhere")]
    for guard in guards:
        guard.heard(Message(MessageType.PONG, 0))
    assert not any(guard._begun for guard in guards)
    for guard in guards:
        guard.heard(Message(MessageType.PING, 0))
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        guards[0].look(lambda: False)
    with pytest.raises(RanksLostError):
        while time.monotonic() < end + 0.5:
            guards[1].look(lambda: False)
    wakeup.close()
    with pytest.raises(RanksLostError):
        guards[0].look(lambda: False)


def test_the_last_message_of_a_master_that_has_ended_is_read_first():
    """A worker that loses the core between its looks for mail and for its master's socket finds both changed."""
    from mpi4py import MPI

    from distsearch.cluster.mpi import _Guard

    wakeup = Wakeup()
    guard = _Guard(0.02, 0, [(MPI.Get_processor_name(), wakeup.name)])
    guard.heard(Message(MessageType.PING, 0))
    wakeup.close()
    in_the_second_call = iter((False, True))
    assert not guard.look(lambda: next(in_the_second_call))
    with pytest.raises(RanksLostError):
        guard.look(lambda: False)


@pytest.mark.parametrize("survives", [False, True])
def test_the_end_of_rank_0_is_no_error_once_it_has_said_to_leave(monkeypatch, survives):
    from mpi4py import MPI

    from distsearch.cluster import mpi, mpi_runtime
    from distsearch.cluster.mailbox import Mailbox

    class Ended(Comm):
        def Isend(self, what, dest, tag):  # noqa: N802
            raise MPI.Exception(MPI.ERR_PROC_FAILED)

    without_finalize, comm = [], Ended()
    monkeypatch.setattr(mpi_runtime, "forgo_finalize", lambda: without_finalize.append(True))
    with contextlib.nullcontext() if survives else pytest.raises(MPI.Exception):
        mpi._leave(comm, SimpleNamespace(leaves_alone=True), Mailbox(comm), 0.1, survives, above=0)
    assert without_finalize == [True] * survives
