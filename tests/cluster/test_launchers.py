"""Which mpirun belongs to the MPI library, and what of the environment makes a process a rank."""

import os
import stat

import pytest

from distsearch.cluster import launchers
from distsearch.core.errors import UserError

VERSIONS = {"MPICH": "HYDRA build details:\n    Version: 5.0.2", "Open MPI": "mpirun (Open MPI) 5.0.8"}


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A function that puts an mpirun of a family into a folder, by names of folders on PATH."""
    monkeypatch.setattr(launchers.sys, "executable", str(tmp_path / "python" / "python3"))
    folders = []

    def put(folder, name, family):
        place = tmp_path / folder
        place.mkdir(exist_ok=True)
        program = place / name
        program.write_text(f"#!/bin/sh\necho '{VERSIONS[family]}'\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        folders.append(str(place))
        monkeypatch.setenv("PATH", os.pathsep.join(folders))
        return str(program)

    monkeypatch.setenv("PATH", str(tmp_path))
    return put


@pytest.mark.parametrize("family", VERSIONS)
def test_the_mpirun_is_of_the_library(family, installed, monkeypatch):
    monkeypatch.setattr(launchers, "library", lambda: f"{family} 5.0")
    programs = {each: installed(each.replace(" ", ""), "mpirun", each) for each in VERSIONS}
    command, _ = launchers.command_on_this_host(4, "/folder")
    assert command == [programs[family], "-n", "4"]
    beside = installed("python", "mpiexec", family)
    assert launchers.command_on_this_host(4, "/folder")[0][0] == beside


def test_open_mpi_may_start_more_ranks_than_there_are_cores(installed, monkeypatch):
    monkeypatch.setattr(launchers, "library", lambda: "Open MPI v5.0.8")
    monkeypatch.setattr(launchers.os, "geteuid", lambda: 0)
    installed("bin", "mpirun", "Open MPI")
    variables = launchers.command_on_this_host(64, "/folder")[1]
    assert variables["PRTE_MCA_rmaps_default_mapping_policy"] == ":oversubscribe"
    assert variables["PRTE_MCA_prte_tmpdir_base"] == "/folder"
    assert variables["OMPI_ALLOW_RUN_AS_ROOT"] == "1"


def test_no_mpirun_of_the_library(installed, monkeypatch):
    monkeypatch.setattr(launchers, "library", lambda: "MPICH 4.3")
    installed("bin", "mpirun", "Open MPI")
    with pytest.raises(UserError, match="^no mpirun of MPICH 4.3 was found"):
        launchers.command_on_this_host(2, "/folder")


def test_what_makes_a_process_a_rank_is_left_out(monkeypatch):
    of_ranks = ("PMI_RANK", "PMIX_NAMESPACE", "OMPI_COMM_WORLD_SIZE", "SLURM_PROCID", "HYDI_CONTROL_FD")
    more = ("MPI_LOCALRANKID", "PALS_RANKID", "JSM_NAMESPACE_RANK", "PRTE_LAUNCHED", "PBS_NODEFILE")
    kept = {"HOME": "/home", "PATH": "/bin", "MPI4PY_MPIABI": "mpich", "DISTSEARCH_CACHE": "/cache"}
    monkeypatch.setattr(os, "environ", {**dict.fromkeys([*of_ranks, *more], "1"), **kept})
    assert launchers.without_ranks() == kept
