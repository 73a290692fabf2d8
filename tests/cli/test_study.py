"""``study scaling`` and ``study table``: rows in a file, resumed and merged, and what they print."""

import json

import pytest

from distsearch.studies.results import Sharing, identity, read
from distsearch.studies.scaling import sweep

from ..studies.rows import columns, row
from .asking import ask, assert_refused, search

SMALL = "study", "scaling", "othello", "startpos", "--board", "4x4", "--exact", "--repeats", 2


@pytest.fixture(autouse=True)
def _hardly_warm(monkeypatch):
    monkeypatch.setattr(sweep, "_WARM", 0.0)


def test_a_table_and_a_file(folder):
    answer = ask(*SMALL, "--output", "runs", "--policy", "split,pool")
    assert answer.status == 0
    assert [[line["ranks"] for line in part] for part in columns(answer.out)] == [[1], [1]]
    rows = read(["runs"])
    assert len(rows) == 4
    alike = search("--exact")
    for each in rows:
        assert each["result"]["score"] == alike["score"] == -10
        assert each["meta"]["arguments"].startswith("study scaling othello startpos")
        assert each["meta"]["seed"] == 0
    assert all(each["result"]["nodes"] == alike["nodes"] for each in rows if each["point"]["policy"] == "split")


def test_what_is_in_the_file_is_not_done_again(folder, monkeypatch):
    first = ask(*SMALL, "--output", "runs")
    content = (folder / "runs").read_bytes()
    again = ask(*SMALL, "--output", "runs")
    assert (folder / "runs").read_bytes() == content
    assert again.out == first.out
    lines = content.splitlines(keepends=True)
    (folder / "runs").write_bytes(b"".join(lines[:1]) + lines[1][:50])  # killed at its second run
    resumed = ask(*SMALL, "--output", "runs")
    assert resumed.status == 0
    assert "torn" in resumed.err
    assert len(read(["runs"])) == len(lines)
    more = ask(*SMALL, "--output", "runs", "--repeats", 3, "--policy", "split")
    assert len(read(["runs"])) == len(lines) + 1
    assert "medians of 3 runs" in more.out


def test_what_another_job_is_measuring_is_left_to_it(folder):
    command = *SMALL, "--output", "runs", "--policy", "split", "--repeats"
    assert ask(*command, 1).status == 0
    (known,) = read(["runs"])
    with Sharing("runs").claimed(identity({**known, "repeat": 1})) as mine:
        assert mine
        answer = ask(*command, 3)
        assert "runs that other jobs with this file are making: 1" in answer.err
        assert [each["repeat"] for each in read(["runs"])] == [0, 2]
    assert "other jobs" not in ask(*command, 3).err
    assert sorted(each["repeat"] for each in read(["runs"])) == [0, 1, 2]


def test_rows_instead_of_a_table(folder):
    answer = ask(*SMALL, "--json", "--output", "runs")
    assert answer.status == 0
    assert answer.results == read(["runs"])
    assert ask(*SMALL, "--json", "--output", "runs").results == answer.results


def test_every_game_can_be_swept(folder):
    (folder / "lines").write_text("4453\n44444\n")
    for asked in (
        ("connect4", "--positions", "lines", "--depth", 4),
        ("2048", "--layers", 1, "--algorithm", "expectiminimax", "--evaluation", "rows"),
        ("2584", "startpos", "--layers", 1, "--seed", 3),
        ("othello", "--depth", 3, "--ordering", "static"),
        ("othello", "--depth", 2, "--weak-scaling", "depth"),
    ):
        answer = ask("study", "scaling", *asked, "--repeats", 1)
        assert answer.status == 0, answer
        assert columns(answer.out)


def test_the_table_of_files_of_several_jobs(folder):
    for name, rows in (("a", [row(8.0)]), ("b", [row(2.0, ranks=4)])):
        (folder / name).write_text("".join(json.dumps(each) + "\n" for each in rows))
    answer = ask("study", "table", "a", "b")
    assert (answer.status, answer.err) == (0, "")
    ((_, last),) = columns(answer.out)
    assert last["speedup"] == 4


def test_scores_that_differ_are_told_and_end_with_status_1(folder):
    ask(*SMALL, "--output", "runs")
    wrong = read(["runs"])[0]
    wrong["result"]["scores"] = [99]
    (folder / "runs").write_text(json.dumps(wrong) + "\n")
    answer = ask(*SMALL, "--output", "runs")
    assert answer.status == 1
    assert "scores differ: 99 by 1 ranks with" in answer.err
    assert columns(answer.out)


def test_what_is_refused(folder):
    (folder / "rows").write_text(json.dumps(row()) + "\n")
    (folder / "bare").write_text('{"study": "scaling", "point": {}, "repeat": 0, "result": {}, "meta": {}}\n')
    (folder / "other").write_text(json.dumps({**row(), "study": "brothers"}) + "\n")
    (folder / "words").write_text("words\nand more\n")
    for arguments, names in (
        (["study"], ["STUDY"]),
        (["study", "nothing"], ["nothing"]),
        (["study", "scaling"], ["GAME"]),
        (["study", "scaling", "chess"], ["chess"]),
        (["study", "scaling", "othello", "--ranks", "1,2"], ["ranks 2", "1"]),
        (["study", "scaling", "othello", "--ranks", "0"], ["ranks 0"]),
        (["study", "scaling", "othello", "--table", "64", "--ordering", "static"], ["table"]),
        (["study", "scaling", "othello", "--output", "folder"], ["folder"]),
        (["study", "scaling", "othello", "--output", "words"], ["words", "line 1"]),
        (["study", "table"], ["FILE"]),
        (["study", "table", "none"], ["none"]),
        (["study", "table", "rows", "bare"], ["depth"]),
        (["study", "table", "other"], ["other"]),
        (["study", "table", "words"], ["words", "line 1"]),
    ):
        assert_refused(ask(*arguments), *names)


@pytest.mark.parametrize("command", [["study"], ["study", "scaling"], ["study", "table"]], ids=" ".join)
def test_help(command):
    answer = ask(*command, "--help")
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.startswith(f"usage: distsearch {' '.join(command)}")


def test_a_run_that_is_too_short_is_warned_of(folder, monkeypatch):
    answer = ask(*SMALL, "--policy", "split")
    assert answer.status == 0
    assert answer.err.startswith("distsearch: 2 of 2 runs took less than 1 s") and answer.err.count("\n") == 1
    monkeypatch.setattr(sweep, "SHORT", 0.0)
    assert ask(*SMALL, "--policy", "split").err == ""


def test_a_dry_run_tells_of_runs_and_measures_none(folder):
    asked = *SMALL, "--policy", "split,pool", "--output", "runs"
    answer = ask(*asked, "--dry-run")
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.startswith("4 runs to do, 0 done\nabout 0:00 with ideal speedup")
    assert not (folder / "runs").exists()
    assert ask(*asked[:-4], "--policy", "split", *asked[-2:]).status == 0
    content = (folder / "runs").read_bytes()
    (told,) = ask(*asked, "--dry-run", "--json").results
    assert (told["runs"], told["done"], told["complete"]) == (2, 2, True)
    assert 0 <= told["seconds_ideal"] <= told["seconds_without_speedup"] < 1
    assert (folder / "runs").read_bytes() == content
    ask(*asked)
    assert ask(*asked, "--dry-run").out == "0 runs to do, 4 done\n"


def test_a_dry_run_gives_up_on_what_takes_long(folder, monkeypatch):
    monkeypatch.setattr(sweep, "_TRIED", 0.2)
    asked = "study", "scaling", "othello", "startpos", "--depth", 40, "--policy", "split", "--dry-run"
    (told,) = ask(*asked, "--json").results
    assert not told["complete"]
    assert told["seconds_without_speedup"] == pytest.approx(3 * 0.2)
    assert "\nmore than 0:01 with ideal speedup, more than 0:01 with none" in ask(*asked).out
