"""What the command line answers to a search of one position."""

import re
from pathlib import Path

import pytest

from distsearch import __version__

from .asking import FIRST_MOVES, FULL, PASS, START, ask, assert_no_accident, search

JSON_TYPES = {
    "game": str,
    "board": str,
    "position": str,
    "move": str,
    "score": int,
    "unit": str,
    "bound": str,
    "proved": bool,
    "complete": bool,
    "depth": int,
    "nodes": int,
    "seconds": float,
    "cpu_seconds": float,
    "boards_per_second": (int, float),
    "pv": list,
    "ranks": int,
    "workers": int,
    "algorithm": str,
    "policy": str,
    "load_factor": (int, float),
    "table_hits": int,
    "time_share": dict,
    "version": str,
}

GAMES = {  # the start of some games, a few moves before their end the last ones
    "4x4": ["startpos", "d3", PASS, FULL],
    "6x6": [
        "startpos",
        "b3b4e5b2",
        "e4e5e6f6d5e3b2d6f3d2c5e2",
        "b3b4d5e4e5d2b5e3c2a3f4f5c1c6b2a2f6b1c5d1",
        "e4c5b6e5d5b5e6f5f6f3d6e2b3a3f1c2a5b4b2c6e3f2d2a6f4a2a4",
    ],
    "8x8": [
        "startpos",
        "e6f6c4c5b6f3",
        "c4c5d6c3f5e7b3f6b5a5c2a2c6b6d3e3e2b4a4b1",
        "f5d6c4f3c5f4f6c6e7g5f2d7c7b7b6g2e6e8b8e3h1a7f7g4h5h3a8g8b4h4f8c3h8g6b2h6d2d8b3c2b5a4c8f1a5c1d3b1e2a3h7a6a2g7",
    ],
}


def test_json_has_all_that_was_promised():
    found = search("--depth", "3")
    assert {name: type(found[name]) for name in JSON_TYPES if not isinstance(found[name], JSON_TYPES[name])} == {}
    assert found["game"] == "othello"
    assert found["board"] == "4x4"
    assert found["position"] == START
    assert found["move"] in FIRST_MOVES
    assert found["pv"][0] == found["move"]
    assert found["unit"] == "evaluation"
    assert found["bound"] == "exact"
    assert found["complete"]
    assert not found["proved"]
    assert found["depth"] == len(found["pv"]) == 3
    assert found["nodes"] > 3
    assert found["ranks"] == found["workers"] == 1
    assert found["algorithm"] == "alphabeta"
    assert found["policy"] == "split"
    assert found["load_factor"] == 1
    assert set(found["time_share"]) == {"busy", "communication", "idle"}
    assert all(0 <= share <= 1 for share in found["time_share"].values())
    assert found["version"] == __version__
    assert "moves" not in found


def test_text_says_the_same():
    answer = ask("search", "othello", START, "--board", "4x4", "--exact")
    assert answer.status == 0
    title, board, table = answer.out.split("\n\n")
    assert title == "othello 4x4"
    assert board.splitlines()[0].split() == list("abcd")
    rows = dict(line.split(maxsplit=1) for line in table.splitlines())
    assert rows["position"] == START
    assert rows["best"].split()[1] in FIRST_MOVES
    assert rows["score"] == "-10 discs"
    assert "alphabeta" in rows["search"]
    assert "split" in rows["search"]


def test_the_text_that_was_asked_is_kept():
    found = ask("search", "connect4", "4453222366", "--depth", "1", "--json").results[0]
    assert (found["position"], found["asked"]) == ("6644532223", "4453222366")
    assert "asked" not in ask("search", "connect4", found["position"], "--depth", "1", "--json").results[0]
    assert "  asked      4453222366\n" in ask("search", "connect4", "4453222366", "--depth", "1").out


def test_options_and_positions_may_come_in_any_order():
    orders = ["--board", "4x4", "--depth", "2", "othello", PASS], ["othello", "--depth", "2", PASS, "--board", "4x4"]
    texts = [ask("search", *order, "--json").results[0]["position"] for order in orders]
    assert texts[0] == texts[1] != START


def test_exact_is_the_value_of_the_game():
    found = search("--exact")
    assert (found["score"], found["unit"], found["proved"], found["bound"]) == (-10, "discs", True, "exact")


def test_empties_say_who_gets_the_empty_squares():
    assert search("--exact", "--empties", "winner")["score"] == -10
    assert search("--exact", "--empties", "none")["score"] == -8


@pytest.mark.parametrize("limit", [["--exact"], ["--depth", "4"], ["--nodes", "2000"]], ids=" ".join)
def test_all_moves_scores_every_legal_move(limit):
    found = search("--all-moves", *limit)
    scores = {entry["move"]: entry["score"] for entry in found["moves"]}
    assert set(scores) == FIRST_MOVES
    assert max(scores.values()) == scores[found["move"]] == found["score"]


def test_minimax_finds_the_same_score_with_more_nodes():
    pruned, plain = search("--exact"), search("--exact", "--algorithm", "minimax")
    assert plain["algorithm"] == "minimax"
    assert plain["score"] == pruned["score"]
    assert plain["nodes"] > 10 * pruned["nodes"]


@pytest.mark.parametrize("ordering", ["none", "static", "shallow", "shallow:2"])
def test_orderings_agree(ordering):
    found = search("--exact", "--ordering", ordering)
    assert found["score"] == -10
    assert (found["ordering_nodes"] > 0) == ordering.startswith("shallow")


@pytest.mark.parametrize(
    "evaluation", ["static", *(pytest.param(x, marks=pytest.mark.full) for x in ("complex", "discs"))]
)
@pytest.mark.parametrize("board", GAMES)
def test_an_ordering_changes_no_score_of_a_depth(board, evaluation):
    lines = "\n".join(GAMES[board])
    for depth in range(1, 8):
        command = "solve", "othello", "--board", board, "--positions", "-", "--depth", depth, "--json"
        command += "--evaluation", evaluation
        found, plain = (ask(*command, *more, stdin=lines.encode()) for more in ([], ["--ordering", "static"]))
        same = "position", "score", "unit", "bound", "proved", "complete"
        assert [[one[name] for name in same] for one in found.results] == [
            [one[name] for name in same] for one in plain.results
        ]


def test_evaluations_differ():
    units = {
        name: search("--depth", "3", "--evaluation", name, "--ordering", "static")["unit"]
        for name in ("static", "complex", "discs")
    }
    assert units == {"static": "evaluation", "complex": "evaluation", "discs": "discs"}


def test_load_factor_is_the_number_of_subtrees_a_worker():
    found = search("--exact", "--load-factor", "20")
    assert found["load_factor"] == 20
    assert found["jobs"] >= 20
    assert found["score"] == -10


@pytest.mark.parametrize("board", ["5x6", "6X5"])
def test_boards_of_other_sizes(board):
    found = search("--depth", "2", position="startpos", board=board)
    assert found["board"] == board.lower()
    assert len(found["position"]) == 32


def test_a_budget_of_nodes_gives_the_same_answer_again():
    promised = JSON_TYPES.keys() - {"seconds", "cpu_seconds", "boards_per_second", "time_share"}
    first, second = (search("--nodes", "20000", position="startpos", board="6x6") for _ in range(2))
    assert {name: first[name] for name in promised} == {name: second[name] for name in promised}
    assert 0 < first["nodes"] <= 20_000


@pytest.mark.parametrize("nodes", [2**63 - 1, 2**63, 10**30])
def test_a_budget_of_nodes_beyond_all_arrays_causes_no_traceback(nodes):
    assert_no_accident(ask("search", "othello", START, "--board", "4x4", "--nodes", nodes))


def test_time_is_kept():
    found = search("--time", "0.2", "--book", "none", position="startpos", board="8x8")
    assert found["complete"]
    assert 0.2 <= found["seconds"] < 2
    assert found["depth"] > 1


@pytest.mark.parametrize("limit", [["--exact"], ["--depth", "3"], ["--time", "9"], ["--nodes", "9"]], ids=" ".join)
def test_a_finished_game_has_a_score_and_no_move(limit):
    found = search(*limit, "--all-moves", position=FULL)
    assert found["move"] is None
    assert found["score"] == -16
    assert found["unit"] == "discs"
    assert found["proved"]
    assert found["pv"] == found["moves"] == []


def test_text_of_a_finished_game_says_so():
    answer = ask("search", "othello", FULL, "--board", "4x4", "--depth", "1")
    assert "the game is over" in answer.out
    assert "-16 discs" in answer.out


def test_a_forced_pass_is_the_move():
    found = search("--exact", "--all-moves", position=PASS)
    assert found["move"] == found["pv"][0] == "pass"
    assert found["moves"] == [{"move": "pass", "score": found["score"]}]


def test_the_readme_shows_what_a_search_prints():
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    command, shown = re.search(
        r"^\$ distsearch (search connect4 [^\n]*)\n(.+?)^ +\.\.\.$", readme, re.M | re.S
    ).groups()
    assert ask(*command.split()).out.startswith(shown)
