"""Connect 4's own search of subtrees, against plain search: answers, limits, and what its table keeps."""

import numpy as np
import pytest

from distsearch.core.pointers import address
from distsearch.games import connect4, connect4_subtrees
from distsearch.games.connect4_knowledge import SUBTREE_WORDS, subtree

from .connect4_twin import Connect4Twin, random_positions

BOARDS = [(6, 7), (5, 6), (4, 7), (2, 12), (3, 9), (7, 8), (3, 16)]
MANY = 1 << 30


@pytest.fixture
def memory():
    return np.zeros(SUBTREE_WORDS, np.uint64)


def ask(twin, plain, beta, memory, most_nodes=MANY, salt=0):
    """Return (known, score, nodes) of a position of the plain twin."""
    r = connect4.rules((twin.rows, twin.columns))
    state = connect4.parse(twin.drawn(plain), r).state
    return subtree(state, r, twin.empties(plain), beta, most_nodes, np.uint64(salt), address(memory))


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: f"{board[0]}x{board[1]}")
def test_answers_are_on_the_right_side_of_every_question(board, full, rng, memory):
    twin = Connect4Twin(*board)
    for plain in random_positions(rng, twin, 300 if full else 30, range(1, 15)):
        score, most = twin.score(plain), (twin.empties(plain) + 1) // 2
        for beta in rng.sample(range(-most, most + 2), min(4, 2 * most + 2)):
            known, found, _ = ask(twin, plain, beta, memory)
            assert known
            assert beta <= found <= score if score >= beta else score <= found < beta, (twin.drawn(plain), beta)


def test_gives_up_after_so_many_nodes(rng, memory):
    twin, again = Connect4Twin(6, 7), 0
    for plain in random_positions(rng, twin, 30, range(16, 18)):
        score = twin.score(plain)
        alone = ask(twin, plain, score, np.zeros_like(memory))
        assert alone[0]
        known, found, most_nodes = False, 0, 10
        while not known:
            most_nodes *= 2
            known, found, nodes = ask(twin, plain, score, memory, most_nodes)
            assert nodes <= most_nodes <= 2 * alone[2] + 20
            assert known or nodes == most_nodes
            again += not known
        assert found >= score
    assert again > 0, "no search was cut off"


def test_nothing_is_found_under_another_salt(rng, memory):
    twin, shorter = Connect4Twin(6, 7), 0
    for plain in random_positions(rng, twin, 20, range(16, 18)):
        beta = twin.score(plain)
        first = ask(twin, plain, beta, memory, salt=1)
        assert ask(twin, plain, beta, memory, salt=2) == first
        shorter += ask(twin, plain, beta, memory, salt=2)[2] < first[2]
    assert shorter > 0, "the table was of no use"


def test_its_memory_has_room_for_every_board():
    for rows in range(1, 64):
        columns = min(64 // (rows + 1), 32)
        padded = -(-columns // connect4.LANES) * connect4.LANES
        last = connect4_subtrees._SCRATCH + 2 * padded * (rows * columns + 1)
        assert last <= connect4_subtrees._TABLE
        assert connect4_subtrees._RULES + len(connect4.rules((rows, columns))) <= connect4_subtrees._SCRATCH
