"""What setup.cfg says that distsearch takes, and what the scripts make of it."""

import configparser
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
TOOLS = {"fuzz", "audit", "docs", "test"}  # extras that no user takes


@pytest.fixture(scope="module")
def required():
    """Return {extra: its requirements}; those of the project itself are under ""."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    lists = {"": config["options"]["install_requires"], **config["options.extras_require"]}
    return {extra: [Requirement(line) for line in text.split("\n") if line] for extra, text in lists.items()}


def test_every_requirement_has_a_lowest_version_and_no_highest(required):
    assert {"", "mpich", "test"} <= set(required)
    for extra, each in ((extra, each) for extra, requirements in required.items() for each in requirements):
        assert [bound.operator for bound in each.specifier] == [">="], f"{extra}: {each}"


def test_a_package_of_several_extras_has_one_lowest_version(required):
    # mpi4py alone: the extras take a wheel, which serves any MPI from 4.1 on, and a site builds its own
    found = {}
    for requirements in required.values():
        for each in requirements:
            found.setdefault(each.name, set()).add(str(each.specifier))
    assert {name: bounds for name, bounds in found.items() if len(bounds) > 1} == {"mpi4py": {">=4.0", ">=4.1"}}


def test_the_scripts_know_every_extra_that_users_take(required):
    lists = re.findall(r"\w*RUNTIME_EXTRAS=(\S+)", (ROOT / "scripts" / "common.sh").read_text(encoding="utf-8"))
    assert sorted(",".join(lists).split(",")) == sorted(set(required) - TOOLS - {""})


def package(name, *vulnerabilities, **more):
    return {"name": name, "version": "1.0", "vulns": list(vulnerabilities), **more}


UNKNOWN = {"name": "ours", "skip_reason": "not found"}
BAD = {"id": "PYSEC-1", "aliases": ["CVE-2"], "fix_versions": ["1.1", "2.0"]}
WORSE = {"id": "PYSEC-3", "aliases": [], "fix_versions": []}


@pytest.mark.parametrize(
    ("packages", "status", "lines"),
    [
        ([package("a"), package("b")], 0, ["run-time: 2 of 2 packages audited, 0 known vulnerabilities"]),
        (
            [package("a"), UNKNOWN],
            0,
            ["run-time: 1 of 2 packages audited, 0 known vulnerabilities", "run-time: not audited: ours"],
        ),
        ([UNKNOWN], 77, ["run-time: 0 of 1 packages audited, 0 known vulnerabilities"]),
        (
            [package("a", BAD, WORSE)],
            1,
            [
                "run-time: a 1.0 has PYSEC-1 CVE-2, fixed in 1.1 or 2.0",
                "run-time: a 1.0 has PYSEC-3, not fixed yet",
                "run-time: 1 of 1 packages audited, 2 known vulnerabilities",
            ],
        ),
    ],
    ids=["none", "one unknown", "all unknown", "two"],
)
def test_advisories_are_told_and_decide_the_status(packages, status, lines):
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "advisories.py", "run-time"],
        input=json.dumps({"dependencies": packages, "fixes": []}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.splitlines(), done.stderr) == (status, lines, "")
