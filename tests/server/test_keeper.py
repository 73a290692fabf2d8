"""The keeper of a LocalCluster leaves nothing, whenever it is told to end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

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
        with Keeper(tmp_path / str(number)) as keeper:
            keeper.process.stdin.close()
            for _ in range(rng.randrange(1, 4)):
                time.sleep(rng.choice([0, 0, 1e-5, 5e-5, 2e-4, 1e-3]))
                keeper.process.terminate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_alone_ends_it(number, tmp_path):
    with Keeper(tmp_path / "folder", 128 + number) as keeper:
        keeper.process.send_signal(number)


class Keeper:
    """A keeper at work; at the end of the context it must end with one of the statuses, and nothing be left of it."""

    def __init__(self, folder: Path, *statuses: int):
        self._folder, self._statuses = folder, statuses or (0, 128 + signal.SIGTERM)
        folder.mkdir()
        command = [sys.executable, "-c", _KEEPER, str(folder), "1", str(os.getpid())]
        environment = {**os.environ, "PYTHONPATH": PACKAGES}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def __enter__(self):
        self._started = Path("/proc", self.process.stdout.readline().strip())
        assert self._started.exists()
        return self

    def __exit__(self, *_):
        with self.process:
            assert self.process.wait(PATIENCE) in self._statuses
        assert not self._folder.exists()
        assert not self._started.exists()
