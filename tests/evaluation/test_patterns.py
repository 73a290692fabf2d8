"""Learnt patterns of Othello: against a plain look-up, by the board's symmetries, and files that do not fit."""

import random

import numpy as np
import pytest

from distsearch import evaluation
from distsearch.core.errors import UserError
from distsearch.evaluation import patterns as pt
from distsearch.evaluation import tuple_network as nw
from distsearch.games import othello
from distsearch.games.bits import gathered, pdep, pext, scattered

from ..games.othello_twin import OthelloTwin, random_game, random_position

# patterns of every symmetry: of none, of one mirror, of a half turn, of quarter turns, of both diagonals, of all
TUPLES = nw.parse_tuples("0,1,2,8,9/0,1,8/0,1,2,3,4,5,6,7/2,61/1,15,48,62/0,9,54,63/0,7,56,63/27", (8, 8))
# and likewise on 10×10, where a side's discs are in two words
LARGE = nw.parse_tuples(
    "0,1,2,10,11/0,1,10/0,1,2,3,4,5,6,7,8,9/2,97/1,19,80,98/0,11,88,99/0,9,90,99/55,64,65", (10, 10)
)
STAGES = (20, 40)


def network(tuples=TUPLES, stages=STAGES, seed=1, board=(8, 8)):
    """A Network of random weights."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(0, 2, (len(stages) + 1, sum(nw.sizes(tuples, 3)))).astype(np.float32)
    return nw.Network("othello", board, {}, tuples, True, stages, weights, {})


def turned(squares):
    """The eight boards that turning and mirroring make of a list of rows."""
    for rows in (squares, squares[::-1]):
        for board in (rows, [row[::-1] for row in rows]):
            yield board
            yield [list(column) for column in zip(*board, strict=True)]


def plain(net, squares, side):
    """The value of a position by the definition of a network: each pattern on all eight boards."""
    cells, n = ["-", side], len(squares)
    stage = sum(sum(square != "-" for row in squares for square in row) >= begin for begin in net.stages)
    total, first = 0.0, 0
    for each in net.tuples:
        for board in turned(squares):
            digits = [cells.index(board[q // n][q % n]) if board[q // n][q % n] in cells else 2 for q in each]
            total += float(net.weights[stage, first + sum(d * 3**k for k, d in enumerate(digits))])
        first += 3 ** len(each)
    most = 100 * max(64, n * n)
    return min(max(100 * total, -most), most)


def value(tables, squares, side):
    """What the package makes of it."""
    rules = othello.rules((len(squares), len(squares)))
    state = othello.parse("".join(map("".join, squares)) + " " + side, rules).state
    return pt.patterns(state, rules, tables)


@pytest.fixture
def positions(rng):
    """Positions (squares, side), half from games, half strewn."""
    played = [position for _ in range(4) for position in random_game(rng, OthelloTwin(8, 8))]
    return rng.sample(played, 50) + [random_position(rng, 8, 8) for _ in range(50)]


@pytest.mark.parametrize("tuples", [TUPLES, pt.PRESETS[8, 8].tuples], ids=("symmetries", "preset"))
def test_value_is_that_of_a_plain_look_up(tuples, positions):
    # of weights in whole hundredths nothing is lost, and values are the same to the last one
    net = network(tuples, seed=random.Random(str(positions)).randrange(1 << 30))
    net = net._replace(weights=(np.rint(net.weights * 12.5) / 12.5).astype(np.float32))
    tables = pt.tables_of(net)
    for squares, side in positions:
        assert value(tables, squares, side) == round(plain(net, squares, side)), (squares, side)


def test_a_smaller_board_is_looked_up_in_the_middle_of_a_larger_one(rng, seed):
    preset = pt.PRESETS[6, 6]
    net = network(preset.tuples, preset.stages, seed, (6, 6))
    net = net._replace(weights=(np.rint(net.weights * 12.5) / 12.5).astype(np.float32))
    tables = pt.tables_of(net)
    played = random_game(rng, OthelloTwin(6, 6)) + [random_position(rng, 6, 6) for _ in range(30)]
    for squares, side in played:
        assert value(tables, squares, side) == round(plain(net, squares, side)), (squares, side)


@pytest.mark.parametrize("tuples", [LARGE, pt.PRESETS[10, 10].tuples], ids=("symmetries", "preset"))
def test_a_board_of_two_words_is_looked_up_at_the_squares_of_images(tuples, rng, seed):
    net = network(tuples, (30, 60, 90), seed, (10, 10))
    net = net._replace(weights=(np.rint(net.weights * 12.5) / 12.5).astype(np.float32))
    tables = pt.tables_of(net)
    played = random_game(rng, OthelloTwin(10, 10))[::5] + [random_position(rng, 10, 10) for _ in range(30)]
    for squares, side in played:
        assert value(tables, squares, side) == round(plain(net, squares, side)), (squares, side)
        assert len({value(tables, board, side) for board in turned(squares)}) == 1, (squares, side)


def test_turned_and_mirrored_boards_have_the_same_value(positions):
    tables = pt.tables_of(network(pt.PRESETS[8, 8].tuples, pt.PRESETS[8, 8].stages))
    for squares, side in positions:
        assert len({value(tables, board, side) for board in turned(squares)}) == 1, (squares, side)


def test_what_the_other_side_is_to_move_in_is_another_position():
    tables = pt.tables_of(network(pt.PRESETS[8, 8].tuples, pt.PRESETS[8, 8].stages))
    squares = [list("--------")] * 3 + [list("---OX---"), list("---XO---")] + [list("--------")] * 3
    assert value(tables, squares, "X") == value(tables, squares, "O")  # the start looks the same to both
    squares[2] = list("---O----")
    assert value(tables, squares, "X") != value(tables, squares, "O")


def test_bits_are_gathered_and_scattered_the_same_way_with_and_without_the_instruction(rng):
    for _ in range(100):
        x, mask = np.uint64(rng.getrandbits(64)), np.uint64(rng.getrandbits(64))
        assert pext(x, mask) == gathered(x, mask)
        assert pdep(x, mask) == scattered(x, mask)
        assert pext(np.uint64(pdep(x, mask)), mask) == int(x) & (1 << int(mask).bit_count()) - 1


def test_a_file_is_an_evaluation(tmp_path, positions):
    net, path = network(), tmp_path / "weights.npz"
    nw.save(path, net)
    rules = othello.rules()
    found = evaluation.find(othello, str(path), rules)
    assert np.array_equal(found.tables, pt.tables_of(net))
    again = evaluation.find(othello, str(path), rules)
    assert np.array_equal(again.tables, found.tables)
    assert all(abs(value(found.tables, *position)) <= found.bound for position in positions)
    nw.save(path, network(seed=2))
    assert not np.array_equal(evaluation.find(othello, str(path), rules).tables, found.tables)


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({"game": "2048"}, "for 2048, not for othello"),
        ({"board": (10, 10)}, "for 10x10, not for 8x8"),
        ({"symmetric": False}, "symmetric"),
        ({"tuples": ((0, 1, 2),)}, "do not fit its tuples"),
        ({"tuples": (tuple(range(11)),), "weights": np.zeros((3, 3**11), np.float32)}, "of up to 10 squares"),
        ({"weights": np.full(network().weights.shape, np.nan, np.float32)}, "not numbers"),
    ],
)
def test_files_that_do_not_fit_are_refused(tmp_path, changed, wrong):
    path = tmp_path / "weights.npz"
    nw.save(path, network()._replace(**changed))
    with pytest.raises(UserError, match=wrong):
        evaluation.find(othello, str(path), othello.rules())


def test_other_boards_have_no_patterns(tmp_path):
    path = tmp_path / "weights.npz"
    nw.save(path, network())
    with pytest.raises(UserError, match="8x8, 6x6 and 10x10, not on 8x6"):
        evaluation.find(othello, str(path), othello.rules((8, 6)))
    with pytest.raises(UserError, match="8x8, 6x6 and 10x10, not on 4x4"):
        evaluation.find(othello, "patterns", othello.rules((4, 4)))
    assert evaluation.find(othello, str(path), othello.rules()).name == "patterns"
    with pytest.raises(UserError, match="weights for 8x8, not for 6x6"):  # though what it makes for 8x8 is kept
        evaluation.find(othello, str(path), othello.rules((6, 6)))
    with pytest.raises(UserError, match="cannot read"):
        evaluation.find(othello, str(tmp_path / "none.npz"), othello.rules())
