"""Players of games: each chooses moves, by a search or at random; ``cli.person`` is one at the terminal."""

import copy
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from .. import games
from ..formats.checkpoint import NO_CHECKPOINT
from ..games.interface import MAX_MOVES, Position, legal_moves, step
from .book import BookAnswers, find_book
from .chance import searcher_of
from .clock import Clock, clock_text, moves_expected
from .options import CHANCES, Options
from .play_summary import depth_text
from .progress import Progress, Silent
from .result import Outcome
from .two_player import TO_THE_END, TwoPlayerSearcher

RANDOM = "random"  # the player without a search


class Choice(NamedTuple):
    """A move's code, and the Outcome of the search that found it, if there was one; chance makes moves as well."""

    code: int
    outcome: Outcome | None = None
    by_chance: bool = False


class Player(Protocol):
    """What a game asks for moves."""

    name: str

    def choose(self, position: Position, number: int, clock: Clock | None) -> Choice | None:
        """Return a legal move of a position that has one; None: the game ends here.

        number: a random one of 64 bits, which belongs to this move of this game; clock: the player's, if it has one,
        which the caller winds on.
        """
        ...


class RandomPlayer:
    """Chooses any legal move, each as likely."""

    name = RANDOM

    def __init__(self, game: Any, rules: np.ndarray):
        self._game, self._rules = game, rules

    def choose(self, position: Position, number: int, clock: Clock | None = None) -> Choice:
        legal = legal_moves(self._game, position, self._rules)
        return Choice(legal[number * len(legal) >> 64])


class SearchPlayer:
    """Chooses by a search under ``Options`` on a cluster. Without a limit of time the moves depend on options alone.

    A search finds a move with the best score, and which of several that is may depend on timing. So of all moves with
    this score the first is chosen, in the order in which the game itself puts its moves. book: as in ``find_book``;
    where it has the position there is no search.
    """

    def __init__(
        self,
        options: Options,
        cluster: Any,
        progress: Progress | None = None,
        interrupted: Callable[[], bool] = lambda: False,
        book: str | None = None,
    ):
        self.options, self.name, self._interrupted = options, setting_name(options), interrupted
        searched = _of_moves(options)
        self._book = BookAnswers(find_book(book, options), searched, cluster)
        kind = searcher_of(options)
        kind = _ValueSearcher if kind is TwoPlayerSearcher else kind
        self._searcher = kind(searched, cluster, progress or Silent(), interrupted)
        if isinstance(self._searcher, TwoPlayerSearcher):
            self._searcher.compile_all()
        if options.nodes is not None:  # or how far they go would depend on the number of workers
            self._searcher.wanted_subtrees = 1
        self._game, self._rules = self._searcher.game, self._searcher.rules

    def choose(self, position: Position, number: int, clock: Clock | None = None) -> Choice | None:
        legal = legal_moves(self._game, position, self._rules)
        if len(legal) == 1:
            return Choice(legal[0])
        if clock is not None:
            seconds = clock.give(moves_expected(self._game, self._rules, position, clock.moves))
            if seconds == 0:
                return Choice(_ordered(self._game, position, self._rules)[0])
            self._searcher.give(seconds)
        if known := self._book.outcome(position):
            return Choice(self._game.parse_move(str(known.move), self._rules), known)
        outcome = next(self._searcher.search([position]))
        if self._interrupted() or outcome is None:
            return None
        if outcome.move is None:  # nothing was known in time
            return Choice(_ordered(self._game, position, self._rules)[0], outcome)
        return Choice(self._first_of_the_best(position, outcome), outcome)

    def _first_of_the_best(self, position, outcome):
        found = self._game.parse_move(outcome.move, self._rules)
        if self.options.deepening:
            return found
        if isinstance(self._searcher, _ValueSearcher):
            return self._searcher.first_of_the_best(position, found)
        if outcome.moves:
            best = max(each["score"] for each in outcome.moves)
            texts = {each["move"] for each in outcome.moves if each["score"] == best}
            return next(m for m in _ordered(self._game, position, self._rules) if self._text(m) in texts)
        return found

    def _text(self, code):
        return self._game.move_text(code, self._rules)


class _ValueSearcher(TwoPlayerSearcher):
    """Keeps the latest root's score as the search counts it, to compare others with it."""

    _value: int | None = None

    def search(self, positions, checkpoint=NO_CHECKPOINT):
        self._value = None
        return super().search(positions, checkpoint)

    def _found(self, pool, root):
        found = super()._found(pool, root)
        self._value = int(found.score) if found.known and found.exact else None
        return found

    def first_of_the_best(self, position, found):
        """Return the first move with the score of the latest search, which found the move ``found``."""
        ordered = _ordered(self.game, position, self.rules)
        before = ordered[: ordered.index(found)]
        if self._value is None or not before:
            return found
        depth = TO_THE_END if self._depth == TO_THE_END else self._depth - 1
        children = [step(self.game, position, self.rules, m).state for m in before]
        # a null window: is a child worth no more to the other side than the best move leaves it?
        pool = self._pool(children, depth, (-self._value, 1 - self._value))
        self._run(pool, lambda: pool, NO_CHECKPOINT)
        as_good = (m for root, m in enumerate(before) if pool.is_answered(root) and pool.score(root) <= -self._value)
        return next(as_good, found)


def _of_moves(options):
    """Return the Options of a player's searches: under a clock each is given a time of its own.

    Where alpha-beta would find any best move, they tell the scores of all.
    """
    options = copy.copy(options)
    options.all_moves = options.has_adversary and not options.deepening
    if options.clock is not None:
        (options.time, _), options.clock = options.clock, None
    return options


def _ordered(game, position, rules):
    """Return the codes of the legal moves, the likeliest best one first as far as the game knows."""
    out = np.zeros(MAX_MOVES, np.int16)
    return out[: games.functions(game)["ordered_moves"](position.state, rules, out, 0)].tolist()


def setting_name(options: Options | None) -> str:
    """Return how a player under Options chooses, in a few words; None: at random."""
    if options is None:
        return RANDOM
    depth = depth_text(options.depth, options.depth_by_empty) if options.depth else None
    limits = {"depth": depth, "nodes": options.nodes, "time": options.time}
    more = {
        "min-probability": options.min_probability,
        "selective": options.selective,
        "rank-cut": options.rank_cut,
        "runs": options.runs,
    }
    more |= {"clock": options.clock and clock_text(options.clock)}
    more |= {"chance": None if options.chance == CHANCES[0] else options.chance}
    words = [str(options.algorithm), "exact" if options.exact else str(options.evaluation)]
    return ", ".join([*words, *(f"{name} {value}" for name, value in (limits | more).items() if value)])
