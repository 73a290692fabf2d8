"""What the command line answers to searches of games against chance."""

import json

import pytest

from .asking import ask, assert_refused

BOARD = "2,4,8,16,0,2,4,32,0,0,2,64,0,0,0,128"
LOST = "2,4,2,4,4,2,4,2,2,4,2,4,4,2,4,2"


def found(*arguments):
    answer = ask("search", *arguments, "--json")
    assert answer.status == 0, answer.err
    return json.loads(answer.out)


def test_the_answer_in_json():
    one = found("2048", BOARD, "--depth", "5", "-a")
    assert (one["game"], one["board"], one["position"]) == ("2048", "4x4", BOARD)
    assert (one["algorithm"], one["policy"], one["unit"], one["bound"]) == ("expectimax", "pool", "evaluation", "exact")
    assert (one["depth"], one["complete"], one["proved"]) == (5, True, False)
    assert [each["move"] for each in one["moves"]] == ["left", "down"]
    assert one["score"] == max(each["score"] for each in one["moves"])
    assert one["move"] == max(one["moves"], key=lambda each: each["score"])["move"]


@pytest.mark.parametrize("name", ["2048", "2584"])
def test_layers_are_plies(name):
    by_layers, by_plies = (found(name, *limit) for limit in (("--layers", "2"), ("--depth", "5")))
    assert (by_layers["depth"], by_layers["score"]) == (5, by_plies["score"])


def test_startpos_is_dealt_by_the_seed():
    positions = [found("2048", "--depth", "1", "--seed", seed)["position"] for seed in "1122"]
    assert positions[0] == positions[1] != positions[2] == positions[3]
    assert all(sum(map(bool, map(int, position.split(",")))) == 2 for position in positions)


def test_chance_and_spawns_are_as_asked():
    scores = {
        found("2048", BOARD, "--depth", "5", *how)["score"]
        for how in ((), ("--chance", "uniform"), ("--spawn", "2:0.5,4:0.5"), ("--min-probability", "0.1"))
    }
    assert len(scores) == 3  # uniform chance is what two kinds of tile alike are
    assert (
        found("2048", BOARD, "--depth", "5", "--min-probability", "0.1")["nodes"]
        < found("2048", BOARD, "--depth", "5")["nodes"]
    )


def test_time_deepens():
    one = found("2048", BOARD, "--time", "0.2")
    assert one["depth"] >= 5
    assert one["depth"] % 2 == 1
    assert one["seconds"] < 1


@pytest.mark.parametrize(
    ("position", "move"), [(LOST, "none: no legal move"), (BOARD + " +1", "none: chance is to move")]
)
def test_without_a_move_there_is_a_score(position, move):
    answer = ask("search", "2048", position, "--depth", "3")
    assert answer.status == 0
    assert f"best move  {move}" in answer.out
    assert "score      -" in answer.out or "score      +" in answer.out


def test_a_file_of_positions(tmp_path):
    (tmp_path / "boards").write_text(f"{BOARD}\n1,2\n{LOST}\n")
    answer = ask("solve", "2048", "--positions", str(tmp_path / "boards"), "--depth", "3")
    assert answer.status == 1
    assert [line.split()[:2] for line in answer.out.splitlines()] == [["1", "down"], ["3", "-"]]
    assert "line 2: a position of 2048 4x4 is 16 tile values" in answer.err


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["2048", "--depth", "0"], "depth 0"),
        (["2048", "1,2,3"], "16 tile values"),
        (["2048", BOARD.replace("8", "7", 1), "--depth", "1"], "'7' is not a tile"),
        (["2048", "--spawn", "2:0.9,4:0.2", "--depth", "1"], "do not sum to 1"),
        (["2584", "--spawn", "4:1", "--depth", "1"], "4 is not a tile of 2584"),
        (["2048", "--exact"], "game against chance"),
        (["2048", "--nodes", "100"], "game against chance"),
        (["2048", "--deeper", "2:5"], "deeper goes with depth"),
        (["2048", "--depth", "1", "--deeper", "2"], "deeper '2' is not"),
        (["othello", "--deeper", "2:5"], "deeper"),
        (["2048", "--layers", "1", "--depth", "3"], "exclude each other"),
        (["2048", "--layers", "-1"], "layers -1"),
        (["2048", "--min-probability", "1.5"], "min-probability 1.5"),
        (["2048", "--chance", "fair"], "chance 'fair'"),
        (["2048", "--algorithm", "alphabeta"], "algorithm 'alphabeta' is not expectimax"),
        (["2048", "--policy", "split"], "policy split"),
        (["2048", "--table", "8"], "table"),
        (["2048", "--board", "5x5"], "5x5"),
        (["2048", BOARD, "--seed", "3", "--depth", "1"], "seed goes with startpos"),
        (["othello", "--layers", "2"], "against chance"),
        (["othello", "--spawn", "2:1"], "no option spawn"),
        (["othello", "--algorithm", "expectimax"], "algorithm 'expectimax' is not alphabeta"),
        (["2048", "--depth", "3", "--checkpoint", "x"], "checkpoint"),
    ],
    ids=lambda value: " ".join(value)[-40:] if isinstance(value, list) else "",
)
def test_refusals(arguments, why):
    assert_refused(ask("search", *arguments), why)


@pytest.mark.parametrize("command", [["simulate", "2048", "--depth", "3"], ["solve", "2048"]], ids=str)
def test_other_commands_refuse(command):
    assert_refused(ask(*command), "against chance")
