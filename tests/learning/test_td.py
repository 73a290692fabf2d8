"""Learning against a plain twin that is told the same games, move by move; and what is played against plain rules."""

import numpy as np
import pytest

from distsearch import games
from distsearch.core import jit
from distsearch.engines.expectimax import Expectimax
from distsearch.evaluation import Evaluation, near_order, ntuple
from distsearch.evaluation.tuple_network import sizes
from distsearch.learning import td
from distsearch.learning.cpu_team import shared_size
from distsearch.learning.shared_arrays import Arrays

from ..games.sliding_twin import twin_of
from .recorded import Training
from .td_twin import Twin, tiles

OWN = "0,1,2,3/5,6,9/10,14"
# what is compiled anew costs 10 s and more: two ways of each game are the sample
CASES = [
    ("2048", {}),
    ("2048", {"steps": 3}),
    ("2048", {"room": 20}),
    ("2048", {"room": 7, "steps": 3}),
    ("2048", {"board": (2, 3), "tuples": "0,1,2,5/0,3,4/2", "symmetric": False, "room": 2}),
    ("2048", {"symmetric": False, "rate": 1.0, "steps": 1000}),
    ("2584", {"coherent": True, "forward": True, "begins": (5, 8)}),
    ("2584", {"coherent": True, "forward": True, "begins": (6,), "steps": 3, "room": 5, "symmetric": False}),
    (
        "2584",
        {
            "coherent": True,
            "forward": True,
            "begins": (4,),
            "steps": 2,
            "board": (3, 4),
            "symmetric": False,
            "tuples": "0,1,2,3/5,6,9/10,11",
        },
    ),
]
MORE = [
    ("2048", {"forward": True}),
    ("2048", {"forward": True, "steps": 3, "room": 10}),
    ("2048", {"coherent": True}),
    ("2048", {"coherent": True, "begins": (5, 7), "steps": 2}),
    ("2584", {}),
    ("2584", {"forward": True}),
    ("2584", {"coherent": True, "room": 11}),
    ("2584", {"begins": (5, 8)}),
    ("2048", {"counting": True}),
    ("2584", {"counting": True, "coherent": True}),
]
ALL = [*CASES, *(pytest.param(*case, marks=pytest.mark.full) for case in MORE)]


def trained(name, tuples=OWN, **options):
    """Return (a Training on random weights, a Twin of it)."""
    training = Training(name, tuples, **options)
    weights, traces, begins = training.arrays.weights, training.arrays.traces, options.get("begins", ())
    numbers = np.random.default_rng(options.get("seed", 1))
    weights[:] = numbers.normal(0, 30, weights.shape)
    weights[1:][numbers.random(weights[1:].shape) < 0.7] = np.nan
    if traces is not None:
        traces[:, 1] = numbers.integers(0, 3, len(traces)) * 10
        traces[:, 0] = traces[:, 1] * numbers.uniform(-1, 1, len(traces))
    twin = Twin(
        weights.copy(),
        None if traces is None else traces.copy(),
        training.tuples,
        training.codes,
        options.get("symmetric", True),
        begins,
        options.get("rate", 0.1),
        options.get("steps", 1),
        options.get("forward", False),
        options.get("room", 1 << 16),
    )
    return training, twin


def assert_as_good_as_any(training, twin, rules, move):
    """A move is legal, brings what it should, and leaves a board that is worth most."""
    legal = {}
    position = training.tiles_of(move.before), 0
    for name in rules.moves(position):
        (rows, _), points = rules.play(position, name)
        legal[rows] = points, points + twin.value(training.codes_of(rows))
    points, worth = legal[training.tiles_of(move.after)]
    assert points == move.points
    assert worth == pytest.approx(max(each for _, each in legal.values()), rel=1e-4, abs=1e-2)


def assert_same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-3)


@pytest.mark.parametrize(("name", "options"), ALL, ids=str)
def test_learning_is_that_of_a_plain_twin(name, options, seed):
    training, twin = trained(name, **options, seed=seed)
    rules, before = twin_of(name, training.board), twin.weights.copy()
    for number in range(4):
        score, count = 0, 0
        for move in training.moves(number):
            assert_as_good_as_any(training, twin, rules, move)
            twin.add(move.after, move.points)
            score, count = score + move.points, count + 1
        twin.end()
        assert not rules.moves((training.tiles_of(training.last), 0))
        assert training.arrays.results[0].tolist() == [1 + score, training.last.max(), count, 1]
        assert_same(training.arrays.weights, twin.weights)
        if twin.traces is not None:
            assert_same(training.arrays.traces, twin.traces)
    assert not np.array_equal(twin.weights, before, equal_nan=True)
    written, lost = training.learner.collisions
    assert (written > 0) == options.get("counting", False)
    assert lost == 0


@pytest.mark.parametrize("steps", [1, 3])
def test_a_game_goes_on_from_its_middle(steps, seed):
    training, twin = trained("2048", steps=steps, restart=True, seed=seed)
    lengths = []  # of each game, and from its middles to its ends
    for number in range(400):
        if number >= 12 and len(lengths) > number:
            break  # one has gone on: with some weights all of the first dozen are too short for it
        scores = []
        for move in training.moves(number):
            if move.again or not scores:
                twin.end()
                scores.append(0)
                lengths.append(0)
            twin.add(move.after, move.points)
            scores[-1] += move.points
            lengths[-1] += 1
            if lengths[-1] == 1 and move.again:
                assert lengths[-2] - lengths[-2] // 2 >= td.LEAST_REPLAYED
        twin.end()
        assert lengths[-1] - lengths[-1] // 2 < td.LEAST_REPLAYED
        assert training.arrays.results[0, 0] == 1 + scores[0]
        assert_same(training.arrays.weights, twin.weights)
    else:
        pytest.fail("no game was long enough to go on from its middle")


@pytest.mark.parametrize("name", ["2048", "2584"])
def test_slices_change_nothing(name, seed):
    options = {"coherent": True, "forward": True, "begins": (5, 8)} if name == "2584" else {}
    whole, _ = trained(name, seed=seed, **options)
    sliced, _ = trained(name, seed=seed, **options)
    results = whole.play(5, 20)
    for first, count, budget in ((5, 3, 1), (8, 10, 17), (18, 7, 1000)):
        assert np.array_equal(sliced.play(first, count, budget), results[first - 5 : first - 5 + count])
    assert sliced.arrays.learnt.tobytes() == whole.arrays.learnt.tobytes()


@pytest.mark.parametrize("room", [1 << 16, 5])
def test_a_game_that_is_given_up_has_changed_nothing_or_goes_on(room, seed):
    training, _ = trained("2048", room=room, seed=seed)
    whole, _ = trained("2048", room=room, seed=seed)
    training._offer(0, 3)
    training.learner.run(4 if room > 4 else 1)
    training.learner.give_up()  # nothing is learnt of it yet
    assert np.array_equal(training.arrays.learnt, whole.arrays.learnt)
    training._offer(0, 3)
    training.learner.run(8)  # beyond the smaller room
    training.learner.give_up()
    training.arrays.games["stop"] = 1
    assert training.learner.run(1 << 40)
    played = 1 if room == 5 else 0
    assert [row[0] > 0 for row in training.arrays.results[:3].tolist()] == [i < played for i in range(3)]
    whole.play(0, played) if played else None
    assert np.array_equal(training.arrays.learnt, whole.arrays.learnt)


@pytest.mark.parametrize("name", ["2048", "2584"])
def test_games_without_learning_change_nothing(name, seed):
    options = {"coherent": True, "forward": True, "begins": (5, 8)} if name == "2584" else {}
    training, _ = trained(name, seed=seed, **options)
    before = training.arrays.learnt.tobytes()
    training.learner.learning = False
    first = training.play(1 << 62, 30)
    assert np.array_equal(training.play(1 << 62, 30), first)
    assert training.arrays.learnt.tobytes() == before
    assert first[:, 3].tolist() == [0] * 30


@pytest.mark.parametrize("board", [(2, 2), (2, 3), (4, 4)])
def test_games_with_a_layer_are_those_of_expectimax(board, seed):
    """To 3 plies, by weights as they are in that game, however often the same boards were searched before."""
    cells = board[0] * board[1]
    symmetric, tuples = cells == 16, OWN if cells == 16 else {4: "0,1,2,3", 6: "0,1,3,4/1,2,4,5"}[cells]
    training, twin = trained("2048", tuples=tuples, board=board, symmetric=symmetric, rate=0.9, layers=1, seed=seed)
    tables = ntuple.tables_of(training.game, board[1], training.tuples, symmetric, (), training.arrays.weights)
    evaluated = Evaluation("learning0", ntuple.kernels("2048")["learnt"], tables, 0, True)
    engine, rules = Expectimax(training.game, training.rules, evaluated, points=True), twin_of("2048", board)
    for number in range({4: 12, 6: 4, 16: 1}[cells]):
        for move in training.moves(number):
            engine.forget()
            engine.begin(training.state_of(move.before), 3)
            while not engine.advance(1 << 20):
                pass
            values = {training.game.move_text(m, training.rules): v for m, v in engine.result().values.items()}
            position = training.tiles_of(move.before), 0
            (chosen,) = {
                values[name]
                for name in rules.moves(position)
                if rules.slid(position[0], name)[0] == training.tiles_of(move.after)
            }
            assert chosen == pytest.approx(max(values.values()), rel=1e-9)
            twin.add(move.after, move.points)
        twin.end()
        assert_same(training.arrays.weights, twin.weights)


def test_deeper_searches_play_better_from_the_same_weights():
    """Averages of 400 games each: they are several times as far apart as their standard errors."""
    averages = []
    for layers in 0, 1:
        training = Training("2048", "2x4", seed=3, layers=layers)
        training.learner.learning = False
        training.arrays.weights[:] = 0
        averages.append(training.play(0, 400)[:, 0].mean())
    assert averages[1] > 1.3 * averages[0]


@pytest.mark.parametrize("name", ["2048", "2584"])
def test_tiles_come_as_often_as_they_should(name):
    """60,000 draws of a fixed seed: each cell's and tile's share is within five standard deviations."""
    game = games.find(name)
    functions = {each: getattr(game, each) for each in ("free_cells", "cell_of", "put")}
    spawned = jit.specialise(td.spawned, f"spawned_alone_{name}", functions)
    board = np.arange(16).reshape(4, 4) % 3  # cells 0, 3, 6 ... are empty
    training = Training(name, "0,1", seed=5)
    state, free = training.state_of(board), np.flatnonzero(board.ravel() == 0)
    spawns = {"2048": [(1, 0.9), (2, 0.1)], "2584": [(1, 0.75), (3, 0.25)]}[name]
    stream, source = np.uint64(td.stream_of(np.uint64(5), np.uint64(7))), tiles(5, 7, spawns)
    for i in range(300):
        found = spawned(state, training.rules, np.uint64(td.drawn(stream, np.int64(i))))
        assert np.array_equal(training.cells(found), training._with(board, next(source)))
    counts, n = np.zeros((len(free), 2), int), 60_000
    for _ in range(n):
        chosen, code = next(source)
        counts[chosen(len(free)), int(code != spawns[0][0])] += 1
    expected = n / len(free) * np.array([chance for _, chance in spawns])
    assert (abs(counts - expected) < 5 * expected**0.5).all(), counts


# --- the order of weights ---


def near_arrays(training, coherent, stages):
    """Return Arrays in near order with what those of a Training hold."""
    cells = [len(each) for each in training.tuples]
    size = sum(sizes(training.tuples, training.codes))
    arrays = Arrays(None, stages, size, coherent, shared_size(1), near=cells)
    with arrays.as_in_files():
        arrays.learnt[:] = training.arrays.learnt
    return arrays


@pytest.mark.parametrize(
    "options", [{"coherent": True, "begins": (5, 7)}, {"board": (3, 4), "symmetric": False}], ids=str
)
def test_weights_in_near_order_become_the_same(options):
    plain, _ = trained("2048", "0,1,2,3/5,6,9/10,11", **options)
    arrays = near_arrays(plain, options.get("coherent", False), len(options.get("begins", ())) + 1)
    near = Training("2048", "0,1,2,3/5,6,9/10,11", **options, arrays=arrays)
    assert np.array_equal(plain.play(0, 20), near.play(0, 20))
    assert not np.array_equal(plain.arrays.learnt, arrays.learnt, equal_nan=True)
    with arrays.as_in_files():
        assert np.array_equal(plain.arrays.learnt, arrays.learnt, equal_nan=True)
    assert np.array_equal(plain.play(20, 5), near.play(20, 5))


def test_near_order_puts_the_lower_bits_of_all_cells_first():
    for cells in (1, 2, 3):
        numbers = np.arange(16**cells)
        near_order.rearrange(numbers, cells, True)
        mask = near_order.bits_of((1 << 4 * cells) - 1)
        places = [near_order.bits_of(number) for number in range(16**cells)]
        at = [place & 0xFFFF | place >> 32 - 2 * cells for place in places]
        assert bin(mask).count("1") == 4 * cells
        assert [int(numbers[i]) for i in at] == list(range(16**cells))
        near_order.rearrange(numbers, cells, False)
        assert np.array_equal(numbers, np.arange(16**cells))
