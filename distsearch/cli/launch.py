"""What commands run on: the ranks of this launch, signals, progress, and a session in which rank 0 leads the others."""

import contextlib
import logging
import signal

from .. import games
from ..api.applicability import check
from ..api.book import WITHOUT
from ..api.compiling import CompileMode
from ..api.interrupts import Interrupts
from ..api.progress import Progress
from ..api.session import Session
from ..cluster import beginning, mpi_runtime, worker_signals
from ..cluster.trace import MOST
from ..core.errors import print_error
from ..core.saved import Saved
from ..engines.pvs.table import DEFAULT_MIB
from ..formats import stdout, timeline
from ..formats.checkpoint import NO_CHECKPOINT, Checkpoint, fingerprint


class Launch:
    """The ranks of this launch under ``Resources``. ``comm``: of all of them, None for one; ``interrupts``: signals.

    table: whether the ranks of a host share a transposition table.
    """

    def __init__(self, resources, table=True):
        self._resources, self._table = resources, resources.table if table else 0
        begin_log(resources.log_level)
        CompileMode.processes = True
        survives = resources.worker_timeout is not None or mpi_runtime.tells_of_failures()
        if mpi_runtime.launcher()[0] > 1 and survives:
            beginning.limit()
        self.comm, self.interrupts, self.progress = mpi_runtime.world(), Interrupts(), Progress()
        self._at_end = contextlib.ExitStack()  # of ``lead``
        self.is_first = self.comm is None or self.comm.Get_rank() == 0
        if not self.is_first:
            worker_signals.catch()

    @property
    def interrupted(self):
        """A function that says whether the user wants an end."""
        return lambda: self.interrupts.signal is not None

    def lead(self, work, trace=None, guarded=False):
        """Return the exit status of ``work(session)`` on rank 0; the other ranks work for it, and return 0.

        trace: what ``timeline_of`` needs, or None; guarded: see ``Session``.
        """
        asked = self._resources
        shown = self.interrupted, self.progress, asked.worker_timeout, asked.submasters or 0, asked.device or "cpu"
        book = WITHOUT if trace and trace[0] is not None else asked.book
        with self._at_end, Session(self.comm, self._table, *shown, book=book, guarded=guarded) as session:
            if session is None:
                return 0
            if 0 < session.table_mib < (self._table or DEFAULT_MIB):
                self.print_error(f"a host's shared memory has room for a table of {session.table_mib} MiB only")
            with self.interrupts, self.number_of_signal():
                write = self._traced(session, *trace) if trace and trace[0] is not None else None
                status = work(session)
                if write is not None:
                    write()
                session.close()
            return self.interrupts.exit_status or status

    @contextlib.contextmanager
    def number_of_signal(self):
        """Have a KeyboardInterrupt say which signal was the reason."""
        try:
            yield
        except KeyboardInterrupt as interrupt:
            raise KeyboardInterrupt(*(interrupt.args or (self.interrupts.signal or signal.SIGINT,))) from interrupt

    def _traced(self, session, path, name, board):
        """Have the ranks keep a timeline; return what writes it once the search is over."""
        check(None, {"trace": path, "submasters": self._resources.submasters})
        timeline.check(path)
        game, cluster = games.find(name), session.cluster
        shape = games.checked_board(game, None if board is None else games.parse_board(board))
        text = timeline.texts_of(game, game.rules(shape))
        cluster.traced = MOST
        return lambda: timeline.write(path, cluster.traces, text)

    def print_error(self, text):
        """Say on stderr what is wrong, on rank 0."""
        if self.is_first:
            print_error(f"distsearch: {text}")

    def checkpoint(self, args, options, positions=(), suffixes=(), **asked):
        """Return the Checkpoint of a search, or what stands for none; asked: what else tells it from others."""
        check(options, {"checkpoint": args.checkpoint, "resume": args.resume})
        if args.checkpoint is None:
            return NO_CHECKPOINT
        search = fingerprint(options, positions, command=args.command, json=args.json, **asked)
        told = self.interrupts, self.print_error
        checkpoint = Checkpoint(args.checkpoint, search, args.resume, *told, suffixes, exclusive=True)
        self._at_end.callback(checkpoint.close)
        return checkpoint

    def answer(self, args, checkpoint, search):
        """Print what ``search()`` finds, or what an earlier run printed that came to its end; return the status."""
        if checkpoint.state and "output" in checkpoint.state:
            stdout.write(Saved(checkpoint.state).text("output").encode())
            return 0
        output = "".join(f"{found.to_json() if args.json else found.to_text()}\n" for found in search())
        stdout.write(output.encode())
        if self.interrupts.signal is None:
            checkpoint.save(lambda: {"output": output})
        return 0


def begin_log(level):
    """Have this rank log to stderr what is of a level or above; None: nothing."""
    if level is None:
        return
    handler = logging.StreamHandler()
    line = f"%(asctime)s.%(msecs)03d rank {mpi_runtime.place()[1]} %(levelname)s %(name)s: %(message)s"
    handler.setFormatter(logging.Formatter(line, "%H:%M:%S"))
    log = logging.getLogger("distsearch")
    log.addHandler(handler)
    log.setLevel(level.upper())


def print_found(found, as_json):
    """Print what was found, as JSON or for people."""
    stdout.print_result(found.to_json() if as_json else found.to_text())
