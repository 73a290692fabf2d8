"""Timelines of searches as files that Perfetto (ui.perfetto.dev) and Chrome open: ``--trace FILE``.

The format is Chrome's Trace Event Format, JSON: a process for each host, a track for each rank with what it did (work,
messages, idle), and next to it the jobs that it had, each with its position, window and outcome, and marks where a
subtree was split off it or its window narrowed. Times are microseconds from the start of the run. Ranks of a host
share a clock; those of other hosts are aligned with it by the message that starts the run.
"""

import json
import os
import uuid
from typing import Any

import numpy as np

from ..cluster.trace import COMMUNICATION, DONE, IDLE, JOB, NARROWED, SPLIT, WORK
from ..core.errors import UserError
from ..games.interface import Position

_NAMES = {WORK: "work", COMMUNICATION: "messages", IDLE: "idle", SPLIT: "split off a subtree", NARROWED: "narrowed"}
_NAMED = {0: "rank 0, master"}
_FAR = 10**5  # windows reach further where nothing is known


def lines(traces, position_text):
    """Yield the events of a timeline as lines of JSON.

    traces: rank → (host, array of ``cluster.trace.EVENT``); position_text(state): a job's position.
    """
    hosts = {rank: host for rank, (host, _) in sorted(traces.items())}
    numbers = {host: i for i, host in enumerate(dict.fromkeys(hosts.values()), 1)}
    for host, process in numbers.items():
        yield _line(ph="M", pid=process, name="process_name", args={"name": host})
    begins = {host: min(_begin(events) for at, events in traces.values() if at == host) for host in numbers}
    for rank, host in hosts.items():
        process, begin = numbers[host], begins[host]
        yield _line(ph="M", pid=process, tid=rank, name="thread_name", args={"name": _NAMED.get(rank, f"rank {rank}")})
        yield _line(ph="M", pid=process, tid=rank, name="thread_sort_index", args={"sort_index": rank})
        for event in traces[rank][1]:
            yield from _event(event, process, rank, begin, position_text)


def _begin(events):
    return float(events["began"].min()) if len(events) else np.inf


def _event(event, process, rank, begin, position_text):
    kind, at = int(event["kind"]), round((float(event["began"]) - begin) * 1e6, 1)
    if kind == JOB:
        args = _job(event, position_text)
        name = args["position"] or f"job {args['job']}"
        once = {"pid": process, "tid": rank, "cat": "job", "id": f"{rank}.{at}", "name": name}
        yield _line(ph="b", ts=at, args=args, **once)
        yield _line(ph="e", ts=round((float(event["ended"]) - begin) * 1e6, 1), **once)
    elif kind in (SPLIT, NARROWED):
        args: dict[str, Any] = {"job": int(event["job_id"])}
        if kind == NARROWED:
            args["window"] = _window(event)
        yield _line(ph="i", ts=at, pid=process, tid=rank, s="t", name=_NAMES[kind], args=args)
    else:
        took = round((float(event["ended"]) - float(event["began"])) * 1e6, 1)
        more = {"args": {"jobs": int(event["jobs"])}} if kind == WORK else {}
        yield _line(ph="X", ts=at, dur=took, pid=process, tid=rank, name=_NAMES[kind], **more)


def _job(event, position_text):
    score = float(event["score"])
    state = tuple(event["state"][: event["words"]])
    return {
        "job": int(event["job_id"]),
        "position": position_text(state) if state else None,
        "window": _window(event),
        "nodes": int(event["nodes"]),
        "score": score if np.isfinite(score) else None,
        "outcome": "done" if event["outcome"] == DONE else "stopped",
    }


def _window(event):
    return [int(each) if abs(each) < _FAR else None for each in (event["low"], event["high"])]


def _line(**event):
    return json.dumps(event, separators=(",", ":"))


def check(path: str) -> None:
    """Raise UserError if a file cannot be made there, before a search is done for nothing."""
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.exists(path) and not os.path.isfile(path):
        raise UserError(f"trace {path} is not a file")
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        raise UserError(f"cannot write the trace to {path}: no folder to write to")


def texts_of(game, rules):
    """Return a function from a state of a game, a module, to its text, as if the first player were to move."""
    width = game.words(rules)
    return lambda state: game.text(Position(state, 0), rules) if len(state) == width else None


def write(path, traces, position_text):
    """Write a timeline to a file, all of it or nothing; raises UserError."""
    new = f"{path}.{uuid.uuid4().hex[:8]}"
    try:
        with open(new, "w", encoding="ascii") as file:
            file.write('{"displayTimeUnit":"ms","traceEvents":[\n')
            before = ""
            for line in lines(traces, position_text):
                file.write(before + line)
                before = ",\n"
            file.write("\n]}\n")
        os.replace(new, path)
    except OSError as error:
        if os.path.exists(new):
            os.unlink(new)
        raise UserError(f"cannot write the trace to {path}: {error.strerror}") from error
