"""Games and searches against chance on a rank with a GPU, an emulated one: what a CPU does, from end to end."""

import json

import numpy as np
import pytest

from distsearch import evaluation, games
from distsearch.errors import UserError
from distsearch.games.interface import CHANCE, as_state
from distsearch.search.expectimax_engine import Expectimax
from distsearch.search.playing import Player, seed_of
from distsearch.service import devices
from distsearch.session import Session
from distsearch.testing.emulated_gpu import EmulatedGpu
from distsearch.tree import chance_jobs, gpu_chance_jobs
from distsearch.tree.chance_jobs import game_job
from distsearch.tree.gpu_chance_jobs import GpuExpectimaxRunner, GpuGamesRunner

SUM = "monotonicity+0.1*smoothness+2.7*free"


@pytest.fixture
def with_gpu(monkeypatch):
    monkeypatch.setattr(devices, "chosen", lambda comm, name: EmulatedGpu(1))


def played(path, device, game, count, seed, **options):
    """Play games; return (the Summary, the lines of their record)."""
    with Session(device=device) as session:
        found = session.play(game, count, seed=seed, record=str(path), **options)
    return found, [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(("game", "wanted"), [("2048", "rows"), ("2048", "ntuple"), ("2584", "ntuple"), ("2584", "rows")])
def test_games_are_those_of_a_cpu_line_for_line(game, wanted, with_gpu, tmp_path, seed):
    how = {"evaluation": wanted, "layers": 0}
    ours, lines = played(tmp_path / "gpu", "gpu", game, 3, seed, **how)
    cpu, expected = played(tmp_path / "cpu", "cpu", game, 3, seed, **how)
    print(ours.moves, cpu.moves, ours.boards, cpu.boards, ours.seconds)
    assert lines == expected
    assert (ours.scores, ours.largest, ours.moves) == (cpu.scores, cpu.largest, cpu.moves)
