"""The memory that a host's ranks share, for a process alone; tests/mpi has it with others."""

from types import SimpleNamespace

import numpy as np
import pytest

from distsearch.cluster import shared_memory
from distsearch.cluster.shared_memory import SharedWords

ALONE = [None, SimpleNamespace(Get_size=lambda: 1)]


@pytest.mark.parametrize("comm", ALONE, ids=["no MPI", "one rank"])
@pytest.mark.parametrize("less", [False, True])
def test_a_process_alone_makes_the_array_itself(comm, less, monkeypatch):
    monkeypatch.setattr(shared_memory, "_room", lambda: 0)  # it needs none
    asked, array = [], np.zeros(8, np.uint64)

    def alone(mib):
        asked.append(mib)
        return array

    words = SharedWords(comm, 7, alone, less=less)
    assert words.words is array
    assert (words.mib, asked) == (7, [7])
    words.close()
    words.close()


@pytest.mark.parametrize(
    ("free", "mib"), [(0, 0), (4 << 20, 0), ((5 << 20) - 1, 0), (5 << 20, 1), (100 << 20, 96), (1 << 40, (1 << 20) - 4)]
)
@pytest.mark.parametrize("block", [1, 4096])
def test_a_host_keeps_some_room_for_mpi(free, mib, block, monkeypatch):
    state = SimpleNamespace(f_bavail=free // block, f_frsize=block)
    monkeypatch.setattr(shared_memory.os, "statvfs", lambda path: state)
    assert shared_memory._room() == mib


def test_a_host_without_such_files_has_room_for_any_table(monkeypatch, tmp_path):
    monkeypatch.setattr(shared_memory, "_FILES", tmp_path / "missing")
    assert shared_memory._room() > 1 << 22
