"""The examples, run as they stand."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
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
