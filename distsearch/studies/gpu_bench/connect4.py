"""Connect 4 for ``bench --device gpu``: exact scores of positions by the thousand."""

import random
import time

import numpy as np

from ...engines.pvs import kernels
from ...engines.pvs import table as tt
from ...engines.pvs.exact_solver import ExactSolver
from ...engines.pvs.layout import REQUEST
from ...games import connect4, connect4_knowledge
from ...games.random_play import random_positions
from ...gpu.solver import GpuSolver
from .timing import Timed, row

RATES = {48: (137e9, 77e9), 1024: (45e9, 17e9), 1 << 20: (38e9, 16e9)}  # of an H200, by MiB: reads, writes a second


def limit_of(table_mib, expanded, counts):
    """Return for how many expanded nodes a second the rates of random accesses to such a table would be enough."""
    reads, writes = next(rates for mib, rates in RATES.items() if table_mib <= mib)
    return expanded / (counts["looks"] / reads + counts["stores"] / writes) if expanded else 0


def drawn(board, left_there, count, seed):
    """Return states (uint64, shape (count, 2)) of random games with so many moves left (a range), none won at once."""
    rules, rng, found = connect4.rules(board), random.Random(seed), []
    plies = range(board[0] * board[1] - left_there.stop + 1, board[0] * board[1] - left_there.start + 1)
    while len(found) < count:
        for position in random_positions(connect4, rules, plies, count, rng):
            own, stones = position.state
            wins = connect4_knowledge.winning_squares(own, rules[connect4.BOARD] & ~stones, rules)
            if position.state and not wins & connect4.free(position.state, rules):
                found.append(position.state)
    return np.array(found[:count], np.uint64)


def cpu_scores(board, states, tables, times=1):
    """Return (scores, CPU seconds, nodes, MiB of the table) of one rank, at the best of several tables."""
    rules, best = connect4.rules(board), None
    asked = np.zeros(len(states), REQUEST)
    asked["low"], asked["high"] = -kernels.INFINITY, kernels.INFINITY
    asked["brief"] = 1
    for mib in tables:
        solver = ExactSolver(connect4, rules, tt.new_shared_table(mib) if mib else None)
        solver.compile()
        for _ in range(times):
            solver.clear()
            began = time.process_time()
            found, _ = solver.batch(states, asked, 1 << 60)
            seconds = time.process_time() - began
            if best is None or seconds < best[1]:
                best = found["score"], seconds, int(found["nodes"].sum()), mib
    return best


class Connect4:
    """1,000 positions that take a CPU rank some milliseconds each; the CPU has a sample of them."""

    def __init__(self, gpu, tiny):
        self._board, self._mib = ((4, 5), 1) if tiny else ((6, 7), 4096)
        self._gpu = Timed(gpu)
        options = {"threads": 64, "seconds": 60, "share_left": 10} if tiny else {}
        self._solver = GpuSolver(self._gpu, connect4, connect4.rules(self._board), self._mib, **options)
        self._states = drawn(self._board, range(8, 12) if tiny else range(26, 31), 8 if tiny else 1000, 1)
        cpu_scores(self._board, self._states[:1], (1,))

    def rows(self):
        solver = self._solver
        solver.solve(self._states[:1])
        self._gpu.seconds_by_kernel()
        began = time.perf_counter()
        scores, _, expanded, counts = solver.solve(self._states)
        seconds = time.perf_counter() - began
        sample = self._states[::25]
        expected, cpu_seconds, _, _ = cpu_scores(self._board, sample, (64,))
        return [
            row(
                "connect4, exact",
                "expanded",
                expanded,
                kernel_seconds=sum(self._gpu.seconds_by_kernel().values()),
                limit=limit_of(self._mib, expanded, counts),
                seconds=seconds,
                cpu_seconds=cpu_seconds * len(self._states) / len(sample),
                wrong=int((scores[::25] != expected).sum()),
            )
        ]
