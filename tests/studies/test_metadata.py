"""What a row says of where it was measured."""

import json
import subprocess
from pathlib import Path

import distsearch
from distsearch.studies import metadata

PLACES = [("a", "one CPU"), ("a", "one CPU"), ("b", "another")]


def test_everything_is_told(monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_CONF", "a path")
    found = metadata.describe(PLACES, 3, "othello", ["study", "scaling", "a b"])
    assert json.loads(json.dumps(found)) == found
    assert found["hosts"] == {"a": 2, "b": 1}
    assert found["cpu"] == "one CPU; another"
    assert found["slurm"] == {"SLURM_JOB_ID": "7"}
    assert found["arguments"] == "study scaling 'a b'"
    assert found["version"] == distsearch.__version__
    assert found["rules"].startswith("othello-")
    assert found["seed"] == 3


def test_games_have_versions_of_their_own():
    assert metadata.rules_version("othello") != metadata.rules_version("connect4")
    assert metadata.describe(PLACES)["rules"] is None


def test_the_commit_is_gits():
    folder = Path(distsearch.__file__).parent
    asked = subprocess.run(["git", "-C", folder, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    found = metadata.commit()
    assert found is None if asked.returncode else found.rstrip("+") == asked.stdout.strip()


def test_a_cpu_has_a_name():
    assert metadata.cpu_model()
