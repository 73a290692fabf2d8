"""Books that come with the program. Connect 4: counts and scores that others have published, and the solver's."""

import json

import numpy as np
import pytest

from distsearch import Session
from distsearch.api.book import opened
from distsearch.api.options import resolve
from distsearch.games import connect4
from distsearch.games.interface import Position, as_state
from tests.cli.asking import ask

COUNTS = 1, 4, 25, 121, 568, 2144, 8231, 27_109, 91_295  # positions by ply, mirror images counted once
FIRST_MOVES = [-2, -1, 0, 1, 0, -1, -2]  # solved by Allis and by Tromp in 1988 to 1995, in Pons's unit
SAMPLE = 8


@pytest.fixture(scope="module")
def book():
    return opened(None, resolve("connect4", None, exact=True)[0])


def test_it_has_every_position_of_eight_plies(book):
    assert book.plies == len(COUNTS) - 1
    assert tuple(map(len, book.expansion.levels(book.plies))) == COUNTS
    assert len(book.entries["key"]) == sum(COUNTS)
    assert not book.entries["depth"].any()  # all scores are exact


def test_first_moves_have_their_published_scores():
    found = json.loads(ask("search", "connect4", "--all-moves", "--json").out)
    assert [each["score"] for each in found["moves"]] == FIRST_MOVES
    assert (found["move"], found["score"], found["nodes"], found["book"]) == ("4", 1, 0, "connect4_6x7.npz")
    assert found["meaning"] == "wins with its 21st stone"


def test_scores_follow_from_those_a_ply_below():
    answer = ask("book", "connect4", "--check", "--sample", "0", "--json")
    assert (answer.status, json.loads(answer.out)["wrong"]) == (0, 0)


def test_a_sample_of_the_last_ply_is_what_the_solver_finds(book, seed):
    *_, last = book.expansion.levels(book.plies)
    drawn = last[np.sort(np.random.default_rng(seed).permutation(len(last))[:SAMPLE])]
    positions = [Position(as_state(state)) for state in drawn]
    texts = [connect4.text(each, book.rules) for each in positions]
    with Session(book="none") as session:
        solved = [outcome.score for outcome in session.solve("connect4", texts, exact=True)]
    assert solved == [book.score(book.find(each.state)) for each in positions]


def test_othello_s_agrees_with_itself():
    answer = ask("book", "othello", "--check", "--json")
    found = json.loads(answer.out)
    assert (answer.status, found["wrong"]) == (0, 0)
    assert sum(row["positions"] for row in found["plies"]) >= 20_000


def test_othello_s_answers_within_its_evaluation():
    found = json.loads(ask("search", "othello", "--json").out)
    assert (found["nodes"], found["book"], found["proved"]) == (0, "othello_8x8.npz", False)
    assert found["selective"] == 0.95
    assert found["depth"] > 20
    for other in ("--evaluation", "complex"), ("--selective", "1"), ("--selective", "0.99"):
        assert "book" not in json.loads(ask("search", "othello", *other, "--time", "0.1", "--json").out)
