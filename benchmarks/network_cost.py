"""What MPICH's datagrams between hosts cost: the same search with each network in turn.

    tests/hosts/run -- python -m benchmarks.network_cost --turns 3

Prints for each network the median seconds of the search, and the share of their time in which workers searched. All
hosts share the cores of one machine, so time in which a searching worker waits for a core counts as searching.
"""

import argparse
from statistics import median

from tests.launch.running import mpirun_is_open_mpi, run

from .faults import hosts

RANKS = 5
NETWORKS = {
    "UCX, TCP (the default)": {"MPIR_CVAR_CH4_NETMOD": "ucx"},
    "OFI, TCP": {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp"},
    "OFI, datagrams": {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "udp;ofi_rxd"},
}


def measured(depth: int, turns: int) -> dict[str, list[tuple[float, float]]]:
    """Return [(seconds, share of the time in which workers searched), for each turn] by network."""
    asked = "search", "othello", "--depth", str(depth), "--book", "none", "--json"
    found = {name: [] for name in NETWORKS}
    for turn in range(turns + 1):  # the first one does not count
        for name, environment in NETWORKS.items():
            how = {"ranks": RANKS, "launcher": hosts.mpirun_options(), "environment": environment}
            done = run(*asked, timeout=300, **how)
            assert done.status == 0, done.err
            if turn:
                found[name].append((done.results[-1]["seconds"], done.results[-1]["time_share"]["busy"]))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--depth", type=int, default=18, help="plies")
    parser.add_argument("--turns", type=int, default=3)
    args = parser.parse_args()
    if not hosts.are_there():
        parser.error("there is one host: tests/hosts/run starts several")
    if mpirun_is_open_mpi():
        parser.error("the mpirun on PATH is Open MPI's, and these are MPICH's networks")
    if args.turns < 1:
        parser.error("--turns: at least 1")
    for name, rows in measured(args.depth, args.turns).items():
        seconds, shares = zip(*rows, strict=True)
        print(f"{name:24} {median(seconds):6.2f} s, workers search for {100 * median(shares):.0f}% of the time")


if __name__ == "__main__":
    main()
