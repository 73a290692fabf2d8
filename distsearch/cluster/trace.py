"""Timers, and the timeline of a rank in bounded memory, however long a search takes.

Slices say that a rank worked, handled messages, or was idle, and follow one another without a gap. JOB spans and
instants (a subtree split off, a window narrowed) are events next to them. When there is no room for more, slices
shorter than a resolution are merged, each kind's within such a time into one, and spans shorter than that are dropped,
with their number in the slices of work; the resolution doubles from one time to the next. So the sums over slices stay
the same.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

WORK, COMMUNICATION, IDLE, JOB, SPLIT, NARROWED = range(6)
DONE, STOPPED = range(2)  # outcomes of jobs
MOST = 8192  # events of a rank: with 32 ranks a file of 20 to 40 MB
_SLICES = 3  # the first kinds
_FINEST = 20e-6  # seconds, of the first resolution
_GAP = 1e-7  # seconds that are none
_WORDS = 8

# began, ended: seconds of the rank's clock; jobs: that a slice of work ended; the others: of a job.
EVENT = np.dtype(
    [
        ("began", np.float64),
        ("ended", np.float64),
        ("kind", np.uint8),
        ("outcome", np.uint8),
        ("words", np.uint8),
        ("job_id", np.int32),
        ("low", np.int32),
        ("high", np.int32),
        ("jobs", np.int32),
        ("nodes", np.int64),
        ("score", np.float64),
        ("state", np.uint64, _WORDS),
    ],
    align=True,
)
_NOTHING = np.zeros((), EVENT)


class Trace:
    """Takes events in, by kinds; most: how many are kept."""

    def __init__(self, most: int = MOST):
        self._events, self._size, self._resolution = np.zeros(most, EVENT), 0, _FINEST

    def slice(self, kind: int, began: float, ended: float, jobs: int = 0) -> None:
        """Add a slice, or extend the latest one if that is of this kind."""
        if ended <= began:
            return
        last = self._events[self._size - 1]
        if self._size and last["kind"] == kind != WORK and abs(began - last["ended"]) < _GAP:
            last["ended"] = ended
            return
        event = self._next()
        event["began"], event["ended"], event["kind"], event["jobs"] = began, ended, kind, jobs

    def job(self, job: Any, result: Any, began: float, ended: float) -> None:
        """Add the span of a job that has ended: its record and that of its result, whose fields depend on its kind."""
        if ended - began < self._resolution:
            return
        event = self._next()
        event["began"], event["ended"], event["kind"] = began, ended, JOB
        names = job.dtype.names
        event["job_id"] = job["job_id"]
        if "low" in names:
            event["low"], event["high"] = job["low"], job["high"]
        if "state" in names and len(job["state"]) <= _WORDS:
            event["words"] = len(job["state"])
            event["state"][: len(job["state"])] = job["state"]
        event["outcome"] = DONE if result["complete"] else STOPPED
        event["nodes"] = result["nodes"] if "nodes" in result.dtype.names else 0
        event["score"] = next((result[name] for name in ("score", "value") if name in result.dtype.names), np.nan)

    def instant(self, kind: int, now: float, job_id: int, low: int = 0, high: int = 0) -> None:
        event = self._next()
        event["began"] = event["ended"] = now
        event["kind"], event["job_id"], event["low"], event["high"] = kind, job_id, low, high

    def records(self) -> np.ndarray:
        """Return the EVENTs so far, by when they began."""
        events = self._events[: self._size]
        return events[np.argsort(events["began"], kind="stable")]

    def _next(self):
        """Return an event to be filled in, zero so far."""
        if self._size == len(self._events):
            self._make_room()
        self._events[self._size] = _NOTHING
        self._size += 1
        return self._events[self._size - 1]

    def _make_room(self):
        kept = self._events
        while len(kept) > len(self._events) // 2:
            kept = thinned(kept, self._resolution, len(self._events) // 8)
            self._resolution *= 2
        self._size = len(kept)
        self._events[: self._size] = kept


class Timeline:
    """A ``trace`` of slices that follow one another, for a caller that says what begins."""

    def __init__(self, most: int):
        self.trace = Trace(most)
        self._kind, self._since = None, 0.0

    def switch_to(self, kind: int | None, now: float) -> None:
        """Begin or continue a slice of a kind; None: end."""
        if kind == self._kind:
            return
        if self._kind is not None:
            self.trace.slice(self._kind, self._since, now)
        self._kind, self._since = kind, now


def thinned(events: np.ndarray, resolution: float, instants: int) -> np.ndarray:
    """Return events with slices shorter than ``resolution`` merged, without such spans, and with so many instants."""
    kinds, short = events["kind"], events["ended"] - events["began"] < resolution
    points = events[kinds > JOB]
    kept = [events[~short & (kinds <= JOB)], points[:: 1 + len(points) // instants]]
    slices = events[short & (kinds < _SLICES)]
    if len(slices):
        bins = np.floor(slices["began"] / resolution)
        _, first, place = np.unique(bins, return_index=True, return_inverse=True)
        now = slices["began"][first].copy()
        for kind in range(_SLICES):
            mine = slices["kind"] == kind
            merged = np.zeros(len(first), EVENT)
            merged["kind"], merged["began"] = kind, now
            now = now + np.bincount(place[mine], (slices["ended"] - slices["began"])[mine], len(first))
            merged["ended"] = now
            merged["jobs"] = np.bincount(place[mine], slices["jobs"][mine], len(first))
            kept.append(merged[merged["ended"] > merged["began"]])
    kept = np.concatenate(kept)
    return kept[np.argsort(kept["began"], kind="stable")]


class Timers:
    """Where a worker's time goes, in seconds: three clocks, none of them computed from the others.

    The caller calls ``communicated`` and ``waited``; work adds to ``busy`` (wall), ``cpu``, ``gpu``, ``jobs`` and
    ``nodes``. trace: a ``Trace`` of the same, or None.
    """

    def __init__(self, clock: Callable[[], float], events: int = 0):
        self.trace = Trace(events) if events else None
        self.started = clock()
        self.busy = self.communication = self.idle = self.cpu = self.gpu = 0.0
        self.jobs = self.nodes = self.messages = self.bytes = 0

    def communicated(self, began: float, ended: float) -> None:
        self.communication += max(ended - began, 0.0)
        if self.trace:
            self.trace.slice(COMMUNICATION, began, ended)

    def waited(self, began: float, ended: float) -> None:
        self.idle += max(ended - began, 0.0)
        if self.trace:
            self.trace.slice(IDLE, began, ended)
