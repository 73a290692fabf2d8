"""Games of two players on the command line: watched, against a person, recorded."""

import json
import re

import pytest

from ..games.replay import replayed
from .asking import ask, assert_refused

PLAY = "play", "othello", "--board", "4x4", "--depth", "2"


def test_a_summary_and_a_record(tmp_path):
    path = tmp_path / "games"
    asked = *PLAY, "--games", "4", "--opponent", "random", "--share", "tree", "--seed", "7"
    answer = ask(*asked, "--record", path, "--json")
    assert (answer.status, answer.err) == (0, "")
    (found,), lines = answer.results, [json.loads(line) for line in path.read_text().splitlines()]
    assert [replayed(line)[0] for line in lines] == [line["score"] for line in lines]
    assert found["wins"] + found["draws"] + found["losses"] == found["games"] == 4
    assert [player["label"] for player in found["players"]] == ["program", "opponent"]
    text = ask(*asked).out.splitlines()
    assert text[0] == "othello 4x4  4 games, seed 7"
    assert text[1].startswith("  program    alphabeta, complex, depth 2: ")
    assert text[2].startswith("  opponent   random: ")
    assert text[3] == f"  results    program won {found['wins']}, drew {found['draws']}, lost {found['losses']}"


def test_a_watched_game_shows_every_board():
    lines = ask(*PLAY, "--watch").out.splitlines()
    movers = [line.split()[0] for line in lines if " plays " in line]
    assert movers[:4] == ["X", "O", "X", "O"]
    assert lines.index("othello 4x4  1 game, seed 0") > len(movers)


def test_a_watched_game_shows_the_clock(tmp_path):
    path = tmp_path / "games"
    lines = ask("play", "othello", "--board", "4x4", "--clock", "60+1", "--watch", "--record", path).out.splitlines()
    recorded = json.loads(path.read_text())["seconds_left"]
    shown = [float(line.split()[-3]) for line in lines if line.endswith(" s left")]
    assert shown == pytest.approx(recorded, abs=0.06)
    assert len(shown) == sum(" plays " in line for line in lines)
    assert "clock 60+1: " in lines[-4]


def test_with_json_stdout_has_the_summary_alone():
    answer = ask(*PLAY, "--watch", "--json")
    (found,) = answer.results
    assert found["games"] == 1
    assert answer.err.count(" plays ") == sum(player["moves"] for player in found["players"])


@pytest.mark.parametrize("side", ["X", "o", "1", "2"])
def test_a_person_plays_and_is_told_what_is_wrong(side, tmp_path):
    """Answers that are no moves cost nothing; the first legal move on offer is made, until the game is over."""
    typed, path = ["z9", "", "b2", "B", "C3"], tmp_path / "game"
    for _ in range(30):
        answer = ask(*PLAY, "--you", side, "--record", path, stdin="\n".join(typed).encode())
        assert (answer.status, answer.err) == (0, "")
        if "1 game," in answer.out:
            break
        assert not path.read_text()
        path.unlink()
        offered = re.findall(r"your move \(([^;]*);", answer.out)[-1].split()
        typed.append(offered[0].upper())
    line = json.loads(path.read_text())
    assert replayed(line)[0] == line["score"]
    assert line["XO"[side in "o2"]] == "you"
    assert "'z9' is not a square" in answer.out
    assert "b2 is not legal here" in answer.out


@pytest.mark.parametrize("typed", [b"", b"q\n", b"nonsense\nquit\n", b"\xff\xfe\n"])
def test_a_person_may_leave(typed):
    answer = ask(*PLAY, "--you", "X", "--json", stdin=typed)
    (found,) = answer.results
    assert (answer.status, found["games"], found["complete"]) == (0, 0, False)


def test_a_person_plays_against_chance():
    answer = ask("play", "2048", "--board", "2x2", "--depth", "1", "--you", "1", stdin=b"left\nright\nup\ndown\n" * 40)
    assert answer.status == 0
    assert answer.out.count("your move (") >= 4
    assert "2048 2x2  1 game, seed 0" in answer.out
    assert "  you        you: " in answer.out


def test_a_move_has_a_second_where_no_limit_is_given():
    (found,) = ask("play", "connect4", "--board", "1x4", "--json").results
    assert [player["player"] for player in found["players"]] == ["alphabeta, outcome, time 1.0"] * 2


def test_a_file_that_is_there_is_left_alone(tmp_path):
    path = tmp_path / "games"
    path.write_text("mine")
    assert_refused(ask(*PLAY, "--record", path), "cannot write", "exists")
    assert path.read_text() == "mine"
