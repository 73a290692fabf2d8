"""The figures of the workers' timers, on hand-made timers."""

import numpy as np

from distsearch.api.metrics import per_worker, summary, table_full
from distsearch.cluster.messages import METRICS_RECORD


def records(*rows):
    """METRICS_RECORDs by rank from rows (wall, busy, communication, idle, cpu, gpu, jobs, messages, bytes, full)."""
    unused = 0, 0, 0, 0
    return {rank: np.array([(0, *row, *unused)], METRICS_RECORD)[0] for rank, row in enumerate(rows, 1)}


def test_summary():
    workers = per_worker(records((10, 8, 0.5, 1.5, 7.5, 3, 4, 10, 1000, 0.25), (10, 4, 0.1, 5.9, 4, 0, 2, 6, 500, 0.5)))
    assert summary(workers) == {
        "gpu_seconds": 3,
        "time_share": {"busy": 0.6, "communication": 0.03, "idle": 0.37},
        "load_balance": 0.75,
        "communication_computation": 0.05,
        "messages": 16,
        "bytes": 1500,
    }
    assert [worker["rank"] for worker in workers] == [1, 2]
    assert table_full(workers) == 0.5


def test_nobody_worked():
    assert summary([])["time_share"] == {}
    assert table_full([]) == 0
    idle = per_worker(records((1, 0, 0, 1, 0, 0, 0, 0, 0, 0)))
    assert "gpu_seconds" not in summary(idle)
    assert summary(idle)["load_balance"] == 1
    assert summary(idle)["communication_computation"] == 0
