"""One job over several hosts without a batch system: the shipped hostfiles, ssh between the hosts, both MPIs."""

import json
import subprocess

import pytest

from .conftest import CHECKOUT, environment

RANKS = {"node01": 2, "node02": 2, "node03": 2, "head": 1}
SEARCH = "search", "othello", "--board", "6x6", "--depth", "10", "--policy", "pool", "--load-factor", "4", "--json"


@pytest.fixture(scope="module", params=["mpich", "openmpi"])
def launch(request, tmp_path_factory):
    """Run a command line on all hosts; returns the object that it prints.

    The hostfile is the shipped one, with fewer ranks on a host.
    """
    hostfile = tmp_path_factory.mktemp("hosts") / "hostfile"
    text = (CHECKOUT / "hostfiles" / f"{request.param}.txt").read_text()
    for shipped, here in ((":16", ":2"), (":8", ":1"), ("=16", "=2"), ("=8", "=1")):
        text = text.replace(shipped, here)
    hostfile.write_text(text)
    if request.param == "mpich":
        mpirun, variables = ["mpirun", "-f", str(hostfile)], environment()
    else:
        variables = environment(request.getfixturevalue("openmpi"))
        passed = [word for name in ("PATH", "PYTHONPATH", "DISTSEARCH_CACHE") for word in ("-x", name)]
        mpirun = ["mpirun", "--hostfile", str(hostfile), *(passed if "DISTSEARCH_CACHE" in variables else passed[:4])]

    def run(*arguments):
        done = subprocess.run(
            [*mpirun, "-n", str(sum(RANKS.values())), "distsearch", *arguments],
            env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=80, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    return run


def test_ranks_are_where_the_hostfile_says(launch):
    facts = launch("info", "--json")
    assert facts["hosts"] == RANKS
    assert facts["problems"] == []


def test_a_search_is_that_of_one_rank(launch):
    result = launch(*SEARCH)
    alone = subprocess.run(["distsearch", *SEARCH], capture_output=True, text=True, timeout=80, check=True)
    assert result["score"] == json.loads(alone.stdout)["score"]
    assert (result["ranks"], result["workers"]) == (7, 6)
    assert [worker["rank"] for worker in result["per_worker"]] == [1, 2, 3, 4, 5, 6]
    assert sum(worker["jobs"] for worker in result["per_worker"]) >= result["jobs"] > 6
