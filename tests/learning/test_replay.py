"""Learning from games that were recorded, against a plain twin, on a core and on an emulated GPU."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from distsearch import games
from distsearch.api.progress import Silent
from distsearch.api.session import Session
from distsearch.core.errors import UserError
from distsearch.evaluation import tuple_network
from distsearch.learning.options import TrainOptions
from distsearch.learning.replay import check, paths_of, replay
from distsearch.learning.train import Files, train
from distsearch.testing.emulated_gpu import EmulatedGpu

from .td_twin import Twin

TUPLES = {"2048": "2x4", "2584": "0,1/4,5,9"}


@pytest.fixture
def record(tmp_path, seed):
    """A function that plays games of a name; gives the name of their record."""

    def play(name, count=3):
        path = tmp_path / f"{name}.jsonl"
        with Session() as session:
            session.play(name, count, depth=1, evaluation="rows", seed=seed % 1000, record=str(path))
        return str(path)

    return play


def learnt(options, record, update="games", files=None, seed=1):
    return replay(options, files or Files(), record, update, Silent(), EmulatedGpu(seed))


def boards_of(name, states):
    """Boards of codes, by the text of the game."""
    game = games.find(name)
    rules = game.rules()
    for state in states:
        text = game.text(game.start(rules)._replace(state=tuple(map(np.uint64, state))), rules)
        yield np.array([game.VALUES.index(int(value)) for value in text.split(",")]).reshape(4, 4)


def twin_of(options, weights):
    game = games.find(options.game)
    tuples, stages = options.network
    return Twin(
        weights, None, tuples, 1 << game.BITS, True, stages, options.rate, options.steps, forward=False, room=1 << 20
    )


@pytest.mark.parametrize("name", TUPLES)
def test_afterstates_are_those_of_the_moves(name, record):
    path = record(name)
    game = games.find(name)
    lines = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    found = list(paths_of(path, game, game.rules()))
    assert [int(gains.sum()) for _, gains in found] == [line["score"] for line in lines]
    assert [len(states) for states, _ in found] == [
        sum("@" not in move for move in line["moves"].split()) for line in lines
    ]


@pytest.mark.parametrize("device", ["cpu", "gpu"])
@pytest.mark.parametrize(
    ("name", "how"), [("2048", {}), ("2584", {"n_step": 3}), ("2048", {"target": "returns"})], ids=str
)
def test_games_are_learnt_from_backward(device, name, how, record, tmp_path):
    count = 3 if device == "cpu" else 1  # a GPU learns from several side by side
    path, files = record(name, count), Files(str(tmp_path / "w.npz"))
    options = TrainOptions(name, tuples=TUPLES[name], initial_value=50.0, device=device, **how)
    found = learnt(options, path, files=files)
    game = games.find(name)
    twin = twin_of(options, np.full((1, options.size), 50.0 / len(options.network[0]) / 8, np.float32))
    for states, gains in paths_of(path, game, game.rules()):
        for board, points in zip(boards_of(name, states), gains.tolist(), strict=True):
            twin.add(board, points)
        twin.end()
    assert (found.learnt, found.complete, found.saved) == (count, True, files.save)
    weights = tuple_network.load(files.save, name, 1 << game.BITS).weights
    np.testing.assert_allclose(weights, twin.weights, rtol=2e-5, atol=2e-3)
    assert (weights != weights.flat[0]).any()


def test_all_steps_at_once_learn_by_the_weights_of_before(record, tmp_path):
    path, files = record("2584"), Files(str(tmp_path / "w.npz"))
    options = TrainOptions("2584", tuples=TUPLES["2584"], initial_value=80.0, device="gpu", rate=0.01)
    learnt(options, path, "steps", files)
    game = games.find("2584")
    before = np.full((1, options.size), 80.0 / len(options.network[0]) / 8, np.float32)
    twin, changes = twin_of(options, before), np.zeros(options.size)
    for states, gains in paths_of(path, game, game.rules()):
        boards = list(boards_of("2584", states))
        for t, board in enumerate(boards):
            target = gains[t + 1] + twin.value(boards[t + 1]) if t + 1 < len(boards) else 0
            at = twin._indices(board)
            np.add.at(changes, at, options.rate * (target - twin.value(board)) / len(at))
    weights = tuple_network.load(files.save, "2584", 32).weights
    np.testing.assert_allclose(weights[0], before[0] + changes, rtol=1e-4, atol=1e-2)


def test_training_goes_on_from_what_was_learnt_so(record, tmp_path):
    """The games that it has played itself are not counted as played, and those of a record not as its own."""
    path, files = record("2048"), Files(str(tmp_path / "w.npz"), resume=True)
    options = TrainOptions("2048", tuples="2x4", games=20)
    train(options, files, None, Silent(), lambda: False, lambda line: None)
    before = tuple_network.load(files.save, "2048", 16)
    learnt(options, path, files=files)
    after = tuple_network.load(files.save, "2048", 16)
    assert after.record["games"] == before.record["games"] == 20
    assert after.record["replayed"] == 3
    assert not np.array_equal(before.weights, after.weights)
    more = TrainOptions("2048", tuples="2x4", games=25)
    found = train(more, files, None, Silent(), lambda: False, lambda line: None)
    assert (found.games, found.learnt) == (25, 5)


def test_training_begins_with_what_a_record_has_taught(record, tmp_path):
    files = Files(str(tmp_path / "w.npz"), resume=True)
    learnt(TrainOptions("2048", tuples="2x4"), record("2048"), files=files)
    options = TrainOptions("2048", tuples="2x4", games=5)
    found = train(options, files, None, Silent(), lambda: False, lambda line: None)
    assert (found.games, found.learnt) == (5, 5)
    assert learnt(options, str(tmp_path / "2048.jsonl"), files=files).learnt == 3


@pytest.mark.parametrize(
    ("options", "asked", "update", "said"),
    [
        ({}, ("games",), "games", "games is for games that are played"),
        ({}, ("evaluate_every",), "games", "evaluate-every is for games that are played"),
        ({}, (), "steps", "--device gpu"),
        ({"device": "gpu", "n_step": 2}, (), "steps", "no --n-step"),
        ({"device": "gpu", "target": "returns"}, (), "steps", "no --target returns"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(options, asked, update, said):
    with pytest.raises(UserError, match=said):
        check(TrainOptions("2048", **options), asked, update)


def test_records_of_other_games_are_refused(record, tmp_path):
    for name, options, said in (
        ("2584", TrainOptions("2048", tuples="2x4"), "a game of 2584"),
        ("2048", TrainOptions("2048", tuples="2x4", rules={"spawn": "2:1"}), "other rules"),
    ):
        with pytest.raises(UserError, match=f"line 1: .*{said}"):
            learnt(options, record(name))
    with pytest.raises(UserError, match="cannot read"):
        learnt(TrainOptions("2048", tuples="2x4"), str(tmp_path / "missing"))


def test_a_core_ends_behind_a_game_and_keeps_what_it_learnt(record, tmp_path):
    options, save, path = TrainOptions("2048", tuples=TUPLES["2048"]), str(tmp_path / "w.npz"), record("2048")
    looks = itertools.count()
    found = replay(options, Files(save), path, "games", Silent(), interrupted=lambda: next(looks) == 2)
    assert (found.complete, found.learnt, Path(save).exists()) == (False, 2, True)
    assert 0 < found.moves < learnt(options, path).moves


def test_a_file_of_another_seed_goes_on_by_its_seed(record, tmp_path):
    files = Files(str(tmp_path / "w.npz"), resume=True)
    options = TrainOptions("2048", tuples="2x4", games=5, seed=5, online=True)
    train(options, files, None, Silent(), lambda: False, lambda line: None)
    check(options, ("seed", "online"), "games")
    assert learnt(options, record("2048"), files=files).learnt == 3
