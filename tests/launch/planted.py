"""Run the command line with something done to it: ``python planted.py WHAT RANK ARGUMENT...``."""

import signal
import sys
import time

from distsearch.api.two_player import TwoPlayerSearcher
from distsearch.cluster import mpi_runtime


def interrupt(rank):
    """Ctrl-C reaches one rank just as it has joined the others."""
    join = mpi_runtime.world

    def joined():
        comm = join()
        if mpi_runtime.place()[1] == rank:
            signal.raise_signal(signal.SIGINT)
        return comm

    mpi_runtime.world = joined


def stick(rank):
    """The search that one rank starts neither ends nor looks whether it should."""

    def search(*_):
        while True:
            time.sleep(0.1)

    if mpi_runtime.launcher()[1] == rank:
        TwoPlayerSearcher.search = search


if __name__ == "__main__":
    from distsearch.cli.main import main

    {"interrupt": interrupt, "stick": stick}[sys.argv[1]](int(sys.argv[2]))
    sys.exit(main(sys.argv[3:]))
