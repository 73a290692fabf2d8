"""Makes opening books of games that cannot be solved: they grow best first, by searches of one rank a position."""

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..books.book import NONE, Book, Content, heading, places, save
from ..books.expansion import Expansion
from ..books.growth import MOST_DEPTH, Growth, all_known, leaf_depths
from ..books.solved_log import SolvedLog
from ..core.errors import UserError
from ..evaluation import find
from ..evaluation.probcut_fit import weights_of
from .book import opened
from .book_maker import SUFFIX, BookReport, check_new, report_of, wrong_above
from .facts import Facts
from .options import Options
from .rank_searches import RankSearches, setup_of
from .run import run

MOST_POSITIONS = 10**8
_LIMITS = "depth", "time", "nodes", "selective"
_FIELDS = "score", "move", "depth"


def grow(session: Any, options: Options, path: str, positions: int) -> BookReport | None:
    """Write a book of about so many positions; return its report, or None after an interrupt.

    options: of the search of each position, limited by depth, time or nodes, of a game of two players. What is searched
    is kept in a file next to the book until that is there, and another call goes on with it, for as many positions as
    it asks for. Raises UserError if the book is there already, for what cannot be written, and for other games.
    """
    if not 1 <= positions <= MOST_POSITIONS:
        raise UserError(f"positions {positions} is not a number of positions from 1 to {MOST_POSITIONS}")
    if options.against_chance:
        raise UserError(f"books are of games of two players; {options.game} is a game against chance")
    check_new(path)
    growth, searched = _new(session, options), _searched_by(options)
    weights = weights_of(growth.evaluation)
    of = heading(growth.game, options.board, options.rules)
    with SolvedLog(path + SUFFIX, {**of, "searched": searched, "weights": weights}, _FIELDS) as log:
        already = len(log.known)
        session.progress.note(f"{already:,} of {positions:,} positions are searched already")
        if not _grow(session, options, growth, positions, log):
            session.progress.note(f"stopped early: the same command goes on with {path + SUFFIX}")
            return None
        growth.close()
        save(path, Content(of, growth.plies, growth.entries(), searched, weights))
        os.unlink(log.path)
    book = opened(path, options)
    return _report(book, list(_levels(book)), len(log.known) - already)


def _new(session, options):
    """Return a Growth without positions, for whose searches all is compiled that workers then find."""
    session.check_no_gpu("searches of the positions of a book")
    searcher = session.searcher(options)
    searcher.compile_all()
    chosen = find(searcher.game, options.evaluation, searcher.rules)
    return Growth(searcher.game, Expansion(searcher.game, searcher.rules), chosen)


def _searched_by(options):
    """Return the evaluation and the limits of searches, as Content has them."""
    limits = {name: getattr(options, name) for name in _LIMITS if getattr(options, name) is not None}
    return {"evaluation": options.evaluation, **limits}


def _grow(session, options, growth, positions, log):
    """Let a book grow to so many positions, or to the whole game; return whether no interrupt came before."""
    while growth.size < positions and not growth.whole:
        came = slice(growth.size, growth.size + growth.add_round(positions))
        keys, states = growth.keys[came], growth.states[came]
        left = np.flatnonzero([key not in log.known for key in keys.tolist()])
        if not _searched(session, options, states[left], keys[left], log, f"{growth.size:,}/{positions:,}"):
            return False
        growth.tell(np.array([log.known[key] for key in keys.tolist()], np.int64).reshape(-1, len(_FIELDS)))
    return True


def _searched(session, options, states, keys, log, size):
    """Have the workers search positions and append them to a log; return whether no interrupt came before."""

    def take_in(numbers, results):
        log.append(keys[numbers], *(results[name] for name in _FIELDS))

    def describe(_, seconds):
        more = f"the book has {size:,}"
        return Facts(seconds, counted="positions", done=source.answered, total=len(states), more=more)

    source = RankSearches(states, take_in)
    if len(states):
        run(session.cluster, setup_of(options), source, session.progress, session.interrupted, describe, prefetch=1)
    return source.done


class _Level(NamedTuple):
    """Positions of a book at a ply: states of shape (n, words), their entries, and whether each is expanded (bool)."""

    states: np.ndarray
    index: np.ndarray
    expanded: np.ndarray


def _levels(book: Book) -> Iterator[_Level]:
    """Yield the positions of a grown book by the plies of the shortest way to them through expanded ones."""
    keys = book.entries["key"]
    states, seen = book.expansion.start, np.zeros(len(keys), np.bool_)
    while len(states):
        index = book.find_all(states)
        seen[index] = True
        below = book.expansion.children(states)
        found = np.where(below.over, NONE, places(keys, below.keys))
        expanded = all_known(below, found)
        yield _Level(states, index, expanded)
        there = np.flatnonzero((found != NONE) & ~seen[found] & expanded[below.parents])
        _, first = np.unique(found[there], return_index=True)
        states = below.states[there[first]]


def check_grown(session: Any, options: Options, book: Book, sample: int, seed: int) -> BookReport:
    """Return the report of a grown book after a check of it.

    Every position must be on a way from the first one. An expanded one must have the score and a move of the best
    position below, and its depth; the others must have a legal move. Of these a sample is searched again, if the limits
    of ``options``, which are the book's, are such that the score must be the same.
    """
    levels = list(_levels(book))
    wrong = len(book.entries["key"]) - sum(len(level.index) for level in levels)
    wrong += sum(_wrong_expanded(book, level.states[level.expanded]) for level in levels)
    leaves = np.concatenate([level.states[~level.expanded] for level in levels])
    wrong += _without_move(book, leaves)
    if options.time is not None or options.depth is not None and options.selective not in (None, 1):
        session.progress.note("no leaf is searched again: another search of its kind may find another score")
        return _report(book, levels, 0, wrong)
    drawn = np.sort(np.random.default_rng(seed).permutation(len(leaves))[:sample])
    searched, wrong_leaves = _checked_leaves(session, options, book, leaves[drawn])
    return _report(book, levels, searched, wrong + wrong_leaves)


def _wrong_expanded(book, states):
    """Return how many of these entries have not the score, a move and the depth that those below give them."""
    if not len(states):
        return 0
    below, index = book.expansion.children(states), book.find_all(states)
    chosen = np.flatnonzero(below.moves == book.entries["move"][index][below.parents])
    found = book.entries["depth"][places(book.entries["key"], below.keys[chosen])].astype(np.int64)
    right = (1 + np.where(below.over[chosen], 0, found)).clip(max=MOST_DEPTH)
    good = np.zeros(len(states), np.bool_)
    good[below.parents[chosen[right == book.entries["depth"][index][below.parents[chosen]]]]] = True
    return int(np.count_nonzero(~good | wrong_above(book, states)))


def _without_move(book, states):
    """Return how many of these entries have a move that is not legal."""
    below, index = book.expansion.children(states), book.find_all(states)
    return len(states) - len(np.unique(below.parents[below.moves == book.entries["move"][index][below.parents]]))


def _checked_leaves(session, options, book, states):
    """Return (searched, wrong): how many of these were searched, and entries with another score or depth."""
    _new(session, options)
    index, wrong = book.find_all(states), []

    def take_in(numbers, results):
        scores, depths = (book.entries[name][index[numbers]] for name in ("score", "depth"))
        wrong.extend(np.flatnonzero((results["score"] != scores) | (leaf_depths(results["depth"]) != depths)).tolist())

    source = RankSearches(states, take_in)
    run(session.cluster, setup_of(options), source, session.progress, session.interrupted, lambda *_: "", prefetch=1)
    return source.answered, len(wrong)


def _report(book, levels, searched, wrong=0):
    rows = []
    for level in levels:
        expanded = int(np.count_nonzero(level.expanded))
        rows.append({"positions": len(level.states), "expanded": expanded, "leaves": len(level.states) - expanded})
    return report_of(book, rows, searched, wrong)
