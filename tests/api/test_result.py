"""Results as JSON that every reader takes, and as text for people."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from distsearch import __version__
from distsearch.api.result import Batch, Outcome, tidy
from distsearch.jobs.two_player import SUBTREE_RESULT

SCORES = st.none() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
SECONDS = st.just(0.0) | st.floats(1e-9, 1e9)  # no clock is finer
MOVES = st.text("abcdefgh12345678", min_size=2, max_size=2)
OUTCOMES = st.builds(
    Outcome,
    game=st.just("othello"),
    board=st.just("4x4"),
    position=st.text(max_size=20),
    move=st.none() | MOVES,
    score=SCORES,
    unit=st.sampled_from(["discs", "evaluation"]),
    bound=st.sampled_from(["exact", "lower", "upper"]),
    proved=st.booleans(),
    complete=st.booleans(),
    depth=st.integers(0, 500),
    nodes=st.integers(0, 2**63),
    moves=st.none() | st.lists(st.fixed_dictionaries({"move": MOVES, "score": st.integers(-64, 64)}), max_size=3),
    seconds=SECONDS,
    cpu_seconds=SECONDS,
    pv=st.lists(MOVES, max_size=12),
    ranks=st.integers(1, 999),
)


def outcome(**changes):
    """An outcome of a search of 2 s, with changes."""
    plain = {
        "game": "othello",
        "board": "8x8",
        "position": "-- X",
        "move": "d3",
        "score": 3,
        "unit": "discs",
        "depth": 7,
        "nodes": 3_000_000,
        "seconds": 2.0,
        "cpu_seconds": 1.9,
        "pv": ["d3", "c3"],
    }
    return Outcome(**{**plain, **changes})


def rows(found):
    """The rows of an outcome's text, by their labels."""
    return {line[2:12].strip(): line[13:] for line in found.to_text().splitlines()[1:]}


@given(OUTCOMES)
def test_json_is_one_line_that_strict_readers_take(found):
    def refuse(token):
        raise AssertionError(token)

    text = found.to_json()
    assert "\n" not in text
    fields = json.loads(text, parse_constant=refuse)
    assert fields["score"] == found.score
    assert fields["version"] == __version__
    assert ("moves" in fields) == (found.moves is not None)
    assert math.isfinite(fields["boards_per_second"])


@given(OUTCOMES)
def test_text_can_always_be_made(found):
    assert found.to_text().startswith("othello 4x4\n")
    assert "\n" not in found.to_line(1).replace(found.position, "")


def test_json_keeps_whole_scores_whole():
    assert '"score": 3,' in outcome(score=tidy(3.0)).to_json()
    assert '"score": 2.5,' in outcome(score=tidy(2.5)).to_json()


def test_rate_is_nodes_by_seconds():
    assert outcome().boards_per_second == 1_500_000
    assert outcome(seconds=0.0).boards_per_second == 0


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "+3 discs"),
        ({"score": 0}, "+0 discs"),
        ({"score": -3, "unit": "evaluation"}, "-3 evaluation"),
        ({"bound": "lower"}, "at least +3 discs"),
        ({"bound": "upper", "score": -3}, "at most -3 discs"),
        ({"complete": False}, "+3 discs (stopped early)"),
        ({"bound": "lower", "complete": False}, "at least +3 discs (stopped early)"),
        ({"score": None, "complete": False}, "unknown: stopped too early"),
    ],
    ids=str,
)
def test_text_says_what_a_score_is_worth(changes, text):
    found = outcome(**changes)
    assert rows(found)["score"] == text
    assert text in found.to_line(1)


def test_text_has_the_facts():
    text = rows(outcome(ranks=3, time_share={"busy": 0.5, "communication": 0.125, "idle": 0.375}, jobs=9))
    assert text["position"] == "-- X"
    assert text["best move"] == "d3"
    assert text["line"] == "d3 c3"
    assert "depth 7" in text["search"]
    assert "3 ranks" in text["search"]
    assert text["nodes"] == "3,000,000 in 2.00 s (1.5 M nodes/s; 9 jobs, 1.90 CPU s)"
    assert text["workers"].startswith("busy 50.0%, communication 12.5%, idle 37.5%")


def test_text_of_a_proof_does_not_speak_of_depth():
    assert "to the end" in rows(outcome(proved=True))["search"]


def test_text_lists_the_moves():
    text = rows(outcome(moves=[{"move": "d3", "score": 3}, {"move": "c4", "score": -1}]))
    assert (text["move d3"], text["move c4"]) == ("+3", "-1")


def test_text_of_a_finished_game():
    text = rows(outcome(move=None, pv=[]))
    assert text["best move"] == "none: the game is over"
    assert text["line"] == "-"


def test_a_line_of_a_list_has_its_number_move_and_score():
    words = outcome().to_line(12).split()
    assert words[:4] == ["12", "d3", "+3", "discs"]
    assert words[-2:] == ["d3", "c3"]


# --- many positions ---


def batch(*outcomes, took=(0.5, 0.25, 1)):
    """A Batch of outcomes that took 0.5 s, of which 0.25 s of CPU time here, on one rank."""
    found = Batch()
    for one in outcomes:
        found.add(one)
    found.took(*took)
    return found


def test_a_batch_has_averages_and_totals():
    found = batch(
        outcome(cpu_seconds=0.5, nodes=1_000_000, table_hits=1_200),
        outcome(cpu_seconds=0.25, nodes=500_001, table_hits=34),
        outcome(cpu_seconds=0.0, nodes=0),
    )
    assert found.positions == 3
    assert found.to_text().splitlines() == [
        "3 positions: 250 ms and 500,000 nodes a position, 2.00 nodes/µs,",
        "  in all 0.750 CPU s, 1,500,001 nodes, 1,234 table hits",
        "  0.50 s on 1 rank: 6 positions/s",
    ]


def test_a_batch_counts_the_time_of_workers_not_that_of_clocks():
    assert "1 positions: 125 ms and" in batch(outcome(seconds=9.0, cpu_seconds=0.125)).to_text()


def test_a_large_batch_is_legible():
    found = batch(*[outcome(cpu_seconds=0.001, nodes=12_300, table_hits=5)] * 1000)
    assert found.to_text().splitlines() == [
        "1,000 positions: 1 ms and 12,300 nodes a position, 12.30 nodes/µs,",
        "  in all 1.000 CPU s, 12,300,000 nodes, 5,000 table hits",
        "  0.50 s on 1 rank: 2 k positions/s",
    ]


def test_a_batch_without_positions_or_time_divides_by_nothing():
    assert batch(took=(0.0, 0.0, 1)).to_text().splitlines() == [
        "0 positions: 0 ms and 0 nodes a position, 0.00 nodes/µs,",
        "  in all 0.000 CPU s, 0 nodes, 0 table hits",
        "  0.00 s on 1 rank: 0 positions/s",
    ]
    assert "7 nodes a position, 0.00 nodes/µs" in batch(outcome(cpu_seconds=0.0, nodes=7)).to_text()


@given(st.lists(OUTCOMES, max_size=5))
def test_a_batch_of_anything_has_three_lines(outcomes):
    assert batch(*outcomes).to_text().count("\n") == 2


def test_a_batch_of_easy_positions_has_digits_to_tell():
    found = batch(*[outcome(cpu_seconds=1.5e-6, nodes=9)] * 10)
    assert found.to_text().startswith("10 positions: 0.0015 ms and 9 nodes a position, 6.00 nodes/µs,\n")


def test_a_batch_of_several_ranks_says_what_the_master_took():
    found = batch(*[outcome()] * 3, took=(2.0, 0.5, 4))
    assert found.to_text().splitlines()[2] == "  2.00 s on 4 ranks: 2 positions/s, 25% of a core for the master"


def test_a_batch_takes_records_as_it_does_outcomes():
    records = np.zeros(2, SUBTREE_RESULT)
    records["cpu"], records["nodes"], records["table_hits"] = (0.5, 0.25), (1_000_000, 500_000), (30, 4)
    found, same = (
        batch(),
        batch(
            outcome(cpu_seconds=0.5, nodes=1_000_000, table_hits=30),
            outcome(cpu_seconds=0.25, nodes=500_000, table_hits=4),
        ),
    )
    found.add_records(records)
    assert found.to_text() == same.to_text()
