"""Jobs over the hosts that ``tests/hosts/run`` has started, and these hosts' network."""

import os
import subprocess

from tests.launch.running import MARK, mpirun_is_open_mpi

_RANKS = {"head": 2, "node01": 1, "node02": 1, "node03": 2}
_PASSED = "PATH", "PYTHONPATH", "DISTSEARCH_CACHE", MARK
# the variable that permits more ranks than cores: with it Open MPI starts all ranks on the first host
ONE_HOST = "PRTE_MCA_rmaps_default_mapping_policy"


def are_there() -> bool:
    """Whether there are several hosts."""
    return "DISTSEARCH_HOSTS" in os.environ


def mpirun_options() -> list[str]:
    """Return the options by which mpirun spreads its ranks, none where there is one host."""
    if not are_there():
        return []
    names = ",".join(f"{host}:{ranks}" for host, ranks in _RANKS.items())
    if not mpirun_is_open_mpi():
        return ["-hosts", names]
    return ["--host", names, *(word for name in _PASSED if name in os.environ or name == MARK for word in ("-x", name))]


def of_rank(rank: int) -> str:
    """Return the name of a rank's host."""
    return [host for host, ranks in _RANKS.items() for _ in range(ranks)][rank]


def set_network(host: str, up: bool) -> None:
    """Connect a host to the others, or disconnect it."""
    link = f"to-{host}", "up" if up else "down"
    subprocess.run(["nsenter", "--target", "1", "--net", "ip", "link", "set", *link], check=True)  # the switch's end


def restore_network() -> None:
    """Connect all hosts, if there are several."""
    for host in _RANKS if are_there() else ():
        set_network(host, True)
