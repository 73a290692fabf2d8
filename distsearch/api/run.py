"""One source of work done by a cluster, with progress, a clock and an eye on the user."""

import json
import math
from dataclasses import replace
from typing import Any, NamedTuple

from ..jobs.two_player import KINDS
from ..tree.expansion import Grower
from .compiling import Recipe, compile_with_notice, warm_up
from .metrics import added, per_worker


class RunStats(NamedTuple):
    """What a run took.

    seconds: wall time from when all workers were ready; startup_seconds: until then; master_seconds: CPU of the
    master in ``seconds``; workers: what each one's timers
    say, see ``metrics.per_worker``; interrupted: the user ended it before it was done.
    """

    seconds: float
    master_seconds: float
    startup_seconds: float
    workers: list
    interrupted: bool

    def after(self, earlier: "RunStats") -> "RunStats":
        """Return what this run and an earlier one of the same workers took together."""
        return RunStats(
            self.seconds + earlier.seconds,
            self.master_seconds + earlier.master_seconds,
            self.startup_seconds + earlier.startup_seconds,
            added(earlier.workers, self.workers),
            self.interrupted,
        )


def prepare(setup, game, rules, progress, interrupted):
    """Return (runner, grower) for a setup, compiled, its weights unpacked; tells ``progress`` if that takes a while.

    Raises KeyboardInterrupt if the user wants an end meanwhile.
    """
    runner: Any = None
    grower: Any = None

    def compile_all():
        nonlocal runner, grower
        runner = KINDS[setup["kind"]](setup)
        grower = Grower(game, rules, runner.engine)
        grower.compile()
        runner.compile()
        warm_up(runner, grower, game.start(rules).state, setup["kind"])

    compile_with_notice(setup["game"], compile_all, progress, Recipe.of_setup(setup), interrupted)
    return runner, grower


def run(
    cluster, setup, source, progress, interrupted, describe, limit=math.inf, prefetch=2, save=lambda _: None, **how
):
    """Have ``source`` done by ``cluster`` until it is, for ``limit`` seconds at most; return a Run.

    interrupted(): whether the user wants an end; describe(nodes_at_work, seconds): ``Facts`` to tell ``progress``;
    save(seconds): called every few milliseconds, where ``source`` may be looked at and ``cluster.current`` saved, and
    before an early end; how: more of ``events.Begin``.
    """
    asked, began, stopped, busy = cluster.clock(), None, False, 0.0

    def watch(state):
        nonlocal began, stopped, busy
        now = cluster.clock()
        if began is None and state.started:  # loading and compiling is not searching
            began, busy = now, cluster.master_seconds
            progress.begin()
        if began is not None and progress.due():
            facts, at_work = describe(state.nodes_at_work, now - began), cluster.busy_workers(cluster.current)
            progress.tell(replace(facts, ranks=cluster.ranks, busy_ranks=at_work))
        stopped = interrupted()
        save(0.0 if began is None else now - began)
        return stopped or began is not None and now - began >= limit

    records = cluster.run(json.dumps(setup).encode(), source, watch, prefetch, shared=setup.get("share", False), **how)
    progress.clear()
    ended, busy = cluster.clock(), cluster.master_seconds - busy
    began = ended if began is None else began
    return RunStats(ended - began, busy, began - asked, per_worker(records), stopped)
