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


def words(source):
    """Source without the white space between its lines."""
    return [line.rstrip() for line in source.splitlines() if line.strip()]


def test_the_page_is_the_game_that_the_tests_use():
    assert words(module()) == words(Path(tictactoe.__file__).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The environment in which the page's package is installed."""
    folder, site = tmp_path_factory.mktemp("tictactoe"), tmp_path_factory.mktemp("site")
    (folder / "tictactoe.py").write_text(module(), encoding="utf-8")
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
