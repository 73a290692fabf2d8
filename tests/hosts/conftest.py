"""What the tests on several hosts share; they run where ``tests/hosts/run`` has started these."""

import json
import os
import subprocess
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
SEARCH = "othello", "--board", "6x6", "--depth", "10"


def pytest_collection_modifyitems(items):
    if "DISTSEARCH_HOSTS" in os.environ:
        return
    skipped = pytest.mark.skip(reason="on hosts of their own only: tests/hosts/run")
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(skipped)


@pytest.fixture(scope="session")
def openmpi():
    """The folder of a virtual environment with Open MPI, next to that of the checkout, which has MPICH."""
    folder = Path(os.environ["OPENMPI_VENV"])
    if not (folder / "bin" / "mpirun").exists():
        pytest.skip(f"no Open MPI in {folder}")
    return folder


@pytest.fixture(scope="session")
def alone():
    """What one rank finds by SEARCH."""
    done = subprocess.run(
        ["distsearch", "search", *SEARCH, "--json"], capture_output=True, text=True, timeout=100, check=True
    )
    return json.loads(done.stdout)


def environment(venv=None):
    """Return the variables for processes that are to use another virtual environment, or that at work."""
    variables = {**os.environ, "PATH": f"{venv}/bin:{os.environ['PATH']}" if venv else os.environ["PATH"]}
    # the other tests' leave for more ranks than cores: with it Open MPI puts all ranks on the first host
    variables.pop("PRTE_MCA_rmaps_default_mapping_policy", None)
    return variables
