"""Help, version, and the other way in."""

import subprocess
import sys

import pytest

from distsearch import __version__

from .asking import ask


@pytest.mark.parametrize(
    "command", [[], ["search"], ["solve"], ["perft"], ["play"], ["tune"], ["sample"], ["info"]], ids=" ".join
)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_is_printed_where_results_are(command, option):
    answer = ask(*command, option)
    assert answer.status == 0
    assert answer.out.startswith("usage: distsearch")
    assert answer.err == ""


def test_version():
    assert ask("--version") == (0, f"distsearch {__version__}\n", "")


def test_the_package_can_be_run():
    command = [sys.executable, "-m", "distsearch", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"distsearch {__version__}\n", "")
