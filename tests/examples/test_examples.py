"""The examples, run as they stand."""

import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))
NOTEBOOKS = sorted(path.name for path in EXAMPLES.glob("*.ipynb"))


def run(cwd, *line, env=None):
    """Run Python with these arguments; return its stdout."""
    done = subprocess.run(
        [sys.executable, *map(str, line)], cwd=cwd, env=env, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_embed_session(tmp_path):
    assert "connect4 4453222: column 5, +10 stones, " in run(tmp_path, EXAMPLES / "embed_session.py")


def test_solve_file(tmp_path):
    (tmp_path / "positions.txt").write_text("4453222\n\n2252576253462244111563365343671351441\n")
    lines = run(tmp_path, EXAMPLES / "solve_file.py", "connect4", "positions.txt").splitlines()
    assert lines[0] == "position,move,score,nodes"
    assert [line.split(",")[::2] for line in lines[1:]] == [
        ["4453222", "10"],
        ["2252576253462244111563365343671351441", "-1"],
    ]


def test_a_game_of_another_package(tmp_path):
    """Its searches agree with theory, which the script itself asserts."""
    package = shutil.copytree(EXAMPLES / "nim", tmp_path / "nim")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--no-index"]
    site = tmp_path / "site"
    subprocess.run([*pip, "--target", str(site), "."], cwd=package, check=True, capture_output=True, timeout=100)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(site)])}
    assert run(tmp_path, EXAMPLES / "nim" / "search_nim.py", env=env).count("theory") == 20


def test_drive_service(tmp_path):
    told = run(tmp_path, EXAMPLES / "drive_service.py").splitlines()
    assert told[0] == "4453222: 5 10"
    assert sorted(line[: len("position 0")] for line in told[1:4]) == ["position 0", "position 1", "position 2"]
    assert told[4] == "cancelled: the search was cancelled"
    assert told[5].startswith("refused: ")


class Struct(dict):
    """A dictionary with attributes, as Kaggle hands observations to agents."""

    __getattr__ = dict.__getitem__


def column_filled(board, column, columns):
    """The index of the square that a stone on a column takes: the lowest empty one."""
    return max(square for square in range(column, len(board), columns) if not board[square])


def has_four(board, mark, rows, columns):
    squares = {divmod(square, columns) for square, stone in enumerate(board) if stone == mark}
    lines = [[(i + k * di, j + k * dj) for k in range(4)] for i, j in squares for di, dj in DIRECTIONS]
    return any(set(line) <= squares for line in lines)


@pytest.fixture(scope="module")
def kaggle():
    """The example's names, as Kaggle loads an agent's file."""
    names = runpy.run_path(str(EXAMPLES / "kaggle_connectx.py"))
    yield names
    names["_STACK"].close()


@pytest.mark.parametrize("size", [(6, 7), (4, 5)], ids=str)
def test_kaggle_agent_plays_whole_games(kaggle, size, rng):
    """Against random moves, on either side; it wins them."""
    rows, columns = size
    configuration = Struct(rows=rows, columns=columns, inarow=4, timeout=1, actTimeout=0.1)
    for own in (1, 2):
        board, mark, winner = [0] * (rows * columns), 1, None
        while winner is None and 0 in board:
            if mark == own:
                seen = Struct(board=list(board), mark=mark, step=sum(map(bool, board)), remainingOverageTime=60)
                column = kaggle["agent"](seen, configuration)
                assert type(column) is int
            else:
                column = rng.choice([c for c in range(columns) if not board[c]])
            assert 0 <= column < columns and not board[column]
            board[column_filled(board, column, columns)] = mark
            winner = mark if has_four(board, mark, rows, columns) else None
            mark = 3 - mark
        assert winner == own or size == (4, 5) and winner is None


@pytest.mark.parametrize("others", [[41, 40], [41, 40, 34]], ids=["parry", "take"])
def test_kaggle_agent_parries_and_takes_four(kaggle, others):
    """The first side has three in a row at the bottom, at the left edge."""
    board = [1 if square in (35, 36, 37) else 2 * (square in others) for square in range(42)]
    seen = Struct(board=board, mark=1 if len(others) == 3 else 2)
    assert kaggle["agent"](seen, Struct(rows=6, columns=7, inarow=4, timeout=2, actTimeout=0.5)) == 3


def test_kaggle_agent_refuses_other_games(kaggle):
    with pytest.raises(ValueError, match="inarow 5"):
        kaggle["agent"](Struct(board=[0] * 42, mark=1), Struct(rows=6, columns=7, inarow=5, actTimeout=1))


def test_kaggle_itself_accepts_the_agent(kaggle):
    environments = pytest.importorskip("kaggle_environments", reason="kaggle-environments takes hundreds of packages")
    environment = environments.make("connectx", {"actTimeout": 1})
    environment.run([kaggle["agent"], "random"])
    assert environment.state[0].reward == 1


@pytest.mark.parametrize("game", ["othello", "connect_four"])
def test_openspiel_bot_wins_against_random_moves(game, tmp_path):
    pytest.importorskip("pyspiel")
    told = run(tmp_path, EXAMPLES / "openspiel_bot.py", game, "--depth", "4")
    assert told.startswith(f"{game}: +1 for the search after ")


def test_openspiel_bot_plays_2048(tmp_path):
    pytest.importorskip("pyspiel")
    told = run(tmp_path, EXAMPLES / "openspiel_bot.py", "2048", "--depth", "1")
    assert int(told.split()[1].replace(",", "")) > 2000


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook(name, tmp_path):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    if "mpirun" in (EXAMPLES / name).read_text(encoding="utf-8") and not shutil.which("mpirun"):
        pytest.skip("no mpirun on PATH")
    book = nbformat.read(EXAMPLES / name, as_version=4)
    nbclient.NotebookClient(book, timeout=200, resources={"metadata": {"path": str(tmp_path)}}).execute()
    pictures = [
        output for cell in book.cells for output in cell.get("outputs", ()) if "image/png" in output.get("data", {})
    ]
    assert len(pictures) == 1


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_are_kept_without_outputs(name):
    cells = json.loads((EXAMPLES / name).read_text(encoding="utf-8"))["cells"]
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
