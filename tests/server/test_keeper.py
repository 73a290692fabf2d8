"""The keeper of a LocalCluster leaves nothing, whenever it is told to end."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

from ..launch.running import PACKAGES, PATIENCE

# ``serve`` is a process that only sleeps here: it takes no time to start
_KEEPER = """
import subprocess, sys
from distsearch.server import keeper
class Asleep(subprocess.Popen):
    def __init__(self, command, **how):
        super().__init__(["sleep", "600"], **how)
        print(self.pid, flush=True)
keeper.subprocess.Popen = Asleep
sys.exit(keeper.main())
"""


def test_signals_do_not_cut_the_end_short(rng, tmp_path):
    for number in range(20):
        ends(tmp_path / str(number), rng.choice([0, 0, 1e-5, 5e-5, 2e-4, 1e-3]), rng)


def ends(folder: Path, pause: float, rng: random.Random):
    """Start a keeper, end it by its stdin and by signals soon after, and check that nothing is left."""
    folder.mkdir()
    command = [sys.executable, "-c", _KEEPER, str(folder), "1", str(os.getpid())]
    environment = {**os.environ, "PYTHONPATH": PACKAGES}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as keeper:
        started = Path("/proc", keeper.stdout.readline().strip())
        assert started.exists()
        keeper.stdin.close()
        for _ in range(rng.randrange(1, 4)):
            time.sleep(pause)
            keeper.terminate()
        assert keeper.wait(PATIENCE) in (0, 128 + 15)
        assert not folder.exists()
        assert not started.exists()
