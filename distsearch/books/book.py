"""A book: a file of positions with their scores and best moves, sorted by key and mapped into memory.

It is an archive (see ``core.archive``) whose header says what game, board and rules it is of, up to how many plies, and
by what searches the scores were found if they are not the game's values. Symmetric positions have one entry.
"""

import functools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import evaluation
from ..core import archive
from ..core.errors import UserError
from ..evaluation import Evaluation
from ..evaluation.probcut_fit import weights_of
from ..games.interface import Game, Position, legal_moves, step
from .expansion import Children, Expansion

ENTRY = np.dtype(
    [
        ("key", np.uint64),  # of the canonical state, as the game makes it
        ("score", np.int16),  # of the side to move
        ("move", np.int16),  # a best one in the canonical state, a code of the game
        ("depth", np.uint8),  # plies that the score was found with; 0: it is the game's value
    ]
)
NONE = -1  # instead of the index of an entry

_KIND, _FORMAT = "opening books", 1
_DEEPEST, _MOST = 1000, 1e18  # most plies of a book; largest limit
_FOLDER = Path(__file__).parent / "shipped"


class Content(NamedTuple):
    """What a file holds.

    heading: ``heading`` of the game; plies: of its positions, at most; entries: one array each of the fields of ENTRY,
    by name, in the order of the keys; searched: the evaluation and the limits of the searches that found the scores, by
    the names of options, None where the scores are the game's values; weights: what stands for those of the evaluation,
    see ``probcut_fit.weights_of``.
    """

    heading: dict[str, Any]
    plies: int
    entries: Mapping[str, np.ndarray]
    searched: dict[str, Any] | None = None
    weights: str | None = None


def heading(game: Game, board: Any, rules: Mapping[str, str]) -> dict[str, Any]:
    """Return what tells the positions of a game from those of another board or other rules, as plain values.

    board: rows and columns; rules: those of the game's own options that are not the default, by name.
    """
    own = {name: rules.get(name, values[0] if values else None) for name, values in game.OPTIONS.items()}
    return {"game": game.NAME, "board": list(board), "rules": own}


def save(path: str, content: Content) -> None:
    """Write a book; raises UserError if it cannot be written."""
    header = {"format": _FORMAT, **content.heading, "plies": content.plies}
    if content.searched is not None:
        header |= {"searched": content.searched, "weights": content.weights}
    arrays = {name: np.asarray(content.entries[name], ENTRY[name]) for name in ENTRY.names or ()}
    try:
        archive.save(path, _KIND, header, arrays)
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        raise UserError(f"cannot write {path[:200]}: {getattr(error, 'strerror', None) or error}") from error


def load(path: str) -> Content:
    """Return the Content of a file, mapped; raises UserError for anything but a whole book."""
    header, arrays = archive.load(path, _KIND)
    format_, plies, searched, weights = (header.pop(name, None) for name in ("format", "plies", "searched", "weights"))
    if format_ != _FORMAT or not _is_count(plies) or not _are_limits(searched):
        raise UserError(f"{path[:200]} is a book of another version of distsearch")
    entries = arrays["key"].size if "key" in arrays else 0
    shapes = {name: (array.dtype, array.shape) for name, array in arrays.items()}
    if not entries or shapes != {name: (ENTRY[name], (entries,)) for name in ENTRY.names or ()}:
        raise UserError(f"{path[:200]} has not the arrays of a book")
    if not (arrays["key"][1:] > arrays["key"][:-1]).all():
        raise UserError(f"{path[:200]} has keys that are not in order")
    return Content(header, plies, arrays, searched, weights)


def _is_count(value):
    """Whether a value of a header is a number of plies."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _DEEPEST


def _are_limits(searched):
    """Whether a value of a header is what Content has as ``searched``: an evaluation, and limits that are numbers."""
    if not isinstance(searched, dict):
        return searched is None
    limits = [value for name, value in searched.items() if name != "evaluation"]
    numbers = all(isinstance(each, int | float) and not isinstance(each, bool) and 0 < each < _MOST for each in limits)
    return isinstance(searched.get("evaluation"), str) and numbers


def shipped(game: Game, board: Any) -> str | None:
    """Return the path of the book that comes with the program for a game on a board, or None."""
    path = _FOLDER / f"{game.NAME}_{board[0]}x{board[1]}.npz"
    return os.fspath(path) if path.exists() else None


class Book:
    """A book that positions are looked up in. ``name``: of its file; ``rules``: the game's array; others as in Content.

    content: of a file of this game, board and rules. Raises UserError if its keys are not those that the game makes.
    """

    def __init__(self, path: str, content: Content, game: Game, rules: np.ndarray):
        self.name = os.path.basename(path)
        self.heading, self.plies, self.entries, self.searched, self._weights = content
        self.expansion = Expansion(game, rules)
        self._game, self.rules = game, rules
        if self.find(game.start(rules).state) == NONE:
            raise UserError(f"{path[:200]} has not the first position of {game.NAME}: its keys are of another version")

    @functools.cached_property
    def evaluation(self) -> Evaluation:
        """The Evaluation by which the scores of a grown book were searched; raises UserError if it is not there."""
        assert self.searched is not None
        return evaluation.find(self._game, self.searched["evaluation"], self.rules)

    @functools.cached_property
    def has_other_weights(self) -> bool:
        """Whether the evaluation of a grown book has other weights by now than those that its scores are of."""
        return self.searched is not None and self._weights != weights_of(self.evaluation)

    def find_all(self, states: np.ndarray) -> np.ndarray:
        """Return the index of the entry of each state of an array of shape (n, words), NONE where there is none."""
        return places(self.entries["key"], self.expansion.keys(states))

    def find(self, state: tuple) -> int:
        """Return the index of a state's entry, or NONE."""
        return int(self.find_all(np.array([state], np.uint64))[0])

    def score(self, index: int) -> int:
        """Return the score of an entry, for the side to move."""
        return int(self.entries["score"][index])

    def depth(self, index: int) -> int:
        """Return the plies that an entry's score was found with; 0: it is the game's value."""
        return int(self.entries["depth"][index])

    def line(self, position: Position) -> list[int]:
        """Return the best moves from a position on, as far as the book goes: none if it does not have the position."""
        moves = []
        while (index := self.find(position.state)) != NONE:
            m = self._move_of(position.state, int(self.entries["move"][index]))
            if m is None:
                break
            moves.append(m)
            position = step(self._game, position, self.rules, m)
        return moves

    def _move_of(self, state, move):
        """Return the move of a state of which its entry's move is the image, or None.

        After both, the positions are the same but for symmetry. None if the entry's move is not legal, or where the
        game no longer looks for symmetry, as Connect 4 after 12 stones.
        """
        image = self.expansion.canonical(state)
        if image == state:
            return move if move in legal_moves(self._game, Position(state), self.rules) else None
        below = self.expansion.children(np.array([image, state], np.uint64))
        wanted = below.keys[(below.parents == 0) & (below.moves == move)]
        there = np.flatnonzero((below.parents == 1) & np.isin(below.keys, wanted))
        return int(below.moves[there[0]]) if len(there) else None

    def count_from(self, state: tuple, enough: int) -> int:
        """Return how many entries there are of a position and of those below it, or ``enough`` if these are more."""
        enough = min(enough, len(self.entries["key"]) + 1)
        states = np.array([state], np.uint64)
        counted = set(self.expansion.keys(states)[self.find_all(states) != NONE].tolist())
        while len(states) and len(counted) < enough:
            below = self.expansion.children(states)
            keys, first = np.unique(below.keys, return_index=True)
            there = places(self.entries["key"], keys) != NONE
            new = [key not in counted for key in keys.tolist()] & there
            counted |= set(keys[new].tolist())
            states = below.states[first[new]]
        return min(len(counted), enough)

    def moves(self, state: tuple) -> list[tuple[int, int]] | None:
        """Return (move, score) of every legal move, in order; None where one is not known."""
        below = self.expansion.children(np.array([state], np.uint64))
        scores = self.scores(below)
        return None if scores is None else sorted(zip(below.moves.tolist(), scores.tolist(), strict=True))

    def scores(self, below: Children) -> np.ndarray | None:
        """Return what ``scores_of`` does for the entries of the book."""
        if self.searched is not None:
            below = below._replace(scores=over_scores(below, self.evaluation))
        return scores_of(below, self.entries["key"], self.entries["score"])


def places(keys: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the index of each wanted key in sorted ones (uint64, at least one), NONE where it is not there."""
    found = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
    return np.where(keys[found] == wanted, found, NONE)


def scores_of(below: Children, keys: np.ndarray, scores: np.ndarray) -> np.ndarray | None:
    """Return the scores (int64) of Children for the side that moved to them; None where one is not known.

    keys: sorted, of positions that have these scores, for their side to move.
    """
    found, known = below.scores.copy(), places(keys, below.keys)
    if (known[~below.over] == NONE).any():
        return None
    found[~below.over] = scores[known[~below.over]]
    return -found


def over_scores(below: Children, chosen: Evaluation) -> np.ndarray:
    """Return the scores (int64) of finished games among Children as searches by an evaluation count them."""
    return below.scores + np.sign(below.scores) * chosen.bound


def best_of(below: Children, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the best score of the children of each parent, and the move to the first child that has it.

    scores: of the children, for the side that moved to them.
    """
    best = np.maximum.reduceat(scores, np.flatnonzero(np.diff(below.parents, prepend=-1)))
    there = np.flatnonzero(scores == best[below.parents])
    _, first = np.unique(below.parents[there], return_index=True)
    return best, below.moves[there[first]]


def described(of: Mapping[str, Any]) -> str:
    """Return a heading in words."""
    board, rules = of.get("board"), of.get("rules")
    size = "x".join(map(str, board)) if isinstance(board, list) else "?"
    own = [f"{name}={value}" for name, value in rules.items()] if isinstance(rules, dict) else []
    return " ".join([str(of.get("game"))[:40], size, *own])
