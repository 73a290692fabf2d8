"""docs/adding-a-game.md, run as it stands: its files made into a package, installed, and its commands tried."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from . import tictactoe

PAGE = (Path(__file__).parents[2] / "docs" / "adding-a-game.md").read_text(encoding="utf-8")
PERFT = (1, 9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872)


def blocks(language):
    """The page's code blocks of a language."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def module():
    """The blocks that make up tictactoe.py: all Python before the line about pyproject.toml."""
    before = PAGE[: PAGE.index("`pyproject.toml`:")]
    return "\n\n".join(block for block in blocks("python") if block in before)


def after(words):
    """The first Python block after these words."""
    return re.search(r"```python\n(.*?)```", PAGE[PAGE.index(words) :], re.DOTALL)[1]


def words(source):
    """Source without the white space between its lines."""
    return [line.rstrip() for line in source.splitlines() if line.strip()]


def test_the_page_is_the_game_that_the_tests_use():
    assert words(module()) == words(Path(tictactoe.__file__).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The environment in which the page's package is installed."""
    return install(tmp_path_factory, module())


def install(tmp_path_factory, source):
    """Install a tictactoe.py as the page has it; return the environment to use it in."""
    folder, site = tmp_path_factory.mktemp("tictactoe"), tmp_path_factory.mktemp("site")
    (folder / "tictactoe.py").write_text(source, encoding="utf-8")
    (folder / "pyproject.toml").write_text(blocks("toml")[0], encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", str(site), "."], cwd=folder, check=True, capture_output=True, timeout=100)
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path + [str(site)])}


def commands():
    """The page's distsearch commands, without the prompt."""
    lines = "".join(blocks("console")).splitlines()
    return [line.removeprefix("$ ") for line in lines if "distsearch" in line]


@pytest.mark.parametrize("command", commands())
def test_command(installed, command):
    if command.startswith("mpirun") and not shutil.which("mpirun"):
        pytest.skip("no mpirun on PATH")
    line = command.replace("distsearch", f"{sys.executable} -m distsearch", 1)
    done = subprocess.run(line, shell=True, env=installed, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    if "perft" in command:
        assert tuple(int(n.replace(",", "")) for n in re.findall(r"^ +\d+ +([\d,]+)$", done.stdout, re.M)) == PERFT
    else:
        assert "score      +0 points" in done.stdout


def test_the_plain_game_is_the_same(installed, tmp_path):
    (tmp_path / "plain.py").write_text(after("`plain.py`"), encoding="utf-8")
    (tmp_path / "check.py").write_text(after("let the contract compare"), encoding="utf-8")
    subprocess.run([sys.executable, "check.py"], cwd=tmp_path, env=installed, check=True, timeout=100)


def test_the_evaluation(tmp_path_factory):
    extended = install(tmp_path_factory, f"{module()}\n\n{after('own evaluations')}")
    # without a table: its kernels are quicker to compile, and of this game they are for this test alone
    line = [sys.executable, "-m", "distsearch", "search", "tictactoe", "--depth", "1", "--ordering", "none"]
    done = subprocess.run(line, env=extended, capture_output=True, text=True, timeout=100, check=True)
    assert "best move  b2" in done.stdout
    assert "score      +10 evaluation" in done.stdout
