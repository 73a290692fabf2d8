"""Run the command line with an exception planted on one rank: ``python failing.py STAGE RANK ARGUMENT...``."""

import os
import signal
import subprocess
import sys

from distsearch.cluster import mpi_runtime
from distsearch.cluster.mpi import MpiCluster
from distsearch.cluster.worker import Worker
from distsearch.core.errors import UserError
from distsearch.tree.search_tree import SearchTree

# the function that fails, by stage of the run
STAGES = {
    "start-up": (mpi_runtime, "world"),
    "refusal of a worker": (Worker, "_prepare"),
    "job": (Worker, "work"),
    "job, held launcher": (Worker, "work"),
    "back-up": (SearchTree, "finish"),
    "shutdown of the master": (MpiCluster, "close"),
    "shutdown of a worker": (Worker, "_metrics"),
}


def plant(stage, rank):
    """Make the function of a stage fail on one rank."""
    if mpi_runtime.launcher()[1] == rank:

        def fail(*_, **__):
            if "held launcher" in stage:
                hold(os.getppid())
            raise (UserError if "refusal" in stage else RuntimeError)(f"planted in {stage}")

        setattr(*STAGES[stage], fail)


def hold(pid):
    """Stop a process for half a second."""
    command = ["sh", "-c", f"sleep 0.5; kill -CONT {pid}"]
    none = subprocess.DEVNULL
    subprocess.Popen(command, start_new_session=True, stdin=none, stdout=none, stderr=none)
    os.kill(pid, signal.SIGSTOP)


if __name__ == "__main__":
    from distsearch.cli.main import main

    plant(sys.argv[1], int(sys.argv[2]))
    sys.exit(main(sys.argv[3:]))
