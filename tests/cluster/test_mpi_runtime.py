"""When MPI is begun."""

import os

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
