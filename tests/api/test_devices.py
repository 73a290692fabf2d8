"""Which rank has which GPU, and what is said where there is none."""

from unittest import mock

import pytest

from distsearch.api import devices
from distsearch.core.errors import UserError
from distsearch.gpu import device


class FakeGpu:
    """What stands in for a Gpu: its number."""

    def __init__(self, number):
        self.number, self.closed = number, False

    def close(self):
        self.closed = True


@pytest.fixture
def gpus(monkeypatch):
    """A function that gives this host so many GPUs."""
    monkeypatch.setattr(device, "Gpu", FakeGpu)

    def have(count):
        monkeypatch.setattr(device, "count", lambda: count)

    return have


def comm_of(rank, size, errors=()):
    """Return what stands in for a communicator of one host, as this rank sees it; errors: of other ranks."""
    comm = mock.Mock()
    comm.Get_rank.return_value, comm.Get_size.return_value, comm.Split_type.return_value = rank, size, comm
    comm.allgather = lambda value: list(range(size)) if isinstance(value, int) else [value, *errors]
    return comm


@pytest.mark.parametrize(
    ("name", "count", "ranks", "expected"),
    [
        ("gpu", 1, 4, [None, 0, 0, 0]),
        ("gpu", 2, 6, [None, 0, 1, 0, 1, 0]),
        ("auto", 2, 5, [None, 0, 1, None, None]),
        ("auto", 0, 3, [None, None, None]),
        ("cpu", 2, 3, [None, None, None]),
        ("gpu", 2, 1, [0]),
        ("auto", 2, 1, [0]),
    ],
)
def test_the_first_workers_of_a_host_come_first(name, count, ranks, expected, gpus):
    gpus(count)
    found = [devices.chosen(comm_of(rank, ranks) if ranks > 1 else None, name) for rank in range(ranks)]
    assert [gpu and gpu.number for gpu in found] == expected


def test_each_gpu_is_counted_once_and_workers_without_one():
    comm = mock.Mock()
    comm.allgather.return_value = [None, ("a", "0"), ("a", "1"), ("b", "0"), ("a", "1")]
    assert devices.of_all(comm, None) == (3, 0)
    comm.allgather.return_value = [None, ("a", "0"), None, ("a", "0"), None]
    assert devices.of_all(comm, None) == (1, 2)
    assert devices.of_all(None, None) == (0, 1)
    assert devices.of_all(None, mock.Mock(card="0")) == (1, 0)


def test_a_host_without_a_gpu_is_refused_where_each_worker_is_to_have_one(gpus):
    gpus(0)
    with pytest.raises(UserError, match="this host has no GPU"):
        devices.chosen(None, "gpu")


def test_what_is_no_device_is_refused():
    with pytest.raises(UserError, match="device 'tpu' is none of cpu, gpu, auto"):
        devices.chosen(None, "tpu")


def test_without_pycuda_or_a_driver_auto_searches_on_the_cpu(monkeypatch):
    def refuse():
        raise UserError("no PyCUDA (it is not here)")

    monkeypatch.setattr(device, "count", refuse)
    assert devices.chosen(None, "auto") is None
    with pytest.raises(UserError, match="no PyCUDA"):
        devices.chosen(None, "gpu")


def test_the_refusal_of_another_rank_is_everybodys(gpus):
    gpus(2)
    comm = comm_of(1, 2, ["this host has no GPU"])
    with pytest.raises(UserError, match="this host has no GPU"):
        devices.chosen(comm, "gpu")
