"""Matches: sides and openings, points and Elo against plain counts, and tests that stop where they are decided."""

import json
import statistics

import pytest

from distsearch.api.elo import PAIR_SCORES, Sprt, elo_of, score_interval
from distsearch.api.match import MatchRequest, match_of
from distsearch.api.session import Session
from distsearch.core.errors import UserError

from ..games.replay import replayed


@pytest.fixture(scope="module")
def session():
    with Session(table=1) as session:
        yield session


@pytest.fixture
def match(session, tmp_path):
    """``match(game, A, B, board, **how)``: (figures, lines of the record)."""

    def played(game, first, second, board="4x4", seed=5, **how):
        path = tmp_path / f"games{len(list(tmp_path.iterdir()))}"
        asked = MatchRequest(game, first, second, board, how.pop("rules", {}), seed, record=str(path), **how)
        summary = match_of(session, asked).run()
        return json.loads(summary.to_json()), [json.loads(line) for line in path.read_text().splitlines()]

    return played


def points_of(lines):
    """A's points in each game, by the scores of the record: A has X in the games of even numbers."""
    scores = [line["score"] if line["number"] % 2 == 0 else -line["score"] for line in lines]
    return [1.0 if score > 0 else 0.5 if score == 0 else 0.0 for score in scores]


@pytest.mark.parametrize("share", ["games", "tree"])
@pytest.mark.parametrize(("game", "board"), [("othello", "4x4"), ("connect4", "4x4")])
def test_points_and_elo_are_those_of_the_record(game, board, share, match):
    found, lines = match(game, "depth=4", "random", board, games=9, share=share)
    assert (found["games"], found["asked"], found["complete"], found["share"]) == (10, 10, True, share)
    assert [replayed(line)[0] for line in lines] == [line["score"] for line in lines]
    for line in lines:
        assert [line["X"] == "random", line["O"] == "random"] == [line["number"] % 2 == 1, line["number"] % 2 == 0]
    assert [line.get("start") for line in lines[::2]] == [line.get("start") for line in lines[1::2]]
    assert len({line.get("start") for line in lines}) > 1
    points = points_of(lines)
    pairs = [(a + b) / 2 for a, b in zip(points[::2], points[1::2], strict=True)]
    assert found["points"] == sum(points) == found["wins"] + found["draws"] / 2
    assert found["pairs"] == [pairs.count(score) for score in PAIR_SCORES]
    assert found["score"] == pytest.approx(statistics.fmean(points))
    low, high = score_interval(pairs)
    assert (found["score_low"], found["score_high"]) == pytest.approx((low, high))
    assert (found["elo"], found["elo_low"], found["elo_high"]) == (elo_of(found["score"]), elo_of(low), elo_of(high))


def test_a_player_is_as_strong_as_itself(match):
    """Both colours of an opening are the same game, so each pair has half of the points."""
    found, lines = match("othello", "depth=3", "depth=3,evaluation=complex", games=8)
    assert [line["moves"] for line in lines[::2]] == [line["moves"] for line in lines[1::2]]
    assert found["pairs"] == [0, 0, 4, 0, 0]
    assert (found["points"], found["elo"]) == (4, pytest.approx(0))


@pytest.mark.parametrize("share", ["games", "tree"])
def test_a_test_stops_the_match_where_it_is_decided(share, match):
    found, lines = match("othello", "exact", "random", sprt="0,100", share=share)
    pairs = [sum(pair) / 2 for pair in zip(points_of(lines)[::2], points_of(lines)[1::2], strict=True)]
    test = Sprt(0, 100)
    decisions = [test.decision([pairs[:n].count(score) for score in PAIR_SCORES]) for n in range(1, len(pairs) + 1)]
    assert decisions == [None] * (len(pairs) - 1) + [100]
    assert found["sprt"]["accepted"] == 100
    assert found["sprt"]["ratio"] >= found["sprt"]["bound"] == pytest.approx(2.944, abs=1e-3)
    assert (found["complete"], found["asked"]) == (True, 20_000)


def test_a_test_may_end_without_a_decision(match):
    found, _ = match("othello", "depth=1", "depth=1", sprt="0,10", games=4)
    assert (found["games"], found["sprt"]["accepted"]) == (4, None)


def test_openings_are_those_of_a_file(match, tmp_path):
    path = tmp_path / "openings"
    path.write_text("d3\n\n d3d2 ; a comment\nstartpos\n")
    found, lines = match("othello", "depth=1", "depth=2", openings=str(path), games=6)
    starts = [line.get("start") for line in lines]
    assert starts == [text for text in (starts[0], starts[2], None) for _ in range(2)]
    assert (starts[0], starts[2]) == ("-----OX--XX---X- O", "-------O--OO--X- X") or starts[0].endswith(" O")
    assert found["openings"] == f"3 of {path}"


def test_games_that_would_be_the_same_again_are_not_counted(match, session, tmp_path):
    path = tmp_path / "openings"
    path.write_text("d3\n")
    asked = {"openings": str(path), "game": "othello", "first": "depth=1", "second": "depth=2", "board": None}
    with pytest.raises(UserError, match="has 2 games that differ"):
        match_of(session, MatchRequest(**asked, rules={}, seed=0, games=4))
    found, _ = match("othello", "depth=1", "depth=2", openings=str(path), sprt="0,10")
    assert found["games"] == 2
    found, _ = match("othello", "depth=1", "random", openings=str(path), games=4)
    assert found["games"] == 4


def test_against_chance_both_play_the_same_seeds(match):
    found, lines = match("2048", "depth=3", "random", "3x3", games=12)
    assert [line["player"] for line in lines] == ["expectimax, rows, depth 3", "random"] * 6
    for own, other in zip(lines[::2], lines[1::2], strict=True):  # the tiles of the start depend on the seed alone
        assert own["moves"].split()[:2] == other["moves"].split()[:2]
    assert [replayed(line)[0] for line in lines] == [line["score"] for line in lines]
    scores = [line["score"] for line in lines]
    differences = [a - b for a, b in zip(scores[::2], scores[1::2], strict=True)]
    assert found["averages"] == [statistics.fmean(scores[::2]), statistics.fmean(scores[1::2])]
    assert found["difference"] == pytest.approx(statistics.fmean(differences))
    half = 2.570582 * statistics.stdev(differences) / len(differences) ** 0.5
    assert found["difference_low"] == pytest.approx(found["difference"] - half, rel=1e-3)
    assert found["difference_high"] == pytest.approx(found["difference"] + half, rel=1e-3)


def test_one_player_against_chance_differs_nothing_from_itself(match):
    found, _ = match("2048", "layers=1", "depth=3", "2x2", games=6)
    assert (found["difference"], found["difference_low"], found["difference_high"]) == (0, 0, 0)


def test_rules_hold_for_both(match):
    _, lines = match("othello", "depth=1", "random", games=2, rules={"empties": "none"})
    assert [line["empties"] for line in lines] == ["none"] * 2


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("depth=4", {"depth": 4}),
        ("exact", {"exact": True}),
        ("algorithm=minimax,depth=2", {"algorithm": "minimax", "depth": 2}),
        ("depth=1,depth-by-empty=2:9,5:7", {"depth": 1, "depth_by_empty": ((2, 9), (5, 7))}),
        ("evaluation=rows:1,2,3,1,2,3,depth=2", {"evaluation": "rows:1,2,3,1,2,3", "depth": 2}),
        ("random", {"algorithm": "random"}),
    ],
)
def test_settings_are_options_with_commas_between(text, meaning):
    from distsearch.api.player_settings import parse_settings

    assert parse_settings(text) == meaning


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"first": "dept=4"}, "dept is no option of a player; did you mean depth"),
        ({"second": "evaluation=complx,depth=1"}, "complx"),
        ({"second": "depth=2,nodes"}, "nodes needs a value"),
        ({"second": "min-probability=0.1,depth=1"}, "min-probability is for games against chance"),
        ({"sprt": "5,0"}, "sprt 5,0"),
        ({"sprt": "5"}, "sprt '5'"),
        ({"game": "2048", "sprt": "0,5"}, "sprt is for games of two players"),
        ({"game": "2048", "openings": "x"}, "openings is for games of two players"),
        ({"game": "2048", "random_plies": 2}, "random-plies is for games of two players"),
        ({"game": "2048", "first": "evaluation=rows"}, "needs depth, layers"),
        ({"random_plies": 2, "openings": "x"}, "random-plies goes without openings"),
        ({"openings": "/nowhere"}, "cannot read /nowhere"),
        ({"share": "both"}, "share 'both'"),
        ({"games": 0}, "games 0"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(asked, message, session):
    given = {"game": "othello", "first": "depth=1", "second": "depth=1", "board": None, "rules": {}, "seed": 0}
    with pytest.raises(UserError, match=message):
        match_of(session, MatchRequest(**given | asked))


@pytest.mark.parametrize(
    ("content", "message"),
    [("", "holds no position"), ("d3\nz9\n", "line 2"), ("-" * 15 + "X X\n", "line 1: the game is over")],
)
def test_openings_that_are_none_are_refused(content, message, session, tmp_path):
    path = tmp_path / "openings"
    path.write_text(content)
    asked = MatchRequest("othello", "depth=1", "depth=1", "4x4", {}, 0, openings=str(path))
    with pytest.raises(UserError, match=message):
        match_of(session, asked)
