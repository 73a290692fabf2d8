"""What the workers' timers say of a run."""

from dataclasses import dataclass, field, fields
from typing import Any

_TIMES = ("wall", "busy", "communication", "idle", "cpu", "gpu")
_COUNTS = ("jobs", "messages", "bytes")
_SHARES = ("busy", "communication", "idle")


def per_worker(records):
    """Return METRICS_RECORDs by rank as a list of dictionaries of plain numbers, times in seconds, tables 0 to 1."""
    return [
        {
            "rank": rank,
            **{name: round(float(record[name]), 6) for name in _TIMES},
            **{name: int(record[name]) for name in _COUNTS},
            "table_full": round(float(record["table_full"]), 4),
        }
        for rank, record in sorted(records.items())
    ]


def added(earlier, later):
    """Return the sums of two lists as ``per_worker`` makes them, by rank; tables are as full as in the later one."""
    found = {worker["rank"]: worker for worker in earlier}
    for worker in later:
        other = found.get(worker["rank"], {})
        sums = {name: round(worker[name] + other.get(name, 0), 6) for name in (*_TIMES, *_COUNTS)}
        found[worker["rank"]] = {**worker, **sums}
    return [found[rank] for rank in sorted(found)]


def time_share(workers):
    """Return {busy, communication, idle} as fractions of the workers' wall time; each is timed on its own."""
    wall = sum(worker["wall"] for worker in workers)
    return {name: round(sum(worker[name] for worker in workers) / wall, 4) for name in _SHARES} if wall else {}


def table_full(workers):
    """Return how full the fullest of the hosts' tables is, 0 to 1."""
    return max((worker["table_full"] for worker in workers), default=0.0)


def summary(workers):
    """Return the figures of the OthelloX report for a list as ``per_worker`` makes it.

    gpu_seconds: of all their GPUs, if any was at work; load_balance: mean ÷ maximum of the busy times, 1 at best;
    communication_computation: ratio of the sums; jobs, messages (in and out) and bytes: sums.
    """
    busy = [worker["busy"] for worker in workers]
    communication = sum(worker["communication"] for worker in workers)
    gpu = round(sum(worker["gpu"] for worker in workers), 6)
    return {
        **({"gpu_seconds": gpu} if gpu else {}),
        "time_share": time_share(workers),
        "load_balance": round(sum(busy) / len(busy) / max(busy), 4) if busy and max(busy) else 1.0,
        "communication_computation": round(communication / sum(busy), 6) if sum(busy) else 0.0,
        "messages": sum(worker["messages"] for worker in workers),
        "bytes": sum(worker["bytes"] for worker in workers),
    }


@dataclass(kw_only=True)
class RunFigures:
    """Base of results: what a run took, see ``summary``; seconds of wall time, cpu_seconds of the workers."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    gpu_seconds: float | None = None
    ranks: int = 1
    workers: int = 1
    jobs: int = 0
    complete: bool  # the run ended as asked
    time_share: dict = field(default_factory=dict)
    load_balance: float = 1.0
    communication_computation: float = 0.0
    messages: int = 0
    bytes: int = 0

    def _plain(self) -> dict[str, Any]:
        """Return the fields for JSON, those of the result itself first."""
        shared = {name: getattr(self, name) for name in _SHARED}
        shared |= {"seconds": round(self.seconds, 6), "cpu_seconds": round(self.cpu_seconds, 6)}
        return {name: value for name, value in vars(self).items() if name not in shared} | shared

    def _shown(self, *hidden: str) -> dict[str, Any]:
        """Return the fields for JSON but the hidden ones, and gpu_seconds only where a GPU was at work."""
        hidden += ("gpu_seconds",) if self.gpu_seconds is None else ()
        return {name: value for name, value in self._plain().items() if name not in hidden}


_SHARED = tuple(each.name for each in fields(RunFigures))
