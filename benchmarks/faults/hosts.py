"""Jobs over the hosts that ``tests/hosts/run`` has started, and these hosts' network."""

import os
import subprocess

from tests.launch.running import MARK, mpirun_is_open_mpi

_RANKS = {"head": 2, "node01": 1, "node02": 1, "node03": 2}
_PASSED = "PATH", "PYTHONPATH", "DISTSEARCH_CACHE", MARK
_ONE_HOST = "PRTE_MCA_rmaps_default_mapping_policy"  # more ranks than cores: with it Open MPI takes the first host only


def are_there() -> bool:
    """Whether there are several hosts."""
    return "DISTSEARCH_HOSTS" in os.environ


def options() -> list[str]:
    """Return the options by which mpirun spreads its ranks, none where there is one host."""
    if not are_there():
        return []
    os.environ.pop(_ONE_HOST, None)
    names = ",".join(f"{host}:{ranks}" for host, ranks in _RANKS.items())
    if not mpirun_is_open_mpi():
        return ["-hosts", names]
    return ["--host", names, *(word for name in _PASSED if name in os.environ or name == MARK for word in ("-x", name))]


def of_rank(rank: int) -> str:
    """Return the name of a rank's host."""
    return [host for host, ranks in _RANKS.items() for _ in range(ranks)][rank]


def connect(host: str, how: str) -> None:
    """Take a host's end of the switch ``up`` or ``down``."""
    # process 1 is where the switch is
    subprocess.run(["nsenter", "--target", "1", "--net", "ip", "link", "set", f"to-{host}", how], check=True)
