"""Run the command line with an emulated GPU on some ranks: ``python -m benchmarks.faults.emulated RANKS ARGUMENT...``.

RANKS: numbers with commas between them.
"""

import sys

from distsearch.api import devices
from distsearch.cli.main import main
from distsearch.cluster import mpi_runtime
from distsearch.testing.emulated_gpu import EmulatedGpu

if __name__ == "__main__":
    having = set(map(int, sys.argv[1].split(",")))
    gpu = EmulatedGpu() if mpi_runtime.launcher()[1] in having else None
    devices.chosen = lambda comm, name: gpu
    sys.exit(main(sys.argv[2:]))
