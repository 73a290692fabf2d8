"""Decisions in games against chance: boards to decide on, and how long that takes a core and a GPU.

A decision is the value of a board where the player is to move, searched to so many plies.
"""

import functools
import time

import numpy as np

from .. import evaluation, games
from ..gpu.expectimax import GpuExpectimax
from .gpu_bench.expectimax import Cpu, different_boards

_BITS = 16  # of the entries of a core's table, which goes on from board to board
_REPEATS = 3  # of a timing on a GPU, of which the best counts
_CHECKED = 20  # boards of which a GPU's values are compared with a core's


@functools.cache
def rules_of(name, wanted):
    """Return (game, rules, Evaluation) by their names."""
    game = games.find(name)
    rules = game.rules()
    return game, rules, evaluation.find(game, wanted, rules)


@functools.cache
def _boards(name, wanted, count, seed):
    return different_boards(*rules_of(name, wanted), count, seed)


def states(name, wanted, seed, stage, count):
    """Return so many different states (uint64, shape (n, 2)) of a class, of games by the seed.

    Classes are those of a report on 2584, see ``api.sample``; the evaluation ``wanted`` plays the games.
    """
    return _boards(name, wanted, 1 << (count - 1).bit_length(), seed)[stage][:count]


@functools.cache
def _core(name, wanted):
    return Cpu(*rules_of(name, wanted), _BITS)


def by_core(name, wanted, boards, depth):
    """Return figures of decisions by one core: its CPU seconds a board."""
    core = _core(name, wanted)
    core.values(boards[:1], depth=depth)  # the kernels are loaded then
    _, _, seconds = core.values(boards, depth=depth)
    return {"seconds": seconds / len(boards)}


def on_gpu(gpu, name, wanted, boards, depth, method="merged"):
    """Return figures of decisions by a GPU: seconds a board, from states in numpy to values there.

    worst_error: of some values against a core's, relative to these where they are larger than 1.
    """
    search = GpuExpectimax(gpu, *rules_of(name, wanted), method)
    for _ in range(2):  # lists have their lengths then
        search.values(boards, depth=depth)
    taken = []
    for _ in range(_REPEATS):
        began = time.perf_counter()
        found = search.values(boards, depth=depth).values
        taken.append(time.perf_counter() - began)
    true, _, _ = _core(name, wanted).values(boards[:_CHECKED], depth=depth)
    errors = np.abs(found[:_CHECKED] - true) / np.maximum(np.abs(true), 1)
    return {"seconds": min(taken) / len(boards), "device": gpu.name, "worst_error": float(errors.max())}


def played(bench, name, wanted, depth, count, seed, ranks=1, device="cpu"):
    """Return figures of whole games that the first ranks play, on their cores or on a GPU for each worker."""
    with bench.session(ranks, table=0, device=device) as session:
        found = session.play(name, count, seed=seed, evaluation=wanted, depth=depth)
    figures = {figure: getattr(found, figure) for figure in ("scores", "largest", "moves", "seconds", "cpu_seconds")}
    return {**figures, "ranks": found.ranks, "moves_per_second": found.moves / max(found.seconds, 1e-9)}
