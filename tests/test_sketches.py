"""docs/sketches.md: each extension touches as few files as it says, and works."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "sketches.md").read_text(encoding="utf-8")
SKETCHES = dict(re.findall(r"^## (.+?): .*?^```diff\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE))
MOST = {"A policy": 1, "An option": 2, "A parameter of a GPU kernel": 3, "An algorithm": 4}  # files

# run in the copy: one JSON object of what the extensions bring
SCRIPT = """
import io, json, sys
from contextlib import redirect_stdout

import numpy as np

from distsearch import Session, search
from distsearch.cli.main import main
from distsearch.games import connect4
from distsearch.gpu.solver import GpuSolver
from distsearch.testing.emulated_gpu import EmulatedGpu

assert sys.argv[1] in Session.__init__.__code__.co_filename
found = {}
four = {"board": "4x4", "depth": 6}
found["policies"] = [search("connect4", policy=policy, **four).score for policy in ("split", "eager")]
found["steps"] = [search("connect4", depth_step=step, **four).score for step in (1, 2, 5)]
with redirect_stdout(io.StringIO()) as out:
    assert main(["search", "2048", "--board", "2x2", "--algorithm", "rollouts", "--depth", "5", "-a", "--json"]) == 0
found["rollouts"] = json.loads(out.getvalue())
rules = connect4.rules((4, 4))
solver = GpuSolver(EmulatedGpu(1), connect4, rules, table_mib=1, seconds=60.0, threads=32, lanes=4, blocks=1)
state = connect4.parse("121324", rules).state
found["gpu"] = int(solver.solve(np.array([state], np.uint64))[0][0])
found["cpu"] = search("connect4", "121324", board="4x4", exact=True, ordering="static").score
print(json.dumps(found))
"""


def changed(lines, sketch):
    """Return the lines of a file after a sketch's listing of it."""
    at, pending, found = 0, [], False
    for line in sketch.splitlines():
        mark, text = line[:1], line[1:]
        if mark == "+":
            pending.append(text)
            continue
        here = lines.index(text, at)
        place = at if found else here  # new lines follow the line before them, the first ones precede the line after
        lines[place:place] = pending
        here, pending, found = here + len(pending), [], True
        if mark == "-":
            del lines[here]
        at = here + (mark != "-")
    lines[at:at] = pending
    return lines


def apply(sketch, root):
    """Change files below a folder as a sketch says; return their names."""
    listings = re.findall(r"^--- (\S+)\n(.*?)(?=^--- |\Z)", sketch, re.DOTALL | re.MULTILINE)
    for name, listing in listings:
        path = root / name
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        path.write_text("\n".join(changed(lines, listing)) + "\n", encoding="utf-8")
    return [name for name, _ in listings]


def test_the_page_has_the_sketches_and_each_touches_few_files():
    assert SKETCHES.keys() == MOST.keys()
    for title, most in MOST.items():
        assert len(re.findall(r"^--- ", SKETCHES[title], re.MULTILINE)) <= most


def test_what_the_sketches_add_works(tmp_path):
    shutil.copytree(ROOT / "distsearch", tmp_path / "distsearch", ignore=shutil.ignore_patterns("__pycache__"))
    for sketch in SKETCHES.values():
        apply(sketch, tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "DISTSEARCH_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(set(found["policies"])) == len(set(found["steps"])) == 1
    assert found["rollouts"]["algorithm"] == "rollouts"
    assert {each["move"] for each in found["rollouts"]["moves"]} <= {"left", "right", "up", "down"}
    assert found["gpu"] == found["cpu"]
