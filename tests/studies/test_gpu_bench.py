"""``bench --device gpu`` on an emulated GPU, tiny: a row for every kernel, right answers, a table and JSON."""

import json

import numpy as np
import pytest

from distsearch import games
from distsearch.evaluation import ntuple
from distsearch.studies import gpu_bench
from distsearch.studies.gpu_bench import Connect4, Expectimaxes, Learning, Othello, learning
from distsearch.testing.emulated_gpu import EmulatedGpu

KERNELS = {
    "connect4": (Connect4, (), ["connect4, exact"]),
    "othello": (Othello, (), ["othello, end games"]),
    "expectimax": (Expectimaxes, ("2584",), ["2584, merged", "2584, multilevel", "2584, naive"]),
    "learning": (Learning, ("2584", "3x4"), ["2584, TD update", "2584, TC training"]),
}


def test_threads_of_a_warp_share_sectors():
    game = games.find("2584")
    tuples = ntuple.checked_tuples(game, "3x4", (4, 4))
    alike = np.repeat(np.array([[1 << 6 | 5, 3]], np.uint64), 64, axis=0)
    assert learning.sectors_of_a_step(game, tuples, alike) == 24 / 32
    rows = np.arange(1, 32, dtype=np.uint64).repeat(2)[:32]
    different = np.stack([rows << np.uint64(15), rows << np.uint64(15)], axis=1)
    assert 24 / 32 < learning.sectors_of_a_step(game, tuples, different) <= 24


@pytest.mark.parametrize("name", KERNELS)
def test_rows(name, full):
    if name != "connect4" and not full:
        pytest.skip("with --full: each takes some seconds")
    kind, arguments, kernels = KERNELS[name]
    rows = kind(EmulatedGpu(1, 4), True, *arguments).rows()
    assert [row["kernel"] for row in rows] == kernels
    for row in rows:
        assert not row.get("wrong")
        assert min(row[each] for each in ("rate", "limit", "kernel_seconds", "seconds", "cpu_seconds")) > 0
        assert row["of_limit"] == pytest.approx(row["rate"] / row["limit"])
        assert row["times_cpu"] == pytest.approx(row["cpu_seconds"] / row["seconds"])
        assert json.loads(gpu_bench.bench_gpu_json(row))["kernel"] == row["kernel"]
        assert gpu_bench.bench_gpu_text(row).startswith(row["kernel"])
        assert len(gpu_bench.bench_gpu_text(row)) == len(gpu_bench.HEAD)
