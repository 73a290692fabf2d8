"""What every rank of a cluster has done between two samples of its timers."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..cluster.submaster import blocks

_SHARES = "busy", "communication", "idle"
_GROWING = "wall", "busy", "nodes", "jobs"  # what only a new start of the timers makes less
_MASTER = 0


class _Reading(NamedTuple):
    """clock, master_seconds: as the cluster tells them; samples: rank → METRICS_RECORD."""

    clock: float
    master_seconds: float
    samples: dict[int, np.void]


class Load:
    """The load of a cluster, from each call of ``next`` to the next one."""

    def __init__(self, cluster: Any):
        self._cluster = cluster
        self._leaders = blocks(cluster.ranks, cluster.submasters)
        self._alone = cluster.ranks == 1
        self.restart()

    def restart(self) -> None:
        """Begin an interval, by samples that have come."""
        self._before = self._read()

    def _read(self):
        cluster = self._cluster
        return _Reading(cluster.clock(), cluster.master_seconds, dict(cluster.samples.latest))

    def next(self) -> dict[str, Any]:
        """Return the fields of a ``cluster`` message that are about ranks, and begin the next interval.

        Shares and rates are None of a rank that has not answered, and of sub-masters, which have no timers.
        """
        before, now = self._before, self._read()
        self._before = now
        states = {**dict.fromkeys(self._cluster.preparing, "compiling"), **dict.fromkeys(self._cluster.absent, "lost")}
        ranks = [1] if self._alone else range(self._cluster.ranks)
        lanes = [self._lane(rank, states.get(rank, "ready"), before, now) for rank in ranks]
        rates = [lane["nodes_per_second"] or 0 for lane in lanes]
        return {
            "seconds": round(now.clock - before.clock, 3),
            "nodes_per_second": sum(rates),
            "table_full": max(lane["table_full"] for lane in lanes),
            "per_rank": lanes,
        }

    def _lane(self, rank, state, before, now):
        cluster, host = self._cluster, self._cluster.hosts
        role = "sub-master" if rank in self._leaders else "worker" if rank else "master"
        latest = now.samples.get(rank)
        return {
            "rank": 0 if self._alone else rank,
            "host": host[rank] if rank in host else cluster.host or host[1],
            "role": "alone" if self._alone else role,
            "device": "gpu" if latest is not None and latest["slots"] > 1 else "cpu",
            "state": state,
            **(_of_master(before, now) if rank == _MASTER else _of_worker(before.samples.get(rank), latest)),
            **_counts(None if state == "lost" else latest),  # others have its jobs
        }


def _of_master(before, now):
    """Return the master's shares: all of its CPU time goes to messages."""
    at_it = _share(now.master_seconds - before.master_seconds, now.clock - before.clock)
    return {**dict(zip(_SHARES, (0.0, at_it, round(1 - at_it, 4)), strict=True)), "nodes_per_second": None}


def _of_worker(before: Any, latest: Any) -> Mapping[str, float | None]:
    """Return a worker's shares and rate between two samples, None without two."""
    if before is None or latest is None or latest is before:
        return dict.fromkeys((*_SHARES, "nodes_per_second"))
    if any(latest[name] < before[name] for name in _GROWING):  # its timers have begun anew
        before = np.zeros((), before.dtype)
    wall = float(latest["wall"] - before["wall"])
    busy, at_it = (_share(float(latest[name] - before[name]), wall) for name in _SHARES[:2])
    at_it = min(at_it, 1 - busy)
    rate = round(int(latest["nodes"] - before["nodes"]) / max(wall, 1e-9))
    # what no clock has counted is no work either
    return {**dict(zip(_SHARES, (busy, round(at_it, 4), round(1 - busy - at_it, 4)), strict=True))} | {
        "nodes_per_second": rate
    }


def _share(part, whole):
    return round(min(max(part / max(whole, 1e-9), 0.0), 1.0), 4)


def _counts(latest):
    if latest is None:
        return {"jobs": 0, "at_work": 0, "queued": 0, "table_full": 0.0}
    counts = {name: int(latest[name]) for name in ("jobs", "at_work", "queued")}
    return {**counts, "table_full": round(float(latest["table_full"]), 4)}
