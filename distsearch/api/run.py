"""One source of work done by a cluster, with progress, a clock and an eye on the user."""

import json
import math
import time
from typing import NamedTuple

from ..core.kernel_cache import KernelCache, told_of_compiling
from ..jobs.two_player import KINDS
from ..tree.expansion import Grower
from ..tree.search_tree import SearchTree, warm_up_search_tree
from .metrics import per_worker


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


def prepare(setup, game, rules, progress):
    """Return (runner, grower) for a setup, compiled; tells ``progress`` if that takes a while."""
    runner = KINDS[setup["kind"]](setup)
    grower = Grower(game, rules, runner.engine)

    def compile_all():
        grower.compile()
        runner.compile()
        if runner.result_dtype == SearchTree.result_dtype:
            warm_up_search_tree(grower, game.start(rules).state, setup["kind"] == "solve")

    compile_with_notice(setup["game"], compile_all, progress)
    return runner, grower


def compile_with_notice(game, compile_all, progress):
    """Compile what ``compile_all()`` does, or load it; tells ``progress`` if something must be compiled."""
    began, compiled = time.perf_counter(), 0

    def tell(_):
        nonlocal compiled
        if not compiled:
            progress.note(f"compiling for {game}, once on this machine ...")
        compiled += 1
        if progress.due():
            progress.show(f"compiling kernel {compiled}, {time.perf_counter() - began:.0f} s")

    with told_of_compiling(tell):
        compile_all()
    progress.clear()
    if compiled:
        progress.note(f"compiled in {time.perf_counter() - began:.1f} s")
        if KernelCache.problem:
            progress.note(f"distsearch: {KernelCache.problem}")


def run(
    cluster, setup, source, progress, interrupted, describe, limit=math.inf, prefetch=2, save=lambda _: None, **how
):
    """Have ``source`` done by ``cluster`` until it is, for ``limit`` seconds at most; return a Run.

    interrupted(): whether the user wants an end; describe(nodes_at_work, seconds): the line to show as progress;
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
            progress.show(describe(state.nodes_at_work, now - began))
        stopped = interrupted()
        save(0.0 if began is None else now - began)
        return stopped or began is not None and now - began >= limit

    records = cluster.run(json.dumps(setup).encode(), source, watch, prefetch, shared=setup.get("share", False), **how)
    progress.clear()
    ended, busy = cluster.clock(), cluster.master_seconds - busy
    began = ended if began is None else began
    return RunStats(ended - began, busy, began - asked, per_worker(records), stopped)
