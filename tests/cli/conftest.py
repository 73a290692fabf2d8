"""What the tests of the command line share."""

from pathlib import Path

import pytest

from .asking import ask


@pytest.fixture(scope="session", autouse=True)
def kernels():
    """Compile first, so that stderr holds no news of the compiler."""
    for limit in ("--depth", "1"), ("--time", "0.01"):
        ask("search", "othello", *limit)
    for plain in ("--exact",), ("--depth", "1"), ("--depth", "1", "--ordering", "static"):
        ask("search", "othello", "--board", "4x4", *plain)
    ask("solve", "othello")
    ask("search", "connect4", "4453222", "--exact", "--book", "none")
    ask("perft", "othello", "--depth", "1")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with the files that command lines of this module name."""
    monkeypatch.chdir(tmp_path)
    Path("good.txt").write_text("startpos\n")
    Path("empty.txt").touch()
    Path("folder").mkdir()
    return tmp_path
