"""The growth of books by drop-out expansion, against a plain program; scores are drawn, so nothing is searched."""

import random
from typing import NamedTuple

import numpy as np
import pytest

from distsearch.books.expansion import Expansion
from distsearch.books.growth import Growth
from distsearch.games import connect4, othello
from distsearch.games.interface import Position, legal_moves

from .plain_growth import PlainGrowth


class Chosen(NamedTuple):
    """What a Growth needs of an Evaluation."""

    unit: int
    bound: int


CASES = [
    (connect4, (4, 4), 300, Chosen(1, 0), 3),
    (connect4, (2, 2), 1000, Chosen(1, 0), 3),  # the whole game
    (othello, (4, 4), 500, Chosen(1, 100), 40),
    (othello, (4, 4), 1500, Chosen(10, 1000), 3),  # many moves cost nothing, so there are transpositions
    (othello, (6, 6), 700, Chosen(100, 6400), 500),
    (othello, (4, 6), 400, Chosen(100, 6400), 6400),
]


def key_of(expansion, state):
    return int(expansion.keys(np.array([state], np.uint64))[0])


def drawn(game, rules, expansion, most, seed):
    """What a search might find of a position: the same each time."""

    def searched(key, state):
        rng = random.Random(seed * 2**64 + key)
        return rng.randint(-most, most), rng.choice(legal_moves(game, Position(state), rules)), rng.randint(0, 300)

    return searched


def grown(growth, most, searched, seen):
    while growth.size < most and not growth.whole:
        at, came = growth.size, growth.add_round(most)
        states = growth.states[at:]
        assert len(states) == came
        rows = []
        for key, state in zip(growth.keys[at:].tolist(), states, strict=True):
            seen[key] = searched(key, tuple(state))
            rows.append(seen[key])
        growth.tell(np.array(rows, np.int64).reshape(-1, 3))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].NAME} {case[1]} {case[2]}")
def test_a_book_grows_as_a_plain_program_lets_it(case, seed):
    game, board, most, chosen, spread = case
    rules = game.rules(board)
    expansion = Expansion(game, rules)
    growth, seen = Growth(game, expansion, chosen), {}
    grown(growth, most, drawn(game, rules, expansion, spread, seed), seen)
    growth.close()

    def over(score):
        return score + (score > 0) * chosen.bound - (score < 0) * chosen.bound

    twin = PlainGrowth(
        game, rules, most, expansion.canonical, lambda s: key_of(expansion, s), seen.__getitem__, over, chosen.unit
    )
    assert growth.keys.tolist() == twin.order
    entries = growth.entries()
    assert list(zip(*(entries[name].tolist() for name in ("key", "score", "move", "depth")), strict=True)) == (
        twin.entries()
    )
    assert growth.plies == twin.plies()
    assert growth.whole or most <= growth.size < most + 20


def test_the_first_position_may_be_alone():
    rules = othello.rules((6, 6))
    growth = Growth(othello, Expansion(othello, rules), Chosen(100, 6400))
    assert growth.add_round(1) == 1
    growth.tell(np.array([[7, 3, 0]]))
    growth.close()
    assert (growth.size, growth.plies) == (1, 0)
    assert {name: array.tolist() for name, array in growth.entries().items() if name != "key"} == {
        "score": [7],
        "move": [3],
        "depth": [1],
    }


def test_a_better_line_is_followed_first():
    """Where every move but one costs much, the book is little more than a line."""
    rules = connect4.rules((4, 4))
    growth = Growth(connect4, Expansion(connect4, rules), Chosen(1, 0))
    first = growth.add_round(200)
    growth.tell(np.zeros((first, 3), np.int64))
    count = growth.add_round(200)
    assert count == 2  # of four columns two are mirror images
    growth.tell(np.array([[0, 0, 1], [50, 0, 1]]))
    growth.add_round(4)  # one more leaf would do
    better = growth.keys[1]
    assert better not in growth.keys[growth.leaves]
    assert growth.keys[2] in growth.keys[growth.leaves]
