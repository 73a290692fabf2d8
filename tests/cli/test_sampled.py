"""Searches by sampled runs on the command line."""

import json

import pytest

from .asking import ask, assert_refused

BOARD = "2,4,8,16,0,2,4,32,0,0,2,64,0,0,0,128"
LOST = "2,4,2,4,4,2,4,2,2,4,2,4,4,2,4,2"
AVERAGED = "--algorithm", "averaged", "--depth", "4"
IDA = "--algorithm", "ida"
MCTS = "--algorithm", "mcts"


def found(*arguments):
    answer = ask("search", *arguments, "--json")
    assert answer.status == 0, answer.err
    return json.loads(answer.out)


def test_averaged_in_json():
    one = found("2048", BOARD, *AVERAGED, "--runs", "4", "--width", "2", "--seed", "7", "-a")
    asked = {name: one[name] for name in ("algorithm", "policy", "unit", "runs", "width", "seed", "depth", "complete")}
    assert asked == {
        "algorithm": "averaged",
        "policy": "pool",
        "unit": "evaluation",
        "runs": 4,
        "width": 2,
        "seed": 7,
        "depth": 4,
        "complete": True,
    }
    assert "goals" not in one
    assert one["score"] == max(each["score"] for each in one["moves"])
    assert one["jobs"] == 4 * len(one["moves"])
    assert one["nodes"] > 0


def test_ida_in_json():
    one = found("2048", BOARD, *IDA, "--runs", "8", "--nodes", "500", "-a")
    asked = {name: one[name] for name in ("algorithm", "policy", "unit", "runs", "seed", "jobs", "complete")}
    assert asked == {
        "algorithm": "ida",
        "policy": "pool",
        "unit": "of the runs",
        "runs": 8,
        "seed": 0,
        "jobs": 8,
        "complete": True,
    }
    assert "width" not in one
    assert sum(each["score"] for each in one["moves"]) == pytest.approx(1)
    assert one["move"] in [each["move"] for each in one["moves"]]
    assert 0 < one["nodes"] <= 8 * 504
    assert 0 <= one["goals"] <= 8


@pytest.mark.parametrize("evaluation", ["ntuple", "rows", "playout"])
def test_mcts_in_json(evaluation):
    one = found("2048", BOARD, *MCTS, "--evaluation", evaluation, "--runs", "8", "--nodes", "5000", "-a")
    asked = {name: one[name] for name in ("algorithm", "policy", "unit", "runs", "seed", "jobs", "complete")}
    assert asked == {
        "algorithm": "mcts",
        "policy": "pool",
        "unit": "of the visits",
        "runs": 8,
        "seed": 0,
        "jobs": 8,
        "complete": True,
    }
    assert {"width", "goals"}.isdisjoint(one)
    assert sum(each["score"] for each in one["moves"]) == pytest.approx(1)
    assert one["score"] == max(each["score"] for each in one["moves"])
    assert ("points expected" in one.get("meaning", "")) == (evaluation != "rows")
    assert one["nodes"] >= 8 * 5000
    assert one["depth"] >= 4


@pytest.mark.parametrize("how", [AVERAGED, IDA, MCTS], ids=["averaged", "ida", "mcts"])
def test_the_seed_repeats_a_search(how):
    first, again, other = (found("2584", "--runs", "3", "--seed", seed, *how, "-a") for seed in "112")
    same = "position", "score", "move", "moves", "nodes"
    assert [first[name] for name in same] == [again[name] for name in same]
    assert first["position"] != other["position"]
    assert found("2048", BOARD, *how, "--seed", "1")["seed"] == 1


def test_text_says_how():
    text = ask("search", "2048", BOARD, *AVERAGED, "--runs", "1").out
    assert "averaged, depth 4, 1 run of width 3, policy pool" in text
    text = ask("search", "2048", BOARD, *IDA, "--runs", "2").out
    assert "2 runs (2 to a larger tile), policy pool" in text
    assert " of the runs\n" in text


@pytest.mark.parametrize("how", [AVERAGED, IDA, MCTS], ids=["averaged", "ida", "mcts"])
@pytest.mark.parametrize(
    ("position", "move"), [(LOST, "none: no legal move"), (BOARD + " +1", "none: chance is to move")]
)
def test_without_a_move_there_is_a_score(how, position, move):
    answer = ask("search", "2048", position, *how)
    assert answer.status == 0
    assert f"best move  {move}" in answer.out
    assert "score      " in answer.out


@pytest.mark.parametrize("how", [("--algorithm", "averaged"), IDA, MCTS], ids=["averaged", "ida", "mcts"])
def test_time_goes_further(how):
    one = found("2048", "2,0,0,0,0,2,0,0,0,0,1024,0,4,0,0,0", *how, "--time", "0.2", "--runs", "4")
    assert one["complete"] or one["move"] is not None
    assert one["jobs"] > 8
    assert one["seconds"] < 5


def test_what_needs_no_more_time_takes_none():
    assert found("2048", BOARD, *IDA, "--time", "60", "--runs", "4")["seconds"] < 10


@pytest.mark.parametrize(
    "how", [AVERAGED, (*IDA, "--nodes", "300"), (*MCTS, "--nodes", "300")], ids=["averaged", "ida", "mcts"]
)
def test_a_file_of_positions(how, tmp_path):
    (tmp_path / "boards").write_text(f"{BOARD}\n1,2\n{LOST}\n")
    answer = ask("solve", "2048", "--positions", tmp_path / "boards", *how, "--runs", "5", "--seed", "2")
    assert answer.status == 1
    assert [line.split()[0] for line in answer.out.splitlines()] == ["1", "3"]
    assert "line 2: " in answer.err


def test_sums_of_evaluations_are_searched():
    one = found("2048", BOARD, "--depth", "3", "--evaluation", "monotonicity+smoothness+2.7*free")
    more = "monotonicity+smoothness+2.8*free"
    other = found("2048", BOARD, "--depth", "3", "--evaluation", more)
    assert one["score"] < other["score"] < one["score"] + 1.7
    answer = ask("play", "2048", "--board", "3x3", "--games", "2", "--depth", "1", "--evaluation", more)
    assert answer.out.startswith(f"2048 3x3  2 games, {more}, depth 1, seed 0\n")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["search", "2048", "--runs", "3"], "runs goes with averaged, ida and mcts"),
        (["search", "2048", "--depth", "3", "--width", "3"], "width goes with averaged"),
        (["solve", "2048", "--depth", "3", "--seed", "3"], "seed goes with averaged, ida and mcts"),
        (["solve", "othello", "--depth", "3", "--runs", "3"], "runs goes with averaged, ida and mcts"),
        (["search", "2048", *AVERAGED, "--runs", "0"], "runs 0"),
        (["search", "2048", *AVERAGED, "--width", "0"], "width 0"),
        (["search", "2048", *IDA, "--width", "3"], "width goes with averaged, not with ida"),
        (["search", "2048", *IDA, "--depth", "3"], "depth goes without ida"),
        (["search", "2048", *IDA, "--nodes", "0"], "nodes 0"),
        (["search", "othello", *AVERAGED], "algorithm 'averaged' is not alphabeta"),
        (["search", "2048", "--depth", "1", "--evaluation", "free+2*"], "'2*' is not NAME or WEIGHT*NAME"),
        (["play", "2048", "--depth", "1", "--evaluation", "fry+free"], "'fry' is not rows or"),
    ],
    ids=lambda value: " ".join(value)[-40:] if isinstance(value, list) else "",
)
def test_refusals(arguments, why):
    assert_refused(ask(*arguments), why)
