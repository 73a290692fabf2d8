"""``scripts/survive`` around a rank: which network it chooses for MPICH, and which status it passes on."""

import os
import subprocess
from pathlib import Path

import pytest

SURVIVE = Path(__file__).parents[2] / "scripts" / "survive"
SEVERAL = {"PMI_RANK": "1", "PMI_SIZE": "4", "MPI_LOCALNRANKS": "2"}
UNRELATED = {name: value for name, value in os.environ.items() if not name.startswith(("PMI_", "MPI", "FI_", "I_MPI"))}


def run(variables, script):
    command = [SURVIVE, "sh", "-c", script]
    return subprocess.run(command, env=UNRELATED | variables, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("variables", "network"),
    [
        (SEVERAL, "ofi udp;ofi_rxd"),
        ({**SEVERAL, "MPI_LOCALNRANKS": "4"}, " "),
        ({}, " "),
        ({**SEVERAL, "MPIR_CVAR_CH4_NETMOD": "ucx"}, "ucx "),
        ({**SEVERAL, "FI_PROVIDER": "verbs"}, " verbs"),
    ],
    ids=["several hosts", "one host", "no mpirun", "a network that the user chose", "a provider that the user chose"],
)
def test_datagrams_are_chosen_for_several_hosts(variables, network):
    assert run(variables, 'echo "$MPIR_CVAR_CH4_NETMOD $FI_PROVIDER"').stdout == f"{network}\n"


@pytest.mark.parametrize(
    ("rank", "script", "status"),
    [("1", "kill -9 $$", 0), ("0", "kill -9 $$", 137), ("1", "exit 2", 2), ("0", "exit 2", 2), ("1", "exit 0", 0)],
)
def test_a_killed_worker_is_not_the_end_of_the_job(rank, script, status):
    assert run({**SEVERAL, "PMI_RANK": rank}, script).returncode == status


@pytest.mark.parametrize(("variables", "told"), [(SEVERAL, "1"), ({}, "")], ids=["mpirun", "another launcher"])
def test_ranks_are_told_that_mpirun_lets_them_end_without_finalizing(variables, told):
    assert run(variables, 'echo "$DISTSEARCH_SURVIVES"').stdout == f"{told}\n"
