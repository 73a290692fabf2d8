"""Learning from recorded games, on a core and on a GPU: how long it takes."""

import functools
import time

import numpy as np

from .gpu_bench.learning import Cpu, gpu_learner

_TUPLES = {"2584": "3x4", "2048": "4x6"}
_REPEATS = 3  # of a timing, of which the best counts
_RATE = 1e-3  # of steps that are learnt all at once, whose changes add up
_ROOM, _AT_ONCE = 16, 512  # of a learner on a GPU that plays no games


@functools.cache
def recorded(name, count, steps, seed):
    """Return a list of (states, sums) of so many games of so many steps each: longer ones cut, shorter ones left out.

    They are played by the network that comes with the package, without a search.
    """
    return list(Cpu(name, _TUPLES[name], known=True, seed=seed).paths(count, steps))


def by_core(name, paths):
    """Return figures of learning from games by one core: CPU seconds."""
    learner, taken = Cpu(name, _TUPLES[name]).learner, []
    learner.learn(*paths[0])
    for _ in range(_REPEATS):
        began = time.process_time()
        for path in paths:
            learner.learn(*path)
        taken.append(time.process_time() - began)
    return {"seconds": min(taken)}


def on_gpu(gpu, name, paths):
    """Return {way: figures} of learning from games by a GPU: seconds of its kernels, and with the transfer of games.

    steps: a thread a step, as a report has it; combined: the same, threads of a warp that change the same weight add
    once; games: one behind another, as a core does.
    """
    learner = gpu_learner(gpu, Cpu(name, _TUPLES[name]), _AT_ONCE, room=_ROOM, rate=_RATE)
    given = (
        np.concatenate([states for states, _ in paths]),
        np.concatenate([np.diff(sums, prepend=0) for _, sums in paths]),
        np.concatenate([[0], np.cumsum([len(sums) for _, sums in paths])]),
    )
    ways = {
        "steps": learner.update_steps,
        "combined": lambda: learner.update_steps(True),
        "games": learner.update_games,
    }
    return {way: _timed(gpu, lambda: learner.take_steps(*given), update) for way, update in ways.items()}


def _timed(gpu, take, update):
    take()
    update()
    kernels, wholes = [], []
    for _ in range(_REPEATS):
        gpu.wait()
        began = time.perf_counter()
        take()
        first = gpu.mark()
        update()
        last = gpu.mark()
        gpu.wait()
        wholes.append(time.perf_counter() - began)
        kernels.append(gpu.seconds(first, last))
    return {"kernel": min(kernels), "seconds": min(wholes)}
