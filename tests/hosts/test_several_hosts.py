"""One job over several hosts without a batch system: the shipped hostfiles, ssh between the hosts, both MPIs."""

import json
import re
import subprocess

import pytest

from . import conftest
from .conftest import CHECKOUT, environment

RANKS = {"node01": 2, "node02": 1, "node03": 1, "head": 1}
SEARCH = "search", *conftest.SEARCH, "--policy", "pool", "--json"


@pytest.fixture(scope="module", params=["mpich", "openmpi"])
def launch(request, tmp_path_factory):
    """Run a command line on all hosts; returns the object that it prints.

    The hostfile is the shipped one, with 2 ranks on its first host and 1 on the others.
    """
    hostfile = tmp_path_factory.mktemp("hosts") / "hostfile"
    text = (CHECKOUT / "hostfiles" / f"{request.param}.txt").read_text()
    first, *others = re.split(r"(?<=[:=])(?:16|8)$", text, flags=re.MULTILINE)
    hostfile.write_text("1".join([f"{first}2{others[0]}", *others[1:]]))
    if request.param == "mpich":
        mpirun, variables = ["mpirun", "-f", str(hostfile)], environment()
    else:
        variables = environment(request.getfixturevalue("openmpi"))
        passed = [word for name in ("PATH", "PYTHONPATH", "DISTSEARCH_CACHE") for word in ("-x", name)]
        mpirun = ["mpirun", "--hostfile", str(hostfile), *(passed if "DISTSEARCH_CACHE" in variables else passed[:4])]

    def run(*arguments):
        done = subprocess.run(
            [*mpirun, "-n", str(sum(RANKS.values())), "distsearch", *arguments],
            env=variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=80,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    return run


def test_ranks_are_where_the_hostfile_says(launch):
    facts = launch("info", "--json")
    assert facts["hosts"] == RANKS
    assert facts["problems"] == []


def test_a_search_is_that_of_one_rank(launch, alone):
    result = launch(*SEARCH)
    assert result["score"] == alone["score"]
    assert (result["ranks"], result["workers"]) == (5, 4)
    assert [worker["rank"] for worker in result["per_worker"]] == [1, 2, 3, 4]
    assert sum(worker["jobs"] for worker in result["per_worker"]) >= result["jobs"] > 4
