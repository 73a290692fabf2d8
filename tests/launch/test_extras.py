"""What optional packages do for the command line, with few kernels: scripts/lowest runs it at their lowest versions."""

import pty
import re

import pytest

from .running import run

pytestmark = pytest.mark.any_mpi
_STARTING = 300  # seconds: kernels may have to be compiled


def test_a_board_on_a_terminal_is_in_colour(tmp_path):
    pytest.importorskip("rich", reason="the extra watch is not installed")
    path = tmp_path / "game"
    played = run(
        *("play", "othello", "--board", "4x4", "--algorithm", "random", "--record", str(path)), timeout=_STARTING
    )
    assert played.status == 0, played.err
    reader, writer = pty.openpty()
    asked = "replay", str(path), "--move", "0"
    with open(reader, "rb", buffering=0) as terminal, open(writer, "wb", buffering=0) as stdout:
        done = run(*asked, stdout=stdout, environment={"TERM": "xterm"})
        assert done.status == 0, done.err
        shown = terminal.read(4096).decode()  # one board, which the terminal holds until it is read
    assert re.sub(r"\x1b\[[\d;]*m", "", shown).replace("\r\n", "\n") == run(*asked).out
    assert len(re.findall(r"\x1b\[1[\d;]*m[XO]", shown)) == 4  # the pieces are bold


def test_ranks_write_a_file_of_parquet(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra parquet is not installed")
    positions, path = tmp_path / "positions", tmp_path / "answers.parquet"
    positions.write_text("startpos\n1\n12\n")
    asked = "solve", "connect4", "--board", "4x4", "--positions", str(positions), "--depth", "3"
    expected = run(*asked, "--json", timeout=_STARTING).results
    done = run(*asked, "--parquet", str(path), "--fields", "line,position,score", ranks=3, timeout=_STARTING)
    assert done.status == 0, done.err
    rows = parquet.read_table(path).to_pylist()
    assert rows == [{name: each[name] for name in ("line", "position", "score")} for each in expected]
    assert len(rows) == 3
