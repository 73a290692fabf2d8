"""The eight boards that turning and mirroring make, against numpy's rotations and transpositions."""

import numpy as np
import pytest

from distsearch.evaluation import near_order
from distsearch.games import g2048, g2584, sliding_symmetries

GAMES = {"2048": (g2048, sliding_symmetries.all_2048), "2584": (g2584, sliding_symmetries.all_2584)}


def cells(game, words):
    """The codes of a board, shape (4, 4)."""
    state = tuple(np.uint64(word) for word in words)
    return np.array([int(game.code_at(state, np.int64(cell))) for cell in range(16)]).reshape(4, 4)


def state_of(game, board):
    s = (np.uint64(0), np.uint64(0))
    for cell, code in enumerate(np.ravel(board).tolist()):
        s = game.put(tuple(map(np.uint64, s)), np.int64(cell), np.uint64(code))
    return tuple(map(np.uint64, s))


@pytest.mark.parametrize("due", [0, 1, 2])
@pytest.mark.parametrize("name", GAMES)
def test_all_eight_boards(name, due, rng):
    game, function = GAMES[name]
    for i in range(100):
        top = 1 << game.BITS
        board = np.arange(16).reshape(4, 4) if i == 0 else np.array(rng.choices(range(top), k=16)).reshape(4, 4)
        low, high = state_of(game, board)
        boards = [cells(game, each) for each in function((low, np.uint64(high) | np.uint64(due << 62)))]
        assert np.array_equal(boards[0], board)
        turned = [np.rot90(board, k) for k in range(4)]
        expected = {each.tobytes() for each in (*turned, *(each.T for each in turned))}
        assert {each.tobytes() for each in boards} == expected


@pytest.mark.parametrize("name", GAMES)
def test_words_hold_cells_alone(name, rng):
    game, function = GAMES[name]
    low, high = state_of(game, rng.choices(range(1 << game.BITS), k=16))
    for words in function((low, np.uint64(high) | np.uint64(2 << 62))):
        used = 64 if game.BITS == 4 else 40
        assert int(words[0]) >> used == 0
        assert int(words[1]) >> (0 if game.BITS == 4 else 40) == 0


def test_boards_in_near_order_are_the_same(rng):
    for _ in range(100):
        state = np.uint64(rng.getrandbits(64)), np.uint64(0)
        plain = [near_order.bits_of(int(low)) for low, _ in sliding_symmetries.all_2048(state)]
        assert [(int(low), int(high)) for low, high in sliding_symmetries.all_near_2048(state)] == [
            (word, 0) for word in plain
        ]


@pytest.mark.parametrize("board", [(2, 2), (2, 3), (3, 2), (3, 3), (4, 4)])
@pytest.mark.parametrize("name", GAMES)
def test_symmetric_boards_have_one_canonical_board(name, board, rng):
    """It is one of them, keeps to the corner that smaller boards lie in, and as many tiles are due on it."""
    (game, _), (rows, columns) = GAMES[name], board
    rules = game.rules(board)

    def canonical(small, due):
        whole = np.zeros((4, 4), int)
        whole[:rows, :columns] = small
        low, high = state_of(game, whole)
        words = game.book_canonical((low, np.uint64(high) | np.uint64(due << 62)), rules)
        assert int(words[1]) >> 62 == due
        found = cells(game, (int(words[0]), int(words[1]) & (1 << 62) - 1))
        assert not found[rows:].any() and not found[:, columns:].any()
        return found[:rows, :columns].tobytes()

    for _ in range(20):
        small = np.array(rng.choices(range(1 << game.BITS), k=rows * columns)).reshape(board)
        images = [image for each in (small, small[::-1]) for image in (each, each[:, ::-1])]
        images += [each.T for each in images] if rows == columns else []
        due = rng.randrange(3)
        found = {canonical(image, due) for image in images}
        assert len(found) == 1 and found <= {np.ascontiguousarray(image).tobytes() for image in images}


@pytest.mark.parametrize("name", GAMES)
def test_a_tile_is_reached_when_it_or_a_larger_one_is_there(name, rng):
    game, _ = GAMES[name]
    rules = game.rules()
    for _ in range(20):
        codes = rng.choices(range(1 << game.BITS), k=16)
        largest = max(game.VALUES[code] for code in codes)
        for value in game.VALUES[1:]:
            assert game.reached(state_of(game, codes), rules, value) == (largest >= value)
