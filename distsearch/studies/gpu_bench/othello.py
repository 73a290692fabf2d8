"""Othello for ``bench --device gpu``: exact scores of end games by the ten thousand."""

import time

import numba
import numpy as np

from ... import evaluation
from ...engines.pvs import kernels
from ...engines.pvs.exact_solver import ExactSolver
from ...engines.pvs.layout import REQUEST
from ...games import othello, othello_knowledge
from ...games.interface import MAX_MOVES
from ...gpu.othello_endgame import GpuEndgame
from .timing import row


@numba.njit
def _drawn(start, r, left, seed, best):
    """Return states (uint64, (len(left), 2)) from games of random moves, or of the best-ordered ones by a chance."""
    np.random.seed(seed)
    states, out = np.empty((len(left), 2), np.uint64), np.empty(MAX_MOVES, np.int16)
    scores = np.empty(MAX_MOVES, np.int64)
    for i in range(len(left)):
        state = start
        while othello.moves_left(state, r) > left[i]:
            n = othello_knowledge.ordered_moves_slow(state, r, out, scores, 0)
            if n == 0:
                state = start
                continue
            k = 0 if np.random.random() < best else np.random.randint(n)
            state, _ = othello.play(state, r, np.int64(out[k]))
        states[i, 0], states[i, 1] = state[0], state[1]
    return states


def drawn(kind, count, empties, seed, r):
    """Return ``count`` states with empty squares drawn from a range, of a kind of games."""
    left = np.random.default_rng(seed).integers(empties[0], empties[1] + 1, count)
    return _drawn(othello.start(r).state, r, left, seed, {"random": 0.0, "played": 0.75}[kind])


def cpu(states, r, times=3):
    """Return (CPU seconds, scores, nodes) of one rank that solves the states."""
    solver = ExactSolver(othello, r, np.ones(64 << 17, np.uint64), order=evaluation.for_order(othello, r))
    solver.compile()
    asked = np.zeros(len(states), REQUEST)
    asked["low"], asked["high"], asked["brief"] = -kernels.INFINITY, kernels.INFINITY, 1
    best = np.inf
    for _ in range(times):
        solver.clear()
        solver.forget()
        began = time.process_time()
        found, _ = solver.batch(states, asked, 1 << 50)
        best = min(best, time.process_time() - began)
    return best, found["score"], int(found["nodes"].sum())


def solved(gpu, solver, states):
    """Return (kernel seconds, seconds in all, launches, scores)."""
    solver.clear()
    gpu.wait()
    began, kernel, launches = time.perf_counter(), 0.0, 0
    solver.begin(states)
    done = False
    while not done:
        first = gpu.mark()
        solver.launch()
        second = gpu.mark()
        done = solver.finished()
        kernel, launches = kernel + gpu.seconds(first, second), launches + 1
    scores, complete, _ = solver.result()
    seconds = time.perf_counter() - began
    assert complete.all()
    return kernel, seconds, launches, scores


def turning_limit(gpu, turns):
    """Return how often a second the GPU finds turned discs."""
    kernel, threads = gpu.kernel("othello_turning.cu", "turning"), 256
    blocks = gpu.multiprocessors * kernel.resident(threads, 5120)
    out = gpu.array(blocks * threads, np.uint64)
    record = np.array((out.address, turns), np.dtype([("out", "u8"), ("turns", "i4")], align=True))
    kernel(record, blocks, threads)
    first = gpu.mark()
    kernel(record, blocks, threads)
    return blocks * threads * turns / gpu.seconds(first, gpu.mark())


class Othello:
    """100,000 positions of 10 to 12 empty squares; the CPU has a sample of them."""

    def __init__(self, gpu, tiny):
        self._gpu, self._tiny, self._rules = gpu, tiny, othello.rules()
        self._solver = GpuEndgame(gpu, othello, self._rules, table_mib=1 if tiny else 1024, share_from=9)
        empties = (6, 7) if tiny else (10, 12)
        self._states = drawn("random", 30 if tiny else 100_000, empties, 1, self._rules)
        cpu(self._states[:1], self._rules, 1)

    def rows(self):
        gpu, solver = self._gpu, self._solver
        solver.solve(self._states[: 5 if self._tiny else 1000])
        kernel, seconds, _, scores = solved(gpu, solver, self._states)
        tried = solver.counts["tried"]
        sample = self._states[::100]
        cpu_seconds, expected, _ = cpu(sample, self._rules, 1)
        return [
            row(
                "othello, end games",
                "squares tried",
                tried,
                kernel_seconds=kernel,
                limit=turning_limit(gpu, 10 if self._tiny else 20_000),
                seconds=seconds,
                cpu_seconds=cpu_seconds * len(self._states) / len(sample),
                wrong=int((scores[::100] != expected).sum()),
            )
        ]
