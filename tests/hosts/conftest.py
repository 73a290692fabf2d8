"""What the tests on several hosts share; they run where ``tests/hosts/run`` has started these."""

import os
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]


def pytest_collection_modifyitems(items):
    if "DISTSEARCH_HOSTS" in os.environ:
        return
    skipped = pytest.mark.skip(reason="on hosts of their own only: tests/hosts/run")
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(skipped)


@pytest.fixture(scope="session")
def openmpi():
    """The folder of a virtual environment with Open MPI, beside which that at work has MPICH."""
    folder = Path(os.environ["OPENMPI_VENV"])
    if not (folder / "bin" / "mpirun").exists():
        pytest.skip(f"no Open MPI in {folder}")
    return folder


def environment(venv=None):
    """Return the variables for processes that are to use another virtual environment, or that at work."""
    variables = {**os.environ, "PATH": f"{venv}/bin:{os.environ['PATH']}" if venv else os.environ["PATH"]}
    # the other tests' leave for more ranks than cores: with it Open MPI puts all ranks on the first host
    variables.pop("PRTE_MCA_rmaps_default_mapping_policy", None)
    return variables
