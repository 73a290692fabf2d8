"""Answers from an opening book instead of a search."""

import math
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import games
from ..books.book import NONE, Book, described, heading, load, shipped
from ..core.errors import UserError
from ..engines.alphabeta import LINE_LENGTH
from ..games.interface import Position, as_state
from ..jobs.two_player import SUBTREE_RESULT
from . import meaning
from .options import Options
from .result import Outcome

WITHOUT = "none"  # in the place of a file's name: no book


class _Known(NamedTuple):
    """What the book has of a position: a score, the plies it was found with, the line, and moves with their scores."""

    score: int
    depth: int
    line: list[int]
    moves: list[tuple[int, int]] | None


class BookAnswers:
    """What a book answers under some options; false where there is no book for them, or they ask for a search.

    A grown book answers no exact search, none by another evaluation or other weights, and none that prunes less than
    its own. A position of it answers only if the book spent at least as much search time on it and the entries below it
    as the request allows: otherwise a search would find more. cluster: the one whose ranks an Outcome tells of; every:
    whether all entries answer.
    """

    def __init__(self, book: Book | None, options: Options, cluster: Any, every: bool = False):
        fits = book is not None and options.asks_for_best and _is_of(book, options)
        self.unfit: str | None = other_weights(book) if fits and book is not None else None  # why, a line for people
        self._book = book if fits and self.unfit is None else None
        self._options, self._cluster, self._every = options, cluster, every
        self._game = games.find(options.game)

    def __bool__(self) -> bool:
        return self._book is not None

    def outcome(self, position: Position) -> Outcome | None:
        """Return the Outcome of a position, or None if the book does not have all that is asked of it."""
        began = time.perf_counter()
        if self._book is None or (known := self._known(self._book, position)) is None:
            return None
        game, options, rules, proved = self._game, self._options, self._book.rules, known.depth == 0

        def text(m):
            return game.move_text(m, rules)

        return Outcome(
            game=options.game,
            board="{}x{}".format(*(options.board or ())),
            position=game.text(position, rules),
            move=text(known.line[0]),
            score=known.score,
            unit=game.UNIT if proved else "evaluation",
            meaning=self._meaning(self._book, position, known),
            proved=proved,
            complete=True,
            moves=known.moves and [{"move": text(m), "score": score} for m, score in known.moves],
            depth=int(game.moves_left(position.state, rules)) if proved else known.depth,
            pv=list(map(text, known.line)),
            algorithm=str(options.algorithm),
            policy=str(options.policy),
            selective=(self._book.searched or {}).get("selective"),
            book=self._book.name,
            ranks=self._cluster.ranks,
            workers=self._cluster.workers,
            seconds=time.perf_counter() - began,
        )

    def outcomes(self, positions: Sequence[Position]) -> dict[int, Outcome]:
        """Return the Outcomes of those of some positions that the book has, by their index."""
        if self._book is None:
            return {}
        there = np.flatnonzero(self._book.find_all(np.array([each.state for each in positions], np.uint64)) != NONE)
        found = {index: self.outcome(positions[index]) for index in there.tolist()}
        return {index: outcome for index, outcome in found.items() if outcome is not None}

    def records(self, states: np.ndarray) -> np.ndarray | None:
        """Return a SUBTREE_RESULT for each of an array of states of shape (n, words), complete where the book has it.

        None: it has none of them.
        """
        there = [] if self._book is None else np.flatnonzero(self._book.find_all(states) != NONE).tolist()
        if self._book is None or not there:
            return None
        records = np.zeros(len(states), SUBTREE_RESULT)
        for index in there:
            known = self._known(self._book, Position(as_state(states[index])))
            if known is not None:
                line, record = known.line[:LINE_LENGTH], records[index]
                record["complete"], record["score"], record["line_length"] = True, known.score, len(line)
                record["line"][: len(line)] = line
        return records

    def _known(self, book, position):
        index = book.find(position.state)
        if index == NONE or self._options.exact and book.depth(index):
            return None
        if not self._is_searched_enough(book, position.state):
            return None
        moves = book.moves(position.state) if self._options.all_moves else None
        line = book.line(position)
        if not line or self._options.all_moves and moves is None:
            return None
        return _Known(book.score(index), book.depth(index), line, moves)

    def _is_searched_enough(self, book, state):
        """Whether a grown book spent at least the asked time of all workers on a position and the entries below it.

        In a book that was made by depth or nodes, whether there is an entry below the position.
        """
        if self._every or book.searched is None:
            return True
        own = book.searched.get("time")
        wanted = math.ceil(self._options.time * self._cluster.workers / own) if own else 2
        return book.count_from(state, wanted) >= wanted

    def _meaning(self, book, position, known):
        """Return what a score says in words, or None where that is not known."""
        where = self._game, position, book.rules
        if known.depth == 0:
            return meaning.of_value(*where, known.score)
        if book.searched is None:
            return None
        selective = book.searched.get("selective") not in (None, 1)
        return meaning.of_evaluated(*where, book.evaluation, known.score, known.depth, selective)


def _is_of(book, options):
    """Whether the scores of a book are as good as those that a search under some options would find."""
    if book.searched is None:
        return True
    as_careful = (book.searched.get("selective") or 1) >= (options.selective or 1)
    by_same = book.searched["evaluation"] == options.evaluation and options.probcut_params is None
    return by_same and as_careful and not options.exact


def other_weights(book: Book) -> str | None:
    """Return a line that says that a grown book is of other weights than its evaluation's, None if it is not."""
    if book.searched is None or not book.has_other_weights:
        return None
    return f"the book {book.name} is not used: its scores are by other weights of {book.searched['evaluation'][:200]}"


def find_book(path: str | None, options: Options) -> Book | None:
    """Return the Book for the game, board and rules of some options, or None if there is none.

    path: of a file, which may be of another game; None: the book that comes with the program; WITHOUT: no book. Raises
    UserError for a file that is no book.
    """
    game = games.find(options.game)
    path = path or shipped(game, options.board)
    if path is None or path == WITHOUT or options.against_chance:
        return None
    content = load(path)
    if content.heading != heading(game, options.board, options.rules):
        return None
    return Book(path, content, game, game.rules(options.board, **options.rules))


def opened(path: str | None, options: Options) -> Book:
    """Return what ``find_book`` finds; raises UserError if that is nothing, or a book of other weights."""
    book = find_book(path, options)
    if book is None:
        wanted = described(heading(games.find(options.game), options.board, options.rules))
        if path in (None, WITHOUT):
            raise UserError(f"there is no book of {wanted}: name one with --book, or make one with --make")
        raise UserError(f"{path[:200]} is a book of {described(load(path).heading)}, not of {wanted}")
    if why := other_weights(book):
        raise UserError(f"{why}; make it again with --make and --positions")
    return book
