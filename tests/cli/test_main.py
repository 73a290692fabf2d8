"""The command line as a process of its own."""

import subprocess
import sys

SCRIPT = """
import gc
from distsearch.cli import info, main
seen = []
info.run = lambda args, argv: seen.append((gc.isenabled(), gc.get_freeze_count() > 0)) or 0
main.main({})
print(seen, gc.isenabled())
"""


def collector_seen(call):
    """Return what a command sees of the garbage collector, and what there is after it."""
    command = [sys.executable, "-c", SCRIPT.format(call), "info"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.strip()


def test_what_a_program_imports_is_never_collected():
    assert collector_seen("") == "[(True, True)] True"


def test_a_command_line_in_another_program_leaves_its_collector_alone():
    assert collector_seen("['info']") == "[(True, False)] True"
