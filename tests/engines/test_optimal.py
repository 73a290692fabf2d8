"""Deep expectimax against optimal values by retrograde iteration, which has no depth, no table and none of its code."""

import itertools

import numpy as np
import pytest

from distsearch import evaluation, games
from distsearch.engines.expectimax import Expectimax
from distsearch.evaluation import row_tables

from ..games import short_2048
from ..games.sliding_twin import FIBONACCI, POWERS, merged_2048, merged_2584
from .retrograde import Retrograde

DEEP = 400  # plies: more than any of these games has
TILES_2048, TILES_2584 = {2: 0.9, 4: 0.1}, {1: 0.75, 3: 0.25}


def retrograde(board, tiles, merged, spawns, last=None):
    values = [0, *tiles]
    merges = np.zeros((len(values), len(values)), int)
    for (i, a), (j, b) in itertools.product(enumerate(tiles, 1), repeat=2):
        merges[i, j] = values.index(merged(a, b) or 0)
    return Retrograde(*board, values, merges, spawns, last)


def assert_optimal(game, rules, boards, nothing, bits=16):
    """Expectimax to the end of the game finds what boards are worth: (tile values, worth).

    nothing: an evaluation that says 0 of every board. It is one that other tests search by, with other tables, so that
    no engine has to be compiled for this alone.
    """
    engine = Expectimax(game, rules, nothing, points=True, entries_bits=bits)
    for cells, worth in boards:
        engine.begin(game.parse(",".join(map(str, cells)), rules).state, DEEP)
        while not engine.advance(1 << 24):
            pass
        assert engine.result().value == pytest.approx(worth, abs=1e-6), cells


@pytest.mark.parametrize(
    ("name", "tiles", "merged", "spawns"),
    [("2048", POWERS, merged_2048, TILES_2048), ("2584", FIBONACCI, merged_2584, TILES_2584)],
)
def test_every_board_of_2x2(name, tiles, merged, spawns):
    known = retrograde((2, 2), tiles, merged, spawns)
    game = games.find(name)
    assert len(known) > 500
    rules = game.rules((2, 2))
    rows = evaluation.find(game, "rows", rules)
    tables = rows.tables.copy()
    tables[1:] = row_tables.pack(np.zeros(2), np.ones(2, bool))[0]  # no line is worth anything, and none is lost
    assert_optimal(game, rules, known, rows._replace(tables=tables))


@pytest.mark.parametrize(("last", "bits"), [(16, 22), pytest.param(32, 26, marks=pytest.mark.full)])
def test_2048_on_3x3_until_a_tile(last, bits, rng, full):
    # until a 32, a search with 2^22 table entries takes more than 90 minutes, and with 2^26, 1 GiB, 7 s
    known = retrograde((3, 3), POWERS, merged_2048, TILES_2048, last)
    going_on = [(cells, worth) for cells, worth in known if worth > 0]
    boards = [going_on[0], *rng.sample(going_on, 500 if full else 50)]
    assert sum(going_on[0][0]) == 4  # as a game begins
    nothing = short_2048.cells(seen=0)
    assert_optimal(short_2048, short_2048.rules((3, 3), last=last), boards, nothing, bits)
