"""What a study runs on: the ranks of a launch, of which any number can be had to search together.

A study begins on every rank. ``with stage.ranks() as ranks:`` gives rank 0 the ``Ranks``, and None to the others, once
rank 0 is through. There ``with ranks.session(4) as session:`` is a session of the first four, while the others sleep.
"""

import contextlib
import importlib
import platform
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..api.progress import Progress
from ..cluster import beginning
from ..cluster.backoff import sleep_until
from ..core.errors import RanksLostError, UserError
from .metadata import cpu_model

DEVICES = "cpu", "gpu"
_WORD = np.dtype([("ranks", np.int64), ("table", np.int64), ("device", np.int64)])
_DEFAULT = -1  # as a table's MiB
_TAG = 1
_NAP = 0.05  # seconds: 31 ranks that look at their mail so often took 3% of a core, by 20 ms 5%


class Stage(NamedTuple):
    """comm: of all ranks, or None; interrupts: an ``Interrupts``, to be entered by rank 0 while it measures;
    write(text): to stdout, by rank 0; print_error(text): to stderr; open_session: the class ``Session``; arguments: of
    the command line.
    """

    comm: object
    interrupts: object
    progress: Progress
    write: Callable
    print_error: Callable
    open_session: Callable
    arguments: list

    def ranks(self):
        """Return the Ranks of this launch."""
        return Ranks(self.comm, self.open_session)

    @property
    def is_first(self):
        """Whether this is rank 0."""
        return self.comm is None or self.comm.Get_rank() == 0


class Ranks:
    """A context in which the ranks of a communicator search in parties of any size; see the module.

    ``size``: how many there are; ``places``: (host, CPU model) of each. Sub-communicators are made when they are first
    needed, of the first ranks in their order.
    """

    def __init__(self, comm, open_session):
        self._comm = comm if comm is not None and comm.Get_size() > 1 else None
        self._open_session, self._parties = open_session, {}
        self.size, self.places = 1, []

    def __enter__(self):
        here = platform.node(), cpu_model()
        if self._comm is None:
            self.places = [here]
            return self
        self.size, self.places = self._comm.Get_size(), self._comm.allgather(here)
        beginning.all_have_met()
        if self._comm.Get_rank() == 0:
            return self
        self._serve()
        return None

    def __exit__(self, kind, *_):
        if self._comm is None or self._comm.Get_rank() > 0:
            return
        if kind is not None and issubclass(kind, RanksLostError | KeyboardInterrupt):
            return  # that ends the job, and some may hear nothing more
        self._send(range(1, self.size), 0)
        self._leave()

    @contextlib.contextmanager
    def session(self, ranks, table=None, device="cpu", **how):
        """Give an open Session of the first ``ranks`` ranks; arguments as for that, ``how`` what rank 0 alone needs.

        Raises UserError as that does, and RanksLostError at its end if a rank was lost: there is no going on without.
        """
        if not 1 <= ranks <= self.size:
            raise UserError(f"ranks {ranks} is not from 1 to {self.size}, as this launch has")
        self._send(range(1, ranks), ranks, table, device)
        with self._open_session(self._party(ranks), table, device=device, touched=True, **how) as session:
            yield session
            if session.cluster is not None and session.cluster.lost:
                raise RanksLostError("a rank was lost: a study needs all it began with")

    def call(self, ranks, function, given, **here):
        """Have the first ``ranks`` ranks call a function of a module's top level; return what it returns here.

        It is called with their communicator, None for one rank, and given, a dictionary of plain values; ``here``:
        more of what it takes, that rank 0 alone needs.
        """
        self._send(range(1, ranks), -ranks)
        for rank in range(1, ranks):
            self._comm.send((function.__module__, function.__name__, given), rank, _TAG)
        return function(self._party(ranks), **given, **here)

    def _send(self, to, ranks, table=None, device="cpu"):
        """Tell ranks of the next party, by 0 ranks that there will be none, or by fewer that they are to call."""
        table = _DEFAULT if table is None else table
        word = np.array([(ranks, table, DEVICES.index(device))], _WORD).view(np.int64)
        requests = [self._comm.Isend(word, rank, _TAG) for rank in to]
        sleep_until(lambda: all(request.Test() for request in requests))

    def _serve(self):
        """Be in the parties that rank 0 calls this rank to, asleep in between, until it calls no more."""
        while True:
            word = np.zeros(1, _WORD)
            request = self._comm.Irecv(word.view(np.int64), 0, _TAG)
            sleep_until(request.Test, _wait)
            ranks, table, device = word[0].tolist()
            if ranks == 0:
                self._leave()
                return
            # what is refused, rank 0 is refused as well: it tells of that, and what is next
            with contextlib.suppress(UserError):
                if ranks < 0:
                    module, name, given = self._comm.recv(source=0, tag=_TAG)
                    getattr(importlib.import_module(module), name)(self._party(-ranks), **given)
                    continue
                table = None if table == _DEFAULT else table
                with self._open_session(self._party(ranks), table, device=DEVICES[device], touched=True):
                    pass

    def _party(self, ranks):
        """Return the communicator of the first ranks, of which this is one; None for one rank."""
        if ranks == 1:
            return None
        if ranks not in self._parties:
            group = self._comm.Get_group().Incl(range(ranks))
            self._parties[ranks] = self._comm.Create_group(group, ranks)
            group.Free()
        return self._parties[ranks]

    def _leave(self):
        for party in self._parties.values():
            party.Free()
        self._parties.clear()


def _wait(_):
    time.sleep(_NAP)
