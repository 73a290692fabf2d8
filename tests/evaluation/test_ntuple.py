"""Networks of tuples as evaluations: against a plain twin, and in searches against plain recursion."""

import math

import numpy as np
import pytest

from distsearch import evaluation, games
from distsearch.core.errors import UserError
from distsearch.engines.expectimax import Expectimax
from distsearch.evaluation import ntuple, tuple_network
from distsearch.evaluation.tuple_network import Network

from ..engines import expectimax_twin
from ..games.sliding_twin import twin_of
from . import tuple_network_twin

GAMES = "2048", "2584"
OWN = "3,7,11,15/0/5,6,9,10/2,9"


def made(name, tuples, numbers, board=(4, 4), symmetric=True, begins=(), options=None):
    """Return a Network of random weights."""
    game = games.find(name)
    cells = ntuple.checked_tuples(game, tuples, board)
    shape = len(begins) + 1, sum(tuple_network.sizes(cells, 1 << game.BITS))
    weights = numbers.random(shape, np.float32) * 200 - 100
    for row in weights[1:]:
        row[numbers.random(shape[1]) < 0.6] = np.nan
    return Network(name, board, options or {}, cells, symmetric, tuple(begins), weights, {})


def found_in(net, path, board=(4, 4), rule="", **options):
    """Save a Network; return (its game, rules, the Evaluation of that file). rule: what follows the file's name."""
    tuple_network.save(path, net)
    game = games.find(net.game)
    rules = game.rules(board, **options)
    return game, rules, evaluation.find(game, f"{path}{rule}", rules)


def worth(net, board):
    """What the twin says of a board of codes."""
    codes = 1 << games.find(net.game).BITS
    return tuple_network_twin.value(board, net.tuples, net.weights, codes, net.symmetric, net.stages)


def text_of(game, board, due):
    return ",".join(str(game.VALUES[code]) for code in board.ravel()) + (f" +{due}" if due else "")


@pytest.fixture
def numbers(rng):
    return np.random.default_rng(rng.getrandbits(64))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "weights.npz"


CASES = [
    ("2048", "2x4", (4, 4), True, ()),
    ("2048", "0,1,2,3,4/4,5,6,7,8", (4, 4), True, ()),
    ("2048", OWN, (4, 4), False, ()),
    ("2048", OWN, (4, 4), True, (9, 11, 13)),
    ("2048", "2x4", (4, 4), False, (10,)),
    ("2584", "3x4", (4, 4), True, ()),
    ("2584", OWN, (4, 4), False, ()),
    ("2584", OWN, (4, 4), True, (12, 20)),
    ("2048", "0,1,2,3/0,2", (2, 2), False, ()),
    ("2048", "0,3,6/1,4,7,8", (3, 3), False, (3,)),
    ("2584", "0,1,2,3/1,3", (2, 2), False, ()),
    ("2584", "8,9,10,11/0,3,6,9", (4, 3), False, ()),
    ("2048", "0,4,7/5,6,7", (2, 4), False, ()),
]


@pytest.mark.parametrize(("name", "tuples", "board", "symmetric", "begins"), CASES)
def test_values_are_those_of_a_plain_twin(name, tuples, board, symmetric, begins, numbers, path):
    net = made(name, tuples, numbers, board, symmetric, begins)
    game, rules, found = found_in(net, path, board)
    ended = 0
    for i in range(200):
        codes = numbers.integers(0, (4, 7, 1 << game.BITS)[i % 3], board)
        codes[numbers.random(board) < i % 5 / 4] = 0
        for due in (0, 1) if 0 in codes else (0,):
            state = game.parse(text_of(game, codes, due), rules).state
            over = due == 0 and game.kind(state, rules) == games.interface.END
            ended += over
            expected = 0.0 if over else worth(net, codes)
            assert found.function(state, rules, found.tables) == pytest.approx(expected, rel=1e-5, abs=1e-3)
    assert ended > 0


@pytest.mark.parametrize(("name", "preset"), [(name, preset) for name in GAMES for preset in ntuple.PRESETS[name]])
def test_presets_are_tuples_that_fit(name, preset):
    """And no two of their shapes are the same board turned, or one would learn for nothing."""
    game = games.find(name)
    tuples = ntuple.checked_tuples(game, preset, (4, 4))
    shapes = set()
    for cells in tuples:
        marked = np.zeros((4, 4), int)
        marked.ravel()[list(cells)] = 1
        shapes.add(min(each.tobytes() for each in tuple_network_twin.boards(marked, True)))
    count, length = map(int, preset.split("x"))
    assert len(shapes) == len(tuples) == count
    assert {len(cells) for cells in tuples} == {length}


def test_a_symmetric_network_sees_turned_boards_alike(numbers, path):
    game, rules, found = found_in(made("2048", OWN, numbers), path)
    codes = numbers.integers(0, 12, (4, 4))
    codes[0, 0] = 0
    values = [
        found.function(game.parse(text_of(game, each, 1), rules).state, rules, found.tables)
        for each in tuple_network_twin.boards(codes, True)
    ]
    assert values == pytest.approx([values[0]] * 8, rel=1e-5, abs=1e-3)


def test_two_files_do_not_mix(numbers, tmp_path):
    """By turns, in one process; and a file that is replaced is read again."""
    nets = [made("2048", tuples, numbers) for tuples in ("2x4", "2x4", OWN)]
    made_of = [found_in(net, tmp_path / f"{i}.npz") for i, net in enumerate(nets)]
    engines = [Expectimax(game, rules, found, points=True) for game, rules, found in made_of]
    for _ in range(10):
        codes = numbers.integers(0, 6, (4, 4))
        codes[1, 2] = 0
        for net, (game, rules, found), engine in zip(nets, made_of, engines, strict=True):
            state = game.parse(text_of(game, codes, 1), rules).state
            assert found.function(state, rules, found.tables) == pytest.approx(worth(net, codes), rel=1e-5, abs=1e-3)
            engine.begin(state, 0)
            assert engine.result().value == found.function(state, rules, found.tables)
    game, rules, found = found_in(nets[2], tmp_path / "0.npz")
    assert found.function(state, rules, found.tables) == pytest.approx(worth(nets[2], codes), rel=1e-5, abs=1e-3)


@pytest.mark.parametrize("rule", ["", evaluation.DEAD])
@pytest.mark.parametrize(("name", "board"), [("2048", (4, 4)), ("2584", (4, 4)), ("2048", (2, 2)), ("2584", (3, 2))])
def test_searches_are_those_of_plain_recursion(name, board, rule, numbers, rng, path, full):
    tuples, symmetric = (OWN, True) if board == (4, 4) else ("0,1,2,3/1,3", False)
    net = made(name, tuples, numbers, board, symmetric)
    game, rules, found = found_in(net, path, board, rule)
    twin = twin_of(name, board)

    def plain(position):
        codes = np.array([[game.VALUES.index(tile) for tile in row] for row in position[0]])
        return 0.0 if twin.kind(position) == "end" and not rule else worth(net, codes)

    engine = Expectimax(game, rules, found, points=True)
    deepest = 4 if full or board != (4, 4) else 2
    for depth in range(deepest + 1):
        position = twin.start()
        for _ in range(rng.randint(2, 40)):
            if moves := twin.moves(position):
                position = twin.play(position, rng.choice(moves))[0]
        engine.begin(game.parse(twin.text(position), rules).state, depth)
        while not engine.advance(1 << 20):
            pass
        expected = expectimax_twin.value(twin, position, depth, plain, points=True)
        assert engine.result().value == pytest.approx(expected, rel=1e-5, abs=1e-3)


@pytest.mark.parametrize(
    ("name", "text"), [("2048", "rows:dead"), ("2584", "ntuple:alive"), ("othello", "patterns:dead")]
)
def test_the_rule_for_dead_boards_is_for_networks_of_games_against_chance(name, text):
    with pytest.raises(UserError):
        evaluation.check(games.find(name), text)


# --- files that do not fit ---


def refused(path, name="2048", board=(4, 4), **options):
    game = games.find(name)
    with pytest.raises(UserError) as error:
        evaluation.find(game, str(path), game.rules(board, **options))
    assert path.name in str(error.value)
    return str(error.value)


def test_files_for_something_else_are_refused(numbers, path):
    tuple_network.save(path, made("2048", "2x4", numbers))
    assert "2584" in refused(path, "2584")
    assert "3x3" in refused(path, board=(3, 3))
    assert "2:0.9,4:0.1" in refused(path, spawn="2:0.5,4:0.5")
    tuple_network.save(path, made("2048", "2x4", numbers, options={"spawn": "2:0.5,4:0.5"}))
    assert "2:0.5,4:0.5" in refused(path)
    found_in(made("2048", "2x4", numbers, options={"spawn": "2:0.5,4:0.5"}), path, spawn="2:0.5,4:0.5")


@pytest.mark.parametrize(
    "wrong",
    [
        {"tuples": ((0, 1, 2),)},
        {"tuples": ((0, 1, 2, 3), (4, 5, 6, 16))},
        {"tuples": ()},
        {"tuples": ((), ())},
        {"tuples": ((0, 1, 2, -1), (4, 5, 6, 7))},
        {"tuples": (("a", 1, 2, 3),)},
        {"tuples": 5},
        {"tuples": (5,)},
        {"tuples": ((3, 2, 1, 0), (4, 5, 6, 7))},
        {"tuples": ((0, 0, 1, 2), (4, 5, 6, 7))},
        {"tuples": ((0, 1, 2, 3, 4, 5, 6, 7),)},
        {"weights": np.zeros((1, 5), np.float32)},
        {"weights": np.zeros(2 << 16, np.float32)},
        {"weights": np.zeros((1, 2 << 16))},
        {"stages": (5,)},
        {"stages": tuple(range(2, 10)), "weights": np.zeros((9, 2 << 16), np.float16)},
        *(
            {"stages": stages, "weights": np.zeros((len(stages) + 1, 2 << 16), np.float16)}
            for stages in ((10**30,), (16,), (1,), (-3,), (9, 8), (8, 8))
        ),
        {"board": (4,)},
        {"board": 4},
        {"options": {"spwan": "2:1"}},
        {"options": {"spawn": 5}},
        {"options": 3},
        {"record": 3},
        {"options": {"spawn": "2:2"}},
        {"stages": ("a",)},
    ],
    ids=lambda wrong: str(wrong)[:50],
)
def test_files_that_nobody_saved_are_refused(wrong, numbers, path):
    """Their checksums are right: a program wrote them, but another one."""
    net = made("2048", "2x4", numbers)
    archive_of(net, path, **wrong)
    refused(path)


def archive_of(net, path, **changed):
    from distsearch.core import archive

    header = {**net._asdict(), **changed}
    archive.save(path, tuple_network.KIND, header, {tuple_network.KIND: header.pop("weights")})


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("2048", "0,1,2,3,4,5,6,7", "7 cells at most"),
        ("2584", "0,1,2,3,4,5", "5 cells at most"),
        ("2048", "0,16", "0 to 15"),
        ("2048", "", "cells"),
        ("2048", "0,1/", "cells"),
        ("2048", "1,0,1", "twice"),
        ("2048", "8x7", "cells"),
        ("2048", "-1,0", "cells"),
        ("2048", "0;1", "cells"),
        ("2584", "4x6", "cells"),
        ("2048", "0,1," * 1000, "cells"),
        ("2048", "٣", "cells"),
        ("2048", "9" * 5000, "cells"),
    ],
)
def test_tuples_that_make_no_sense_are_refused(name, text, expected):
    with pytest.raises(UserError, match=expected) as error:
        ntuple.checked_tuples(games.find(name), text, (4, 4))
    assert len(str(error.value)) < 300


def test_any_sum_of_weights_is_finite(numbers, path):
    """Compact files have 11 bits, and no weight is infinite in them."""
    net = made("2048", "2x4", numbers)._replace(weights=np.full((1, 2 << 16), 1e30, np.float32))
    tuple_network.save(path, net, compact=True)
    game = games.find("2048")
    assert math.isfinite(float(tuple_network.load(path, "2048", 16).weights.max()))
    assert evaluation.find(game, str(path), game.rules()).points
