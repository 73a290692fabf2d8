"""``distsearch info``: the facts, and what it finds wrong."""

import json
import os
import platform
import shutil
import stat
from pathlib import Path

import numba
import numpy as np
import pytest

import distsearch
from distsearch import __version__
from distsearch.cli import gpu_facts
from distsearch.cli.info import info
from distsearch.cluster import mpi_runtime
from distsearch.core import kernel_cache, processor
from distsearch.core.kernel_folder import KernelFolder, source_hash

VERSIONS = {  # what --version prints
    "MPICH": "HYDRA build details:\n    Version:  4.3.0\n    Release Date:  today\n",
    "Open MPI": "mpirun (Open MPI) 5.0.8\n\nReport bugs to https://www.open-mpi.org/community/help/\n",
    "PRRTE": "prterun (PRRTE) 3.0.11\n",
    "Intel MPI": "Intel(R) MPI Library for Linux* OS, Version 2021.12 Build 20240213\n",
}


@pytest.fixture(scope="module")
def comm():
    """MPI, started before a test changes what the environment says of it."""
    return mpi_runtime.communicator()


@pytest.fixture
def ask(comm, capsys):
    """Run ``info``; return (status, facts)."""

    def asked():
        status = info(comm, as_json=True)
        out, err = capsys.readouterr()
        assert err == ""
        (line,) = out.splitlines()
        return status, json.loads(line)

    return asked


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A folder that stands first on PATH; ``programs(name, output, status)`` puts a program there."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)

    def add(name, output, status=0):
        text = tmp_path / f"{name}.txt"
        text.write_text(output)
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\ncat '{text}'\nexit {status}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return str(program)

    return add


def test_facts(ask):
    status, facts = ask()
    assert (status, facts["problems"]) == (0, [])
    assert facts["version"] == __version__
    assert facts["python"] == platform.python_version()
    assert facts["ranks"] == 1
    assert facts["hosts"] == {platform.node(): 1}
    assert facts["launcher"] == "none"
    assert facts["mpirun"] == shutil.which("mpirun")
    assert facts["packages"]["numpy"] == np.__version__
    assert facts["packages"]["numba"] == numba.__version__
    assert facts["cores"] >= 1
    assert facts["instructions"] == processor.instructions()
    assert "othello" in facts["games"]
    assert facts["cache"] == str(kernel_cache.FOLDER.path)
    assert facts["mpi_library"]


def test_the_table_has_a_row_a_fact(comm, capsys):
    assert info(comm, as_json=False) == 0
    out, err = capsys.readouterr()
    assert err == ""
    rows = {line[:12].strip(): line[13:] for line in out.splitlines()}
    assert rows["distsearch"].startswith(__version__)
    assert rows["ranks"].startswith(f"1 on {platform.node()} (1)")
    assert "othello" in rows["games"]
    assert rows["verdict"] == "all right"


def test_what_killed_ranks_have_left_is_told(ask, comm, capsys, monkeypatch):
    assert ask()[1]["left_in_shared_memory"] == {}
    left = [(Path("/dev/shm/mpich_shm_a"), 3 << 20), (Path("/dev/shm/mpich_shm_b"), 2 << 20)]
    monkeypatch.setattr(mpi_runtime, "left_behind", lambda: left)
    status, facts = ask()
    assert (status, facts["problems"]) == (0, [])
    assert facts["left_in_shared_memory"] == {"/dev/shm/mpich_shm_a": 3 << 20, "/dev/shm/mpich_shm_b": 2 << 20}
    assert info(comm, as_json=False) == 0
    assert "2 files of 5 MiB by killed ranks" in capsys.readouterr().out


@pytest.mark.parametrize(
    "launcher",
    [
        ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
        ("PMI_SIZE", "PMI_RANK"),
        ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
    ],
    ids=lambda names: names[0],
)
def test_more_ranks_started_than_seen_is_a_problem(launcher, ask, comm, capsys, monkeypatch):
    for name, value in zip(launcher, "30"):
        monkeypatch.setenv(name, value)
    status, facts = ask()
    assert status == 1
    assert facts["launched_ranks"] == 3
    (problem,) = facts["problems"]
    assert problem.endswith("started 3 ranks, the library sees 1")
    assert info(comm, as_json=False) == 1
    assert capsys.readouterr().out.endswith(f"{problem}\n")


def test_only_the_first_rank_prints(comm, capsys, monkeypatch):
    monkeypatch.setenv("PMI_SIZE", "3")
    monkeypatch.setenv("PMI_RANK", "1")
    assert info(comm, as_json=True) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("launched", [{"PMI_SIZE": "three", "PMI_RANK": "0"}, {"PMI_SIZE": "3"}], ids=str)
def test_what_no_launcher_would_tell_is_ignored(launched, ask, monkeypatch):
    for name, value in launched.items():
        monkeypatch.setenv(name, value)
    status, facts = ask()
    assert (status, facts["launched_ranks"]) == (0, 1)


@pytest.mark.parametrize("name", VERSIONS)
def test_an_mpirun_of_another_mpi_first_on_path_is_a_problem(name, ask, programs):
    ours = "MPICH" if "MPICH" in mpi_runtime.library() else "Open MPI"
    mpirun = programs("mpirun", VERSIONS[name])
    status, facts = ask()
    assert facts["mpirun"] == mpirun
    same = ours == {"PRRTE": "Open MPI", "Intel MPI": "MPICH"}.get(name, name)
    assert status == (0 if same else 1)
    assert all("mpirun" in problem for problem in facts["problems"])


def test_an_mpirun_that_says_nothing_is_no_problem(ask, programs):
    programs("mpirun", "", status=1)
    status, facts = ask()
    assert (status, facts["mpirun_version"]) == (0, None)


def test_without_mpirun(ask, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    status, facts = ask()
    assert (status, facts["mpirun"], facts["gpus"]) == (0, None, [])


H200 = "NVIDIA H200, 580.65.06, 9.0\n"


@pytest.mark.parametrize(
    ("output", "status", "gpus"),
    [(2 * H200, 0, ["NVIDIA H200"] * 2), ("", 0, []), ("no driver\n", 9, [])],
    ids=["two", "none", "no driver"],
)
def test_gpus_are_those_that_the_driver_lists(output, status, gpus, ask, programs):
    programs("nvidia-smi", output, status)
    found_status, facts = ask()
    assert (found_status, facts["gpus"]) == (0, gpus)
    (host,) = facts["gpu_hosts"]
    assert (host["host"], host["gpus"]) == (platform.node(), gpus)


@pytest.mark.parametrize(
    ("pycuda", "nvcc", "status", "missing"),
    [
        (None, "release 13.0, V13.0.48", 0, "no PyCUDA"),
        ("2026.1", None, 0, "no nvcc on PATH"),
        ("2026.1", "release 13.0, V13.0.48", 0, "serves CUDA 12.4, nvcc is of 13.0"),
        ("2026.1", "release 12.0, V12.0.1", 1, "nvcc 12.0 makes no kernels for sm_90: Cuda compilation tools"),
        ("2026.1", "release 12.4, V12.4.99", 0, None),
    ],
    ids=["pycuda", "nvcc", "driver", "card", "nothing"],
)
def test_what_is_missing_is_said_in_a_line(
    pycuda, nvcc, status, missing, programs, tmp_path, monkeypatch, comm, capsys
):
    programs("nvidia-smi", H200 + "| Driver Version: 550.1     CUDA Version: 12.4 |\n")
    if nvcc:
        programs("nvcc", f"Cuda compilation tools, {nvcc}\n", status)
    else:
        monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setattr(gpu_facts, "_pycuda", lambda: pycuda)
    monkeypatch.setattr(gpu_facts, "_gpus", lambda: [["NVIDIA H200", "550.1", "9.0"]])
    found = gpu_facts.gpu_facts("here")
    assert found["compiles"] == (nvcc is not None and status == 0)
    assert missing in found["missing"] if missing else found["missing"] is None
    assert info(comm, as_json=False) == 0  # GPUs are optional
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("GPUs"))
    assert (missing or "kernels can be made (sm_90)") in line
    assert "driver 550.1" in line


def test_a_cache_that_cannot_be_used_is_a_problem(ask, monkeypatch):
    monkeypatch.setattr(kernel_cache, "FOLDER", KernelFolder(Path("/tmp/others"), "kernels are kept elsewhere"))
    status, facts = ask()
    assert status == 1
    assert facts["cache"] == "/tmp/others"
    assert facts["problems"] == ["kernels are kept elsewhere"]


def test_a_cache_that_can_be_used_is_none(ask, monkeypatch):
    monkeypatch.setattr(kernel_cache, "FOLDER", KernelFolder(Path("/tmp/mine"), None))
    assert ask()[0] == 0


PACKAGE = Path(distsearch.__file__).parent


class Several:
    """A communicator of three ranks, the other two on hosts that differ from this one as told."""

    def __init__(self, *others):
        self._others = others

    def allgather(self, host):
        return [host, *(other["host"] for other in self._others)]

    def gather(self, told, root):
        place, cards = told
        assert root == 0
        return [(place, cards), *(({**place, **other}, None) for other in self._others)]

    Get_rank = staticmethod(lambda: 0)


def test_hosts_are_compared(comm, capsys):
    same, other = {"host": "node02"}, {"host": "node03", "python": "Python 3.0", "installed": "distsearch 0 (1)"}
    assert info(Several(same, same), as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["hosts"] == {platform.node(): 1, "node02": 2}
    assert info(Several(other, same), as_json=True) == 1
    problems = json.loads(capsys.readouterr().out)["problems"]
    assert problems == [
        f"node03: distsearch 0 (1), not distsearch {__version__} ({source_hash(PACKAGE)})",
        f"node03: Python 3.0, not Python {platform.python_version()}",
    ]
    assert info(Several(same, {"host": "node03", "problems": ["is full"]}), as_json=True) == 1
    assert json.loads(capsys.readouterr().out)["problems"] == ["node03: is full"]


def test_without_an_mpi_library(capsys, monkeypatch):
    def missing():
        raise mpi_runtime.UserError("no MPI library was found")

    monkeypatch.setattr(mpi_runtime, "library", missing)
    assert info(None, as_json=False) == 1
    assert "no MPI library was found" in capsys.readouterr().out.splitlines()[-1]
