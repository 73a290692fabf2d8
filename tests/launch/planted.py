"""Run the command line with something done to it: ``python planted.py WHAT RANK ARGUMENT...``."""

import signal
import sys
import time

from distsearch.cluster import launch
from distsearch.service.search import Searcher


def interrupt(rank):
    """Ctrl-C reaches one rank just as it has joined the others."""
    join = launch.world

    def joined():
        comm = join()
        if launch.place()[1] == rank:
            signal.raise_signal(signal.SIGINT)
        return comm

    launch.world = joined


def stick(rank):
    """The search that one rank starts neither ends nor looks whether it should."""

    def search(*_):
        while True:
            time.sleep(0.1)

    if launch.launcher()[1] == rank:
        Searcher.search = search


if __name__ == "__main__":
    from distsearch.cli import main

    {"interrupt": interrupt, "stick": stick}[sys.argv[1]](int(sys.argv[2]))
    sys.exit(main(sys.argv[3:]))
