"""Games between players on any number of ranks: those of one rank, by every algorithm."""

import functools
import json
import traceback

import pytest

from distsearch.api.match import MatchRequest, match_of
from distsearch.api.session import Session

from ..api.playing import AGAINST_CHANCE, TWO_PLAYERS

CASES = [(*case, "random") for case in TWO_PLAYERS] + [(*case, None) for case in (*TWO_PLAYERS, *AGAINST_CHANCE)]


def played(session, path, game, board, options, opponent, share):
    """Return the numbers, scores and moves of the record of two games."""
    path.unlink(missing_ok=True)
    session.play(game, 2, board, seed=9, record=str(path), opponent=opponent, share=share, **options)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [(line["number"], line["score"], line["moves"]) for line in lines]


@functools.cache
def alone(path, number):
    with Session(table=1) as session:
        return played(session, path, *CASES[number], "tree")


@pytest.mark.parametrize("share", ["tree", "games"])
def test_the_same_games_as_of_one_rank(share, comm, agree, tmp_path):
    failure = ""
    try:
        with Session(comm, table=2) as session:
            for number, case in enumerate(CASES if session else ()):
                found, expected = played(session, tmp_path / "games", *case, share), alone(tmp_path / "alone", number)
                if found != expected:
                    failure += f"{case}: {found} instead of {expected}\n"
    except Exception:
        failure = traceback.format_exc()
    agree(not failure, failure)


def matched_alone(asked):
    with Session(table=1) as session:
        return figures(match_of(session, asked).run())


def figures(summary):
    found = summary.figures()
    found.pop("reached", None)  # which tells seconds
    return found


@pytest.mark.parametrize("share", ["tree", "games"])
def test_the_same_match_as_of_one_rank(share, comm, agree):
    common = {"board": "4x4", "rules": {}, "seed": 2, "share": share}
    asked = [
        MatchRequest("othello", "depth=3", "nodes=100", games=6, **common),
        MatchRequest("othello", "exact", "random", sprt="0,200", **common),
        MatchRequest("2048", "depth=2", "algorithm=alphabeta,depth=3", games=4, **common | {"board": "2x2"}),
    ]
    failure = ""
    try:
        with Session(comm, table=2) as session:
            for each in asked if session else ():
                found, expected = figures(match_of(session, each).run()), matched_alone(each)
                if found != expected:
                    failure += f"{each}: {found} instead of {expected}\n"
    except Exception:
        failure = traceback.format_exc()
    agree(not failure, failure)


BY_CLOCK = [
    ("othello", "clock=60+0.1", "depth=1", "4x4"),
    ("connect4", "depth=2", "clock=60", "4x4"),
    ("2048", "clock=5", "random", "2x2"),
    ("2584", "clock=5+0.01,algorithm=alphabeta", "random", "2x2"),
]


@pytest.mark.parametrize("share", ["tree", "games"])
def test_clocks_are_kept_and_recorded(share, comm, agree, tmp_path):
    failure = ""
    try:
        with Session(comm, table=2) as session:
            for number, (game, first, second, board) in enumerate(BY_CLOCK if session else ()):
                path = tmp_path / f"games{number}"
                asked = MatchRequest(game, first, second, board, {}, 2, 2, str(path), share=share)
                summary = match_of(session, asked).run()
                lines = [json.loads(line) for line in path.read_text().splitlines()]
                left = [seconds for line in lines for seconds in line["seconds_left"] if seconds is not None]
                by_clock = "clock" in second
                told = len(left) == summary.tallies[by_clock].moves and all(0 < seconds <= 61 for seconds in left)
                if not told or any(tally.lost_on_time for tally in summary.tallies):
                    failure += f"{game}, {first}: {lines}\n"
    except Exception:
        failure = traceback.format_exc()
    agree(not failure, failure)
