"""Tuning and sampling on the command line, and what is done with what they find."""

import json

import pytest

from .asking import ask, assert_refused

TUNE = "tune", "2048", "--board", "3x3", "--depth", "1", "--games", "3", "--generations", "2", "--population", "4"
PLAY = "play", "2048", "--board", "3x3", "--depth", "1", "--games", "4"


def test_tuned_weights_are_an_evaluation(tmp_path):
    answer = ask(*TUNE, "--seed", "3", "--record", tmp_path / "record", "--json")
    assert answer.status == 0, answer.err
    (found,), path = answer.results, tmp_path / "weights.json"
    assert (found["complete"], found["asked"]["seed"], found["games"]) == (True, 3, 24)
    assert len((tmp_path / "record").read_text().splitlines()) == 2
    path.write_text(answer.out)
    (by_file,), (by_text,) = (
        ask(*PLAY, "--evaluation", evaluation, "--json").results for evaluation in (path, found["evaluation"])
    )
    assert by_file["evaluation"] == by_text["evaluation"] == found["evaluation"]
    assert by_file["average"] == by_text["average"]
    assert ask("search", "2048", "--depth", "2", "--evaluation", path).status == 0
    assert_refused(ask("play", "2584", "--depth", "1", "--evaluation", path), "weights.json", "2048", "2584")


def test_text_names_what_was_found():
    (found,), lines = ask(*TUNE, "--json").results, ask(*TUNE).out.splitlines()
    assert lines[0] == "2048 3x3  2 generations of 4 candidates, 3 games each, depth 1, seed 0"
    assert lines[1].split() == ["found", found["evaluation"]]
    assert lines[2].split() == ["start", found["asked"]["start"]]


def test_depth_is_3_unless_it_is_given():
    short = "--games", "1", "--generations", "1", "--population", "4", "--board", "2x2", "--json"
    for options, depth in (((), 3), (("--layers", "2"), 5), (("--depth", "2"), 2)):
        (found,) = ask("tune", "2584", *short, *options).results
        assert found["asked"]["depth"] == depth


@pytest.mark.parametrize("name", ["2048", "2584"])
def test_boards_that_are_sampled_can_be_solved(name, tmp_path):
    record, output = tmp_path / "record", tmp_path / "boards"
    assert ask("play", name, "--depth", "1", "--games", "5", "--record", record).status == 0
    asked = "sample", name, "--record", record, "--class", "normal", "--count", "7", "--seed", "2"
    printed = ask(*asked)
    assert (printed.status, printed.err) == (0, "")
    assert ask(*asked, "--output", output) == (0, "", "")
    assert output.read_text() == printed.out
    lines = printed.out.splitlines()
    assert len(lines) == 7
    answer = ask("solve", name, "--positions", output, "--depth", "2", "--json")
    assert [found["move"] is not None for found in answer.results] == [True] * 7
    assert ask("search", name, lines[0], "--depth", "1").status == 0
    assert_refused(ask(*asked, "--output", output), "cannot write", "exists")


def test_a_record_that_does_not_replay(tmp_path):
    record = tmp_path / "record"
    assert ask(*PLAY, "--record", record).status == 0
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    lines[2]["moves"] = lines[2]["moves"].replace("left", "right", 1).replace("up", "down", 1)
    record.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert_refused(ask("sample", "2048", "--record", record, "--class", "late", "--count", "1"), "line 3")
