"""A launcher and a library of different MPIs: one line says so, instead of as many searches as there are ranks."""

import pytest

from .running import mpirun_is_open_mpi, run

RANKS = {  # what each launcher tells rank 0 of three
    "Open MPI's mpirun": {"OMPI_COMM_WORLD_SIZE": "3", "OMPI_COMM_WORLD_RANK": "0"},
    "an MPICH-like mpirun": {"PMI_SIZE": "3", "PMI_RANK": "0"},
    "srun": {"SLURM_STEP_NUM_TASKS": "3", "SLURM_PROCID": "0"},
}
# what Open MPI 5's launcher tells all its processes besides
PMIX = {"PMIX_NAMESPACE": "prterun-test", "PMIX_RANK": "0"}


def foreign():
    """A launcher that is not of the MPI at hand, and what it tells."""
    name = "an MPICH-like mpirun" if mpirun_is_open_mpi() else "Open MPI's mpirun"
    return name, RANKS[name]


def check(done, name):
    assert done.status == 2
    line = next(line for line in done.err.splitlines() if line.startswith("distsearch: "))
    assert f"{name} started 3 ranks" in line
    assert "sees 1" in line
    assert "Traceback" not in done.err
    assert done.out == ""


def test_a_search_refuses():
    name, told = foreign()
    check(run("search", "othello", "--depth", "1", environment=told), name)


def test_srun_without_its_mpi_plugin_is_refused():
    check(run("search", "othello", "--depth", "1", environment=RANKS["srun"]), "srun")


def test_only_the_first_rank_says_it():
    told = {variable: "1" if value == "0" else value for variable, value in foreign()[1].items()}
    done = run("search", "othello", "--depth", "1", environment=told)
    assert "distsearch" not in done.out + done.err


def test_info_tells_and_fails():
    name, told = foreign()
    done = run("info", environment=told)
    assert done.status == 1
    verdict = done.out.splitlines()[-1]
    assert verdict.startswith("verdict")
    assert f"{name} started 3 ranks, the library sees 1" in verdict


def test_a_library_that_gives_up_at_once_does_not_have_the_last_word():
    """MPICH aborts the process at its start when Open MPI 5's mpirun started it, before it can be asked anything."""
    if mpirun_is_open_mpi():
        pytest.skip("Open MPI looks for Open MPI's launcher itself here; it is MPICH that refuses the other one")
    name, told = foreign()
    done = run("search", "othello", "--depth", "1", environment={**told, **PMIX})
    assert done.status == 2
    assert done.err.startswith("distsearch: ")
    assert name in done.err
