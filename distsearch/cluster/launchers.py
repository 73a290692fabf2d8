"""Launchers of MPI: which mpirun belongs to the library of mpi4py, and the variables that launchers set."""

import os
import shutil
import subprocess
import sys

from ..core.errors import UserError
from .mpi_runtime import OF_RANKS, library

# Beginnings of the names of variables that launchers and batch systems set: with them a process would be a rank, or
# an mpirun would start its ranks where the batch system says
_OF_LAUNCHERS = (
    *("PMI", "OMPI_", "PRTE_", "HYDRA", "HYDI_", "MPI_LOCAL", "MPIR_", "MPICH_"),
    *("SLURM", "PBS_", "LSB_", "PALS_", "ALPS_", "FLUX_"),
)


def family(text: str | None) -> str | None:
    """Return "Open MPI" or "MPICH" (and what derives from it) as told by a version text, None if it does not tell."""
    if not text:
        return None
    if "Open MPI" in text or "OpenRTE" in text or "prterun" in text.lower():
        return "Open MPI"
    return "MPICH" if any(name in text for name in ("MPICH", "HYDRA", "Intel(R) MPI", "MVAPICH")) else None


def version_of(program: str) -> str | None:
    """Return the first two lines that a program's ``--version`` prints, as one, or None."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return " ".join(" ".join((done.stdout or done.stderr).splitlines()[:2]).split()) or None


def without_ranks() -> dict[str, str]:
    """Return the variables of this process, without those by which a launcher says that it is a rank."""

    def tells(name):
        return name.startswith(_OF_LAUNCHERS) or any(part in name for part in OF_RANKS)

    return {name: value for name, value in os.environ.items() if not tells(name)}


def command_on_this_host(ranks: int, folder: str) -> tuple[list[str], dict[str, str]]:
    """Return what to put before a command so that so many ranks run it on this host, and variables to set.

    folder: one of its own, for files of the launcher. The library of mpi4py is loaded, and not started. Raises
    UserError if there is none, or no mpirun of it.
    """
    of = library()
    found = next((program for program in _candidates() if family(version_of(program)) == family(of)), None)
    if found is None:
        raise UserError(f"no mpirun of {of} was found, neither next to Python nor on PATH: install one")
    variables = {"HYDRA_LAUNCHER": "fork"}
    if family(of) == "Open MPI":
        policies = {"rmaps_default_mapping_policy": ":oversubscribe", "hwloc_default_binding_policy": "none"}
        variables = {f"PRTE_MCA_{name}": value for name, value in policies.items()}
        variables |= {"PRTE_MCA_prte_tmpdir_base": folder, "OMPI_MCA_rmaps_base_oversubscribe": "1"}
        if os.geteuid() == 0:
            variables |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return [found, "-n", str(ranks)], variables


def _candidates():
    """Yield the programs that may be the launcher, those next to this Python first."""
    for place in (os.path.dirname(sys.executable), *os.get_exec_path()):
        for name in ("mpiexec", "mpirun"):
            if program := shutil.which(name, path=place):
                yield program
