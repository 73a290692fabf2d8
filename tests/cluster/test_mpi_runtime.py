"""When MPI is begun."""

import os
import subprocess
import sys
import time

import pytest

from distsearch.cluster import mpi_runtime


@pytest.mark.parametrize("variable", ["HOME", "OMPI_MCA_btl", "PMIX_MCA_gds", "SLURM_JOB_ID"])
def test_a_process_without_launcher_does_without_mpi(monkeypatch, variable):
    monkeypatch.setattr(os, "environ", {variable: "0"})
    monkeypatch.setattr(mpi_runtime, "communicator", lambda: pytest.fail("begun"))
    assert mpi_runtime.world() is None


@pytest.mark.parametrize("variable", ["PMIX_RANK", "PALS_RANKID", "ALPS_APP_PE", "JSM_NAMESPACE_RANK", "PMI_FD"])
def test_an_unknown_launcher_is_left_to_mpi(monkeypatch, variable):
    monkeypatch.setattr(os, "environ", {variable: "0"})
    monkeypatch.setattr(mpi_runtime, "communicator", lambda: "begun")
    assert mpi_runtime.world() == "begun"


SRUN = {"PMI_RANK": "0", "PMI_SIZE": "2", "SLURM_STEP_NUM_NODES": "2"}
NETWORK = "MPIR_CVAR_CH4_NETMOD"


@pytest.mark.parametrize(
    ("variables", "network"),
    [
        (SRUN, "ofi"),
        ({**SRUN, "SLURM_STEP_NUM_NODES": "1"}, None),
        ({**SRUN, "MPI_LOCALRANKID": "0"}, None),
        ({**SRUN, NETWORK: "ucx"}, "ucx"),
        ({"SLURM_STEP_NUM_NODES": "2"}, None),
    ],
    ids=["srun", "one node", "mpirun in a job of Slurm", "chosen by the user", "no PMI"],
)
def test_mpich_sends_short_addresses_through_slurm(variables, network):
    code = f"""
import os
from distsearch.cluster import mpi_runtime
mpi_runtime.library()
print(os.environ.get({NETWORK!r}))
"""
    others = {name: value for name, value in os.environ.items() if not name.startswith(("PMI", "MPI", "SLURM"))}
    done = subprocess.run(
        [sys.executable, "-c", code], env=others | variables, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(network)


@pytest.fixture
def shared(tmp_path):
    """A folder in the place of a host's shared memory, with files that are older than a job takes to begin."""
    folder, long_ago = tmp_path / "shm", time.time() - 1000
    folder.mkdir()
    for name in ("mpich_shm_a", "mpich_shm_b", "distsearch-c", "psm3_shm.d"):
        (folder / name).write_bytes(bytes(5000))
        os.utime(folder / name, (long_ago, long_ago))
    return folder


def processes(tmp_path, *mapped):
    """A folder in the place of /proc with a process that has these files mapped, and one that cannot be looked at."""
    for number, lines in enumerate(["", "\n".join(f"7f0 rw-s 0 00:1a 1     {path}" for path in mapped)]):
        (tmp_path / "proc" / f"{number}").mkdir(parents=True)
        (tmp_path / "proc" / f"{number}" / "maps").write_text(f"{lines}\n")
    (tmp_path / "proc" / "99").mkdir()
    return tmp_path / "proc"


def test_what_no_process_has_mapped_is_left_behind(shared, tmp_path):
    found = mpi_runtime.left_behind(shared, processes(tmp_path, shared / "mpich_shm_b"))
    assert found == [(shared / "distsearch-c", 5000), (shared / "mpich_shm_a", 5000)]


def test_what_was_just_made_is_not_left_behind(shared, tmp_path):
    (shared / "mpich_shm_a").touch()
    assert mpi_runtime.left_behind(shared, processes(tmp_path)) == [
        (shared / "distsearch-c", 5000),
        (shared / "mpich_shm_b", 5000),
    ]


def test_what_is_another_users_or_no_file_is_not_left_behind(shared, tmp_path, monkeypatch):
    (shared / "mpich_shm_a").unlink()
    (shared / "mpich_shm_a").mkdir()
    (shared / "mpich_shm_b").unlink()
    (shared / "mpich_shm_b").symlink_to(shared / "distsearch-c")
    assert [path.name for path, _ in mpi_runtime.left_behind(shared, processes(tmp_path))] == ["distsearch-c"]
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert mpi_runtime.left_behind(shared, tmp_path) == []


def test_it_is_removed_and_nothing_else(shared, tmp_path, monkeypatch):
    found = mpi_runtime.left_behind(shared, processes(tmp_path))
    monkeypatch.setattr(mpi_runtime, "left_behind", lambda: found)
    mpi_runtime.remove_left_behind()
    assert [path.name for path in shared.iterdir()] == ["psm3_shm.d"]
    mpi_runtime.remove_left_behind()  # another rank was first
