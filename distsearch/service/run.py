"""One source of work done by a cluster, with progress, a clock and an eye on the user."""

import json
import math
import time
from typing import NamedTuple

from .. import jit
from ..tree.grow import Grower
from ..tree.jobs import KINDS


class Run(NamedTuple):
    """What a run took: wall seconds from when all workers were ready, and the workers' METRICS_RECORDs by rank.

    interrupted: the user ended it before it was done.
    """

    seconds: float
    metrics: dict
    interrupted: bool

    @property
    def time_share(self):
        """{busy, communication, idle} of the workers as fractions of their wall time."""
        wall = sum(float(record["wall"]) for record in self.metrics.values())
        return {
            name: round(sum(float(record[name]) for record in self.metrics.values()) / wall, 4)
            for name in ("busy", "communication", "idle") if wall
        }  # fmt: skip


def prepare(setup, game, rules, progress):
    """Return (runner, grower) for a setup, compiled; tells ``progress`` if that takes a while."""
    runner, grower = KINDS[setup["kind"]](setup), Grower(game, rules)
    name = f"{runner.name}-{game.words(rules)}"
    began, fresh = time.perf_counter(), not jit.seen(name)
    if fresh:
        progress.note(f"compiling for {setup['game']}, once on this machine ...")
    grower.compile()
    runner.compile()
    if fresh:
        progress.note(f"compiled in {time.perf_counter() - began:.1f} s")
        jit.mark_seen(name)
    return runner, grower


def run(cluster, setup, source, progress, interrupted, describe, limit=math.inf):
    """Have ``source`` done by ``cluster`` until it is, for ``limit`` seconds at most; return a Run.

    interrupted(): whether the user wants an end; describe(boards_at_work, seconds): the line to show as progress.
    """
    began, stopped = None, False

    def watch(state):
        nonlocal began, stopped
        now = time.perf_counter()
        if began is None and state.started:  # loading and compiling is not searching
            began = now
            progress.begin()
        if began is not None and progress.due():
            progress.show(describe(state.boards_at_work, now - began))
        stopped = interrupted()
        return stopped or began is not None and now - began >= limit

    metrics = cluster.run(json.dumps(setup).encode(), source, watch)
    progress.clear()
    return Run(time.perf_counter() - began if began else 0.0, metrics, stopped)
