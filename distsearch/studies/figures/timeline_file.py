"""Timelines read again: what ``--trace`` wrote (see ``formats.timeline``), as arrays, a track a rank."""

import json
from dataclasses import dataclass

import numpy as np

from ...core.errors import UserError

KINDS = "work", "messages", "idle"
_MARKS = "gave a part away", "narrowed"


@dataclass
class Track:
    """What a rank did. Times are seconds from the start of the run, float64.

    slices: kind of ``KINDS`` → array (n, 2) of began and ended, by time; jobs: array (m, 2) of the same, and stopped:
    (m,) bool, those without an answer of their own; gave, narrowed: (k,), when a part was given away, a window
    narrowed.
    """

    rank: int
    name: str
    host: str
    slices: dict
    jobs: np.ndarray
    stopped: np.ndarray
    gave: np.ndarray
    narrowed: np.ndarray

    @property
    def wall(self):
        """Seconds between the beginning of its first slice and the end of its last."""
        times = np.concatenate(list(self.slices.values()))
        return float(times[:, 1].max() - times[:, 0].min()) if len(times) else 0.0

    def spent(self, kind):
        """Return the seconds of all slices of a kind."""
        began, ended = self.slices[kind].T
        return float((ended - began).sum())


def read(path):
    """Return the Tracks of a timeline by host and rank. Raises UserError for what is none."""
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except OSError as error:
        raise UserError(f"cannot read the timeline {path[:200]}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path[:200]} is no timeline: no JSON") from error
    try:
        tracks = _tracks(content["traceEvents"])
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise UserError(f"{path[:200]} is no timeline as --trace writes it") from error
    if not tracks:
        raise UserError(f"the timeline {path[:200]} has no rank")
    return tracks


def _tracks(events):
    hosts, names, found, open_jobs = {}, {}, {}, {}
    for event in events:
        phase = event["ph"]
        if phase == "M" and event["name"] == "process_name":
            hosts[event["pid"]] = str(event["args"]["name"])
        elif phase == "M":
            where = event["pid"], int(event["tid"])
            found.setdefault(where, _empty())
            if event["name"] == "thread_name":
                names[where] = str(event["args"]["name"])
        else:
            _take(event, phase, found.setdefault((event["pid"], int(event["tid"])), _empty()), open_jobs)
    tracks = []
    for (process, rank), kept in sorted(found.items()):
        slices = {kind: _rows(kept[kind], 2) / 1e6 for kind in KINDS}
        jobs = _rows(kept["jobs"], 3)
        gave, narrowed = (_rows(kept[name], 1)[:, 0] / 1e6 for name in _MARKS)
        name, host = names.get((process, rank), f"rank {rank}"), hosts.get(process, "?")
        tracks.append(Track(rank, name, host, slices, jobs[:, :2] / 1e6, jobs[:, 2] > 0, gave, narrowed))
    return tracks


def _empty():
    return {name: [] for name in (*KINDS, "jobs", *_MARKS)}


def _take(event, phase, kept, open_jobs):
    """Put an event where it belongs; of jobs, which have two, what began stays in ``open_jobs`` until it ends."""
    at, name = float(event["ts"]), event["name"]
    if phase == "X":
        kept[name].append((at, at + float(event["dur"])))
    elif phase == "b":
        open_jobs[event["tid"], event["id"], name] = at, event["args"]["outcome"] == "stopped"
    elif phase == "e":
        began, stopped = open_jobs.pop((event["tid"], event["id"], name))
        kept["jobs"].append((began, at, stopped))
    elif phase == "i":
        kept[name].append(at)


def _rows(events, width):
    """Return events as an array of rows by their first numbers; raises ValueError for what is no time."""
    rows = np.array(events, np.float64).reshape(-1, width)
    if not np.isfinite(rows).all():
        raise ValueError("a time that is none")
    return rows[np.argsort(rows[:, 0], kind="stable")]


def shares(spans, edges):
    """Return which part of each interval between two of the ``edges`` (n,) is in a span, (n - 1,), 0 to 1.

    spans: (m, 2) of began and ended, in order, none over another.
    """
    began, ended = spans.T
    spent = np.concatenate(([0.0], np.cumsum(ended - began)))
    times = np.maximum.accumulate(np.column_stack((began, ended)).ravel())  # they are rounded, each for itself
    until = np.interp(edges, times, np.column_stack((spent[:-1], spent[1:])).ravel()) if len(times) else 0 * edges
    return np.clip(np.diff(until) / np.diff(edges), 0.0, 1.0)
