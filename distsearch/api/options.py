"""What can be asked of a search, declared and checked."""

import math
import re
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from numbers import Integral
from typing import Annotated, Any

from .. import evaluation, games
from ..core.errors import UserError
from ..engines import ida
from ..engines.alphabeta import parse_ordering
from ..evaluation import probcut_fit, rank_cut
from ..tree.policies import POLICIES
from .applicability import BY_NODES, SAMPLED, check
from .clock import check_clock, parse_clock
from .declarations import Option, among, check_names, check_values, declared, shown, suggestion

ADVERSARIAL = "expectiminimax", "minimax", "alphabeta"  # in games against chance: an adversary chooses for chance
ALGORITHMS = {  # by players, the default first
    2: ("alphabeta", "minimax"),
    1: ("expectimax", *ADVERSARIAL, *SAMPLED),
}
CHANCES = ("weighted", "uniform")
PRUNINGS = ("alphabeta", "none")
DEFAULT_SECONDS = 5.0
DEEPEST = 1000  # plies; more than any game has
MOST_NODES = 10**18
RUNS = {"averaged": 10, "ida": 16, "mcts": 16}  # unless asked for otherwise
WIDTH = 3
RUN_NODES = {"ida": 20_000, "mcts": 50_000}  # of a run: 10 to 20 ms
_SEARCHES = "search solve simulate"
_PROGRAMS = "nboard gtp"  # which search for other programs, games of two players alone
_ANY_GAME = f"{_SEARCHES} play"  # commands in which a search chooses a move
_MOVES = f"{_ANY_GAME} {_PROGRAMS}"
_EVERY = f"{_MOVES} tune bench"
_ON_RANKS = f"search solve play match tune perft serve book {_PROGRAMS}"
_AGAINST_CHANCE = "games against chance"
_LIMITS = "limits (5 seconds if none is given; of solve: exact)"


def algorithms_of(game: Any) -> list[str]:
    """Return the algorithms that positions of a game can be searched by, the default first."""
    able = {"ida": ida.plays(game), "expectiminimax": hasattr(game, "draw")}
    return [name for name in ALGORITHMS[game.PLAYERS] if able.get(name, True)]


def checked_seed(seed: int) -> int:
    """Return a seed; raises UserError."""
    if not isinstance(seed, Integral) or isinstance(seed, bool) or seed < 0:
        raise UserError(f"seed {seed!r:.40} is not a whole number from 0 on")
    return seed


def parse_seed(text: str) -> int:
    """Return the seed of a text; raises UserError."""
    if not re.fullmatch("[0-9]{1,15}", text):
        raise UserError(f"seed '{text[:20]}' is not a whole number of 15 digits at most")
    return int(text)


def parse_window(text: str) -> tuple[int, int]:
    """Return (low, high) of ``-1,1``; raises UserError."""
    match = re.fullmatch(r"([+-]?[0-9]{1,5}),([+-]?[0-9]{1,5})", text)
    if not match:
        raise UserError(f"window '{text[:40]}' is not two scores with a comma between, such as -1,1")
    return int(match[1]), int(match[2])


def parse_depth_by_empty(text: str) -> tuple[tuple[int, int], ...]:
    """Return ((empty cells at most, plies), ...) of ``2:9,5:7``; raises UserError."""
    if not re.fullmatch(r"[0-9]{1,4}:[0-9]{1,4}(,[0-9]{1,4}:[0-9]{1,4})*", text):
        raise UserError(f"depth-by-empty '{text[:40]}' is not empty cells with plies, such as 2:9,5:7")
    return tuple((int(cells), int(plies)) for cells, plies in (part.split(":") for part in text.split(",")))


def checked_rank_cut(probability: float) -> None:
    """Raise UserError unless this is a probability by which moves may be left out."""
    if not 0.5 <= probability < 1:
        raise UserError(f"rank-cut {probability:g} is not a probability from 0.5 on and below 1, such as 0.9")


def _check_window(window):
    if not _is_pair(window) or not -10_000 <= window[0] < window[1] <= 10_000:
        text = ",".join(map(str, window)) if isinstance(window, tuple | list) else repr(window)
        raise UserError(f"window {text:.40} is not two scores up to 10000, the lower one first")


def _check_depth_by_empty(pairs):
    if not isinstance(pairs, tuple | list) or not all(map(_is_pair, pairs)):
        raise UserError(f"depth-by-empty {pairs!r:.40} is not pairs of whole numbers: empty cells at most, plies")
    most = [cells for cells, _ in pairs]
    if most != sorted(set(most)) or not all(0 <= cells < 16 for cells in most):
        raise UserError(f"depth-by-empty: cells are not from 0 to 15, the fewest first: {most}")
    for _, plies in pairs:
        if not 1 <= plies <= DEEPEST:
            raise UserError(f"depth-by-empty {plies} is not a number of plies from 1 to {DEEPEST}")


def _is_pair(value):
    return isinstance(value, tuple | list) and len(value) == 2 and all(isinstance(each, Integral) for each in value)


_PLIES: dict[str, Any] = {"unit": "plies", "low": 1, "high": DEEPEST}
_limit = partial(Option, commands=f"{_MOVES} bench book", group=_LIMITS, served=True)
_how = partial(Option, commands=_MOVES, served=True)
_chance = partial(Option, commands=f"{_ANY_GAME} tune bench", group=_AGAINST_CHANCE, served=True)
_adversary = partial(Option, commands=_ANY_GAME, group=_AGAINST_CHANCE, served=True)
_sampled = partial(Option, commands="search solve play bench", group=_AGAINST_CHANCE, served=True)
_ranks = partial(Option, commands=_ON_RANKS)


@dataclass
class Options:
    """How to search. Creating one raises UserError if it makes no sense; ``applicability`` has what goes with what."""

    game: str  # its name
    board: tuple | None = None  # (rows, columns), None for the usual one
    rules: dict = field(default_factory=dict)  # the game's own options: name -> text

    depth: Annotated[
        int | None,
        _limit("search this many plies deep; a pass counts as one", "N", **_PLIES, commands=f"{_EVERY} book"),
    ] = None
    time: Annotated[
        float | None,
        _limit(
            "search deeper and deeper until this many seconds have passed, for each position or move; under time alone "
            "a game of two players ends with an exact search in the time left",
            "SECONDS",
            unit="seconds",
            above=0,
        ),
    ] = None
    nodes: Annotated[
        int | None,
        _limit(
            "search deeper and deeper until this many nodes were searched, repeatably; of ida and mcts: nodes of a run "
            "(20000, 50000)",
            "N",
            unit="nodes",
            low=1,
            high=MOST_NODES,
        ),
    ] = None
    clock: Annotated[
        tuple[float, float] | None,
        Option(
            "seconds for all moves of a game, and seconds that each move adds, such as 60+0.5; every move is given a "
            "part of what is left, and a game of two players is lost when nothing is",
            "SECONDS+INCREMENT",
            commands="play",
            group=_LIMITS,
            check=check_clock,
            parse=parse_clock,
        ),
    ] = None
    exact: Annotated[
        bool, Option("search to the end of the game", commands=f"{_MOVES} bench", group=_LIMITS, served=True)
    ] = False
    algorithm: Annotated[
        str | None,
        _how(
            "alphabeta (default) or minimax; against chance expectimax (default), expectiminimax, minimax, "
            "alphabeta, averaged, ida or mcts",
            "NAME",
        ),
    ] = None
    policy: Annotated[
        str | None,
        _how(
            "how ranks share the tree. Two players: split (default), brothers, window (default of exact searches on "
            "several GPUs), or pool (default under a load factor, a limit of nodes, an ordering or minimax). "
            "expectimax: split or pool. expectiminimax, minimax and alphabeta against chance: pool or brothers",
            "NAME",
            choices=tuple(POLICIES),
        ),
    ] = None
    load_factor: Annotated[
        float | None,
        _how(
            "subtrees for each worker in a tree grown ahead: pool, window, games against chance (default 4; alone 1)",
            "F",
            above=0,
            high=100_000,
            decides=False,
        ),
    ] = None
    ordering: Annotated[
        str | None,
        _how(
            "plain alpha-beta without a table, moves ordered by none, static or shallow[:D] (a search of D plies)",
            "NAME",
        ),
    ] = None
    evaluation: Annotated[
        str | None,
        Option(
            "what values positions at the depth limit, such as patterns, complex, ntuple, rows, rows:W,W,W,W,W,W, or "
            "a sum such as monotonicity+2.7*free; of mcts playout as well; or a file of weights, FILE.npz of train or "
            "FILE.json of tune (default: the strongest that comes with the game and board, which `distsearch help "
            "GAME` names)",
            "NAME",
            commands=_EVERY,
            served=True,
        ),
    ] = None
    all_moves: Annotated[
        bool, Option("score every legal move, not only the best", commands=_SEARCHES, served=True, short="-a")
    ] = False
    prefetch: Annotated[
        int,
        Option(
            "batches of jobs kept at each worker (default 2)",
            "N",
            unit="batches",
            low=1,
            high=1000,
            commands=f"{_EVERY} perft",
            decides=False,
        ),
    ] = 2
    window: Annotated[
        tuple[int, int] | None,
        _how(
            "alpha and beta of an exact search; scores outside are reported as bounds (-1,1 asks who wins)",
            "LO,HI",
            commands=_SEARCHES,
            check=_check_window,
            parse=parse_window,
        ),
    ] = None
    selective: Annotated[
        float | None,
        _how(
            "Multi-ProbCut: cut a node if a shallow search predicts, with this probability, that it cannot change the "
            "result; scores are then no longer certain, and never exact ones. 1 cuts nothing (default: 0.95 under time "
            "alone if the package has parameters for the evaluation, else 1)",
            "P",
            commands=f"{_MOVES} book",
            check=probcut_fit.checked_probability,
        ),
    ] = None
    probcut_params: Annotated[
        str | None,
        Option(
            "parameters of --selective, as python -m distsearch.learning.probcut_fit makes them (default: the "
            "package's)",
            "FILE",
            commands=_MOVES,
            served=True,
        ),
    ] = None

    rank_cut: Annotated[
        float | None,
        _how(
            "Rank-Cut, with ordering shallow: leave out a node's later moves where, with probability P by counts of "
            "the program's own games, none is better than those before them; scores are then not certain, and may "
            "depend on the number of ranks (default: search all)",
            "P",
            check=checked_rank_cut,
        ),
    ] = None

    # games against chance
    layers: Annotated[
        int | None,
        _chance(
            "search X layers, each a move and what chance does after it, and one more move; instead of a depth",
            "X",
            low=0,
            high=DEEPEST // 2 - 1,
        ),
    ] = None
    depth_by_empty: Annotated[
        tuple[tuple[int, int], ...],
        _chance(
            "depth D for boards with at most E empty cells, and the depth for others (default: none)",
            "E:D,...",
            check=_check_depth_by_empty,
            parse=parse_depth_by_empty,
        ),
    ] = ()
    min_probability: Annotated[
        float | None,
        _chance(
            "evaluate positions that chance leads to less likely than this, without searching on (default 0)",
            "P",
            low=0,
            below=1,
        ),
    ] = None
    chance: Annotated[
        str | None,
        _chance(
            "weighted (default), or uniform: take all outcomes of chance to be equally likely", "NAME", choices=CHANCES
        ),
    ] = None
    pruning: Annotated[
        str | None, _adversary("of expectiminimax: alphabeta (default) or none", "NAME", choices=PRUNINGS)
    ] = None
    par_depth: Annotated[
        int | None,
        _adversary(
            "expectiminimax, minimax and alphabeta: jobs are the nodes this many plies down, instead of by a load "
            "factor",
            "D",
            **_PLIES,
        ),
    ] = None
    runs: Annotated[
        int | None,
        _sampled(
            "number of sampled searches: averaged (default 10), ida and mcts (default 16)", "N", low=1, high=10_000
        ),
    ] = None
    width: Annotated[
        int | None, _sampled("outcomes of chance that averaged samples at each node (default 3)", "W", low=1, high=256)
    ] = None
    seed: Annotated[
        int | None,
        _sampled(
            "seed of sampled runs, and of the tiles that startpos of search begins with (default 0)",
            "N",
            commands="search solve bench",
            check=checked_seed,
            parse=parse_seed,
        ),
    ] = None

    def __post_init__(self):
        check_values(self)
        module = games.find(self.game)
        if self.algorithm is None:
            self.algorithm = ALGORITHMS[module.PLAYERS][0]
        among("algorithm", self.algorithm, ALGORITHMS[module.PLAYERS])
        given = {name: getattr(self, name) for name, each in declared(Options).items()}
        given = {name: value for name, value in given.items() if value != declared(Options)[name].default}
        if self.layers is not None and self.depth is None:
            self.depth = self.layer_plies * self.layers + 1
        if self.algorithm in BY_NODES and self.nodes is None and not self.timed:
            self.nodes = RUN_NODES[self.algorithm]
        self.policy_by_default = self.policy is None
        if self.policy is None:
            shares = self.takes_table and self.nodes is None and self.load_factor is None
            self.policy = "split" if shares else "pool"
        check(self, given)
        self._check_algorithm(module)
        parse_ordering(self._plain_ordering)
        self.board = games.checked_board(module, self.board)
        check_rules(module, self.rules)
        self.evaluation = self._strongest(module) if self.evaluation is None else self.evaluation
        if self.evaluation != evaluation.PLAYOUT:
            evaluation.check(module, self.evaluation)
        self.limited = self.exact or self.timed or not self.depth is self.nodes is None
        if not self.limited:
            self.time = DEFAULT_SECONDS
        fitted = self.probcut_params is not None or probcut_fit.ships(module, self.board, self.evaluation)
        if self.selective is None and self.by_time and fitted:
            self.selective = probcut_fit.USUAL
        self.foretelling = self._foretelling()  # what runners need to know of it, of plain types
        self.ranking = self._ranking()

    def _check_algorithm(self, module):
        if self.algorithm in SAMPLED:
            self.runs = self.runs or RUNS[self.algorithm]
            self.seed = self.seed or 0
        if self.algorithm == "averaged":
            self.width = self.width or WIDTH
        if self.algorithm == "ida" and not ida.plays(module):
            raise UserError(f"ida is for games of sliding tiles, such as 2048; not for {self.game}")
        if self.algorithm == "expectiminimax" and not hasattr(module, "draw"):
            raise UserError(f"expectiminimax is not for {self.game}, which does not say what an adversary may choose")
        if self.par_depth is not None and self.par_depth >= (self.depth or 0):
            raise UserError(f"par-depth {self.par_depth} is not a number of plies from 1 on, and below the depth")

    def _strongest(self, module):
        # what an adversary, an averaged run or a puzzle values boards by is not the points that they will bring
        if self.against_chance and self.algorithm not in ("expectimax", "mcts"):
            return evaluation.hand_made(module)
        return evaluation.default(module, _rules(self.game, self.board, tuple(self.rules.items())))

    def _foretelling(self):
        if self.selective in (None, 1):
            return None
        game, rules = games.find(self.game), _rules(self.game, self.board, tuple(self.rules.items()))
        chosen = evaluation.find(game, self.evaluation, rules)
        fit = probcut_fit.find(game, self.board, self.evaluation, chosen, self.probcut_params)
        return [float(self.selective), fit.stage, [list(pair) for pair in fit.pairs]]

    def _ranking(self):
        """Return what runners need to know of Rank-Cut, of plain types: probability, moves of a stage, counts."""
        if self.rank_cut is None:
            return None
        stage_size, rows = rank_cut.find(games.find(self.game), self.board, self.evaluation)
        return [self.rank_cut, stage_size, [list(row) for row in rows]]

    @property
    def takes_table(self):
        """Whether ranks of a host share a table: not with minimax, an ordering, an adversary or sampled runs."""
        return self.tabled or self.against_chance and self.algorithm == "expectimax"

    @property
    def has_adversary(self):
        """Whether an adversary chooses what chance does, or a part of it."""
        return self.against_chance and self.algorithm in ADVERSARIAL

    @property
    def pruned(self):
        """Whether alpha-beta prunes a search in which chance has an adversary."""
        return self.has_adversary and self.algorithm != "minimax" and self.pruning != "none"

    @property
    def layer_plies(self):
        """Plies of a move against chance and of what follows it: a draw is one, and what an adversary does another."""
        return 3 if self.algorithm == "expectiminimax" else 2

    @property
    def against_chance(self):
        """Whether the game is one against chance."""
        return games.find(self.game).PLAYERS == 1

    @property
    def timed(self):
        """Whether a limit of time ends the search: its own, or a part of a game's clock."""
        return self.time is not None or self.clock is not None

    @property
    def deepening(self):
        """Whether the search goes deeper and deeper until a limit ends it."""
        return self.timed or self.nodes is not None

    @property
    def by_steps(self):
        """Whether a search to a depth begins with shallower ones, by which the tree is then shared out."""
        return self.depth is not None and not self.deepening and self.policy in ("brothers", "split")

    @property
    def _plain_ordering(self):
        return "static" if self.ordering is None else self.ordering

    @property
    def tabled(self):
        """Whether the search is one with a table: not if minimax or an ordering of plain alpha-beta is asked."""
        return self.algorithm == "alphabeta" and self.ordering is None and not self.against_chance

    @property
    def solving(self):
        """Whether positions are solved by the exact engine."""
        return self.exact and self.tabled

    @property
    def asks_for_best(self):
        """Whether the game's value answers what is asked, wherever it is from: not a depth, a window, counted nodes."""
        return self.tabled and self.depth is self.nodes is self.window is None

    @property
    def by_time(self):
        """Whether a search of two players, with a table, is limited by time alone."""
        return self.tabled and self.timed and self.depth is self.nodes is None

    @property
    def solving_last(self):
        """Options of the exact search by which a search under a limit of time alone ends, None for other searches."""
        if not self.by_time:
            return None
        policy = None if self.policy_by_default else self.policy
        return replace(self, time=None, clock=None, exact=True, selective=None, probcut_params=None, policy=policy)

    @property
    def repeatable(self):
        """Whether nodes must depend on nothing but the options, so that no table outlives a job."""
        return self.nodes is not None

    def deciding(self) -> dict[str, Any]:
        """Return by name all that decides what a search answers: not how its work is shared out."""
        shared_out = {
            "policy_by_default",
            *(name for name, each in declared(Options).items() if not each.option.decides),
        }
        return {name: value for name, value in vars(self).items() if name not in shared_out}

    def given(self) -> dict[str, Any]:
        """Return by name what makes equal Options of the same game, board and rules, of plain types."""
        found = {name: getattr(self, name) for name in declared(Options)}
        without = {"layers", "policy"} if self.policy_by_default else {"layers"}  # layers have become a depth
        usual = {name: each.default for name, each in declared(Options).items()}
        return {name: each for name, each in found.items() if each != usual[name] and name not in without}

    def setup(self, kind=None):
        """Return the setup of the workers' runners, of plain types."""
        of = {"game": self.game, "board": self.board, "options": self.rules, "evaluation": self.evaluation}
        if self.has_adversary:
            return {
                "kind": kind or "expectiminimax",
                **of,
                "adversary_chooses_all": self.algorithm != "expectiminimax",
                "prune": self.pruned,
            }
        if self.against_chance:
            return {
                "kind": kind or self.algorithm,
                **of,
                "points": self.evaluation == evaluation.PLAYOUT
                or evaluation.learnt(games.find(self.game), self.evaluation),
                "min_probability": self.min_probability or 0.0,
                "uniform_chance": self.chance == "uniform",
                "width": self.width,
                **(self._limits_of_games if kind else {"deepens": self.timed}),
            }
        searching = "subtree" if not self.tabled else "solve" if self.exact else "deep"
        return {
            "kind": kind or searching,
            **of,
            "repeatable": self.repeatable,
            "algorithm": self.algorithm,
            "ordering": self._plain_ordering,
            "selective": self.foretelling,
            "rank_cut": self.ranking,
        }

    @property
    def _limits_of_games(self):
        return {"depth_by_empty": self.depth_by_empty, "nodes": self.nodes or 0, "seconds": self.time or 0.0}

    def wanted_subtrees(self, workers):
        """Return how many subtrees the pool should hold; a load factor is for the policies that grow one ahead.

        workers: that each have subtrees of their own.
        """
        ahead = self.load_factor if self.against_chance or POLICIES[str(self.policy)].expands_ahead else None
        return math.ceil((ahead or (4 if workers > 1 else 1)) * workers)


@dataclass
class Resources:
    """What searches run on. Creating one raises UserError if it makes no sense; see ``session.Session``."""

    table: Annotated[
        int | None,
        Option(
            "MiB of each host's transposition table (of expectimax: table of values); default 64, which grows in "
            "long searches of search, solve and serve to a quarter of the free memory, 4096 at most",
            "MIB",
            unit="MiB",
            low=1,
            high=1 << 22,
            commands=f"search solve play match serve book {_PROGRAMS}",
        ),
    ] = None
    device: Annotated[
        str | None,
        Option(
            "cpu (default); gpu: every worker searches on a GPU; auto: the first workers of each host, one for each "
            "of its GPUs",
            "NAME",
            commands=f"search solve play match bench serve book {_PROGRAMS}",
        ),
    ] = None
    worker_timeout: Annotated[
        int | None,
        _ranks(
            "a worker not heard from for this many seconds is lost, and others do its work (default: none; a lost "
            "rank ends the job unless MPI reports it, see docs/faults.md)",
            "SECONDS",
            unit="seconds",
            low=1,
            high=10**15,
        ),
    ] = None
    submasters: Annotated[
        int | None,
        _ranks(
            "ranks that are sub-masters, each with a part of the other ranks as its workers (default 0)",
            "N",
            low=0,
            high=10**6,
        ),
    ] = None
    book: Annotated[
        str | None,
        Option(
            "an opening book, or none: positions that it has are answered without a search (default: the one that "
            "comes with the program for the game and board, if there is one)",
            "FILE",
            commands=f"search solve play match serve book {_PROGRAMS}",
        ),
    ] = None
    log_level: Annotated[
        str | None,
        Option(
            "log what ranks do to stderr: debug (every job), info or warning (default: no log)",
            "LEVEL",
            choices=("debug", "info", "warning"),
            commands=f"{_ON_RANKS} simulate bench train study",
        ),
    ] = None

    def __post_init__(self):
        check_values(self)


def resolve(game: str, board: Any = None, rules: dict | None = None, **given: Any):
    """Return (Options, game module, rules array) of what a person or a program asked for; raises UserError.

    board: text such as "6x8"; rules: the game's own options, which may be given by their names as well; given: other
    fields of Options.
    """
    module = games.find(game)
    if not isinstance(rules, dict | None) or not all(isinstance(value, str) for value in (rules or {}).values()):
        raise UserError(f"rules {rules!r:.40} are not texts by name, such as {{'empties': 'none'}}")
    owners = games_by_rule()
    by_name = {name: given.pop(name) for name in owners.keys() & given.keys()}
    for name, value in by_name.items():
        if value is not None and name not in module.OPTIONS:
            raise UserError(f"{name} is for {owners[name][0].NAME}, not for {module.NAME}")
    rules = {name: value for name, value in {**(rules or {}), **by_name}.items() if value is not None}
    check_names(given, Options)
    options = Options(game, games.parse_board(board) if isinstance(board, str) else board, rules, **given)
    return options, module, _rules(game, options.board, tuple(rules.items()))


def games_by_rule() -> dict[str, list[games.Game]]:
    """Return by its name the games that have an option of their own, which so can be given like one of a search.

    Where it is called like one of those, ``rules`` alone can give it.
    """
    found = {}
    for game in games.usable().values():
        for name in game.OPTIONS.keys() - declared(Options).keys() - declared(Resources).keys():
            found.setdefault(name, []).append(game)
    return found


def solve_limits(game: str, given: dict) -> dict:
    """Return what to add to the options of ``solve``: games of two players are solved exactly unless limited."""
    limited = given.keys() & {"depth", "time", "nodes", "exact", "layers"}
    return {"exact": True} if not limited and games.find(game).PLAYERS == 2 else {}


@lru_cache(maxsize=64)  # Othello's take 1 to 3 ms, more than a small request's search
def _rules(game, board, rules):
    return games.find(game).rules(board, **dict(rules))


def check_rules(module, rules: dict) -> None:
    """Raise UserError unless these are a game's own options; the game itself checks those that may be any text."""
    for name, value in rules.items():
        if name not in module.OPTIONS:
            known = f"; there is {', '.join(module.OPTIONS)}" if module.OPTIONS else ""
            raise UserError(f"{module.NAME} has no rule {name[:40]}{suggestion(name, module.OPTIONS) or known}")
        if not isinstance(value, str):
            raise UserError(f"{shown(name)} {value!r:.40} is not a text")
        if module.OPTIONS[name] is not None:
            among(name, value, module.OPTIONS[name])
