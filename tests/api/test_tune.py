"""Tuning from end to end: its record says how the weights came about, and an interrupt leaves what there is."""

import json
import math

import numpy as np
import pytest

from distsearch import evaluation, games
from distsearch.api import tune as module
from distsearch.api.options import resolve
from distsearch.api.play import play
from distsearch.api.progress import Silent
from distsearch.api.tune import TuneBudget, mean_logs, tune
from distsearch.cluster.local import InProcessCluster
from distsearch.formats.weights_file import named
from distsearch.jobs.two_player import KINDS

from .told import Told

BUDGET = TuneBudget(games=3, generations=3, population=4)


def tuned(record=None, seed=5, interrupted=lambda: False, budget=BUDGET, **options):
    chosen, _, _ = resolve("2048", "3x3", **{"depth": 1, **options})
    return tune(chosen, budget, seed, InProcessCluster(KINDS), Silent(), interrupted, record)


def test_a_record_has_what_it_takes_to_do_it_again(tmp_path):
    found = tuned(str(tmp_path / "record"))
    lines = [json.loads(line) for line in (tmp_path / "record").read_text().splitlines()]
    start = f"rows:{evaluation.weights(games.find('2048'), 'rows').text}"
    assert [line["generation"] for line in lines] == [1, 2, 3]
    assert len({line["games_seed"] for line in lines}) == 3
    for line in lines:
        assert (line["seed"], line["games"], line["population"], line["depth"]) == (5, 3, 4, 1)
        assert (line["start"], line["board"]) == (start, "3x3")
        for candidate, average, value in zip(line["candidates"], line["averages"], line["values"], strict=True):
            options, _, _ = resolve("2048", "3x3", depth=1, evaluation=candidate)
            scores = play(options, 3, line["games_seed"], InProcessCluster(KINDS), Silent(), lambda: False).scores
            assert (average, value) == (pytest.approx(sum(scores) / 3), mean_logs(np.array([scores]))[0])
    told = json.loads(found.to_json())
    assert told["evaluation"] == lines[-1]["mean_weights"] != lines[0]["mean_weights"]
    assert (told["complete"], told["generations"], told["games"]) == (True, 3, 36)
    assert told["value"] == max(lines[-1]["values"])
    assert told["evaluation"] in found.to_text()


def test_the_seed_decides():
    first, again, other = tuned(), tuned(), tuned(seed=6)
    assert first.weights == again.weights != other.weights


def test_it_may_begin_anywhere():
    found = tuned(evaluation="rows:200,600,40,3.9,10,3.4")
    assert found.asked["start"] == "rows:200,600,40,3.9,10,3.4"


def test_weights_of_a_sum(tmp_path):
    found = tuned(str(tmp_path / "record"), evaluation="monotonicity+0.1*smoothness+2.7*free")
    assert found.asked["start"] == "1*monotonicity+0.1*smoothness+2.7*free"
    last = json.loads((tmp_path / "record").read_text().splitlines()[-1])
    for candidate, average in zip(last["candidates"], last["averages"], strict=True):
        options, _, _ = resolve("2048", "3x3", depth=1, evaluation=candidate)
        scores = play(options, 3, last["games_seed"], InProcessCluster(KINDS), Silent(), lambda: False).scores
        assert average == pytest.approx(sum(scores) / 3)
    (tmp_path / "weights.json").write_text(found.to_json())
    assert named(str(tmp_path / "weights.json"), "2048") == found.weights.evaluation != found.asked["start"]


def test_it_says_which_boards_were_searched_deeper():
    assert tuned(depth_by_empty=((2, 3),)).asked["depth_by_empty"] == ((2, 3),)
    assert "depth_by_empty" not in tuned().asked


def test_what_it_prints_is_a_file_of_weights(tmp_path):
    found = tuned()
    (tmp_path / "weights.json").write_text(found.to_json())
    assert named(str(tmp_path / "weights.json"), "2048") == f"rows:{found.weights.text}"


@pytest.mark.parametrize("looks", [0, 1, 30])
def test_an_interrupt_leaves_the_generations_that_are_over(looks, tmp_path):
    left = iter(range(looks))
    budget = TuneBudget(games=5, generations=100_000, population=4)
    found = tuned(str(tmp_path / "record"), interrupted=lambda: next(left, None) is None, budget=budget)
    lines = (tmp_path / "record").read_text().splitlines()
    assert (found.complete, found.generations) == (False, len(lines))
    assert "stopped early" in found.to_text()
    told = json.loads(found.to_json())
    assert told["evaluation"] == (json.loads(lines[-1])["mean_weights"] if lines else found.asked["start"])
    assert (told["value"] is None) == (not lines)


def test_it_gets_better():
    """From weights that care for free cells alone, a few short generations go a long way."""
    bad = "rows:10,500,0.001,2,5,3"
    found = tuned(evaluation=bad, budget=TuneBudget(games=30, generations=8, population=8, sigma=1.0))

    def average(weights):
        options, _, _ = resolve("2048", "3x3", depth=1, evaluation=weights)
        return mean_logs(np.array([play(options, 300, 1, InProcessCluster(KINDS), Silent(), lambda: False).scores]))[0]

    assert average(f"rows:{found.weights.text}") > average(bad) + 0.05


def test_progress_is_told():
    options, progress = resolve("2048", "3x3", depth=1)[0], Told()
    tune(options, BUDGET, 0, InProcessCluster(KINDS), progress, lambda: False)
    assert any(text.startswith("generation 2/3, ") and "last one's best averages" in text for text in progress.shown)


def test_mean_logs():
    assert mean_logs(np.array([[0, 0], [0, 99]])) == pytest.approx([0, math.log(100) / 2])


def test_without_its_package_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cma", None)
    with pytest.raises(module.UserError, match=r"pip install 'distsearch\[tune\]'"):
        tuned()


def test_record_and_text_say_how_moves_were_searched(tmp_path):
    how = {"depth_by_empty": ((2, 3),), "min_probability": 0.1, "chance": "uniform"}
    found = tuned(str(tmp_path / "record"), budget=TuneBudget(games=1, generations=1, population=4), **how)
    line = json.loads((tmp_path / "record").read_text())
    assert (line["depth_by_empty"], line["min_probability"], line["chance"]) == ([[2, 3]], 0.1, "uniform")
    assert ", depth 3 at 2 empty, 1, min-probability 0.1, chance uniform, seed 5\n" in found.to_text()
