"""Ranks that stay together for any number of searches: what the command line, the service and programs use."""

import contextlib
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from functools import partial
from typing import Any, Self

import numpy as np

from ..books.book import Book
from ..cluster import beginning, joint, mpi_runtime
from ..cluster.local import InProcessCluster
from ..cluster.shared_memory import SharedWords
from ..core.errors import UserError, print_error
from ..core.kernel_cache import busy
from ..core.pages import available, begin_huge
from ..engines.pvs.growing_table import Growing
from ..engines.pvs.table import DEFAULT_MIB, new_shared_table
from ..games import checked_board, find
from ..jobs.two_player import kinds
from ..tree.submaster_source import SHARES
from . import rank_games, rank_searches
from .applicability import SAMPLED, check
from .asked import HasPosition
from .asked import asked as asked_for
from .book import BookAnswers, find_book
from .chance import begun, searcher_of
from .declarations import documented
from .facts import Facts
from .games_summary import GamesSummary
from .options import Options, checked_seed, resolve, solve_limits
from .perft import Count, perft
from .play import DEFAULT_GAMES, play
from .play_setup import PlayRequest, games_of
from .play_summary import Summary
from .progress import Hook, Progress, Silent
from .result import Outcome
from .scores import FORMS, Asked, scores
from .searcher import facts_of
from .solve import solve
from .turns import Turns, in_steps, one_at_a_time

_SHARE = 4  # of the memory that a host has left, a table takes one part in so many by itself
_MOST_MIB = 4096  # that it takes by itself, however much there is


def default_mib() -> int:
    """Return how many MiB the table of this host may grow to where none is asked for."""
    return max(DEFAULT_MIB, min(available() // _SHARE >> 20, _MOST_MIB))


def _progress_of(asked: Progress | Callable[[Facts], object] | None) -> Progress:
    if asked is None:
        return Silent()
    return asked if isinstance(asked, Progress) else Hook(asked)


def never() -> bool:
    return False


class Session:
    """A context in which the ranks of a communicator search together; they keep their kernels and tables.

    On rank 0, or alone, ``with`` gives the session. On every other rank it works for rank 0 until that leaves its
    ``with`` block, and then gives None: ``with Session(comm) as session: if session: …``.

    Threads may share it: a call waits for those of other threads to end, and between two answers of ``solve`` other
    threads have their turns. MPI must have been started for several threads then, as mpi4py does.

    comm: an mpi4py communicator, or None for this process alone; table: MiB of each host's transposition table, None
    for one of 64, or what there is room for, that grows in long searches (see ``default_mib``), 0 for none;
    interrupted: a function that says whether the user wants searches to end with what they know; progress: where to
    tell how they go: a function that is called with ``Facts``, ten times a second at most and at the end of ``search``,
    or a ``Progress``; what the function raises ends the search; worker_timeout: seconds after which a silent worker is
    lost, and others do its work (docs/faults.md), or None; submasters: ranks that are sub-masters, each of its share of
    the others (docs/scaling.md); device: which ranks search on a GPU, see ``devices.chosen``; touched: the table takes
    its memory at once, not as the first search writes to it, and does not grow; book: a file of an opening book, None
    for those that come with the program, "none" for no book; guarded: an exception in a search ends that run alone, see
    ``cluster.Cluster.failure``, and not the whole job. Raises UserError on entering, on every rank, if a host has no
    room for the table, or not the GPUs that are asked for, or there are too few ranks for the sub-masters, and
    RanksLostError if no worker is left, or on a worker if rank 0 is not.
    """

    def __init__(
        self,
        comm: Any = None,
        table: int | None = None,
        interrupted: Callable[[], bool] = never,
        progress: Progress | Callable[[Facts], object] | None = None,
        worker_timeout: float | None = None,
        submasters: int = 0,
        device: str = "cpu",
        touched: bool = False,
        book: str | None = None,
        guarded: bool = False,
    ):
        self._guarded, self.turns = guarded, Turns()
        self._comm, self._size, self._worker_timeout, self._submasters = comm, table, worker_timeout, submasters
        self._touched, self.book_file = touched, book
        self._books: dict[tuple, Book | None] = {}  # those that were looked for, by game, board and rules
        self.interrupted = interrupted
        self.progress = _progress_of(progress)
        self._device = device
        self._cards = 0  # different GPUs of all ranks
        self.gpu: Any = None  # the ``gpu.device.Gpu`` of this rank, if it has one
        self._table: SharedWords | None = None
        self.cluster: Any = None  # a ``cluster.Cluster`` while the session is open, on rank 0
        self._while_compiling: list[Callable[[], None]] = []  # of this session, among ``kernel_cache.busy``

    def __enter__(self) -> Self:  # after the work of another rank than 0: None
        ranks = self._comm.Get_size() if self._comm else 1
        device = None if self._device == "cpu" else self._device
        check(self, {"device": device, "submasters": self._submasters})
        if self._submasters and not 0 < 2 * self._submasters < ranks:
            raise UserError(
                f"submasters {self._submasters} is not a number of sub-masters with a worker each among {ranks} ranks"
            )
        with beginning.meeting():
            self._table = self._shared_table()
            far, shared = self._parts_of_table()
            own = kinds(far)
            own[rank_games.KIND] = rank_games.PlayerGamesRunner
            own[rank_searches.KIND] = rank_searches.RankSearchRunner
            with_table = self._with_gpu(own)
        if self._comm is None or self._comm.Get_size() == 1:
            self.cluster = InProcessCluster(with_table, self._guarded, self._gpu_clock())
            return self
        from ..cluster.mpi import MpiCluster, work_for_master

        if self._comm.Get_rank() > 0:
            self._work(work_for_master, with_table, shared)
            self.close()
            return None  # type: ignore[return-value]
        self.turns.only = mpi_runtime.only_thread()
        how = self._submasters, self._guarded, self.interrupted
        self.cluster = MpiCluster(self._comm, self._worker_timeout, self.progress.note, *how)
        self._while_compiling.append(partial(self.turns.call_if_free, self.cluster.be_heard))
        busy.extend(self._while_compiling)
        most = max(Counter(self.cluster.hosts.values()).values())
        self.cluster.on_gpu, self.cluster.all_on_gpu = self._device != "cpu", self._device == "gpu"
        self.cluster.cards = self._cards
        self.cluster.joint = self._table is not None and not self._submasters and most < joint.SLOTS
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # what ended the block is raised: ranks that leave because of it may make closing fail as well
        with contextlib.nullcontext() if kind is None else contextlib.suppress(Exception):
            self.close()

    def _work(self, work_for_master, kinds, shared):
        """Work for rank 0 until it leaves; what is wrong here alone ends the job, for the others would wait."""
        try:
            how = self._worker_timeout, self._submasters, SHARES, shared, self._guarded, self._gpu_clock()
            work_for_master(self._comm, kinds, *how)
        except UserError as error:
            print_error(f"distsearch: rank {self._comm.Get_rank()}: {error}")
            mpi_runtime.abort(2)

    def _with_gpu(self, kinds):
        """Return the kinds of job of this rank, on the GPU that it is to have, if any; all ranks are here."""
        if self._device == "cpu":
            return kinds
        from .devices import chosen, of_all

        try:
            self.gpu = chosen(self._comm, self._device)
        except UserError:
            self.close()
            raise
        self._cards, without = of_all(self._comm, self.gpu)
        if self.gpu is None:
            return kinds
        from ..jobs.gpu_kinds import on_gpu

        among_others = self._comm is not None and self._comm.Get_size() > 2
        return on_gpu(kinds, self.gpu, among_others, everywhere=self._device == "gpu", hands_back=without > 0)

    def _gpu_clock(self):
        """Return what tells the seconds that this rank's GPU has been at work, None if it has none."""
        gpu = self.gpu
        return (lambda: gpu.busy_seconds) if gpu else None

    def _shared_table(self):
        """Return the table that the ranks of a host share; all ranks are here."""
        if self._size == 0:
            return None
        if self._size is None and not self._touched:
            return SharedWords(self._comm, default_mib(), new_shared_table, less=True, first=DEFAULT_MIB)
        less = self._size is None
        return SharedWords(self._comm, self._size or DEFAULT_MIB, new_shared_table, less=less, touched=self._touched)

    def _parts_of_table(self):
        """Return the shared table, and the ``Joint`` by which ranks of this host join jobs, None if alone."""
        if self._table is None or self._table.words is None:
            return None, None
        words, rank, ranks = self._table.words, self._table.rank, self._table.ranks
        if not 1 < ranks <= joint.SLOTS:
            return self._far(words, self._table), None
        slots = joint.Joint(words[-joint.WORDS :].view(np.int64), rank, ranks)
        return self._far(words[: -joint.WORDS], self._table), slots

    def _far(self, words: np.ndarray, table: Any) -> Any:
        """Return the shared table in these words, one that grows where no size was asked for and there is room."""
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

    @one_at_a_time
    def close(self) -> None:
        """Let the workers go; more than once does no more. A worker's ``with`` ends with it."""
        while self._while_compiling:
            busy.remove(self._while_compiling.pop())
        cluster, self.cluster = self.cluster, None
        table, self._table = self._table, None
        if cluster is not None:
            cluster.close()
        if table is not None:
            table.close()
        gpu, self.gpu = self.gpu, None
        if gpu is not None:
            gpu.close()

    @property
    def ranks(self) -> int:
        """How many there are, this one included."""
        return self.cluster.ranks

    @one_at_a_time
    def book(self, options: Options) -> BookAnswers:
        """Return what the opening book answers under checked Options; raises UserError for a file that is no book."""
        self._check_open()
        of = options.game, options.board, tuple(options.rules.items())
        if of not in self._books:
            self._books[of] = find_book(self.book_file, options)
        found = BookAnswers(self._books[of], options, self.cluster)
        if found.unfit:
            self.progress.note(found.unfit)
            self._books[of] = None  # it is said once
        return found

    @one_at_a_time
    def searcher(self, options: Options, progress: Progress | None = None) -> Any:
        """Return a Searcher for checked Options, compiled; progress: None for the session's.

        Raises UserError unless the session is open, and for what no GPU does where all workers are to search on one.
        """
        self._check_open()
        self.check_gpu(options.setup(), options.depth)
        kind = searcher_of(options)
        return kind(options, self.cluster, progress or self.progress, self.interrupted)

    def _check_open(self):
        if self.cluster is None:
            raise UserError("the session is not open: it searches within its with block, on the first rank")

    def check_gpu(self, setup: dict, depth: int | None) -> None:
        """Raise UserError if all workers are to search on a GPU, and none does what a setup asks."""
        if self._device == "gpu":
            from ..jobs.gpu_kinds import check

            check(setup, depth)

    def check_no_gpu(self, what: str) -> None:
        """Raise UserError if all workers are to search on a GPU, for something that none does."""
        if self._device == "gpu":
            raise UserError(f"no GPU does {what}: use device cpu, or auto")

    @documented(Options)
    @one_at_a_time
    def search(
        self,
        game: str,
        position: str | HasPosition = "startpos",
        board: str | None = None,
        rules: dict[str, str] | None = None,
        seed: int = 0,
        progress: Callable[[Facts], object] | None = None,
        **options: Any,
    ) -> Outcome:
        """Return the Outcome of a search of one position, a text or a Board; for 5 seconds if no limit is given.

        board: text such as "6x8"; rules: the game's own options, such as {"empties": "none"}, which may also be given
        by their names; seed: of what chance puts down first, where the position is ``startpos``, and of sampled runs;
        progress: as in ``Session``, for this search. Raises UserError for what makes no sense.
        """
        told = self.progress if progress is None else _progress_of(progress)
        checked_seed(seed)
        if options.get("algorithm") in SAMPLED:
            options["seed"] = seed
        position, of_board = asked_for(game, position, {"board": board, "rules": rules, **options})
        asked, module, known_rules = resolve(game, **{"board": board, "rules": rules, **of_board, **options})
        start = begun(module, position, module.parse(position, known_rules), known_rules, seed)
        found = self.book(asked).outcome(start) or next(self.searcher(asked, told).search([start]))
        told.end(facts_of(found, ranks=self.ranks, busy_ranks=0, complete=found.complete))
        return found.as_asked(position)

    @documented(Options)
    @in_steps
    def solve(
        self,
        game: str,
        lines: Iterable[str | HasPosition],
        board: str | None = None,
        rules: dict[str, str] | None = None,
        progress: Callable[[Facts], object] | None = None,
        **options: Any,
    ) -> Generator[Outcome, None, None]:
        """Yield an Outcome for each of an iterable of texts, in order; exact unless a limit is given, or by ida.

        Boards may stand for texts. Lines are read ahead, by thousands, while other threads wait for their turn: they
        must not come from a thread that calls this session before it gives the next one. progress: as in ``Session``,
        for these. Raises UserError when it reads one that is no position, whatever was answered by then, if the session
        is closed before the end, and as ``search`` does.
        """
        asked, module, _ = resolve(game, board, rules, **options, **solve_limits(game, options))
        check(asked, {"solve": True})
        of = {"board": "{}x{}".format(*checked_board(module, asked.board)), "rules": asked.rules}
        texts = (asked_for(game, line, of)[0] for line in lines)
        told = self.progress if progress is None else _progress_of(progress)
        yield from solve(self, self.searcher(asked, told), texts, self.book(asked))

    @documented(Options)
    @one_at_a_time
    def scores(
        self, game: str, positions: Asked, board: str | None = None, rules: dict[str, str] | None = None, **options: Any
    ) -> np.ndarray:
        """Return the scores of many positions as an array, float64 of shape (n,); limits are as those of ``solve``.

        positions: an iterable of texts or Boards, read as ``solve`` reads them; or an array of texts; or a text or
        bytes (also as an array of uint8) that a file of positions may have, a line each; or states, an array of uint64
        of shape (n, words), each as ``Position.state`` of the game has it, of legal positions, which is not checked.
        Scores are for the side to move. Under a window, a score beyond it is its end. NaN stands for blank lines and
        comments, and for what an interrupt left without an answer. Raises UserError for a text or a line that is no
        position, and as ``search`` does.
        """
        asked, module, _ = resolve(game, board, rules, **options, **solve_limits(game, options))
        check(asked, {"solve": True})
        if not isinstance(positions, FORMS):
            of = {"board": "{}x{}".format(*checked_board(module, asked.board)), "rules": asked.rules}
            positions = (asked_for(game, each, of)[0] for each in positions)
        return scores(self, self.searcher(asked), positions, self.book(asked))

    @documented(Options)
    @one_at_a_time
    def play(
        self,
        game: str,
        games: int | None = None,
        board: str | None = None,
        rules: dict[str, str] | None = None,
        seed: int = 0,
        record: str | None = None,
        opponent: str | None = None,
        share: str | None = None,
        random_plies: int | None = None,
        **options: Any,
    ) -> Summary | GamesSummary:
        """Return the summary of whole games, against chance (100 unless asked for otherwise) or of two players (1).

        record: the name of a file to make, with a line of JSON for each game; opponent: "random", or settings such as
        "depth=4,evaluation=static", of what plays the other side of a game of two players, the sides in turn; share,
        random_plies: see ``PlayRequest``. ``algorithm="random"`` plays at random. Raises UserError for what makes no
        sense.
        """
        self._check_open()
        own = {name: options.pop(name) for name in list(options) if name in find(game).OPTIONS}
        rules = {name: value for name, value in {**(rules or {}), **own}.items() if value is not None}
        sharing = {"opponent": opponent, "share": share, "random_plies": random_plies}
        asked = PlayRequest(game, board, rules, seed, options, games, record, **sharing)
        return self.played(asked) if asked.in_parts else games_of(self, asked).run()

    @one_at_a_time
    def played(self, asked: PlayRequest) -> Summary:
        """Return the Summary of games against chance that workers play in parts."""
        options: Any = asked.options(asked.given)  # not of the random player
        self.check_gpu(options.setup("game"), options.depth)
        count = DEFAULT_GAMES if asked.games is None else asked.games
        return play(options, count, asked.seed, self.cluster, self.progress, self.interrupted, asked.record)

    @one_at_a_time
    def perft(
        self,
        game: str,
        depth: int,
        position: str | HasPosition = "startpos",
        board: str | None = None,
        rules: dict[str, str] | None = None,
        **by_name: str,
    ) -> Count:
        """Return the Count of positions below one, ``depth`` plies deep; by_name: rules. Raises as ``search`` does."""
        self._check_open()
        self.check_no_gpu("perft")
        position, of_board = asked_for(game, position, {"board": board, "rules": rules, **by_name})
        options, module, known_rules = resolve(game, **{"board": board, "rules": rules, **of_board, **by_name})
        positions = [module.parse(position, known_rules)]
        return perft(options, depth, positions, self.cluster, self.progress, self.interrupted)[0]


@documented(Options)
def search(game: str, position: str | HasPosition = "startpos", **options: Any) -> Outcome:
    """Return the Outcome of one search by this process alone.

        distsearch.search("othello", "startpos", depth=8, board="8x8", empties="winner")

    position: text, as on the command line, or a Board; board: text such as "6x8"; rules: the game's own options by
    name, or each as a keyword; 5 seconds if no limit is given. The Outcome has ``move``, ``score``, ``bound``,
    ``proved``, ``pv``, ``nodes`` and the other fields of --json. Raises ``distsearch.core.errors.UserError`` for what
    makes no sense. See ``Session`` for many searches.
    """
    with Session() as session:
        return session.search(game, position, **options)
