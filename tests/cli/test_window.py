"""``--window``: scores told apart no further than that."""

import pytest

from distsearch.api.options import Options
from distsearch.api.two_player import TwoPlayerSearcher
from distsearch.cluster.local import InProcessCluster
from distsearch.games import othello
from distsearch.jobs.two_player import KINDS

from .asking import FIRST_MOVES, FULL, ask, search, solve

SCORE = -10  # of the start on 4×4
EXACT = pytest.mark.parametrize("window", ["-11,-9", "-12,-8", "-64,64", "-10000,10000", "-20,+5"])
BOUNDED = pytest.mark.parametrize(
    ("window", "score", "bound"),
    [
        ("-1,1", -1, "upper"),
        ("-10,5", -10, "upper"),  # the window's ends are outside
        ("-10,-9", -10, "upper"),
        ("-9,-8", -9, "upper"),
        ("5,9", 5, "upper"),
        ("+5,+9", 5, "upper"),
        ("9999,10000", 9999, "upper"),
        ("-16,-13", -13, "lower"),
        ("-11,-10", -10, "lower"),
        ("-12,-10", -10, "lower"),
        ("-10000,-9999", -9999, "lower"),
    ],
)
LOAD = pytest.mark.parametrize("load", [[], ["--load-factor", "20"], ["--all-moves"]], ids=" ".join)


@EXACT
@LOAD
def test_a_score_within_the_window_is_proved(window, load):
    found = search("--exact", "--window", window, *load)
    assert (found["score"], found["bound"], found["proved"], found["complete"]) == (SCORE, "exact", True, True)
    assert found["move"] in FIRST_MOVES


@BOUNDED
@LOAD
def test_a_score_beyond_the_window_is_bounded_by_its_end(window, score, bound, load):
    found = search("--exact", "--window", window, *load)
    assert (found["score"], found["bound"], found["proved"], found["complete"]) == (score, bound, False, True)
    assert found["unit"] == "discs"
    assert found["move"] in FIRST_MOVES


@pytest.mark.parametrize("spelt", [["--window", "-1,1"], ["--window=-1,1"], ["--window", "-1,+1"]], ids=" ".join)
@pytest.mark.parametrize("last", [False, True])
def test_a_window_may_begin_with_a_minus(spelt, last):
    others = ["othello", "--board", "4x4", "--exact", "--json"]
    (found,) = ask("search", *([*others, *spelt] if last else [*spelt, *others])).results
    assert (found["score"], found["bound"]) == (-1, "upper")


def test_a_narrow_window_takes_fewer_nodes():
    assert search("--exact", "--window", "-1,1")["nodes"] < search("--exact")["nodes"]


def test_a_finished_game_has_its_score_whatever_the_window():
    found = search("--exact", "--window", "-1,1", position=FULL)
    assert (found["score"], found["bound"], found["proved"]) == (-16, "exact", True)


@pytest.mark.parametrize(("window", "text"), [("-1,1", "at most -1"), ("-16,-13", "at least -13"), ("-12,0", "-10")])
def test_text_says_what_a_score_is_worth(window, text):
    rows = ask("search", "othello", "--board", "4x4", "--exact", "--window", window).out.splitlines()
    assert f"  score      {text} discs" in rows


def test_solve_takes_a_window_without_a_limit():
    answers = solve(["startpos", FULL], "--window", "-1,1", "--json").results
    assert [(found["score"], found["bound"], found["proved"]) for found in answers] == [
        (-1, "upper", False),
        (-16, "exact", True),
    ]


@pytest.mark.parametrize("looks", range(1, 12))
def test_an_interrupted_search_claims_no_more_than_it_knows(looks):
    """The score is −10, below the window: that the moves searched so far are not within it bounds nothing."""
    asked = iter(range(looks))
    options = Options("othello", board=(4, 4), exact=True, window=(-1, 1), load_factor=4, prefetch=1)
    searcher = TwoPlayerSearcher(options, InProcessCluster(KINDS), interrupted=lambda: next(asked, None) is None)
    (found,) = searcher.search([othello.parse("startpos", searcher.rules)])
    assert found.complete or found.score is None or (found.bound == "lower" and found.score <= -10)
    assert not found.complete or (found.bound, found.score, found.proved) == ("upper", -1, False)


def test_every_move_says_how_its_score_is_bounded():
    found = search("--exact", "--window", "-11,-9", "--all-moves")
    scores = {entry["move"]: (entry["score"], entry.get("bound")) for entry in found["moves"]}
    assert set(scores.values()) == {(-10, None)}
    found = search("--exact", "--window", "-1,1", "--all-moves")
    assert {(entry["score"], entry["bound"]) for entry in found["moves"]} == {(-1, "upper")}
