"""Run the command line with little memory on some ranks: ``python limited.py MIB RANKS ARGUMENT...``; RANKS as 0,2."""

import resource
import sys

from distsearch.cluster import mpi_runtime

if __name__ == "__main__":
    from distsearch.cli.main import main

    if str(mpi_runtime.launcher()[1]) in sys.argv[2].split(","):
        resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]) << 20,) * 2)
    sys.exit(main(sys.argv[3:]))
