"""Othello Board Files: lines as other programs write them, and the way back."""

import pytest

from distsearch.formats.obf import obf_line
from distsearch.formats.positions import Lines
from distsearch.games import othello

BOARD = "-----OX--XO----- X"


@pytest.mark.parametrize(
    ("moves", "score", "line"),
    [
        ([("b1", -10)], -10, f"{BOARD}; B1:-10;"),
        ([("b1", -10), ("d3", 4), ("a2", 0), ("c4", 4)], 4, f"{BOARD}; D3:+4; C4:+4; A2:+0; B1:-10;"),
        ([("pass", 3)], 3, f"{BOARD}; PA:+3;"),
        ([], -16, f"{BOARD}; -16;"),
    ],
)
def test_lines_are_written_and_read(moves, score, line, tmp_path):
    assert obf_line(BOARD, moves, score) == line
    (tmp_path / "problems.obf").write_text(f"% two problems\n\n{line}\n{line} % the same\n")
    with (tmp_path / "problems.obf").open("rb") as file:
        rules = othello.rules((4, 4))
        chunk = Lines(othello, rules, file.fileno()).read(9)
    assert [chunk.good[i] for i in range(chunk.size)] == [False, False, True, True]
    assert chunk.scores[2:].tolist() == [score] * 2
    assert chunk.position(3) == othello.parse(BOARD, rules)
