"""Count what ranks of one host search with one table between them, and with a table each.

    mpirun -n 5 python benchmarks/shared_table.py 573154743 --table 64

Every worker of the second run has --table MIB of its own, so four workers have four times the memory of the first.
"""

import argparse

from mpi4py import MPI

from distsearch.cluster.mpi import MpiCluster, work_for_master
from distsearch.cluster.shared import SharedWords
from distsearch.games import connect4
from distsearch.search.table import far_table
from distsearch.service.options import Options
from distsearch.service.search import Searcher
from distsearch.tree.jobs import kinds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("position")
    parser.add_argument("--table", type=int, default=64, help="MiB")
    parser.add_argument("--load-factor", type=float, default=4)
    args = parser.parse_args()
    comm = MPI.COMM_WORLD
    for name in ("one table", "a table each"):
        shared = SharedWords(comm, args.table, far_table) if name == "one table" else None
        words = shared.words if shared else far_table(args.table)
        if comm.Get_rank() > 0:
            work_for_master(comm, kinds(words))
        else:
            cluster = MpiCluster(comm)
            options = Options("connect4", exact=True, load_factor=args.load_factor)
            searcher = Searcher(options, cluster)
            outcome = next(searcher.search([connect4.parse(args.position, searcher.rules)]))
            cluster.close()
            print(
                f"{name}: score {outcome.score:+g}, {outcome.nodes:,} boards, {outcome.cpu_seconds:.1f} CPU s, "
                f"{outcome.table_hits:,} hits, {cluster.workers} workers",
                flush=True,
            )
        del words
        if shared:
            shared.close()


if __name__ == "__main__":
    main()
