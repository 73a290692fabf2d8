"""Training on a GPU that g++ makes, from end to end: lines, files, and going on, there or on a CPU."""

import json

import numpy as np
import pytest

from distsearch.api.progress import Silent
from distsearch.core.errors import UserError
from distsearch.evaluation import tuple_network
from distsearch.gpu import device
from distsearch.learning import train as training
from distsearch.learning.options import TrainOptions
from distsearch.learning.train import Files, train
from distsearch.testing.emulated_gpu import EmulatedGpu

TINY = {"tuples": "2x4", "device": "gpu", "parallel_games": 3}


@pytest.fixture(autouse=True)
def short_lines(monkeypatch):
    monkeypatch.setattr(training, "LINE", 10)


def run(options, files=None, seed=1, stop=lambda lines, calls: False):
    """Train in this process; return (Trained, lines). stop(lines so far, times it was asked): whether to end."""
    lines, calls = [], 0

    def interrupted():
        nonlocal calls
        calls += 1
        return stop(lines, calls)

    return train(options, files or Files(), None, Silent(), interrupted, lines.append, EmulatedGpu(seed)), lines


def of_kind(lines, kind):
    return [line["games"] for line in lines if line["kind"] == kind]


@pytest.mark.parametrize("online", [False, True])
def test_it_is_stopped_and_goes_on_until_all_games_are_played(online, seed, tmp_path):
    """Each of them once; and then a few more on a CPU."""
    path, record = tmp_path / "weights.npz", tmp_path / "record.jsonl"
    files = Files(str(path), resume=True, record=str(record))
    every = {**TINY, "games": 43, "online": online, "seed": seed % 1000}
    asked = TrainOptions("2048", **every, evaluate_every=20, evaluate_games=5, save_every=15)
    printed, runs = [], 0
    while True:
        found, lines = run(asked, files, seed + runs, lambda lines, _, runs=runs: runs < 2 and len(lines) >= 1)
        printed, runs = printed + lines, runs + 1
        assert found.saved == str(path)
        if found.complete:
            break
        assert 10 <= found.games < 43
    assert runs > 1
    assert (found.games, of_kind(printed, "learning"), of_kind(printed, "evaluation")) == (
        43,
        [10, 20, 30, 40],
        [20, 40],
    )
    assert [json.loads(line)["games"] for line in record.read_text().splitlines()] == [
        line["games"] for line in printed
    ]
    weights = tuple_network.load(path, "2048", 16).weights
    assert np.isfinite(weights).all()
    assert (weights != 0).sum() > 100
    if online:  # which a CPU would have to compile anew
        return
    more = TrainOptions("2048", **{**every, "games": 60, "device": "cpu", "parallel_games": 0})
    found, lines = run(more, files)
    assert (found.complete, found.learnt, of_kind(lines, "learning")) == (True, 17, [50, 60])


@pytest.mark.parametrize("restart", [False, True])
def test_one_game_at_a_time_learns_what_a_cpu_learns(restart, seed, tmp_path):
    """To the last bit: the same games, from weights that are no zeros."""
    files = [Files(str(tmp_path / f"{name}.npz")) for name in ("gpu", "cpu")]
    every = {"tuples": "2x4", "games": 12, "initial_value": 300.0, "seed": seed % 1000, "evaluate_every": 10}
    every |= {"evaluate_games": 3, "restart": restart}
    (_, on_gpu), (_, on_cpu) = (
        run(TrainOptions("2048", **every, device=each, parallel_games=int(each == "gpu")), to)
        for each, to in zip(("gpu", "cpu"), files, strict=True)
    )
    times = "seconds", "moves_per_second", "evaluation_seconds"
    plain = [[{key: line[key] for key in line if key not in times} for line in lines] for lines in (on_gpu, on_cpu)]
    assert plain[0] == plain[1]
    gpu, cpu = (tuple_network.load(each.save, "2048", 16).weights for each in files)
    assert gpu.tobytes() == cpu.tobytes()


@pytest.mark.parametrize(
    "how",
    [
        {"layers": 1, "stages": (8,), "restart": True, "games": 6},
        {"layers": 2, "parallel_games": 2, "games": 3},
        {"target": "returns", "stages": (16,)},
        {"n_step": 3},
    ],
    ids=str,
)
def test_searches_targets_and_stages_teach(how, seed, tmp_path):
    """Games learn from what they should, as told by weights that a CPU goes on with."""
    path = str(tmp_path / "weights.npz")
    every = {**TINY, "games": 12, "seed": seed % 1000, **how}
    found, _ = run(TrainOptions("2048", **every), Files(path))
    assert (found.complete, found.learnt) == (True, every["games"])
    weights = tuple_network.load(path, "2048", 16).weights.reshape(len(how.get("stages", ())) + 1, -1)
    assert all((stage[np.isfinite(stage)] != 0).sum() > 20 for stage in weights)
    more = TrainOptions("2048", **{**every, "games": every["games"] + 2, "device": "cpu", "parallel_games": 0})
    assert run(more, Files(path, resume=True))[0].games == every["games"] + 2


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_returns_are_the_points_of_all_moves_that_follow(device, seed, tmp_path):
    """One game teaches the same as steps that no game has as many of."""
    files = []
    for how in ({"target": "returns"}, {"n_step": 1000}):
        files.append(str(tmp_path / f"{len(files)}.npz"))
        run(TrainOptions("2048", tuples="2x4", games=1, seed=seed % 1000, device=device, **how), Files(files[-1]))
    weights = [tuple_network.load(each, "2048", 16).weights for each in files]
    assert weights[0].any()
    assert weights[0].tobytes() == weights[1].tobytes()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"target": "returns", "online": True}, "target returns goes without online and n-step"),
        ({"target": "returns", "n_step": 2}, "target returns goes without online and n-step"),
        ({"layers": 2, "tuples": "/".join(["0,1,2,3,4,5,6"] * 5)}, "1342177280 weights"),
        ({"layers": 2, "tuples": "/".join(["0,1"] * 9)}, "72 look-ups"),
        ({"n_step": 2, "online": True}, "online with several steps is for --device cpu"),
        ({"warm_up": 5}, "warm-up"),
        ({"ranks_per_copy": 1}, "ranks-per-copy"),
        ({"collisions": True}, "collisions"),
        ({"board": (3, 3), "asymmetric": True, "tuples": "0,1"}, "4x4"),
        ({"device": "tpu"}, "cpu or gpu"),
        ({"exchange": "mail"}, "games or weights"),
        ({"exchange": "weights"}, "--merge mean or sum"),
        ({"device": "cpu"}, "parallel-games"),
        ({"device": "cpu", "parallel_games": 0, "exchange": "weights"}, "exchange"),
        ({"parallel_games": -1}, "parallel-games"),
        ({"parallel_games": 10**6}, "parallel-games"),
        ({"parallel_games": 2.5}, "parallel-games"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(changed, said):
    with pytest.raises(UserError, match=said):
        TrainOptions("2048", **{**TINY, **changed})


def test_no_gpu_is_one_line(monkeypatch):
    monkeypatch.setattr(device, "count", lambda: 0)
    with pytest.raises(UserError, match="no GPU: use --device cpu"):
        train(TrainOptions("2048", **TINY, games=1), Files(), None, Silent(), lambda: False, lambda line: None)
