"""Results that cannot be written end a command with a line, and never with a traceback."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("command", ["info", "info --json", "perft connect4 --depth 1"])
def test_a_full_disk_is_one_line(command):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "distsearch", *command.split()],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=300,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "distsearch: cannot write the result: No space left on device"
    assert "Traceback" not in done.stderr
