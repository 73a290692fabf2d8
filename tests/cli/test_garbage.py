"""Input of any kind: an answer or a refusal, never a traceback."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from .asking import FULL, PASS, START, ask, assert_no_accident, assert_refused

GARBAGE = st.text() | st.text("XOxo-.") | st.text("XOxo-. ;\t") | st.from_regex(r"([a-q][0-9]{1,2}|pass){1,9}\Z")
NUMBERS = st.sampled_from(["", "-1", "0", "3", "4", "04", "8", "17", "64", "1000", "٤", "1e1", "4.0", "x"])
# what exec can hand over: no NUL
WORDS = st.text(st.characters(blacklist_characters="\0")) | st.sampled_from(
    [
        "search",
        "solve",
        "perft",
        "info",
        "simulate",
        "play",
        "othello",
        "2048",
        "chess",
        "startpos",
        START,
        FULL,
        PASS,
        "--board",
        "4x4",
        "4x5",
        "8",
        "--depth",
        "--time",
        "--nodes",
        "--exact",
        "--json",
        "--all-moves",
        "--algorithm",
        "minimax",
        "alphabeta",
        "--policy",
        "pool",
        "--load-factor",
        "--ordering",
        "none",
        "shallow:1",
        "static",
        "--evaluation",
        "discs",
        "--empties",
        "--positions",
        "-",
        "--table",
        "--window",
        "-1,1",
        "--",
        "-h",
        "--help",
        "--version",
        "0",
        "1",
        "2",
        "-3",
        "1.5",
        "nan",
        "",
    ]
)


@given(GARBAGE)
@example("-h")
@example("--exact")
def test_no_position_causes_a_traceback(text):
    assert_no_accident(ask("search", "othello", text, "--board", "4x4", "--depth", "1"))


@given(st.text() | st.builds(lambda *parts: "".join(parts), NUMBERS, st.sampled_from("xX*×"), NUMBERS))
def test_no_board_causes_a_traceback(text):
    assert_no_accident(ask("search", "othello", "--depth", "1", f"--board={text}"))


@given(st.text() | st.builds(lambda name, depth: f"shallow:{depth}{name}", st.text(max_size=2), NUMBERS))
def test_no_ordering_causes_a_traceback(text):
    assert_no_accident(ask("search", "othello", START, "--board", "4x4", "--depth", "1", f"--ordering={text}"))


@given(st.text() | st.builds(lambda *parts: "".join(parts), NUMBERS, st.sampled_from(",;."), NUMBERS))
@example("-")
@example("-1,1\0")
def test_no_window_causes_a_traceback(text):
    assert_no_accident(ask("search", "othello", START, "--board", "4x4", "--exact", "--window", text))


@given(st.text() | NUMBERS)
def test_no_size_of_the_table_causes_a_traceback(text):
    assert_no_accident(ask("search", "othello", START, "--board", "4x4", "--depth", "1", "--table", text))


@pytest.mark.parametrize("option", ["--board", "--depth", "--ordering", "--window"])
def test_two_dashes_are_no_value(option):
    assert_refused(ask("search", "othello", f"{option}=--"), option[2:])


@given(st.lists(st.sampled_from(["d3", "D3", "c3", "b3", "pass", "a1", "a0", "e9", "a1b", "q1", "d", "3"]), max_size=9))
def test_no_transcript_causes_a_traceback(moves):
    assert_no_accident(ask("search", "othello", "".join(moves), "--board", "4x4", "--depth", "1"))


@given(st.lists(GARBAGE, max_size=5))
def test_no_file_causes_a_traceback(lines):
    options = "--board", "4x4", "--depth", "1", "--positions", "-"
    assert_no_accident(ask("solve", "othello", *options, stdin="\n".join(lines).encode()))


@given(st.lists(WORDS, max_size=8))
@example(["search", "othello"])
@example(["perft", "othello"])
@example(["solve", "othello", "--positions", "-"])
def test_no_command_line_causes_a_traceback(argv):
    # behind any of them, a depth that makes its search a short one
    answer = ask(*argv, "--depth", "1", stdin=b"startpos\n")
    if answer.status != 2:
        assert_no_accident(answer)
    else:
        assert_refused(answer)
