"""Moves and points of 2048 and 2584: against two libraries, against plain rules, and by what no move can change."""

import os
from typing import Any, NamedTuple

import numpy as np
import pytest

from distsearch.games import g2048, g2584
from distsearch.games.interface import CHANCE, END, MAX, MAX_MOVES, Position, legal_moves, step

from .sliding_boards import Moved, moved, random_codes
from .sliding_twin import MOVES, twin_of

games = pytest.mark.parametrize("game", [g2048, g2584], ids=["2048", "2584"])

LARGEST = 15  # code of 32768, the largest tile of 2048
BATCH = 256  # boards that pgx gets at once: a fixed number, as every other one is compiled anew


@pytest.fixture
def numbers(rng):
    return np.random.default_rng(rng.getrandbits(64))


# --- 2048 against pgx and gymnasium_2048 ---


class Library(NamedTuple):
    moves: Any  # what it makes of boards of codes: a ``Moved``
    put_down: int  # tiles that it has put down after a move
    share: int  # one in how many rows it gets in a sample


@pytest.fixture(scope="module")
def pgx():
    os.environ["JAX_PLATFORMS"] = "cpu"  # read as jax is imported; else it looks for other devices, and says so
    import jax
    from pgx import play2048

    directions = np.array([("left", "up", "right", "down").index(move) for move in MOVES])
    environment = play2048.Play2048()

    def one(board, key):
        # a state that allows every action: what an illegal one does is not what we compare
        state = play2048.State(_board=board)
        after = jax.vmap(lambda direction: environment.step(state, direction, key))(directions)
        return after._board, after.rewards[:, 0], play2048._legal_action_mask(board.reshape(4, 4))[directions]

    batch = jax.jit(jax.vmap(one))

    def moves(codes):
        keys = np.asarray(jax.random.split(jax.random.PRNGKey(0), len(codes)))
        parts = [batch(codes[i : i + BATCH].astype(np.int32), keys[i : i + BATCH]) for i in range(0, len(codes), BATCH)]
        cells, points, legal = (np.concatenate(part) for part in zip(*parts, strict=True))
        return Moved(cells, points, legal, ~legal.any(axis=1))

    return Library(moves, put_down=1, share=1)


@pytest.fixture(scope="module")
def gymnasium():
    from gymnasium_2048.envs import TwentyFortyEightEnv

    actions = [("up", "right", "down", "left").index(move) for move in MOVES]

    def moves(codes):
        boards = codes.reshape(-1, 4, 4)
        after = [[TwentyFortyEightEnv.apply_action(board, action) for action in actions] for board in boards]
        cells = np.array([[board.ravel() for board, _, _ in four] for four in after])
        points = np.array([[points for _, points, _ in four] for four in after])
        legal = np.array([[legal for _, _, legal in four] for four in after])
        return Moved(cells, points, legal, np.array([TwentyFortyEightEnv.is_terminated(board) for board in boards]))

    return Library(moves, put_down=0, share=8)


@pytest.fixture(params=["pgx", "gymnasium"])
def library(request):
    return request.getfixturevalue(request.param)


def each_largest_apart(codes):
    """Return boards whose tiles of 32768 are all of different kinds.

    The libraries know larger tiles, so they merge two of 32768; as ours do not, any two of them are different tiles.
    """
    return np.where(codes == LARGEST, LARGEST + 1 + np.arange(16), codes)


def check_against(library, codes):
    """Every move of every board is legal, moves and brings points as in a library; returns ours."""
    theirs, ours = library.moves(each_largest_apart(codes)), moved(g2048, codes)
    cells = np.minimum(theirs.cells, LARGEST)
    other = cells != ours.cells
    put = (ours.cells == 0) & (cells > 0) & (cells <= 2)  # 2 or 4 on an empty cell
    as_ours = (other.sum(axis=2) == library.put_down) & (~other | put).all(axis=2)
    assert codes[(ours.legal & ~as_ours).any(axis=1)].tolist() == []
    assert codes[(ours.points != theirs.points).any(axis=1)].tolist() == []
    assert codes[(ours.legal != theirs.legal).any(axis=1)].tolist() == []
    # an empty board, which no game comes to, has no legal move, but gymnasium_2048 looks for a free cell alone
    ended = ours.ended & (codes > 0).any(axis=1)
    assert codes[ended != theirs.ended & (codes > 0).any(axis=1)].tolist() == []
    return ours


def test_2048_moves_as_in_a_library(library, full, numbers):
    codes = random_codes(numbers, g2048, (200 if full else 5) * BATCH)  # each is moved in four directions
    ours = check_against(library, codes)
    whole = (codes > 0).all(axis=1)
    assert (whole & ours.ended).any()
    assert (whole & ~ours.ended).any()
    assert ((codes == LARGEST).sum(axis=1) > 1).any()


def every_row():
    """All 65,536 rows of four codes, shape (65536, 4)."""
    return np.arange(1 << 16)[:, np.newaxis] >> np.arange(0, 16, 4) & 15


def test_every_row_and_column_of_2048_slides_as_in_a_library(library, full, numbers):
    rows = numbers.permutation(every_row()).reshape(-1, 4, 4)  # four to a board
    if not full:
        rows = rows[:: library.share]
    check_against(library, np.concatenate([rows, rows.transpose(0, 2, 1)]).reshape(-1, 16))


def test_two_tiles_of_32768_merge_in_libraries_but_not_here(library):
    rows = every_row()[-(1 << 12) :]  # those that end with such a tile
    codes = np.concatenate([rows, np.zeros((len(rows), 12), np.int64)], axis=1)
    theirs, ours = library.moves(codes), moved(g2048, codes)
    merged = (theirs.cells[:, 0] == LARGEST + 1).sum(axis=1)
    neighbours = ["15,15" in ",".join(str(tile) for tile in row if tile) for row in rows.tolist()]
    assert codes[(merged > 0) != neighbours].tolist() == []
    assert (theirs.points[:, 0] - ours.points[:, 0] == 65536 * merged).all()
    assert (ours.cells[:, 0] == LARGEST).sum(axis=1)[merged > 0].min() > 1


# --- plain rules ---


def test_2584_moves_by_plain_rules(full, numbers):
    twin, values = twin_of("2584"), g2584.VALUES
    codes = random_codes(numbers, g2584, 50_000 if full else 2_500)
    ours = moved(g2584, codes)
    plain = [[values[code] for code in row] for row in codes.tolist()]
    cells = [[[values[code] for code in row] for row in four] for four in ours.cells.tolist()]
    for i, board in enumerate(plain):
        before = tuple(tuple(board[j : j + 4]) for j in range(0, 16, 4))
        for m, move in enumerate(MOVES):
            after, points = twin.slid(before, move)
            assert (cells[i][m], ours.points[i, m]) == ([tile for row in after for tile in row], points), (board, move)
            assert ours.legal[i, m] == (after != before), (board, move)
        assert ours.ended[i] == (not ours.legal[i].any()), board
    assert ((codes > 0).all(axis=1) & ours.ended).any()
    assert codes.max() == 31


def pairs_merged(game, merge):
    """The codes that every two tiles side by side merge to, 0 if they do not; merge: what is expected of two codes."""
    codes = len(game.VALUES)
    pairs = [(a, b) for a in range(1, codes) for b in range(1, codes)]
    boards = np.zeros((len(pairs), 16), np.int64)
    boards[:, :2] = pairs
    left = moved(game, boards).cells[:, 0, :2].tolist()
    return left, [[merge(a, b), 0] if merge(a, b) else [a, b] for a, b in pairs]


def test_2048_merges_what_is_alike_up_to_16384():
    merged, expected = pairs_merged(g2048, lambda a, b: a + 1 if a == b < LARGEST else 0)
    assert merged == expected


def test_2584_merges_two_ones_and_neighbours_up_to_codes_29_and_30():
    def merge(a, b):
        if (a, b) == (1, 1):
            return 2
        return max(a, b) + 1 if abs(a - b) == 1 and {a, b} != {30, 31} else 0

    merged, expected = pairs_merged(g2584, merge)
    assert merged == expected


# --- what no move can change ---


def worths(game):
    """By code: the points of making a tile out of the smallest ones. Every tile is made in one way only."""
    values = game.VALUES
    worth = [0, 0]
    for code in range(2, len(values)):
        below = (code - 1, code - 1) if game is g2048 or code == 2 else (code - 1, code - 2)
        worth.append(values[code] + sum(worth[part] for part in below))
    return np.array(worth)


@games
def test_moves_keep_the_sum_of_tiles_and_bring_what_merges_are_worth(game, full, numbers):
    codes = random_codes(numbers, game, 200_000 if full else 20_000)
    after, worth, values = moved(game, codes), worths(game), np.array(game.VALUES)
    assert (values[after.cells].sum(axis=2) == values[codes].sum(axis=1)[:, np.newaxis]).all()
    assert (worth[after.cells].sum(axis=2) - worth[codes].sum(axis=1)[:, np.newaxis] == after.points).all()
    assert ((after.cells != codes[:, np.newaxis]).any(axis=2) == after.legal).all()
    assert (after.ended == ~after.legal.any(axis=1)).all()


@games
def test_random_games_end_where_no_move_is_legal(game, rng):
    r, twin, worth = game.rules(), twin_of(game.NAME), worths(game)
    codes, probability = np.zeros(MAX_MOVES, np.int16), np.zeros(MAX_MOVES)
    for _ in range(20):
        at, points, put_down, free = game.start(r), 0, 0, 0
        while (kind := game.kind(at.state, r)) != END:
            if kind == CHANCE:
                n = game.outcomes(at.state, r, codes, probability, 0)
                m = rng.choices(codes[:n].tolist(), probability[:n].tolist())[0]
                tile = int(game.move_text(m, r).split("@")[0])
                put_down += tile
                free += int(worth[game.VALUES.index(tile)])
            else:
                assert kind == MAX
                m = rng.choice(legal_moves(game, at, r))
                points += int(game.play(at.state, r, m)[1])
            at = step(game, at, r, m)
            tiles = [game.VALUES[int(game.code_at(at.state, np.int64(cell)))] for cell in range(16)]
            assert sum(tiles) == put_down
        board = tuple(tuple(tiles[i : i + 4]) for i in range(0, 16, 4))
        assert all(twin.slid(board, move)[0] == board for move in MOVES)
        assert legal_moves(game, at, r) == []
        assert points == sum(int(worth[game.VALUES.index(tile)]) for tile in tiles) - free
        assert game.final(at.state, r) == 0
        assert game.text(Position(at.state), r) == ",".join(map(str, tiles))
