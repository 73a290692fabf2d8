"""The command line as a process of its own."""

import os
import subprocess
import sys

import pytest

from distsearch.cli import main
from distsearch.cluster import mpi_runtime
from distsearch.core.errors import MasterLostError, RanksLostError

SCRIPT = """
import gc, os
from distsearch.cli import info, main
def run(args, argv):
    seen.append((gc.isenabled(), gc.get_freeze_count() > 0, os.environ.get("OPENBLAS_NUM_THREADS")))
seen, info.run = [], run
main.main({})
print(seen, gc.isenabled())
"""


def seen_by_a_command(call):
    """Return what a command sees of the garbage collector and of numpy's threads."""
    command = [sys.executable, "-c", SCRIPT.format(call), "info"]
    environment = {name: value for name, value in os.environ.items() if "NUM_THREADS" not in name}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.strip()


def test_what_a_program_imports_is_never_collected_and_numpy_gets_one_thread():
    assert seen_by_a_command("") == "[(True, True, '1')] True"


def test_a_command_line_in_another_program_leaves_all_as_it_is():
    assert seen_by_a_command("['info']") == "[(True, False, None)] True"


def raises(error):
    raise error


@pytest.mark.parametrize("told", ["0", "1"])  # "1": MPI reports failures, and mpirun ignores how a killed rank ended
@pytest.mark.parametrize(("error", "status", "ended"), [(MasterLostError, 0, []), (RanksLostError, 1, [1])])
def test_a_worker_that_only_does_not_hear_from_rank_0_leaves_alone(monkeypatch, capsys, error, status, ended, told):
    calls = []
    monkeypatch.setenv("OMPI_MCA_mpi_ft_enable", told)
    monkeypatch.setattr(mpi_runtime, "place", lambda: (3, 2))
    monkeypatch.setattr(mpi_runtime, "abort", calls.append)
    monkeypatch.setattr(mpi_runtime, "forgo_finalize", lambda: None)
    monkeypatch.setattr(main, "parse", lambda _: raises(error("rank 0 is lost")))
    assert main.main(["info"]) == status
    assert calls == ended
    assert capsys.readouterr().err == "distsearch: rank 0 is lost\n"
