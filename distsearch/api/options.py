"""What can be asked of a search, checked."""

import difflib
import functools
import math
import re
from dataclasses import dataclass, field, fields
from numbers import Integral, Real

from .. import evaluation, games
from ..core.errors import UserError
from ..engines.alphabeta import parse_ordering
from ..evaluation import probcut_fit
from ..tree.policies import POLICIES
from . import sampled_options

ALGORITHMS = {  # by players, the default first
    2: ("alphabeta", "minimax"),
    1: ("expectimax", "expectiminimax", "minimax", "alphabeta", *sampled_options.ALGORITHMS),
}
CHANCES = ("weighted", "uniform")
PRUNINGS = ("alphabeta", "none")
DEFAULT_SECONDS = 5.0
_TYPES = (
    (("game", "algorithm", "policy", "ordering", "evaluation", "chance", "pruning", "fit"), (str,), "a text"),
    (("depth", "nodes", "prefetch", "layers", "par_depth", "runs", "width", "seed"), (Integral,), "a whole number"),
    (("time", "load_factor", "min_probability", "selective"), (Real,), "a number"),
    (("exact", "all_moves"), (bool,), "True or False"),
)
DEEPEST = 1000  # plies; more than any game has
MOST_NODES = 10**18


@dataclass
class Options:
    """How to search. Creating one raises UserError if it makes no sense.

    game: its name; board: (rows, columns) or None for the usual one; rules: the game's own options; depth, time
    (seconds), nodes (boards), exact: the limits, ``DEFAULT_SECONDS`` of time if there is none; load_factor: subtrees in
    the pool for each worker, None for 4, or 1 where there is one worker, which needs no pool; evaluation: None for the
    game's default; all_moves: score every move at the root; prefetch: batches of jobs kept at each worker; window:
    (low, high) between which an exact search tells scores apart; ordering: of plain alpha-beta, or None for the
    search with a table, which has its own; policy: how the tree is shared out; those but pool need a table, and go
    without nodes; of games against chance expectimax takes pool and split, which is one subtree a host, searched by all
    of its ranks; None: split, or pool where no table is used, or nodes or a load factor is given; selective: the
    probability with which a position's value has to be foretold by a shallow search for a deep one to be left out, see
    ``engines.pvs.probcut``, None: nothing is left out; fit: a file for that, None: the package's own.

    In games against chance: layers: instead of depth, X times a move and what follows it, and another move;
    min_probability: positions that chance leads to less likely than that are evaluated, 0: none; chance: weighted, or
    uniform: as if all it may do were alike: both with expectimax. deeper: pairs of (empty cells at most, plies), the
    fewest cells first, for boards that are to have another depth. runs, their seed, and width: of the algorithms
    averaged and ida, see ``engines.averaged`` and ``engines.ida``, where nodes are those of a run. In the others but
    expectimax chance has an adversary: pruning: of expectiminimax, alphabeta or none; par_depth: plies to which the
    tree is grown, whose nodes are the jobs, instead of to a load factor; policy: pool, or brothers where alpha-beta
    prunes.
    """

    game: str
    board: tuple | None = None
    rules: dict = field(default_factory=dict)
    depth: int | None = None
    time: float | None = None
    nodes: int | None = None
    exact: bool = False
    algorithm: str | None = None
    policy: str | None = None
    load_factor: float | None = None
    ordering: str | None = None
    evaluation: str | None = None
    all_moves: bool = False
    prefetch: int = 2
    window: tuple | None = None
    layers: int | None = None
    min_probability: float | None = None
    chance: str | None = None
    deeper: tuple = ()
    pruning: str | None = None
    par_depth: int | None = None
    runs: int | None = None
    width: int | None = None
    seed: int | None = None
    selective: float | None = None
    fit: str | None = None

    def __post_init__(self):
        self._check_types()
        module = games.find(self.game)
        if self.algorithm is None:
            self.algorithm = ALGORITHMS[module.PLAYERS][0]
        _among("algorithm", self.algorithm, ALGORITHMS[module.PLAYERS])
        if self.against_chance:
            self._check_chance()
        elif (self.layers, self.min_probability, self.chance, self.deeper) != (None, None, None, ()):
            raise UserError("layers, min-probability, chance and deeper go with games against chance, such as 2048")
        sampled_options.check(self)
        self._check_adversary()
        if self.policy is None:
            shares = self.takes_table and self.nodes is None and self.load_factor is None
            self.policy = "split" if shares else "pool"
        _among("policy", self.policy, POLICIES)
        if not self._goes_with_policy():
            raise UserError(f"policy {self.policy} goes with the search with a table alone; pool goes with all")
        if self.policy != "pool" and self.nodes is not None:
            raise UserError(f"policy {self.policy} does not repeat itself, as nodes must; pool does")
        parse_ordering(self._plain_ordering)
        self.board = games.checked_board(module, self.board)
        for name, value in self.rules.items():
            if name not in module.OPTIONS:
                raise UserError(f"{module.NAME} has no option {name[:40]}")
            if module.OPTIONS[name] is not None:
                _among(name, value, module.OPTIONS[name])
        self.evaluation = evaluation.names(module)[0] if self.evaluation is None else self.evaluation
        evaluation.check(module, self.evaluation)
        self._check_limits()
        self.foretelling = self._foretelling()  # what runners need to know of it, of plain types

    def _check_types(self):
        for names, types, meaning in _TYPES:
            for name in names:
                value = getattr(self, name)
                fits = isinstance(value, types) and (bool in types or not isinstance(value, bool))
                if value is not None and not fits:
                    raise UserError(f"{name} {value!r:.40} is not {meaning}")

    def _check_chance(self):
        if self.exact or self.window is not None or self.ordering is not None:
            raise UserError(f"exact, window and ordering are not for {self.game}, a game against chance")
        if self.nodes is not None and self.algorithm not in ("expectimax", "ida"):
            raise UserError(f"nodes are not for {self.algorithm} in a game against chance")
        if self.layers is not None:
            if self.depth is not None:
                raise UserError("layers and depth exclude each other")
            if not 0 <= self.layers <= DEEPEST // 2 - 1:
                raise UserError(f"layers {self.layers} is not a number from 0 to {DEEPEST // 2 - 1}")
            self.depth = self.layer_plies * self.layers + 1
        if self.min_probability is not None and not 0 <= self.min_probability < 1:
            raise UserError(f"min-probability {self.min_probability:g} is not a probability below 1")
        if self.chance is not None:
            _among("chance", self.chance, CHANCES)
        self._check_deeper()

    def _check_deeper(self):
        if not isinstance(self.deeper, tuple | list) or not all(map(_is_pair, self.deeper)):
            raise UserError(f"deeper {self.deeper!r:.40} is not pairs of whole numbers: empty cells at most, plies")
        most = [cells for cells, _ in self.deeper]
        if self.deeper and (self.depth is None or self.deepening):
            raise UserError("deeper goes with depth or layers, and without time and nodes")
        if most != sorted(set(most)) or not all(0 <= cells < 16 for cells in most):
            raise UserError(f"deeper's empty cells are not from 0 to 15, the fewest first: {most}")
        for _, plies in self.deeper:
            if not 1 <= plies <= DEEPEST:
                raise UserError(f"deeper {plies} is not a number of plies from 1 to {DEEPEST}")

    def _check_adversary(self):
        if not self.has_adversary:
            if (self.pruning, self.par_depth) != (None, None):
                raise UserError("pruning and par-depth go with games against chance, by another way than expectimax")
            return
        if (self.min_probability, self.chance) != (None, None):
            raise UserError(f"min-probability and chance go with expectimax, not with {self.algorithm}")
        if self.pruning is not None:
            _among("pruning", self.pruning, PRUNINGS)
            if self.algorithm != "expectiminimax":
                raise UserError(f"pruning goes with expectiminimax; {self.algorithm} says by itself how it prunes")
        if self.algorithm == "expectiminimax" and not hasattr(games.find(self.game), "draw"):
            raise UserError(f"expectiminimax is not for {self.game}, which does not say what an adversary may choose")
        if self.policy == "brothers" and not self.pruned:
            raise UserError("policy brothers goes with alpha-beta: where nothing is pruned, nobody has to wait")
        if self.par_depth is not None:
            if self.deeper:
                raise UserError("par-depth and deeper exclude each other: the depth must be known")
            if self.load_factor is not None:
                raise UserError("par-depth and load-factor exclude each other")
            if self.depth is None:
                raise UserError("par-depth goes with depth or layers")
            if not 1 <= self.par_depth < self.depth:
                raise UserError(f"par-depth {self.par_depth} is not a number of plies from 1 on, and below the depth")

    def _goes_with_policy(self):
        if self.has_adversary:
            return self.policy in ("pool", "brothers")
        return self.policy == "pool" or self.tabled or self.takes_table and self.policy == "split"

    @property
    def takes_table(self):
        """Whether ranks of a host share a table: not with minimax, an ordering, an adversary or sampled runs."""
        return self.tabled or self.against_chance and self.algorithm == "expectimax"

    @property
    def has_adversary(self):
        """Whether an adversary chooses what chance does, or a part of it."""
        return self.against_chance and self.algorithm not in ("expectimax", *sampled_options.ALGORITHMS)

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

    def _check_limits(self):
        if self.exact and (self.depth is not None or self.nodes is not None or self.time is not None):
            raise UserError("exact goes without depth, time and nodes")
        if self.depth is not None and not 1 <= self.depth <= DEEPEST:
            raise UserError(f"depth {self.depth} is not a number of plies from 1 to {DEEPEST}")
        if self.nodes is not None and not 1 <= self.nodes <= MOST_NODES:
            raise UserError(f"nodes {self.nodes} is not a number of boards from 1 to {MOST_NODES}")
        if self.time is not None and not 0 < self.time < math.inf:
            raise UserError(f"time {self.time:g} is not a number of seconds above 0")
        if self.load_factor is not None and not 0 < self.load_factor <= 100_000:
            raise UserError(f"load factor {self.load_factor:g} is not a number above 0 and up to 100000")
        checked_prefetch(self.prefetch)
        if self.window is not None:
            if not self.solving:
                raise UserError("window goes with an exact search by alphabeta alone")
            if not -10_000 <= self.window[0] < self.window[1] <= 10_000:
                raise UserError("window {},{} is not two scores up to 10000, the lower one first".format(*self.window))
        if not self.exact and self.depth is self.time is self.nodes is None:
            self.time = DEFAULT_SECONDS

    def _foretelling(self):
        if self.selective is None:
            if self.fit is not None:
                raise UserError("fit goes with selective")
            return None
        probcut_fit.checked_probability(self.selective)
        if self.against_chance:
            raise UserError(f"selective is not for {self.game}, a game against chance")
        if self.exact:
            raise UserError("exact goes without selective, which leaves out what is only likely not to matter")
        if not self.tabled:
            raise UserError("selective goes with the search with a table alone, not with minimax or an ordering")
        game, rules = games.find(self.game), _rules(self.game, self.board, tuple(self.rules.items()))
        chosen = evaluation.find(game, self.evaluation, rules)
        fit = probcut_fit.find(game, self.board, self.evaluation, chosen, self.fit)
        return [float(self.selective), fit.stage, [list(pair) for pair in fit.pairs]]

    @property
    def deepening(self):
        """Whether the search goes deeper and deeper until a limit ends it."""
        return self.time is not None or self.nodes is not None

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
    def repeatable(self):
        """Whether boards must depend on nothing but the options, so that no table outlives a job."""
        return self.nodes is not None

    def setup(self, kind=None):
        """Return the setup of the workers' runners, of plain types."""
        if self.has_adversary:
            return {
                "kind": kind or "expectiminimax",
                "game": self.game,
                "board": self.board,
                "options": self.rules,
                "evaluation": self.evaluation,
                "adversary_chooses_all": self.algorithm != "expectiminimax",
                "prune": self.pruned,
            }
        if self.against_chance:
            return {
                "kind": kind or self.algorithm,
                "game": self.game,
                "board": self.board,
                "options": self.rules,
                "evaluation": self.evaluation,
                "points": evaluation.learnt(games.find(self.game), self.evaluation),
                "min_probability": self.min_probability or 0.0,
                "uniform_chance": self.chance == "uniform",
                "deeper": self.deeper,
                "nodes": self.nodes or 0,
                "seconds": self.time or 0.0,
                "width": self.width,
            }
        searching = "subtree" if not self.tabled else "solve" if self.exact else "deep"
        return {
            "kind": kind or searching,
            "repeatable": self.repeatable,
            "game": self.game,
            "board": self.board,
            "options": self.rules,
            "algorithm": self.algorithm,
            "ordering": self._plain_ordering,
            "evaluation": self.evaluation,
            "selective": self.foretelling,
        }

    def target(self, workers):
        """Return how many subtrees the pool should hold; a load factor is for the policies that grow one ahead.

        workers: that each have subtrees of their own.
        """
        ahead = self.load_factor if self.against_chance or POLICIES[self.policy].expands_ahead else None
        return math.ceil((ahead or (4 if workers > 1 else 1)) * workers)


def resolve(game, board=None, empties=None, spawn=None, rules=None, **given):
    """Return (Options, game module, rules array) of what a person or a program asked for; raises UserError.

    board: text such as "6x8"; rules: the game's own options, texts by name; empties, spawn: those of these names;
    given: other fields of Options.
    """
    known = [each.name for each in fields(Options)]
    for name in given:
        if name not in known:
            raise UserError(f"{name[:40]} is no option{suggestion(name, known)}")
    if not isinstance(rules, dict | None) or not all(isinstance(value, str) for value in (rules or {}).values()):
        raise UserError(f"rules {rules!r:.40} are not texts by name, such as {{'empties': 'none'}}")
    named = {name: value for name, value in (("empties", empties), ("spawn", spawn)) if value is not None}
    rules = {**(rules or {}), **named}
    options = Options(game, board=None if board is None else games.parse_board(board), rules=rules, **given)
    return options, games.find(game), _rules(game, options.board, tuple(rules.items()))


def suggestion(name, known):
    """Return "; did you mean depth?" for the known name that a mistyped one resembles, "" if it resembles none."""
    close = difflib.get_close_matches(name[:40], known, n=1)
    return f"; did you mean {close[0]}?" if close else ""


@functools.lru_cache(maxsize=64)  # Othello's take 1 to 3 ms, more than a small request's search
def _rules(game, board, rules):
    return games.find(game).rules(board, **dict(rules))


def _is_pair(value):
    return isinstance(value, tuple | list) and len(value) == 2 and all(isinstance(each, Integral) for each in value)


def _among(what, value, allowed):
    if value not in allowed:
        raise UserError(f"{what} '{value[:40]}' is not {' or '.join(allowed)}")


def checked_seed(seed):
    """Return a seed; raises UserError."""
    if not isinstance(seed, Integral) or isinstance(seed, bool) or seed < 0:
        raise UserError(f"seed {seed!r:.40} is not a whole number from 0 on")
    return seed


def checked_prefetch(prefetch):
    """Return a number of batches to keep at each worker; raises UserError."""
    if not 1 <= prefetch <= 1000:
        raise UserError(f"prefetch {prefetch} is not a number of batches from 1 to 1000")
    return prefetch


def parse_deeper(text):
    """Return ((empty cells at most, plies), ...) of ``2:9,5:7``; raises UserError."""
    if not re.fullmatch(r"[0-9]{1,4}:[0-9]{1,4}(,[0-9]{1,4}:[0-9]{1,4})*", text):
        raise UserError(f"deeper '{text[:40]}' is not empty cells with plies, such as 2:9,5:7")
    return tuple(tuple(map(int, part.split(":"))) for part in text.split(","))


def parse_window(text):
    """Return (low, high) of ``-1,1``; raises UserError."""
    match = re.fullmatch(r"([+-]?[0-9]{1,5}),([+-]?[0-9]{1,5})", text)
    if not match:
        raise UserError(f"window '{text[:40]}' is not two scores with a comma between, such as -1,1")
    return int(match[1]), int(match[2])


def checked_table(mib):
    """Return a size of the transposition table in MiB; raises UserError."""
    if not 1 <= mib <= 1 << 22:
        raise UserError(f"table {mib} is not a number of MiB from 1 to {1 << 22}")
    return mib
