"""Learning on several GPUs that g++ makes, one a rank: what they tell one another, and what they keep."""

import numpy as np
import pytest

from distsearch.api.progress import Silent
from distsearch.learning import train as service
from distsearch.learning.options import TrainOptions
from distsearch.testing.emulated_gpu import EmulatedGpu

pytestmark = pytest.mark.mpi(min_size=2)


def trained(comm, monkeypatch, interrupted=lambda: False, **options):
    """Train on all ranks; return (Trained on rank 0, lines, this rank's weights at the end)."""
    monkeypatch.setattr(service, "LINE", 10)
    kept, lines = [], []
    close = service.Arrays.close

    def closing(arrays):
        kept.append(arrays.weights.copy())
        close(arrays)

    monkeypatch.setattr(service.Arrays, "close", closing)
    for name in "work", "finish":
        ending = getattr(service.GpuTeam, name)
        monkeypatch.setattr(service.GpuTeam, name, lambda team, ending=ending: (ending(team), team.settle())[0])
    asked = TrainOptions("2048", tuples="2x4", device="gpu", parallel_games=2, seed=5, **options)
    gpu = EmulatedGpu(comm.Get_rank())
    found = service.train(asked, service.Files(), comm, Silent(), interrupted, lines.append, gpu)
    return found, lines, kept[0]


@pytest.mark.parametrize("exchange", [{}, {"exchange": "weights", "merge": "mean", "merge_every": 7}], ids=str)
def test_all_gpus_learn_from_all_games(exchange, comm, agree, monkeypatch):
    options = {"games": 40, "evaluate_every": 20, "evaluate_games": 5, **exchange}
    found, lines, weights = trained(comm, monkeypatch, **options)
    first = comm.Get_rank() == 0
    games = [(line["kind"], line["games"]) for line in lines]
    expected = [("learning", 10), ("learning", 20), ("evaluation", 20), ("learning", 30), ("learning", 40)]
    agree(games == ([*expected, ("evaluation", 40)] if first else []), games)
    agree(not first or found.complete and found.games == found.learnt == 40, found)
    agree(not first or (found.ranks, found.copies) == (comm.Get_size(), 1), found)
    agree(not first or (found.merging > 0) == bool(exchange), found)
    everywhere = comm.allgather(weights)
    agree((weights != 0).sum() > 100, "nothing was learnt")
    agree(all(np.allclose(each, everywhere[0], rtol=1e-3, atol=1e-2) for each in everywhere), "weights differ")


def test_a_wish_to_end_is_heard_on_all_gpus(comm, agree, monkeypatch):
    calls = 0

    def interrupted():
        nonlocal calls
        calls += 1
        return calls > 6

    found, _, _ = trained(comm, monkeypatch, interrupted, games=60_000)
    agree(comm.Get_rank() > 0 or not found.complete and 0 < found.games < 60_000, found)
