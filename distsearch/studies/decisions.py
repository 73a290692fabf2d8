"""Decisions in games against chance: boards to decide on, how long that takes a core and a GPU, whole games there.

A decision is the value of a board where the player is to move, searched to so many plies.
"""

import math
import time

import numpy as np

from .. import evaluation, games
from ..games.interface import as_state
from ..gpu.expectimax import GpuExpectimax
from ..search import expectimax as em
from ..search.expectimax_engine import Expectimax, Found
from ..search.playing import Player, seed_of
from ..service.sample import CLASSES

_SLICE = 1 << 20  # boards of a player at a time
_PLAYED_BY = 3  # plies of the search that plays the games which boards are taken from
_REPEATS = 3  # of a timing, of which the best counts
_KEPT = {}  # boards that were made before


def rules_of(name, wanted):
    """Return (game, rules, Evaluation) by their names."""
    game = games.find(name)
    rules = game.rules()
    return game, rules, evaluation.find(game, wanted, rules)


def classes(name, wanted, count, seed):
    """Return {class: states (uint64, shape (n, 2))}: the boards of so many games, in an order drawn by the seed.

    Classes are those of a report on 2584, see ``service.sample``; games are played by a search to a move, a tile and a
    move, of the evaluation ``wanted``.
    """
    key = name, wanted, count, seed
    if key not in _KEPT:
        _KEPT[key] = _drawn(*rules_of(name, wanted), count, seed)
    return _KEPT[key]


def _drawn(game, rules, chosen, count, seed):
    player = Player(game, rules, Expectimax(game, rules, chosen, points=chosen.points))
    found = {stage: [] for stage in CLASSES}
    for number in range(count):
        player.begin(game.start(rules).state, _PLAYED_BY, seed_of(seed, number), 0, 1 << 30)
        while not player.advance(_SLICE):
            pass
        state, path = game.start(rules).state, []
        for code in player.codes:
            if code < 4:  # a move of the player
                path.append(state)
            state = as_state(game.play(state, rules, np.int64(code))[0])
        for stage, (low, high) in CLASSES.items():
            found[stage] += path[math.ceil(low * len(path)) : int(high * (len(path) - 1)) + 1]
    order = np.random.default_rng(seed)
    return {stage: order.permutation(np.array(states, np.uint64)) for stage, states in found.items()}


def repeated(states, count):
    """Return so many of the states, over again if there are fewer."""
    return np.resize(states, (count, 2))


class Core:
    """One core's engine, with a table of 65,536 entries that goes on from board to board."""

    def __init__(self, game, rules, chosen):
        self._engine = Expectimax(game, rules, chosen, points=chosen.points)
        self._engine.compile()

    def decide(self, states, plies):
        """Return (values, CPU seconds a board): each is a call of the compiled search, which costs a microsecond."""
        engine, descend = self._engine, self._engine.kernels["descend"]
        engine.make_room(plies)
        engine.forget()
        boards = [as_state(state) for state in states]
        left, where, values = np.int64(plies), engine.where, []
        descend(boards[0], where, np.int64(0), left, em.CERTAIN)  # loaded now, if it was not
        engine.forget()
        began = time.process_time()
        for board in boards:
            values.append(descend(board, where, np.int64(0), left, em.CERTAIN))
        return np.array(values), (time.process_time() - began) / len(boards)


def decide_on_card(search, states, plies):
    """Return (values, seconds a board) of a ``GpuExpectimax``: from states in numpy to values there, the best of 3."""
    search.values(states, depth=plies)
    found = search.values(states, depth=plies)  # lists have their lengths now
    taken = []
    for _ in range(_REPEATS):
        began = time.perf_counter()
        found = search.values(states, depth=plies)
        taken.append(time.perf_counter() - began)
    return found.values, min(taken) / len(states)


def worst_error(values, true):
    """Return how far values are from the true ones at most, relative to these where they are larger than 1."""
    return float((np.abs(values - true) / np.maximum(np.abs(true), 1)).max())


class _Told:
    """An engine for a ``Player`` that waits to be told the move."""

    boards = 1  # so that a slice of a player ends while it waits

    def forget(self):
        """Nothing is kept."""

    def begin(self, state, plies):
        self.state, self.move = state, None

    def advance(self, budget):
        return self.move is not None

    def result(self):
        return Found(0.0, True, self.move, {}, 1, 1, 0, 0, 0)


def play_on_card(gpu, name, wanted, plies, numbers, seed, interrupted):
    """Play games by their numbers side by side, the next moves of all of them by one batch; return figures.

    Chance is the same as in ``play`` with that seed.
    """
    game, rules, chosen = rules_of(name, wanted)
    search = GpuExpectimax(gpu, game, rules, chosen)
    players = [Player(game, rules, _Told()) for _ in numbers]
    for player, number in zip(players, numbers, strict=True):
        player.begin(game.start(rules).state, plies, seed_of(seed, number), 0, 1 << 30)
    began, at_work = time.perf_counter(), players
    while not interrupted():
        at_work = [player for player in at_work if not player.advance(1)]
        if not at_work:
            break
        moves = search.values(np.array([player.state for player in at_work], np.uint64), depth=plies).moves
        for player, move in zip(at_work, moves.tolist(), strict=True):
            player._engine.move = move
    return {
        "seconds": time.perf_counter() - began, "moves": sum(player.moves for player in players),
        "scores": [player.score for player in players],
        "largest": [game.largest(player.state, rules) for player in players],
    }  # fmt: skip
