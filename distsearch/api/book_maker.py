"""Makes opening books: the last plies are solved by the session's ranks, those before them follow from these."""

import json
import os
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from .. import __version__, games
from ..books.book import NONE, Book, Content, best_of, described, heading, save, scores_of
from ..books.expansion import Expansion
from ..books.solved_log import SolvedLog
from ..core.errors import UserError
from .book import opened
from .options import Options
from .solve import InMemoryPositions, StreamSolver

SUFFIX = ".solved"  # of the file of what is solved so far, next to the book
MOST_PLIES = 20


@dataclass
class BookReport:
    """What is in a book, for each ply: how many positions, and how many the side to move wins, draws and loses.

    Of a grown book, which has no proved scores: how many are expanded, and how many are leaves. book: the name of its
    file; game: with board and rules; searched: as Content has it; solved: positions that were solved or searched for
    this; wrong: entries that are not what they must be.
    """

    book: str
    game: str
    searched: dict[str, Any] | None = None
    plies: list[dict[str, int]] = field(default_factory=list)
    solved: int = 0
    wrong: int = 0

    def to_json(self) -> str:
        """Return it as one line of JSON."""
        plain = asdict(self)
        if self.searched is None:
            del plain["searched"]
        return json.dumps({**plain, "version": __version__})

    def to_text(self) -> str:
        """Return it as a table."""
        names, searched = list(self.plies[0]), self.searched
        by = "" if searched is None else f", searched by {', '.join(f'{name} {x}' for name, x in searched.items())}"
        lines = [f"{self.game}, {self.book}{by}", f"  {'ply':>5} {''.join(f'{name:>12}' for name in names)}"]
        lines += [f"  {ply:>5} {''.join(f'{row[name]:>12,}' for name in names)}" for ply, row in enumerate(self.plies)]
        total = sum(row["positions"] for row in self.plies)
        found = "solved" if searched is None else "searched"
        return "\n".join([*lines, f"  {total:,} positions, {self.solved:,} of them {found}, {self.wrong:,} wrong"])


def make(session: Any, options: Options, path: str, plies: int) -> BookReport | None:
    """Write a book of every position of up to ``plies`` plies; return its report, or None after an interrupt.

    options: exact ones of a game of two players. What is solved is kept in a file next to the book until that is
    there, and another call goes on with it. Of moves that are as good, the one that the solver would try first is the
    best. Raises UserError if the book is there already, and for what cannot be
    written.
    """
    if not 1 <= plies <= MOST_PLIES:
        raise UserError(f"plies {plies} is not a number of plies from 1 to {MOST_PLIES}")
    check_new(path)
    game = games.find(options.game)
    expansion = Expansion(game, game.rules(options.board, **options.rules), by_solver=True)
    levels, of = _levels(expansion, plies), heading(game, options.board, options.rules)
    with SolvedLog(path + SUFFIX, of) as log:
        keys = expansion.keys(levels[-1])
        left = levels[-1][[key not in log.known for key in keys.tolist()]]
        session.progress.note(f"{len(left):,} of {len(keys):,} positions of {plies} plies are left to be solved")
        for states, scores, moves in _solved(session, options, left):
            log.append(expansion.keys(states), scores, moves)
        if any(key not in log.known for key in keys.tolist()):
            session.progress.note(f"stopped early: the same command goes on with {path + SUFFIX}")
            return None
        last = keys, *(np.array([log.known[key][i] for key in keys.tolist()]) for i in range(2))
        save(path, Content(of, plies, _backed_up(expansion, levels, last)))
        os.unlink(log.path)
    return _report(opened(path, options), levels, len(left))


def check_new(path: str) -> None:
    """Raise UserError if there is a file of a name."""
    if os.path.lexists(path):
        raise UserError(f"{path[:200]} exists: check it, remove it, or name another file")


def _levels(expansion, plies):
    """Return the states of each ply; where all games are over sooner, there are fewer plies."""
    return [states for states in expansion.levels(plies) if len(states)]


def _levels_in(book):
    """Return the states of each ply of a book up to and including the first ply of which it lacks a position."""
    levels = []
    for states in book.expansion.levels(book.plies):
        if not len(states):  # all games are over
            break
        levels.append(states)
        if (book.find_all(states) == NONE).any():
            break
    return levels


def _solved(session, options, states):
    """Yield (states, scores, moves) of parts of some states, of shape (n, words), as a session solves them."""
    positions = InMemoryPositions(states)
    for part in StreamSolver(session, session.searcher(options), positions):
        done = part.records["complete"] != 0
        records = part.records[done]
        yield part.chunk.states[part.lines[done]], records["score"].astype(np.int64), records["line"][:, 0]


def _backed_up(expansion, levels, last):
    """Return the entries of a book: (keys, scores, moves) of the last ply, and for the others the best of those below.

    A position that is there at several plies, as after passes, gets one entry.
    """
    found = [last]
    for states in reversed(levels[:-1]):
        keys, scores, _ = found[-1]
        order, below = np.argsort(keys), expansion.children(states)
        values = scores_of(below, keys[order], scores[order])
        assert values is not None  # what is below a ply is in the next one
        found.append((expansion.keys(states), *best_of(below, values)))
    keys, scores, moves = map(np.concatenate, zip(*found, strict=True))
    keys, first = np.unique(keys, return_index=True)
    return {"key": keys, "score": scores[first], "move": moves[first], "depth": np.zeros(len(keys))}


def check(session: Any, options: Options, path: str | None, sample: int, seed: int) -> BookReport:
    """Return the report of a book after a check of it; path: as ``opened`` has it.

    Every position must be there once and no other one. Those before the last ply must have the score and a move of the
    best position below. Of the last ply a sample is solved, with the positions after its moves.
    """
    book = opened(path, options)
    levels, entries = _levels_in(book), book.entries
    keys = np.unique(np.concatenate([book.expansion.keys(states) for states in levels]))
    if not np.array_equal(keys, entries["key"]):
        raise UserError(f"{book.name} has not each position of up to {book.plies} plies once")
    wrong = sum(int(np.count_nonzero(wrong_above(book, states))) for states in levels[:-1])
    drawn = np.random.default_rng(seed).permutation(len(levels[-1]))[:sample]
    solved, wrong_at_last = _checked_at_last(session, options, book, levels[-1][np.sort(drawn)])
    return _report(book, levels, solved, wrong + wrong_at_last)


def wrong_above(book: Book, states: np.ndarray) -> np.ndarray:
    """Return for each of these entries (bool) whether it has not the score and a move of the best position below."""
    below, index = book.expansion.children(states), book.find_all(states)
    scores = book.scores(below)
    assert scores is not None  # every position is there
    best, _ = best_of(below, scores)
    is_move = below.moves == book.entries["move"][index][below.parents]
    good = np.zeros(len(states), np.bool_)
    good[below.parents[is_move & (scores == best[below.parents])]] = True
    return ~good | (best != book.entries["score"][index])


def _checked_at_last(session, options, book, states):
    """Return (solved, wrong): how many positions were solved for these entries, and entries that do not agree."""
    below, index = book.expansion.children(states), book.find_all(states)
    chosen = np.flatnonzero(below.moves == book.entries["move"][index][below.parents])
    after = chosen[~below.over[chosen]]
    found = {}
    for part, scores, _ in _solved(session, options, np.concatenate([states, below.states[after]])):
        found |= dict(zip(book.expansion.keys(part).tolist(), scores.tolist(), strict=True))
    wrong = set(range(len(states))) - set(below.parents[chosen].tolist())  # whose move is none
    entries = book.entries["score"][index].tolist()
    for i, key in enumerate(book.expansion.keys(states).tolist()):
        if found.get(key, entries[i]) != entries[i]:
            wrong.add(i)
    for at in chosen.tolist():
        i = int(below.parents[at])
        score = int(below.scores[at]) if below.over[at] else found.get(int(below.keys[at]), -entries[i])
        if score != -entries[i]:
            wrong.add(i)
    return len(found), len(wrong)


def _report(book, levels, solved, wrong=0):
    rows = []
    for states in levels:
        signs = np.sign(book.entries["score"][book.find_all(states)])
        counts = {name: int((signs == sign).sum()) for name, sign in (("won", 1), ("drawn", 0), ("lost", -1))}
        rows.append({"positions": len(states), **counts})
    return report_of(book, rows, solved, wrong)


def report_of(book: Book, rows: list[dict[str, int]], solved: int, wrong: int) -> BookReport:
    """Return the BookReport of a book, of a row for each ply."""
    return BookReport(book.name, described(book.heading), book.searched, rows, solved, wrong)
