"""Learning against what retrograde iteration says of the best player: on 2×2 boards a single tuple sees everything."""

import itertools
import statistics

import numpy as np
import pytest

from ..engines.retrograde import Retrograde
from ..games.sliding_twin import FIBONACCI, POWERS, merged_2048, merged_2584, twin_of
from .recorded import Training

GAMES = {"2048": (POWERS, merged_2048, {2: 0.9, 4: 0.1}), "2584": (FIBONACCI, merged_2584, {1: 0.75, 3: 0.25})}
RATES = 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002
GAMES_EACH = 40_000


def known_worth(name):
    """What boards with the player to move are worth to the best one, by their tile values."""
    tiles, merged, spawns = GAMES[name]
    values = [0, *tiles]
    merges = np.zeros((len(values), len(values)), int)
    for (i, a), (j, b) in itertools.product(enumerate(tiles, 1), repeat=2):
        merges[i, j] = values.index(merged(a, b) or 0)
    return {tuple(cells): worth for cells, worth in Retrograde(2, 2, values, merges, spawns)}


def outcomes(twin, rows):
    """[(rows after chance's tile, probability)]"""
    return [(twin.play((rows, 1), tile)[0][0], float(chance)) for tile, chance in twin.outcomes((rows, 1))]


def flat(rows):
    return tuple(tile for row in rows for tile in row)


@pytest.mark.parametrize(("name", "coherent"), [("2048", False), ("2048", True), ("2584", False)])
def test_values_become_those_of_the_best_player(name, coherent, full, seed):
    """Of 60 seeds none came near the bounds without coherence, but with it 13 learnt values that were 2% to 8% too low.

    The rate of a weight may vanish before a better move is tried again. So coherence is judged by three seeds' medians.
    """
    if (coherent or name == "2584") and not full:
        pytest.skip("with --full: compiles another learner")
    first = seed if full else 1
    runs = [learnt_worth(name, coherent, first + i) for i in range(3 if coherent else 1)]
    start, error = (statistics.median(each) for each in zip(*runs, strict=True))
    assert start == pytest.approx(1.0, rel=0.05 if coherent else 0.02)
    assert error < (0.06 if coherent else 0.03)


def learnt_worth(name, coherent, seed):
    """Learn; return what the start is worth by the learnt weights, and their mean error, both over the true worth."""
    known, twin = known_worth(name), twin_of(name, (2, 2))
    most = max(known.values())
    training, first = None, 0
    for rate in RATES if not coherent else (1.0,) * len(RATES):
        arrays = training.arrays if training else None
        training = Training(name, "0,1,2,3", (2, 2), False, coherent=coherent, rate=rate, arrays=arrays, seed=seed)
        if arrays is None:
            training.arrays.weights[:] = most  # what was not tried looks better than all that was
        training.play(first, GAMES_EACH)
        first += GAMES_EACH
    learnt = {}

    def best(board):
        """(what the learnt weights say that a board is worth to the player, rows after the move that they choose)"""
        found = [twin.slid(board, move) for move in twin.moves((board, 0))]
        worth = [points + value(after) for after, points in found]
        return max(
            zip(worth, [after for after, _ in found], strict=True), default=(0.0, None), key=lambda each: each[0]
        )

    def value(after):
        if after not in learnt:
            index = sum(code * training.codes**i for i, code in enumerate(training.codes_of(after).ravel().tolist()))
            learnt[after] = float(training.arrays.weights[0, index])
        return learnt[after]

    # boards by how often the learnt player comes to them
    empty = ((0, 0), (0, 0))
    reached, error, total = {}, 0.0, 0.0
    for once, chance in outcomes(twin, empty):
        for twice, again in outcomes(twin, once):
            reached[twice] = reached.get(twice, 0.0) + chance * again
    started = sum(chance * best(board)[0] for board, chance in reached.items())
    truth = sum(chance * known[flat(board)] for board, chance in reached.items())
    while reached:
        board = min(reached, key=lambda rows: sum(flat(rows)))  # all that lead to it have been dealt with
        chance = reached.pop(board)
        worth, after = best(board)
        error, total = error + chance * abs(worth - known[flat(board)]), total + chance * known[flat(board)]
        for following, further in outcomes(twin, after) if after else ():
            reached[following] = reached.get(following, 0.0) + chance * further
    return started / truth, error / total
