"""Learning on a GPU against a plain twin, game by game, and what many games at once have to keep."""

import itertools

import numpy as np
import pytest

from distsearch import games
from distsearch.core.errors import UserError
from distsearch.games import sliding_symmetries
from distsearch.gpu import expectimax_merged
from distsearch.gpu import learning as gpu_learning

from ..learning.recorded import Training
from .learning_twin import Cpu, Player, learn_at_once

# the networks that are compiled here: each takes seconds
PLAIN = "2048", "2x4"
OTHER = "2584", "0,1,2,3/5,6,9/10,14"

SLIDES = """
#include "lanes.cuh"
struct Parameters { const uint64_t* states; uint64_t* out; int count; };
template <class G> ON_DEVICE void all(const Parameters& p) {
    const uint64_t i = thread_number();
    if (i >= uint64_t(p.count)) return;
    const State s = {p.states[2 * i], p.states[2 * i + 1]};
    for (int m = 0; m < 4; ++m) {
        const Moved moved = slid_rows<G>(turned<G>(s, m & 2, m & 1, false));
        const State child = turned<G>(turned<G>(moved.state, false, m & 1, false), m & 2, false, false);
        uint64_t* out = p.out + 28 * i + 3 * m;
        out[0] = child.a, out[1] = child.b, out[2] = uint64_t(moved.gain) << 1 | moved.legal;
    }
    for (int image = 0; image < 8; ++image) {
        const State found = turned<G>(s, image & 4, image & 1, image & 2);
        p.out[28 * i + 12 + 2 * image] = found.a, p.out[28 * i + 13 + 2 * image] = found.b;
    }
}
KERNEL(slides_2048, Parameters) { all<G2048>(p); }
KERNEL(slides_2584, Parameters) { all<G2584>(p); }
"""


@pytest.fixture(scope="module")
def slides(tmp_path_factory):
    path = tmp_path_factory.mktemp("cuda") / "slides.cu"
    path.write_text(SLIDES)
    return str(path)


@pytest.mark.parametrize("name", ["2048", "2584"])
def test_rows_slide_and_boards_turn_as_on_the_cpu(name, gpus, slides, seed):
    """Random boards of any codes, also the largest, and rows in which much merges."""
    gpu, game, n = gpus(seed), games.find(name), 2000
    rules, numbers = game.rules((4, 4)), np.random.default_rng(seed)
    most = (1 << game.BITS) - 1
    images = sliding_symmetries.all_2048 if name == "2048" else sliding_symmetries.all_2584
    low = numbers.integers(0, most - 2, (n, 1))
    codes = np.where(numbers.random((n, 16)) < 0.3, 0, low + numbers.integers(0, 4, (n, 16)))
    states = np.zeros((n, 2), np.uint64)
    for cell in range(16):
        word, place = divmod(cell, 16 if name == "2048" else 8)
        states[:, word] |= codes[:, cell].astype(np.uint64) << np.uint64(game.BITS * place)
    given, out = gpu.upload(states), gpu.array((n, 28), np.uint64)
    dtype = np.dtype([("states", "u8"), ("out", "u8"), ("count", "i4")], align=True)
    gpu.kernel(slides, f"slides_{name}")(np.array((given.address, out.address, n), dtype), -(-n // 128), 128)
    found = out.get()
    for state, rows in zip(map(tuple, states), found.tolist(), strict=True):
        turned = [tuple(map(int, each)) for each in images(state)]
        for at in range(0, 8, 2):  # they are added in pairs, so which of a pair is first does not matter
            assert {tuple(rows[12 + 2 * i : 14 + 2 * i]) for i in (at, at + 1)} == set(turned[at : at + 2])
        for move, (a, b, told) in enumerate(zip(*[iter(rows[:12])] * 3, strict=True)):
            (low, high), points = game.play(state, rules, np.int64(move))
            child = low, high & np.uint64((1 << 62) - 1)  # without the tile that is due
            assert (a, b, told >> 1, bool(told & 1)) == (*map(int, child), points, tuple(child) != state)


def on_gpu(gpu, player, games=1, rate=None, **options):
    """Return a GpuLearner with a Player's weights."""
    learner = gpu_learning.GpuLearner(
        gpu,
        player.game,
        player.rules,
        player.tuples,
        player.symmetric,
        player.coherent,
        rate or player.rate,
        player.seed,
        games,
        **{"threads": 32, **options},
    )
    learner.upload(player.weights, player.traces)
    return learner


def played(learner, first, count, mode, **launch):
    """Play a phase; return its games, in the order of their numbers."""
    learner.begin(first, first, first + count, mode)
    found = []
    while not learner.over:
        found.append(learner.launch(**launch))
    found = np.concatenate(found)
    assert sorted(found["number"].tolist()) == list(range(count))
    return found[np.argsort(found["number"])]


def results(found, learning=1):
    return [[1 + each["score"], each["largest"], each["moves"], learning] for each in found]


def learnt(learner, player):
    """Return (weights, traces) of a GPU."""
    weights = np.zeros_like(player.weights)
    traces = None if player.traces is None else np.zeros_like(player.traces)
    learner.download(weights, traces)
    return weights, traces


def assert_learnt(learner, player):
    """The weights are those of a player: to the last bit those of a Cpu."""
    weights, traces = learnt(learner, player)
    if isinstance(player, Cpu):
        assert weights.tobytes() == player.weights.tobytes()
    else:
        assert_same(weights, player.weights)
        assert_same(traces, player.traces)


def assert_same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-3)


def player_of(name, seed, **options):
    """The Cpu with the plain network of 2048, or the Player with the other one of 2584."""
    if name == "2048":
        return Cpu(*PLAIN, seed % 1000, **options)
    return Player(*OTHER, seed % 1000, symmetric=False, coherent=True, **options)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("2048", {}),
        ("2048", {"room": 7}),
        ("2584", {}),
        ("2584", {"forward": True}),
        ("2584", {"room": 5}),
        ("2584", {"steps": 3}),
        ("2584", {"steps": 4, "room": 6}),
        ("2584", {"steps": 1 << 40}),
        ("2584", {"stages": (4, 7)}),
        ("2584", {"layers": 1}),
        ("2584", {"layers": 1, "stages": (4, 7), "threads": 64}),
        ("2584", {"layers": 1, "dead_boards": True}),
        ("2584", {"layers": 1, "dead_boards": True, "alone": False}),
        ("2584", {"layers": 1, "alone": False}),
        ("2584", {"layers": 1, "alone": False, "stages": (4, 7)}),
    ],
    ids=str,
)
def test_one_game_at_a_time_teaches_what_it_should(name, options, gpus, seed):
    player = player_of(
        name, seed, **{each: value for each, value in options.items() if each not in ("alone", "threads")}
    )
    before, how = player.weights.copy(), {each: value for each, value in options.items() if each != "forward"}
    learner = on_gpu(gpus(seed + len(str(options))), player, **how)
    mode = gpu_learning.FORWARD if options.get("forward") else gpu_learning.BACKWARD
    for number in range(1 if "layers" in options else 3):  # a twin that searches takes its time
        found = played(learner, number, 1, mode, budget=40)
        assert results(found) == [player.play(number)[0]]
        assert_learnt(learner, player)
    assert not np.array_equal(before, player.weights)


def test_games_begin_few_at_a_time_and_become_more(gpus, seed, monkeypatch):
    monkeypatch.setattr(gpu_learning, "FIRST", 1)
    learner = on_gpu(gpus(seed), player_of("2048", seed), games=4, ramp=2)
    learner.begin(0, 0, 30, gpu_learning.BACKWARD)
    slots = []
    while not learner.over:
        learner.launch(budget=30)
        slots.append(int((learner._slots.get()["number"] >= 0).sum()))
    assert slots[0] <= 1 and max(slots) == 4 and max(slots[: slots.index(max(slots))]) < 4


@pytest.mark.parametrize("name", ["2048", "2584"])
def test_games_side_by_side_are_the_same_games(name, gpus, seed):
    """Without learning: whatever the order of threads, the number of games at once, and where launches end."""
    player = player_of(name, seed)
    expected = [player.play(number, learning=False)[0] for number in range(90, 98)]
    for n, (at_once, budget) in enumerate(((1, -1), (3, 50), (8, 7), (11, 33), (5, 200))):
        learner = on_gpu(gpus(seed + n), player, at_once)
        assert results(played(learner, 90, 8, gpu_learning.WATCH, budget=budget), 0) == expected
        assert learnt(learner, player)[0].tobytes() == player.weights.tobytes()
        assert learner.moves == sum(row[2] for row in expected)


def noting(note, full):
    """Return what notes as a search does, and keeps whether there was no room."""
    return lambda *what: (full.append(what[3]), note(*what))


def test_games_that_are_searched_side_by_side_are_the_same_games(gpus, seed, monkeypatch):
    """However many a search takes, and where it finds no room at first.

    Searches add up in different orders. Weights of few bits and chances of 3/4 and 1/4 have exact sums, so moves of
    equal worth stay equal in every order.
    """
    player = player_of("2584", seed)
    player.weights[:] = np.round(player.weights * 64) / 64
    expected = None
    for n, (at_once, budget, guess, how) in enumerate(
        (
            (1, 50, 4.0, {"threads": 128}),
            (8, 7, 4.0, {"alone": False}),
            (6, 40, 0.1, {"alone": False}),
            (6, 40, 4.0, {"threads": 64}),
        )
    ):
        monkeypatch.setattr(expectimax_merged, "_GUESS", (guess, 20.0))
        monkeypatch.setattr(expectimax_merged, "_LEAST", 2 if guess < 1 else 1024)
        learner, full = on_gpu(gpus(seed + n), player, at_once, layers=1, **how), []
        if guess < 1:
            monkeypatch.setattr(learner._search, "note", noting(learner._search.note, full))
        found = results(played(learner, 90, 8, gpu_learning.WATCH, budget=budget), 0)
        assert any(full) == (guess < 1)
        expected = expected or found
        assert found == expected
        assert learnt(learner, player)[0].tobytes() == player.weights.tobytes()
        assert learner.moves == sum(row[2] for row in expected)


def test_deeper_searches_choose_the_moves_of_a_cpu(gpus, seed):
    """Two layers, all games in one search, without symmetric boards, between which the order of additions decides.

    Games of one seed, for rounding decides between moves that are worth the same: here in the same way on both.
    """
    player = player_of("2584", 8)
    cpu = Training(*OTHER, symmetric=False, seed=player.seed, rate=0.0, layers=2)
    cpu.arrays.weights[:] = player.weights
    learner = on_gpu(gpus(seed), player, 3, layers=2)
    found = results(played(learner, 90, 3, gpu_learning.WATCH, budget=30), 1)
    assert found == [[*row[:3], 1] for row in cpu.play(90, 3).tolist()]


@pytest.mark.parametrize("name", ["2048", "2584"])
def test_games_that_others_have_played_are_learnt_from(name, gpus, seed):
    """By their moves alone: one after another as the player of the same games learns."""
    player = player_of(name, seed)
    learner = on_gpu(gpus(seed), player)
    for number in range(3):
        expected, _, _ = player.play(number)
        learner.begin(0, number, number + 1, gpu_learning.RECORD)
        found = learner.launch(seconds=60)
        found, words = learner.records(found)
        assert results(found) == [expected]
        assert len(words) == -(-expected[2] // 16)
        learner.learn_recorded(found, words)
        assert_learnt(learner, player)


def test_records_of_many_launches_are_learnt_from_together(gpus, seed, monkeypatch):
    """With room for two games a launch; at a rate so small that their order hardly matters."""
    monkeypatch.setattr(gpu_learning, "FINISHED", 2)
    player = player_of("2048", seed, rate=1e-4)
    learner, before, ended, words = on_gpu(gpus(seed), player, 4), player.weights.copy(), [], []
    learner.begin(0, 0, 12, gpu_learning.RECORD)
    while not learner.over:
        found, its = learner.records(learner.launch(budget=60))
        assert len(found) <= 2
        found["words"] += sum(map(len, words))
        ended.append(found)
        words.append(its)
    ended = np.concatenate(ended)
    learner.learn_recorded(ended, np.concatenate(words))
    frozen = [player.play(number, learning=False) for number in range(12)]
    assert results(ended[np.argsort(ended["number"])], 0) == [row for row, _, _ in frozen]
    twin = Player(*PLAIN, seed % 1000, rate=1e-4)
    assert np.array_equal(twin.weights, before)
    learn_at_once(twin, [([player.cells(state) for state in states], points) for _, states, points in frozen])
    expected, found = twin.weights - before, learnt(learner, player)[0] - before
    assert np.linalg.norm(found - expected) < 0.1 * np.linalg.norm(expected)


@pytest.mark.parametrize("combined", [False, True])
def test_steps_learnt_at_once_are_those_of_frozen_weights(combined, gpus, seed):
    player = Player(*PLAIN, seed % 1000)
    paths = [player.play(number, learning=False)[1:] for number in range(3)]
    states = np.array([player.state_of(board) for boards, _ in paths for board in boards], np.uint64)
    gains = np.concatenate([points for _, points in paths])
    starts = np.cumsum([0, *(len(boards) for boards, _ in paths)])
    learner = on_gpu(gpus(seed), player, 8)
    learner.take_steps(states, gains, starts)
    learner.update_steps(combined)
    learn_at_once(player, paths)
    assert_same(learnt(learner, player)[0], player.weights)


def test_games_that_do_not_fit_the_memory_are_refused(gpus, seed, monkeypatch):
    learner = on_gpu(gpus(seed), player_of("2584", seed))
    monkeypatch.setattr(learner._gpu, "free", lambda: 100)
    with pytest.raises(UserError, match="5 moves take 0 MiB of GPU memory, and 0 are free"):
        learner.take_steps(np.zeros((5, 2), np.uint64), np.zeros(5, np.int32), [0, 5])


def test_games_learnt_at_once_are_one_after_another_where_there_is_one(gpus, seed):
    player = player_of("2048", seed)
    learner = on_gpu(gpus(seed), player)
    _, states, points = player.play(0)
    learner.take_steps(states, points, [0, len(states)])
    learner.update_games()
    assert_learnt(learner, player)


def test_games_at_work_end_and_no_more_begin(gpus, seed):
    player = player_of("2048", seed)
    learner = on_gpu(gpus(seed), player, 5)
    learner.begin(0, 0, 1000, gpu_learning.BACKWARD)
    learner.launch(budget=3)
    learner.stop()
    ended = []
    while not learner.over:
        ended += learner.launch(budget=100)["number"].tolist()
    assert sorted(ended) == list(range(5))
    assert len(learner.launch()) == 0


def test_what_a_gpu_cannot_learn_is_refused(gpus, seed, monkeypatch):
    player = Player("2048", "0,1", 1)
    for rules, tuples, said in (
        (player.game.rules((3, 3)), player.tuples, "4x4"),
        (player.rules, tuple(itertools.repeat((0,), 17)), "16"),
    ):
        with pytest.raises(UserError, match=said):
            gpu_learning.check(player.game, rules, tuples, True)
    gpu = gpus(seed)
    monkeypatch.setattr(gpu, "free", lambda: 1 << 20)
    with pytest.raises(UserError, match=r"GPU memory, and 1 are free"):
        on_gpu(gpu, player, 1000)
