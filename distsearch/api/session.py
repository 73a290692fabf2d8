"""Ranks that stay together for any number of searches: what the command line, the service and programs use."""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self

import numpy as np

from ..cluster import joint, mpi_runtime
from ..cluster.local import LocalCluster
from ..cluster.shared_memory import SharedWords
from ..core.errors import UserError, complain
from ..core.pages import available, begin_huge
from ..engines.pvs.growing_table import Growing
from ..engines.pvs.table import DEFAULT_MIB, new_shared_table
from ..jobs.two_player import kinds
from ..tree.submaster_source import SHARES
from .chance import dealt, searcher_of
from .options import Options, checked_seed, resolve
from .perft import Count, perft
from .play import DEFAULT_GAMES, check_limits, play
from .play_summary import Summary
from .progress import Progress, Silent
from .result import Outcome
from .sampled_options import ALGORITHMS as SAMPLED
from .solve import solve

_SHARE = 4  # of the memory that a host has left, a table takes one part in so many by itself
_MOST_MIB = 4096  # that it takes by itself, however much there is


def default_mib() -> int:
    """Return how many MiB the table of this host may grow to where none is asked for."""
    return max(DEFAULT_MIB, min(available() // _SHARE >> 20, _MOST_MIB))


def never() -> bool:
    return False


class Session:
    """A context in which the ranks of a communicator search together; they keep their kernels and tables.

    On rank 0, or alone, ``with`` gives the session. On every other rank it works for rank 0 until that leaves its
    ``with`` block, and then gives None: ``with Session(comm) as session: if session: …``.

    comm: an mpi4py communicator, or None for this process alone; table: MiB of each host's transposition table, None
    for one of 64, or what there is room for, that grows in long searches (see ``default_mib``), 0 for none;
    interrupted: a function that says whether the user wants searches to end with what they know; progress: where to
    tell how they go, None for nowhere; deadline: seconds after which a silent worker is lost, and others do its work
    (docs/faults.md), or None; groups: ranks that are sub-masters, each of its share of the others (docs/scaling.md);
    device: which ranks search on a GPU, see ``devices.chosen``; touched: the table takes its memory at once, not as the
    first search writes to it, and does not grow. Raises UserError on entering, on every rank, if a host has no room for
    the table, or not the GPUs that are asked for, or there are too few ranks for the groups, and RanksLostError if no
    worker is left, or on a worker if rank 0 is not.
    """

    def __init__(
        self,
        comm: Any = None,
        table: int | None = None,
        interrupted: Callable[[], bool] = never,
        progress: Progress | None = None,
        deadline: float | None = None,
        groups: int = 0,
        device: str = "cpu",
        touched: bool = False,
    ):
        self._comm, self._size, self._deadline, self._groups = comm, table, deadline, groups
        self._touched = touched
        self.interrupted = interrupted
        self.progress = progress or Silent()
        self._device, self._gpu = device, None
        self._table: SharedWords | None = None
        self.cluster: Any = None  # a ``cluster.Cluster`` while the session is open, on rank 0

    def __enter__(self) -> Self:  # after the work of another rank than 0: None
        ranks = self._comm.Get_size() if self._comm else 1
        if self._groups and self._device != "cpu":
            raise UserError(f"device {self._device} goes without groups, whose first ranks do no jobs")
        if self._groups and not 0 < 2 * self._groups < ranks:
            raise UserError(
                f"groups {self._groups} is not a number of sub-masters with a worker each among {ranks} ranks"
            )
        self._table = self._shared_table()
        far, shared = self._parts_of_table()
        with_table = self._with_gpu(kinds(far))
        if self._comm is None or self._comm.Get_size() == 1:
            self.cluster = LocalCluster(with_table)
            return self
        from ..cluster.mpi import MpiCluster, work_for_master

        if self._comm.Get_rank() > 0:
            self._work(work_for_master, with_table, shared)
            self.close()
            return None  # type: ignore[return-value]
        self.cluster = MpiCluster(self._comm, self._deadline, self.progress.note, self._groups)
        most = max(Counter(self.cluster.hosts.values()).values())
        self.cluster.on_gpu = self._device != "cpu"
        self.cluster.joint = self._table is not None and not self._groups and most < joint.SLOTS
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # what ends the block is what is to be told: ranks that leave because of it may make closing fail as well
        with contextlib.nullcontext() if kind is None else contextlib.suppress(Exception):
            self.close()

    def _work(self, work_for_master, kinds, shared):
        """Work for rank 0 until it leaves; what is wrong here alone ends the job, for the others would wait."""
        try:
            work_for_master(self._comm, kinds, self._deadline, self._groups, SHARES, shared)
        except UserError as error:
            complain(f"distsearch: rank {self._comm.Get_rank()}: {error}")
            mpi_runtime.abort(2)

    def _with_gpu(self, kinds):
        """Return the kinds of job of this rank, on the GPU that it is to have, if any; all ranks are here."""
        if self._device == "cpu":
            return kinds
        from .devices import chosen

        try:
            self._gpu = chosen(self._comm, self._device)
        except UserError:
            self.close()
            raise
        if self._gpu is None:
            return kinds
        from ..jobs.gpu_solve import on_gpu

        return on_gpu(kinds, self._gpu, self._comm is not None and self._comm.Get_size() > 2)

    def _shared_table(self):
        """Return the table that the ranks of a host share; all ranks are here."""
        if self._size == 0:
            return None
        if self._size is None and not self._touched:
            return SharedWords(self._comm, default_mib(), new_shared_table, less=True, first=DEFAULT_MIB)
        less = self._size is None
        return SharedWords(self._comm, self._size or DEFAULT_MIB, new_shared_table, less=less, touched=self._touched)

    def _parts_of_table(self):
        """Return the far table, and the ``Joint`` by which ranks of this host join each other's jobs, None if alone."""
        if self._table is None or self._table.words is None:
            return None, None
        words, rank, ranks = self._table.words, self._table.rank, self._table.ranks
        if not 1 < ranks <= joint.SLOTS:
            return self._far(words, self._table), None
        slots = joint.Joint(words[-joint.WORDS :].view(np.int64), rank, ranks)
        return self._far(words[: -joint.WORDS], self._table), slots

    def _far(self, words: np.ndarray, table: Any) -> Any:
        """Return the far table in these words, one that grows where no size was asked for and there is room."""
        if self._size is not None or self._touched or table.mib <= DEFAULT_MIB:
            return words

        def back(begin, end):
            begin_huge(table.words, begin, end)
            return table.back(begin, end)

        return Growing(words, DEFAULT_MIB, back)

    @property
    def table_mib(self) -> int:
        """MiB of a host's transposition table, as far as it may grow."""
        return self._table.mib if self._table else 0

    def close(self) -> None:
        """Let the workers go; more than once does no more. A worker's ``with`` ends with it."""
        cluster, self.cluster = self.cluster, None
        table, self._table = self._table, None
        if cluster is not None:
            cluster.close()
        if table is not None:
            table.close()
        gpu, self._gpu = self._gpu, None
        if gpu is not None:
            gpu.close()

    @property
    def gpu(self) -> Any:
        """The ``gpu.device.Gpu`` of this rank, None if it has none."""
        return self._gpu

    @property
    def ranks(self) -> int:
        """How many there are, this one included."""
        return self.cluster.ranks

    def searcher(self, options: Options) -> Any:
        """Return a Searcher for checked Options, compiled.

        Raises UserError unless the session is open, and for what no GPU does where all workers are to search on one.
        """
        self._check_open()
        self._check_gpu(options.setup(), options.depth)
        kind = searcher_of(options)
        return kind(options, self.cluster, self.progress, self.interrupted)

    def _check_open(self):
        if self.cluster is None:
            raise UserError("the session is not open: it searches within its with block, on the first rank")

    def _check_gpu(self, setup, depth):
        if self._device == "gpu":
            from ..jobs.gpu_solve import check

            check(setup, depth)

    def _check_no_gpu(self, what):
        if self._device == "gpu":
            raise UserError(f"no GPU does {what}: use device cpu, or auto")

    def search(
        self,
        game: str,
        position: str = "startpos",
        board: str | None = None,
        empties: str | None = None,
        seed: int = 0,
        **options: Any,
    ) -> Outcome:
        """Return the Outcome of a search of one position, a text; options as ``Options`` has them.

        board: text such as "6x8"; seed: of what chance puts down first, where the position is ``startpos``, and of
        sampled runs. Raises UserError for what makes no sense.
        """
        checked_seed(seed)
        if options.get("algorithm") in SAMPLED:
            options["seed"] = seed
        asked, module, rules = resolve(game, board, empties, **options)
        start = module.parse(position, rules)
        if position == "startpos" and asked.against_chance:
            start = dealt(module, start, rules, seed)
        return next(self.searcher(asked).search([start]))

    def solve(
        self, game: str, lines: Iterable[str], board: str | None = None, empties: str | None = None, **options: Any
    ) -> Iterator[Outcome]:
        """Yield an Outcome for each of an iterable of texts, in order; exact unless a limit is given, or by ida.

        Lines are read ahead, by thousands. Raises UserError when it reads one that is no position, whatever was
        answered by then, if the session is closed before the end, and as ``search`` does.
        """
        limited = options.keys() & {"depth", "time", "nodes", "exact", "layers"} or options.get("algorithm") == "ida"
        asked, module, rules = resolve(game, board, empties, **options, **({} if limited else {"exact": True}))
        yield from solve(self, self.searcher(asked), (module.parse(line, rules) for line in lines))

    def play(
        self,
        game: str,
        games: int = DEFAULT_GAMES,
        board: str | None = None,
        spawn: str | None = None,
        seed: int = 0,
        record: str | None = None,
        **options: Any,
    ) -> Summary:
        """Return the ``played.Summary`` of whole games against chance; options as ``Options`` has them.

        record: the name of a file to make, with a line of JSON for each game. Raises UserError for what makes no sense.
        """
        self._check_open()
        check_limits(**options)
        asked, _, _ = resolve(game, board, spawn=spawn, **options)
        return self.played(asked, games, seed, record)

    def played(self, options: Options, games: int, seed: int, record: str | None = None) -> Summary:
        """Return what ``play`` does, for checked Options."""
        self._check_gpu(options.setup("game"), options.depth)
        return play(options, games, seed, self.cluster, self.progress, self.interrupted, record)

    def perft(
        self,
        game: str,
        depth: int,
        position: str = "startpos",
        board: str | None = None,
        empties: str | None = None,
        rules: dict[str, str] | None = None,
    ) -> Count:
        """Return the Count of positions below one, ``depth`` plies deep. Raises UserError as ``search`` does."""
        self._check_open()
        self._check_no_gpu("perft")
        options, module, known = resolve(game, board, empties, rules=rules, exact=True)
        positions = [module.parse(position, known)]
        return perft(options, depth, positions, self.cluster, self.progress, self.interrupted)[0]


def search(game: str, position: str = "startpos", **options: Any) -> Outcome:
    """Return the Outcome of one search by this process alone.

        distsearch.search("othello", "startpos", depth=8, board="8x8", empties="winner")

    position: text, as on the command line; board: text such as "6x8"; options: depth, time (seconds), nodes or exact,
    and window, all_moves, algorithm, ordering, evaluation, load_factor as on the command line; 5 seconds if no limit is
    given. The Outcome has ``move``, ``score``, ``bound``, ``proved``, ``pv``, ``nodes`` and the other fields of --json.
    Raises ``distsearch.core.errors.UserError`` for what makes no sense. See ``Session`` for many searches.
    """
    with Session() as session:
        return session.search(game, position, **options)
