"""What the command line answers to searches of games against chance."""

import json
import re
from operator import itemgetter

import pytest

from .asking import ask, assert_refused

BOARD = "2,4,8,16,0,2,4,32,0,0,2,64,0,0,0,128"
DEEP = "2048", "--depth", "7"
EMM = "--algorithm", "expectiminimax"
ROWS = "--evaluation", "rows"  # where searches are compared of which some have no network
LOST = "2,4,2,4,4,2,4,2,2,4,2,4,4,2,4,2"


def found(*arguments):
    answer = ask("search", *arguments, "--json")
    assert answer.status == 0, answer.err
    return json.loads(answer.out)


def test_the_answer_in_json():
    one = found("2048", BOARD, "--depth", "5", "-a")
    assert (one["game"], one["board"], one["position"]) == ("2048", "4x4", BOARD)
    assert (one["algorithm"], one["policy"], one["unit"], one["bound"]) == (
        "expectimax",
        "split",
        "evaluation",
        "exact",
    )
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
        found("2048", BOARD, "--depth", "5", *ROWS, *how)["score"]
        for how in ((), ("--chance", "uniform"), ("--spawn", "2:0.5,4:0.5"), ("--min-probability", "0.1"))
    }
    assert len(scores) == 3  # uniform chance is what two kinds of tile alike are
    assert (
        found("2048", BOARD, "--depth", "5", "--min-probability", "0.1")["nodes"]
        < found("2048", BOARD, "--depth", "5")["nodes"]
    )


WAYS = [
    ("expectiminimax", "--pruning", "none"),
    ("expectiminimax", "--par-depth", "2"),
    ("expectiminimax", "--policy", "brothers", "--par-depth", "3"),
    ("minimax", "--load-factor", "9"),
    ("alphabeta",),
    ("alphabeta", "--policy", "brothers", "--load-factor", "30"),
]


def test_where_chance_has_an_adversary_every_way_is_worth_the_same():
    answers = [found("2048", BOARD, "--depth", "4", "--algorithm", *way) for way in WAYS]
    for way, one in zip(WAYS, answers, strict=True):
        same = next(other for other in answers if (other["algorithm"] == "expectiminimax") == (way[0] == EMM[1]))
        assert (one["score"], one["move"]) == (pytest.approx(same["score"], rel=1e-9), same["move"])
        assert (one["algorithm"], one["bound"], one["depth"]) == (way[0], "exact", 4)
        assert one["policy"] == ("brothers" if "brothers" in way else "pool")
        assert one["pruning"] == ("none" if "none" in way or way[0] == "minimax" else "alphabeta")
        assert one["jobs_used"] + one["jobs_wasted"] == one["jobs"]
        assert one["policy"] == "brothers" or one["jobs_cut"] == 0
    assert [one.get("par_depth") for one in answers] == [None, 2, 3, None, None, None]
    assert answers[2]["jobs_cut"] > 0
    assert "jobs_used" not in found("2048", BOARD, "--depth", "2")


def test_an_adversary_is_no_better_than_chance_and_no_worse_than_one_that_draws_too():
    scores = [
        found("2048", BOARD, "--layers", "1", *ROWS, "--algorithm", name)["score"]
        for name in ("expectimax", "expectiminimax", "minimax")
    ]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 3


@pytest.mark.parametrize(("algorithm", "plies"), [("expectiminimax", 7), ("alphabeta", 5), ("minimax", 5)])
def test_a_layer_is_a_move_and_what_follows(algorithm, plies):
    assert found("2048", BOARD, "--layers", "2", "--algorithm", algorithm)["depth"] == plies


@pytest.mark.parametrize("algorithm", ["expectiminimax", "alphabeta"])
def test_every_move_is_scored(algorithm):
    one = found("2048", BOARD, "--depth", "4", "--algorithm", algorithm, "-a", "--policy", "brothers")
    assert sorted(each["move"] for each in one["moves"]) == ["down", "left"]
    assert max(one["moves"], key=lambda each: each["score"]) == {"move": one["move"], "score": one["score"]}


def test_the_answer_as_text():
    answer = ask("search", *DEEP[:1], BOARD, *DEEP[1:], *EMM, "--policy", "brothers", "--par-depth", "3")
    assert "expectiminimax, depth 7, policy brothers at par-depth 3, 1 rank" in answer.out
    assert re.search(r"jobs       \d+ used, \d+ wasted, \d+ cut", answer.out)
    plain = ask("search", *DEEP[:1], BOARD, *DEEP[1:], *EMM, "--pruning", "none")
    assert "expectiminimax without pruning, depth 7" in plain.out


def test_time_deepens():
    one = found("2048", BOARD, "--time", "0.2")
    assert one["depth"] >= 5
    assert one["depth"] % 2 == 1
    assert one["seconds"] < 1


def test_time_deepens_where_chance_has_an_adversary():
    one = found("2048", BOARD, "--time", "0.2", *EMM)
    assert one["depth"] >= 7
    assert one["depth"] % 3 == 1


@pytest.mark.parametrize("algorithm", ["expectimax", "expectiminimax", "alphabeta"])
@pytest.mark.parametrize(
    ("position", "move"), [(LOST, "none: no legal move"), (BOARD + " +1", "none: chance is to move")]
)
def test_without_a_move_there_is_a_score(position, move, algorithm):
    answer = ask("search", "2048", position, "--depth", "1", "--algorithm", algorithm)
    assert answer.status == 0
    assert f"best move  {move}" in answer.out
    assert "score      -" in answer.out or "score      +" in answer.out


@pytest.mark.parametrize(
    "how", [("--evaluation", "rows"), EMM, ("--algorithm", "alphabeta", "--policy", "brothers")], ids=str
)
def test_a_file_of_positions(tmp_path, how):
    (tmp_path / "boards").write_text(f"{BOARD}\n1,2\n{LOST}\n")
    answer = ask("solve", "2048", "--positions", str(tmp_path / "boards"), "--depth", "3", *how)
    assert answer.status == 1
    assert [line.split()[:2] for line in answer.out.splitlines()] == [["1", "down"], ["3", "-"]]
    assert "line 2: a position of 2048 4x4 is 16 tile values" in answer.err


def test_a_file_holds_what_search_calls_a_position(tmp_path):
    late = BOARD + " +1"
    (tmp_path / "boards").write_text(f"{late}\n{late} ; 7\n{late.replace(',', ' ')}\n")
    answers = ask("solve", "2048", "--positions", str(tmp_path / "boards"), "--depth", "3", "--json").results
    alone = found("2048", late, "--depth", "3")
    assert [(one["position"], one["move"], one["score"]) for one in answers] == [(late, None, alone["score"])] * 3


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["2048", "--depth", "0"], "depth 0"),
        (["2048", "1,2,3"], "16 tile values"),
        (["2048", BOARD.replace("8", "7", 1), "--depth", "1"], "'7' is not a tile"),
        (["2048", "--spawn", "2:0.9,4:0.2", "--depth", "1"], "do not sum to 1"),
        (["2584", "--spawn", "4:1", "--depth", "1"], "4 is not a tile of 2584"),
        (["2048", "--exact"], "game against chance"),
        (["2048", "--nodes", "100"], "nodes goes with ida and mcts, and with play"),
        (["2048", "--depth-by-empty", "2:5"], "depth-by-empty goes with depth"),
        (["2048", "--depth", "1", "--depth-by-empty", "2"], "depth-by-empty '2' is not"),
        (["othello", "--depth-by-empty", "2:5"], "depth-by-empty is for games against chance"),
        (
            ["2048", "--algorithm", "minimax", "--depth", "5", "--par-depth", "2", "--depth-by-empty", "2:7"],
            "par-depth goes without depth-by-empty",
        ),
        (["2048", "--layers", "1", "--depth", "3"], "layers goes without depth"),
        (["2048", "--layers", "-1"], "layers -1"),
        (["2048", "--min-probability", "1.5"], "min-probability 1.5"),
        (["2048", "--chance", "fair"], "chance 'fair'"),
        (["2048", "--algorithm", "negascout"], "algorithm 'negascout' is not expectimax"),
        (["2048", "--policy", "window"], "policy window"),
        (["2048", "--algorithm", "averaged", "--table", "8"], "table"),
        (["2048", "--board", "5x5"], "5x5"),
        (["2048", BOARD, "--seed", "3", "--depth", "1"], "seed goes with startpos"),
        (["othello", "--layers", "2"], "against chance"),
        (["othello", "--spawn", "2:1"], "no rule spawn"),
        (["othello", "--algorithm", "expectimax"], "algorithm 'expectimax' is not alphabeta"),
        (["othello", "--pruning", "none"], "not with alphabeta in othello"),
        (["othello", "--par-depth", "3"], "not with alphabeta in othello"),
        ([*DEEP, "--pruning", "none"], "not with expectimax in 2048"),
        ([*DEEP, "--par-depth", "3"], "not with expectimax in 2048"),
        ([*DEEP, "--policy", "brothers"], "policy brothers goes with the search with a table"),
        ([*DEEP, "--algorithm", "minimax", "--pruning", "none"], "pruning goes with expectiminimax; minimax prunes"),
        ([*DEEP, "--algorithm", "alphabeta", "--pruning", "alphabeta"], "pruning goes with expectiminimax"),
        ([*DEEP, *EMM, "--pruning", "some"], "pruning 'some' is not alphabeta or none"),
        ([*DEEP, *EMM, "--pruning", "none", "--policy", "brothers"], "policy brothers goes with alpha-beta"),
        ([*DEEP, "--algorithm", "minimax", "--policy", "brothers"], "policy brothers goes with alpha-beta"),
        ([*DEEP, *EMM, "--policy", "split"], "policy split"),
        ([*DEEP, *EMM, "--policy", "window"], "policy window"),
        ([*DEEP, *EMM, "--min-probability", "0.1"], "min-probability goes with expectimax"),
        ([*DEEP, "--algorithm", "minimax", "--chance", "uniform"], "chance goes with expectimax"),
        ([*DEEP, *EMM, "--par-depth", "7"], "par-depth 7"),
        ([*DEEP, *EMM, "--par-depth", "0"], "par-depth 0"),
        ([*DEEP, *EMM, "--par-depth", "-1"], "par-depth -1"),
        ([*DEEP, *EMM, "--par-depth", "x"], "--par-depth"),
        ([*DEEP, *EMM, "--par-depth", "3", "--load-factor", "4"], "par-depth goes without load-factor"),
        (["2048", "--time", "1", *EMM, "--par-depth", "3"], "par-depth goes with depth or layers"),
        ([*DEEP, *EMM, "--ordering", "static"], "game against chance"),
        ([*DEEP, *EMM, "--checkpoint", "x"], "checkpoint"),
        (["2048", "--algorithm", "alphabeta", "--table", "8"], "table"),
        (["2048", "--depth", "3", "--checkpoint", "x"], "checkpoint"),
    ],
    ids=lambda value: " ".join(value)[-40:] if isinstance(value, list) else "",
)
def test_refusals(arguments, why):
    assert_refused(ask("search", *arguments), why)


def test_a_tree_of_too_many_nodes_is_refused():
    ask("search", "2048", BOARD, "--depth", "1", *EMM)  # kernels are compiled before it is grown
    assert_refused(
        ask("search", "2048", "--depth", "30", *EMM, "--par-depth", "29"), "par-depth makes a tree of more than"
    )


@pytest.mark.parametrize(
    ("how", "alike"),
    [(("--layers", "1"), ("--depth", "3")), (("--depth", "1", "--depth-by-empty", "9:3"), ("--depth", "3"))],
    ids=["layers", "depth_by_empty"],
)
def test_solve_takes_what_search_takes(how, alike, tmp_path):
    (tmp_path / "boards").write_text(f"{BOARD}\n")
    options = "2048", "--min-probability", "0.01", "--chance", "uniform", "--spawn", "2:0.5,4:0.5"
    (one,) = ask("solve", *options, *how, "--positions", str(tmp_path / "boards"), "--json").results
    other = found(*options[:1], BOARD, *options[1:], *alike)
    assert (one["move"], one["score"], one["depth"]) == (other["move"], other["score"], 3)


@pytest.mark.parametrize(
    "command", [["simulate", "2048", "--depth", "3", "--algorithm", "averaged"], ["solve", "2048"]], ids=str
)
def test_other_commands_refuse(command):
    assert_refused(ask(*command), "against chance")


@pytest.mark.parametrize("way", [["--policy", "split"], ["--policy", "pool"], ["--load-factor", "9"], ["--table", "1"]])
def test_virtual_workers_find_the_score_of_one(way):
    answer = ask("simulate", "2584", "--layers", "3", "--workers", "5", "--rate", "1e7", *way, "--json")
    one = json.loads(answer.out)
    assert (one["score"], one["move"]) == itemgetter("score", "move")(found("2584", "--layers", "3"))
    assert one["policy"] == ("pool" if way in (["--policy", "pool"], ["--load-factor", "9"]) else "split")
