"""Learning from recorded games, on a core and on a GPU: how long it takes."""

import time

import numpy as np

from .. import games
from ..evaluation import network, ntuple
from ..evaluation.network import sizes
from ..gpu.learning import CardLearner
from ..learning.arrays import Arrays
from ..learning.learner import Learner
from ..learning.td import FIRST, LIMIT, NEXT, STOP
from ..learning.team import shared_size

_REPEATS = 3  # of a timing, of which the best counts
_RATE = 1e-3  # of steps that are learnt all at once, whose changes add up
_ROOM, _AT_ONCE = 16, 512  # of a learner on a GPU that plays no games
_KEPT = {}  # recorded games that were made before


class _Learner:
    """One core's learner of the network that comes with the package, which it plays with; or of its tuples anew."""

    def __init__(self, name, known, seed):
        self.game = games.find(name)
        self.rules = self.game.rules()
        net = network.load(ntuple.shipped(self.game), name, 1 << self.game.BITS)
        self.tuples = net.tuples
        self.arrays = Arrays(None, 1, sum(sizes(net.tuples, 1 << self.game.BITS)), False, shared_size(1))
        if known:
            self.arrays.weights[:] = net.weights
        self.learner = Learner(
            self.game, self.rules, net.tuples, True, (), self.arrays, 0.0 if known else _RATE, seed
        )  # fmt: skip
        self.learner.compile()

    def play(self, number):
        """Play the game of a number; return (afterstates, sums of points)."""
        self.arrays.shared[[NEXT, FIRST, LIMIT, STOP]] = number, number, number + 1, 0
        self.arrays.results[:1] = 0
        while not self.learner.run(1 << 40):
            pass
        return self.learner.path


def recorded(name, count, steps, seed):
    """Return a list of (states, sums) of so many games of so many steps each: longer ones cut, shorter ones left out.

    They are played by the network that comes with the package, without a search.
    """
    key = name, count, steps, seed
    if key not in _KEPT:
        player, found, number = _Learner(name, True, seed), [], 0
        while len(found) < count:
            states, sums = player.play(number)
            number += 1
            if len(sums) >= steps:
                found.append((states[:steps], sums[:steps]))
        _KEPT[key] = found
    return _KEPT[key]


def on_core(name, paths, seed):
    """Return CPU seconds that learning from games takes one core."""
    learner, taken = _Learner(name, False, seed).learner, []
    learner.learn(*paths[0])
    for _ in range(_REPEATS):
        began = time.process_time()
        for path in paths:
            learner.learn(*path)
        taken.append(time.process_time() - began)
    return min(taken)


def on_card(gpu, name, paths, seed):
    """Return {way: (seconds of the kernels, seconds from arrays of the host on)} of learning from games.

    steps: a thread a step, as a report has it; combined: the same, threads of a warp that change the same weight add
    once; games: one behind another, as a core does.
    """
    cpu = _Learner(name, False, seed)
    learner = CardLearner(
        gpu, cpu.game, cpu.rules, cpu.tuples, True, False, _RATE, seed, _AT_ONCE, room=_ROOM
    )  # fmt: skip
    learner.upload(cpu.arrays.weights)
    states = np.concatenate([states for states, _ in paths])
    gains = np.concatenate([np.diff(sums, prepend=0) for _, sums in paths])
    starts = np.concatenate([[0], np.cumsum([len(sums) for _, sums in paths])])
    found = {}
    for way, do in (("steps", learner.update_steps), ("combined", lambda: learner.update_steps(True)),
                    ("games", learner.update_games)):  # fmt: skip
        learner.take_steps(states, gains, starts)
        do()
        kernels, wholes = [], []
        for _ in range(_REPEATS):
            gpu.wait()
            began = time.perf_counter()
            learner.take_steps(states, gains, starts)
            first = gpu.mark()
            do()
            last = gpu.mark()
            gpu.wait()
            wholes.append(time.perf_counter() - began)
            kernels.append(gpu.seconds(first, last))
        found[way] = min(kernels), min(wholes)
    return found
