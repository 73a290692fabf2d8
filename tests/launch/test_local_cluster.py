"""Ranks that a program starts for itself: they answer, and nothing of them is left, however the program ends."""

import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from distsearch import LocalCluster, ServiceError
from distsearch.core.errors import UserError
from distsearch.server import local_cluster

from .running import PACKAGES, PATIENCE, wait_for

EASY, SCORE = "67773775553433522221211211515", -2  # Connect 4
_MARK = "DISTSEARCH_TEST_CLUSTER"
SMALL = {"table": 1, "book": "none"}
SETTING = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores it
from distsearch import LocalCluster
cluster = LocalCluster(ranks=3, table=1, book="none")
print(cluster.path, flush=True)
"""


@pytest.fixture
def mark(monkeypatch):
    """A variable of all processes that a test starts."""
    value = uuid.uuid4().hex
    monkeypatch.setenv(_MARK, value)
    return f"{_MARK}={value}".encode()


def members(mark):
    """The ids of the other processes with a mark."""
    found = set()
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (path / "environ").read_bytes().split(b"\0"):
                found.add(int(path.name))
        except OSError:
            continue  # it is gone, or another process's
    return found - {os.getpid()}


@pytest.mark.parametrize("ranks", [1, 3])
def test_it_answers_and_leaves_nothing(ranks, mark):
    with LocalCluster(ranks, **SMALL, timeout=PATIENCE) as cluster:
        assert cluster.search("connect4", EASY, exact=True)["score"] == SCORE
        assert (cluster.status()["ranks"], cluster.ranks) == (ranks, ranks)
        assert cluster.status()["table_mib"] == 1
        with cluster.client(timeout=PATIENCE) as other:
            assert other.search("connect4", EASY, exact=True)["score"] == SCORE
        folder = Path(cluster.path).parent
        assert folder.stat().st_mode & 0o777 == 0o700
        assert len(members(mark)) > ranks
    assert members(mark) == set()
    assert not folder.exists()
    cluster.close()
    with pytest.raises(ServiceError, match="closed"):
        cluster.status()


def test_several_at_once(mark):
    with LocalCluster(1, **SMALL, timeout=PATIENCE) as first, LocalCluster(1, **SMALL, timeout=PATIENCE) as second:
        pending = [each.submit("connect4", EASY, exact=True) for each in (first, second)]
        assert [each.result()["score"] for each in pending] == [SCORE, SCORE]
        first.close()
        assert second.search("connect4", EASY, exact=True)["score"] == SCORE
    assert members(mark) == set()


def program(text):
    """A program that has a cluster; the first line that it prints is its socket."""
    command = [sys.executable, "-c", SETTING + text]
    environment = {**os.environ, "PYTHONPATH": PACKAGES}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


FORK = (  # which holds all descriptors, and lives on
    "\npid = os.fork()\nif pid: print(pid, flush=True)\nelse: os.close(1); time.sleep(600); os._exit(0)"
    "\ntime.sleep(600)"
)


@pytest.mark.parametrize(
    ("ending", "number"),
    [
        ("cluster.submit('othello', exact=True); time.sleep(600)", signal.SIGKILL),
        ("time.sleep(600)", signal.SIGTERM),
        ("cluster.submit('othello', exact=True); time.sleep(600)", signal.SIGINT),
        ("pass", None),
        ("os._exit(3)", None),
        (FORK, signal.SIGKILL),
    ],
    ids=["killed", "terminated", "interrupted", "ended", "no atexit", "killed with a fork"],
)
def test_nothing_is_left_of_it_once_the_program_is_gone(ending, number, mark):
    with program(ending) as asking:
        folder = Path(asking.stdout.readline().strip()).parent
        forks = {int(asking.stdout.readline())} if ending is FORK else set()
        if number is not None:
            asking.send_signal(number)
        asking.wait(PATIENCE)
        wait_for(lambda: members(mark) <= forks, PATIENCE)
        wait_for(lambda: not folder.exists(), PATIENCE)
        for pid in forks:
            os.kill(pid, signal.SIGKILL)


def test_a_program_that_is_a_rank_itself(mark, monkeypatch):
    variables = {"PMI_RANK": "1", "PMI_SIZE": "9", "OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "9"}
    for name, value in {**variables, "SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "9", "PMI_FD": "99"}.items():
        monkeypatch.setenv(name, value)
    with program("print(cluster.status()['ranks'], flush=True)") as asking:
        assert asking.stdout.readline()
        assert asking.stdout.readline() == "3\n"


def test_a_program_with_mpi_at_work(mark):
    text = SETTING.replace("import os", "from mpi4py import MPI; assert MPI.Is_initialized()\nimport os", 1)
    command = [sys.executable, "-c", text + "print(cluster.status()['ranks'], flush=True)"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert done.stdout.splitlines()[1:] == ["3"]


def test_what_serve_refuses(mark):
    with pytest.raises(UserError, match="^the service did not start: .*device 'nonsense'"):
        LocalCluster(1, device="nonsense")
    with pytest.raises(UserError, match="^the service did not start: .*submasters 7 is not"):
        LocalCluster(3, submasters=7)
    assert members(mark) == set()


@pytest.mark.any_mpi
@pytest.mark.parametrize("ranks", [0, -1, 1.5, "4", True])
def test_a_number_of_ranks_that_cannot_be(ranks):
    with pytest.raises(UserError, match="^ranks .* is not a whole number of 1 or more"):
        LocalCluster(ranks)


def test_a_long_name_of_the_temporary_folder(mark, monkeypatch, tmp_path):
    deep = tmp_path / ("x" * 120)
    deep.mkdir()
    monkeypatch.setattr(local_cluster.tempfile, "gettempdir", lambda: str(deep))
    with LocalCluster(1, **SMALL, timeout=PATIENCE) as cluster:
        assert cluster.status()["ranks"] == 1


def test_a_notebook_whose_kernel_is_killed(mark):
    jupyter = pytest.importorskip("jupyter_client")
    pytest.importorskip("ipykernel")
    kernel = jupyter.KernelManager(kernel_name="python3")
    kernel.start_kernel(env={**os.environ, "PYTHONPATH": PACKAGES, "PMI_RANK": "1", "PMI_SIZE": "2"})
    asking = kernel.blocking_client()
    asking.start_channels()
    try:
        asking.wait_for_ready(PATIENCE)
        code = "from distsearch import Board, LocalCluster\ncluster = LocalCluster(2, table=1, book='none')\n"
        asking.execute_interactive(f"{code}cluster.submit('othello', exact=True)", timeout=PATIENCE)
        said = []
        shown = "print(cluster.look('othello', Board('othello', 'f5'))['side'], cluster.path)\nBoard('othello')"
        asking.execute_interactive(shown, timeout=PATIENCE, output_hook=said.append)
        texts = {message["msg_type"]: message["content"] for message in said}
        side, path = texts["stream"]["text"].split()
        assert side == "O"
        assert texts["execute_result"]["data"]["text/html"].startswith("<svg")
        os.kill(kernel.provisioner.pid, signal.SIGKILL)
        wait_for(lambda: members(mark) == set(), PATIENCE)
        wait_for(lambda: not Path(path).parent.exists(), PATIENCE)
    finally:
        asking.stop_channels()
        kernel.shutdown_kernel(now=True)
