"""The transport between ranks: rank 0 is the master, all others are workers, or sub-masters of some of them.

With a ``worker_timeout``, or with an MPI that reports failures (see ``mpi_runtime.tells_of_failures``), the search goes
on without workers that have died. MPI reports them within a second. Without its help a worker is lost that was pinged
and has been silent for so many seconds; it may be only slow, and rejoin. The death of a process of the same host is
known at once, for its wakeup socket is gone. The workers of a sub-master that has died leave with it.
"""

import contextlib
import signal
import time
from collections.abc import Callable, Mapping
from functools import partial

from mpi4py import MPI

from ..core import kernel_cache
from ..core.errors import MasterLostError, RanksLostError
from . import beginning, mpi_runtime
from .backoff import BackOff, sleep_until
from .cluster import Cluster
from .joint import Joint
from .liveness import LAST_WAITS, Liveness
from .mailbox import Mailbox
from .master import Master
from .messages import Message, MessageType, to_lost
from .peer_mailbox import PeerMailbox
from .protocols import Runner
from .submaster import Submaster, blocks
from .trace import Timers
from .wakeup import Wakeup
from .worker import Worker
from .worker_links import PARTING, WorkerLinks, barrier
from .worker_signals import caught, message_of, to_signal

_MASTER = 0
_MASTERS = 3  # timeouts for which a master may be silent: it does one thing at a time
_BEGINNING = 120.0  # seconds that a worker waits for its master's first message
_PASSED_ON = 1.0  # seconds to wait for mpirun to pass the same signal to rank 0
_REGULAR = MessageType.NODE_COUNT, MessageType.METRICS  # come again and again, whatever there is to do


class MpiCluster(Cluster):
    """The master's side: runs sources of work on the workers of a communicator (rank 0 of two or more).

    worker_timeout: seconds after which a silent worker is lost, or None; say(text): takes a line that says so;
    submasters: how many, see ``submaster.blocks``, 0 for none; guarded: whether the workers are those of a service
    (see ``Worker``); where they can, they wake rank 0 by ``descriptor``; interrupted: tells whether this rank has
    got a signal to end; if not, a signal that a worker got is raised here, unless the job survives the loss of workers.
    """

    def __init__(
        self,
        comm: MPI.Intracomm,
        worker_timeout: float | None = None,
        say: Callable[[str], None] = lambda text: None,
        submasters: int = 0,
        guarded: bool = False,
        interrupted: Callable[[], bool] = lambda: False,
    ):
        super().__init__()
        self.comm, self._say, self._interrupted = comm, say, interrupted
        self._told: list[tuple[float, Message]] = []  # when this rank heard of workers' signals, and of which
        self.ranks, self.submasters = comm.Get_size(), submasters
        self.workers = self.ranks - 1 - submasters
        self._wakeup = wakeup = Wakeup()
        self._survives, known, self._peers = _begin(comm, worker_timeout, wakeup, submasters)
        if guarded and _can_wake_master(known, submasters):
            self.descriptor = wakeup.fileno()
        leaders = blocks(self.ranks, submasters)
        self.host = known[_MASTER][0]
        self.hosts = {rank: known[rank][0] for rank in range(1, self.ranks)}
        ranks = list(leaders) or list(range(1, self.ranks))
        behind = {leader: {rank: known[rank][0] for rank in its} for leader, its in leaders.items()}
        self._master = Master({rank: known[rank][0] for rank in ranks}, submasters=behind)
        self._links = WorkerLinks(
            comm,
            self._master,
            self._master,
            ranks,
            known,
            wakeup,
            worker_timeout,
            self._survives,
            say,
            LAST_WAITS,
            self._note_told,
        )
        self._closed = False

    @property
    def master_seconds(self) -> float:
        return time.process_time()

    def turn(self) -> bool:
        """Take in one message, if one is here; return whether there was any."""
        if self._told:
            self._heed_told()
        arrived = self._links.poll()
        if arrived is None:
            return False
        sender, message, _ = arrived
        if message.type == MessageType.WORKER_LOST:
            rank, lost = to_lost(message)
            self._links.say_of(rank, self._master.host_behind(sender, rank), lost)
        if message.type not in _REGULAR:
            self._rest.reset()
        return True

    def _note_told(self, message):
        self._told.append((time.monotonic(), message))

    def _heed_told(self):
        """Raise here the signal that a worker got, unless mpirun passes it to this rank as well.

        A job that survives the loss of workers goes on: the worker's host may be about to end.
        """
        if self._interrupted():
            self._told.clear()
        elif time.monotonic() - self._told[0][0] >= _PASSED_ON:
            rank, number = to_signal(self._told.pop(0)[1])
            follows = "goes on" if self._survives else "ends"
            self._say(f"distsearch: rank {rank} got {signal.Signals(number).name}: the job {follows}")
            if not self._survives:
                self._told.clear()
                signal.raise_signal(number)

    def be_heard(self) -> None:
        """Have workers of other hosts know that this rank lives, where it takes no turn for long."""
        if not self._closed:
            self._links.be_heard()

    def awoken(self) -> None:
        self._wakeup.empty()

    def _act(self, event):
        self._links.dispatch(event)

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        super().close()
        if self.lost:
            mpi_runtime.forgo_finalize()
            self._links.leave()
        elif not self._links.barrier():
            mpi_runtime.forgo_finalize()
        elif self._peers:
            self._peers.Free()
        self._links.close()


def _begin(comm, worker_timeout, wakeup, submasters):
    """Prepare to go on without some of the ranks, if that is wanted; collective over all ranks.

    Returns (whether a run survives their loss, (host, name of its wakeup socket) of each rank, the communicator for
    ``PeerMailbox`` or None). Raises RanksLostError where MPI says that a rank has died meanwhile.
    """
    survives = worker_timeout is not None or mpi_runtime.tells_of_failures()
    if survives:
        comm.Set_errhandler(MPI.ERRORS_RETURN)
        if mpi_runtime.others_go_on():
            mpi_runtime.forgo_finalize()  # it would wait for ever for a rank that dies meanwhile
    with beginning.meeting():
        known = comm.allgather((MPI.Get_processor_name(), wakeup.name))
        mpi_runtime.unlink_shared_memory()  # all have it by now, and ranks that are killed would leave it
        beginning.all_have_met()
        peers = comm.Dup() if not submasters and len({host for host, _ in known[1:]}) > 1 else None
    if peers and survives:
        peers.Set_errhandler(MPI.ERRORS_RETURN)
    return survives, known, peers


def _can_wake_master(known, submasters):
    """Whether workers can wake rank 0: all are on its host, and none is below a sub-master.

    known: (host, name of its wakeup socket) of each rank.
    """
    return not submasters and all(host == known[_MASTER][0] and name for host, name in known)


class _Guard:
    """Knows on a worker or sub-master, where there is a timeout, whether its master, rank ``above``, is still there."""

    def __init__(self, worker_timeout, above, known):
        """known: (host, name of its wakeup socket) of every rank: a socket of this host is gone with its process."""
        self._worker_timeout, self._next, self._last_pong, self.above = worker_timeout, 0.0, 0.0, above
        host, wakeup = known[above]
        here = host == MPI.Get_processor_name()
        self._wakeup = wakeup if here and wakeup and Wakeup.exists(wakeup) else None
        self._liveness = Liveness(_BEGINNING, [above], time.monotonic())
        self._begun = False

    def heard(self, message):
        """Note a message. After the first one but a PONG, which a master that compiles sends, patience is shorter."""
        now = time.monotonic()
        if not self._begun and message.type != MessageType.PONG:
            self._begun, self._liveness = True, Liveness(_MASTERS * self._worker_timeout, [self.above], now)
        self._liveness.heard(self.above, now)

    def be_heard(self, mailbox):
        """Tell the master that this worker lives, at most twice in a timeout; called before each kernel is compiled."""
        now = time.monotonic()
        if now - self._last_pong >= self._worker_timeout / 2:
            self._last_pong = now
            mailbox.send(self.above, Message(MessageType.PONG, 0))
            mailbox.has_mail()  # MPI may send it only in a later call

    def due(self):
        """Whether it is time to ``look``."""
        return time.monotonic() >= self._next

    def look(self, has_mail):
        """Return whether to ping the master; has_mail(): whether a message of its is here.

        Raises RanksLostError if the master is of this host and its socket is gone, however long it was silent, and
        there is no message: its last one says to leave, and may have come since this rank looked for mail. Raises
        MasterLostError if the master is of another host and does not answer.
        """
        now = time.monotonic()
        self._next = now + self._worker_timeout / 4
        if self._wakeup and not Wakeup.exists(self._wakeup):
            if has_mail() or has_mail():  # MPICH may see a message in the second call only
                return False
            raise RanksLostError(f"rank {self.above} is lost")
        if not self._wakeup and self._liveness.silent(now):
            raise MasterLostError(f"rank {self.above} is lost")
        return bool(self._liveness.due(now))


@contextlib.contextmanager
def _heard_while_compiling(guard, mailbox):
    """While the context lasts, have a rank be heard before each kernel that it compiles; guard: its own, or None."""
    calls = [partial(guard.be_heard, mailbox)] if guard else []
    kernel_cache.busy.extend(calls)
    try:
        yield
    finally:
        for call in calls:
            kernel_cache.busy.remove(call)


def work_for_master(
    comm: MPI.Intracomm,
    kinds: Mapping[str, Callable[[dict], Runner]],
    worker_timeout: float | None = None,
    submasters: int = 0,
    shares: Mapping[str, Callable] | None = None,
    joint: Joint | None = None,
    guarded: bool = False,
    gpu_clock: Callable[[], float] | None = None,
) -> None:
    """The other ranks' side: a worker or a sub-master, until the master says to leave.

    Arguments as for ``MpiCluster``, ``Submaster`` and ``Worker``. Raises RanksLostError if rank 0 is lost: the job is
    to end; its subclass MasterLostError if rank 0 is merely silent: this rank alone is to end. Once rank 0 has said to
    leave, its end is no error. Where a sub-master is lost, its workers leave.
    """
    wakeup = Wakeup()
    survives, known, peers = _begin(comm, worker_timeout, wakeup, submasters)
    leaders, rank = blocks(comm.Get_size(), submasters), comm.Get_rank()
    above = next((leader for leader, ranks in leaders.items() if rank in ranks), _MASTER)
    guard = _Guard(worker_timeout, above, known) if worker_timeout else None
    try:
        if rank in leaders:
            _lead(comm, leaders[rank], (kinds, shares, guarded), known, wakeup, worker_timeout, survives, guard)
        else:
            worker, mailbox = Worker(kinds, joint=joint, guarded=guarded, gpu_clock=gpu_clock), Mailbox(comm, above)
            peer_mailbox = PeerMailbox(peers) if peers else None
            name = known[_MASTER][1] if guarded and _can_wake_master(known, submasters) else b""
            with _heard_while_compiling(guard, mailbox):
                _work(worker, mailbox, wakeup, guard, above, peer_mailbox, name)
            _leave(comm, worker, mailbox, worker_timeout or PARTING, survives, above, peer_mailbox)
    except MPI.Exception as error:
        if not (survives and mpi_runtime.tells_of_a_lost_rank(error)):
            raise
        _without(above)
    except RanksLostError:
        if above == _MASTER:
            raise
        _without(above)
    wakeup.close()


def _without(above):
    """Leave, since the rank above is lost; the loss of rank 0 is an error."""
    if above == _MASTER:
        raise RanksLostError("rank 0 is lost") from None
    mpi_runtime.forgo_finalize()


def _lead(comm, ranks, how, known, wakeup, worker_timeout, survives, guard):
    """Be the sub-master of some ranks; how: arguments of ``Submaster``."""
    submaster, rest = Submaster({rank: known[rank][0] for rank in ranks}, *how), BackOff()

    def tell(message):
        links.mailbox.send(_MASTER, message)

    links = WorkerLinks(
        comm, submaster, submaster.master, ranks, known, wakeup, worker_timeout, survives, tell=tell, above=_MASTER
    )
    with _heard_while_compiling(guard, links.mailbox):
        while not submaster.has_left:
            if caught:
                tell(message_of(MPI.COMM_WORLD.Get_rank()))
            arrived = links.poll()
            if guard and arrived and arrived[0] == _MASTER:
                guard.heard(arrived[1])
            elif guard and not arrived and guard.due() and guard.look(partial(links.mailbox.has_mail_of, _MASTER)):
                links.mailbox.send(_MASTER, Message(MessageType.PING, 0))
            if arrived is None:
                wakeup.wait(rest.seconds)
            elif arrived[1].type != MessageType.NODE_COUNT:
                rest.reset()
    if submaster.has_no_workers:
        mpi_runtime.forgo_finalize()
        return
    if submaster.leaves_alone:
        with contextlib.suppress(RanksLostError):  # rank 0 has said to leave, and does not wait for long
            links.leave()
    _leave(comm, submaster, links.mailbox, worker_timeout or PARTING, survives, _MASTER)


def _work(worker, mailbox, wakeup, guard, above, peer_mailbox, notified):
    """Work until the master, rank ``above``, says to leave; notified: the name of its wakeup socket, or empty.

    One reading of the clock ends a time and begins the next one: where ranks share a core, a rank that loses it between
    two readings would miss many milliseconds.
    """
    now = time.perf_counter()
    while not worker.has_left:
        began = now
        if caught:
            mailbox.send(above, message_of(MPI.COMM_WORLD.Get_rank()))
        arrived = mailbox.receive()
        if guard:
            if arrived:
                guard.heard(arrived[1])
            elif guard.due() and guard.look(mailbox.has_mail):
                mailbox.send(above, Message(MessageType.PING, 0))
        if arrived:
            _, message, size = arrived
            now = time.perf_counter()
            worker.timers.communicated(began, now)  # before END is handled, which reports it
            answers, began = worker.handle(message), now
            _count(worker.timers, size, 1)
            _send(worker, mailbox, wakeup, above, answers, notified)
            now = time.perf_counter()
            worker.timers.communicated(max(began, worker.timers.started), now)
        elif worker.has_work or worker.can_join:
            answers = worker.work() if worker.has_work else worker.join()
            _send(worker, mailbox, wakeup, above, answers, notified)
            if peer_mailbox:
                _count(worker.timers, *peer_mailbox.exchange(worker))
            now = time.perf_counter()
            work_began, work_ended = worker.slice
            worker.timers.communicated(began, work_began)
            worker.timers.communicated(work_ended, now)
        else:
            sleep_until(_anything_to_do(worker, mailbox, guard), wakeup.wait)
            now = time.perf_counter()
            worker.timers.waited(began, now)


def _anything_to_do(worker, mailbox, guard):
    has_mail = mailbox.has_mail
    if guard:
        return lambda: has_mail() or worker.can_join or bool(caught) or guard.due()
    return lambda: has_mail() or worker.can_join or bool(caught)


def _leave(comm, worker, mailbox, seconds, survives, above, peer_mailbox=None):
    """Leave together with the others or, where some are lost, as soon as the master knows."""
    if worker.leaves_alone:
        try:
            mailbox.send(above, Message(MessageType.QUIT, 0))
            mailbox.flush(seconds)
        except MPI.Exception as error:
            # the master does not wait for those that come late, so it may have ended
            if not (survives and mpi_runtime.tells_of_a_lost_rank(error)):
                raise
    if worker.leaves_alone or not barrier(comm, mailbox, seconds, survives):
        mpi_runtime.forgo_finalize()
    elif peer_mailbox:
        peer_mailbox.close()


def _send(worker, mailbox, wakeup, above, answers, notified):
    """Send answers to the rank above, and wake it if it sleeps on a socket."""
    for answer in answers:
        _count(worker.timers, mailbox.send(above, answer), 1)
    if notified and answers:
        wakeup.notify(notified)


def _count(timers: Timers, size, messages):
    timers.bytes += size
    timers.messages += messages
