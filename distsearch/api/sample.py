"""Boards out of recorded games, by how far the game is: what searches and engines are compared on."""

import math

import numpy as np

from .. import games
from ..core.errors import UserError
from ..formats.game_records import read_games
from ..games.interface import Position

CLASSES = {"starter": (0.0, 0.05), "normal": (0.4, 0.6), "late": (0.95, 1.0)}  # shares of the player's moves
_MOST = 10**6


def sample(name, path, stage, count, seed, progress, interrupted):
    """Return the texts of ``count`` boards of a class, the player to move, drawn from recorded games; raises UserError.

    name: the game's; path: the record, see ``GameRecords``; stage: one of ``CLASSES``: the shares of a game's moves of
    the player that have been made, the bounds among them. Every such place in every game is as likely, and none is
    drawn twice; the texts are in the order of the record. Every game is played over to its end, so that whatever is
    wrong with the record is found. If the user ends it, there are no texts.
    """
    if not 1 <= count <= _MOST:
        raise UserError(f"count {count} is not a number of boards from 1 to {_MOST}")
    lengths = [recorded.played for recorded in _games(path, name)]
    spans = np.array([_span(played, stage) for played in lengths], np.int64)
    ends = (spans[:, 1] - spans[:, 0]).cumsum()
    if count > ends[-1]:
        raise UserError(f"{path[:200]} has {ends[-1]} {stage} boards, and {count} are asked for")
    drawn = np.sort(np.random.default_rng(seed).choice(ends[-1], count, replace=False))
    texts = []
    progress.begin()
    for number, recorded in enumerate(_games(path, name)):
        if interrupted():
            return []
        if progress.due():
            progress.show(f"{number}/{len(lengths)} games")
        (first, last), end = spans[number], ends[number]
        mine = drawn[(drawn >= end - (last - first)) & (drawn < end)] - (end - last)
        game, rules = recorded.rules()
        states = list(recorded.states(game, rules))
        texts += [game.text(Position(states[move]), rules) for move in mine]
    progress.clear()
    return texts


def _span(played, stage):
    """Return (first, last + 1) of the player's moves, from 0 on, before which a game is of a class."""
    low, high = CLASSES[stage]
    first = math.ceil(low * played)
    return first, max(first, min(math.floor(high * played), played - 1) + 1)


def _games(path, name):
    """Yield the RecordedGames of a file, all of the same game, board and tiles; raises UserError."""
    first = None
    for recorded in read_games(path):
        kind = recorded.name, recorded.board, recorded.options
        first = first or kind
        if recorded.name != name:
            raise UserError(f"{recorded.where} is a game of {recorded.name[:40]}, not of {name}")
        if not hasattr(games.find(name), "largest"):
            raise UserError(f"{recorded.where}: {name} is not a game of tiles that grow")
        if kind != first:
            raise UserError(f"{recorded.where} has another board or other tiles than the first line")
        yield recorded
