"""--checkpoint and --resume: a run that was ended goes on, one that has come to its end is told again."""

import contextlib
import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

from distsearch.api.interrupts import Interrupts
from distsearch.formats import checkpoint as module
from distsearch.jobs.two_player import SolveRunner

from ..tree.mutants import mutated
from .asking import START, ask, assert_refused

BOARD = ("--board", "4x4")
POSITIONS = ["startpos", "d3", "nonsense", START, "c4", "b1a1", "d3d2", "a2"]
SEARCHES = {
    "exact": ["search", "othello", *BOARD, "--exact"],
    "depth": ["search", "othello", *BOARD, "--depth", "9"],
    "plain": ["search", "othello", *BOARD, "--depth", "7", "--ordering", "static"],
    "moves": ["search", "othello", *BOARD, "--exact", "--all-moves"],
    "nodes": ["search", "othello", *BOARD, "--nodes", "20000"],
    "perft": ["perft", "othello", *BOARD, "--depth", "9"],
    "solve": ["solve", "othello", *BOARD, "--positions", "good.txt", "--exact"],
    "scores": ["solve", "othello", *BOARD, "--positions", "good.txt", "--exact", "--plain"],
    "all scores": ["solve", "othello", *BOARD, "--positions", "good.txt", "--exact", "--plain", "--all-moves"],
    "one by one": ["solve", "othello", *BOARD, "--positions", "good.txt", "--nodes", "2000"],
}
MUTANTS = 25
LARGE = np.zeros(1000)
SAME = "position", "move", "score", "unit", "proved", "complete", "bound", "depth", "counts", "moves"
searches = pytest.mark.parametrize("name", SEARCHES)


@pytest.fixture(autouse=True)
def positions(folder):
    (folder / "good.txt").write_text("\n".join(POSITIONS) + "\n")


@pytest.fixture
def ended(monkeypatch):
    """Has the next runs end, as by SIGTERM, when they have looked at their signals so many times, 0 for never."""

    def arrange(looks):
        class Ended(Interrupts):
            left = looks

            def __getattribute__(self, name):
                if name == "signal" and vars(self).get("signal") is None and vars(self):
                    type(self).left -= 1
                    if type(self).left == 0:
                        self._note(signal.SIGTERM, None)
                return super().__getattribute__(name)

        monkeypatch.setattr("distsearch.cli.launch.Interrupts", Ended)

    return arrange


def run(name, *options):
    return ask(*SEARCHES[name], *options)


def told(answer):
    """What an answer says of its positions, without what differs from run to run."""
    if not answer.out.startswith("{"):
        return [line.split() for line in answer.out.splitlines()]
    return [{name: found[name] for name in SAME if name in found} for found in map(json.loads, answer.out.splitlines())]


@searches
def test_a_run_that_came_to_its_end_is_told_again(name):
    style = [] if "scores" in name else ["--json"]
    first = run(name, *style, "--checkpoint", "file")
    again = run(name, *style, "--checkpoint", "file", "--resume")
    assert first.out != ""
    assert (again.status, again.out) == (first.status, first.out)
    assert told(first) == told(run(name, *style))


@searches
def test_a_run_that_was_ended_goes_on_to_the_same_answers(name, ended, rng):
    style = [] if "scores" in name else ["--json"]
    whole = run(name, *style)
    for looks in (1, 2, 3, 2, rng.randrange(4, 20), 0):
        ended(looks)
        answer = run(name, *style, "--checkpoint", "file", "--resume")
        if answer.status != 143:
            break
    assert answer.status == whole.status
    assert told(answer) == told(whole)


def test_an_ended_run_leaves_a_state(ended):
    ended(2)
    assert run("solve", "--checkpoint", "file").status == 143
    assert sorted(os.listdir()) == ["empty.txt", "file", "file.answers", "folder", "good.txt"]


def test_a_job_at_work_is_gone_on_with(ended, monkeypatch):
    command = ["search", "connect4", "44444432", "--exact", "--book", "none", "--json"]
    ended(20)
    assert ask(*command, "--checkpoint", "file").status == 143
    restored, real = [], SolveRunner.restore
    monkeypatch.setattr(SolveRunner, "restore", lambda self, *given: restored.append(real(self, *given)))
    ended(0)
    found = ask(*command, "--checkpoint", "file", "--resume")
    assert told(found) == told(ask(*command))
    assert len(restored) == 1


def test_states_are_saved_as_time_goes_by(monkeypatch):
    saved = []
    monkeypatch.setattr(module, "INTERVAL", 1e-9)
    monkeypatch.setattr(module.archive, "save", lambda *content: saved.append(content))
    run("depth", "--checkpoint", "file")
    assert len(saved) >= 2


def test_no_file_is_refused_that_is_not_there():
    answer = run("perft", "--checkpoint", "file", "--resume")
    assert answer.status == 0
    assert answer.err == "distsearch: there is no file to resume: this search begins\n"


@pytest.mark.parametrize("command", [SEARCHES["exact"], SEARCHES["perft"], SEARCHES["solve"]])
def test_what_makes_no_sense_is_refused(command):
    assert_refused(ask(*command, "--resume"), "checkpoint")
    assert_refused(ask(*command, "--checkpoint"), "--checkpoint")
    assert_refused(ask(*command, "--checkpoint", "no/file"), "no/file", "No such file")
    assert_refused(ask(*command, "--checkpoint", "folder"), "folder", "exists")
    assert_refused(ask(*command, "--checkpoint", "good.txt"), "good.txt", "exists", "--resume")
    assert_refused(ask(*command, "--checkpoint", "good.txt", "--resume"), "good.txt", "not a file of checkpoints")


@pytest.mark.parametrize("command", [["simulate", "othello"], ["bench"], ["info"]])
def test_other_commands_have_no_checkpoint(command):
    assert_refused(ask(*command, "--checkpoint", "file"), "--checkpoint")


@pytest.mark.parametrize(
    ("first", "second", "named"),
    [
        (SEARCHES["exact"], SEARCHES["depth"], "depth"),
        (SEARCHES["exact"], SEARCHES["perft"], "command"),
        (SEARCHES["exact"], [*SEARCHES["exact"], "--json"], "json"),
        (SEARCHES["exact"], [*SEARCHES["exact"], "--window", "-1,1"], "window"),
        (SEARCHES["exact"], [*SEARCHES["exact"], "--empties", "none"], "rules"),
        (SEARCHES["exact"], [*SEARCHES["exact"], "d3"], "position"),
        (SEARCHES["perft"], [*SEARCHES["perft"][:-1], "8"], "plies"),
        (SEARCHES["perft"], [*SEARCHES["perft"], "--positions", "good.txt"], "position"),
        (SEARCHES["solve"], [*SEARCHES["solve"], "--check"], "check"),
        (SEARCHES["solve"], SEARCHES["moves"], "command"),
    ],
)
def test_a_file_of_another_search_is_refused(first, second, named):
    ask(*first, "--checkpoint", "file")
    before = Path("file").read_bytes()
    answer = ask(*second, "--checkpoint", "file", "--resume")
    assert (answer.status, answer.out) == (2, "")
    assert f"is of another search: {named} is" in answer.err.splitlines()[-1]
    assert Path("file").read_bytes() == before


def test_how_the_work_is_shared_out_does_not_matter():
    run("depth", "--json", "--checkpoint", "file")
    shared = "--load-factor", "9", "--prefetch", "5", "--table", "1"
    again = run("depth", "--json", *shared, "--checkpoint", "file", "--resume")
    assert again.status == 0


def test_another_input_is_refused(folder):
    first = run("solve", "--checkpoint", "file")
    (folder / "good.txt").write_text("\n".join(["c4", *POSITIONS[1:]]) + "\n")
    answer = run("solve", "--checkpoint", "file", "--resume")
    assert_refused(answer, "first 8 lines")
    (folder / "good.txt").write_text("\n".join(POSITIONS) + "\nd3\n")
    longer = run("solve", "--checkpoint", "file", "--resume")
    assert longer.out.startswith(first.out)
    assert len(longer.out.splitlines()) == len(first.out.splitlines()) + 1


def test_bad_lines_and_differences_of_earlier_runs_count(folder):
    (folder / "good.txt").write_text("startpos -10\nd3 3\n")
    checked = ["solve", "othello", *BOARD, "--positions", "good.txt", "--check", "--checkpoint", "file"]
    assert ask(*checked).status == 1
    (folder / "good.txt").write_text("startpos -10\nd3 3\nd3 10\n")
    answer = ask(*checked, "--resume")
    assert (answer.status, len(answer.out.splitlines())) == (1, 3)
    assert "3 positions: " in answer.err


def test_sigusr1_saves_a_state_and_the_search_goes_on(monkeypatch):
    """Here at the first look; other tests see that it comes in at any time."""
    states = []
    real = module.Checkpoint.maybe_save

    def maybe_save(self, make):
        if not states:
            os.kill(os.getpid(), signal.SIGUSR1)
        real(self, lambda: states.append(make()) or states[-1])

    monkeypatch.setattr(module.Checkpoint, "maybe_save", maybe_save)
    answer = run("depth", "--json", "--checkpoint", "file")
    assert answer.status == 0
    assert len(states) == 1
    assert told(answer) == told(run("depth", "--json"))


def test_an_empty_name_is_refused():
    assert_refused(run("depth", "--checkpoint", ""), "empty")


@pytest.mark.parametrize("name", ["depth", "perft", "solve"])
def test_two_runs_do_not_share_a_file(name):
    with contextlib.closing(module.Checkpoint("file", {}, False, None, print, exclusive=True)):
        for resume in ([], ["--resume"]):
            assert_refused(run(name, "--checkpoint", "file", *resume), "file is being written by another run")
    assert run(name, "--checkpoint", "file").status in (0, 1)
    assert not os.path.exists("file.lock")


def test_a_working_directory_that_is_gone_is_told_in_a_line(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert_refused(run("perft", "--checkpoint", "file"), "cannot write file")
    monkeypatch.chdir(tmp_path)


def test_an_output_that_is_no_text_is_refused():
    assert run("perft", "--checkpoint", "file").status == 0
    module._save("file", {**module._load("file"), "state": {"output": [1]}})
    assert_refused(run("perft", "--checkpoint", "file", "--resume"), "output in it cannot be right")


@searches
def test_a_changed_state_is_refused_or_searched_to_an_end(name, ended, rng):
    for looks in (2, 20, 4):
        ended(looks)
        if run(name, "--checkpoint", "file").status == 143:
            break
    ended(0)
    whole, answers = module._load("file"), read("file.answers")
    refused = 0
    for _ in range(MUTANTS):
        module._save("file", {**whole, "state": mutated(whole["state"], rng)})
        write("file.answers", answers)
        answer = run(name, "--checkpoint", "file", "--resume")
        assert "Traceback" not in answer.err
        if answer.status == 2:
            refused += 1
            # a line for a job that begins anew may come before the one that refuses the file
            assert 1 <= len(answer.err.splitlines()) <= 2
            assert all(line.startswith("distsearch: ") for line in answer.err.splitlines())
        else:
            assert answer.status in (0, 1)
    assert refused > 0


@pytest.mark.parametrize("entry", ["version", "search", "state"])
def test_a_file_without_an_entry_or_with_a_strange_one_is_refused(entry, folder):
    assert run("perft", "--checkpoint", "file").status == 0
    whole = module._load("file")
    for strange in (None, 5, [], "text", {"array": 0}, {"array": [1]}, {"game": {"array": 0}}):
        module._save("file", {**whole, entry: strange})
        assert_refused(run("perft", "--checkpoint", "file", "--resume"), "file")
    module._save("file", {name: value for name, value in whole.items() if name != entry})
    assert_refused(run("perft", "--checkpoint", "file", "--resume"), "file is damaged")


def test_an_array_that_is_named_twice_is_not_copied_twice():
    module._save("file", {"version": "1", "search": {}, "state": [{"array": 0}] * 1000, "large": LARGE})
    assert_refused(run("perft", "--checkpoint", "file", "--resume"), "names an array that it does not have")


def read(path):
    return Path(path).read_bytes() if Path(path).exists() else None


def write(path, content):
    if content is not None:
        Path(path).write_bytes(content)
