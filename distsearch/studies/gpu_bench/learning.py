"""Learning for ``bench --device gpu``: recorded games learnt from, and games that stay on the GPU."""

import time

import numpy as np

from ... import games
from ...core.pointers import set_fields
from ...evaluation import ntuple, tuple_network
from ...evaluation.tuple_network import sizes
from ...gpu import learning as gpu_learning
from ...learning.cpu_team import shared_size
from ...learning.learner import Learner
from ...learning.shared_arrays import Arrays
from .timing import row

NETWORKS = ("2584", "3x4"), ("2048", "4x6")
READS, ADDS = 137e9, 98e9  # random sectors a second in L2 that an H200 reads, and adds to; memory is slower
_SECTOR = 8  # weights
_WARP = 32  # threads
SEED = 1


class Cpu:
    """One CPU rank's learner, of a preset. known: it plays with the package's smaller weights, learning nothing.

    layers: of the search for each move; coherent: with traces, at rate 1.
    """

    def __init__(self, name, tuples, known=False, rate=0.1, seed=SEED, layers=0, coherent=False):
        self.game = games.find(name)
        self.rules = self.game.rules()
        if known:
            net = tuple_network.load(ntuple.shipped(self.game)[ntuple.SMALLER[name]], name, 1 << self.game.BITS)
            self.tuples, weights = net.tuples, net.weights
        else:
            self.tuples, weights = ntuple.checked_tuples(self.game, tuples, (4, 4)), 0.0
        size = sum(sizes(self.tuples, 1 << self.game.BITS))
        self.arrays, self.coherent = Arrays(None, 1, size, coherent, shared_size(1)), coherent
        self.arrays.weights[:] = weights
        rate, of = 0.0 if known else 1.0 if coherent else rate, (self.game, self.rules, self.tuples, True, ())
        self.learner = Learner(*of, self.arrays, rate, seed, layers=layers, coherent=coherent)
        self.learner.compile()

    def begin(self, first, count):
        """Have the learner's next runs play so many games."""
        set_fields(self.arrays.games, next=first, first=first, limit=first + count, stop=0)
        self.arrays.results[:count] = 0

    def play(self, first, count):
        """Play games; return their results."""
        self.begin(first, count)
        while not self.learner.run(1 << 40):
            pass
        return self.arrays.results[:count].copy()

    def paths(self, count, steps):
        """Yield (states, sums of points) of so many games of so many steps: longer ones cut, shorter ones left out."""
        number = 0
        while count:
            self.play(number, 1)
            number += 1
            states, sums = self.learner.path
            if len(sums) >= steps:
                count -= 1
                yield states[:steps], sums[:steps]


def sectors_of_a_step(game, tuples, states):
    """Return how many sectors of L2 the update of a step takes: threads of a warp that need the same one share it.

    states: afterstates of whole warps, uint64, shape (n, 2), a thread each; the network is a symmetric one.
    """
    codes = np.array([[game.code_at(tuple(state), np.int64(cell)) for cell in range(16)] for state in states])
    board, sectors = np.arange(16).reshape(4, 4), 0
    for turned in (board, board.T):
        for image in (turned, turned[::-1], turned[:, ::-1], turned[::-1, ::-1]):
            for cells in tuples:
                digits = codes[:, image.ravel()[list(cells)]]
                places = (digits << game.BITS * np.arange(len(cells))).sum(axis=1) // _SECTOR
                warps = np.sort(places.reshape(-1, _WARP), axis=1)
                sectors += len(warps) + np.count_nonzero(np.diff(warps, axis=1))
    return sectors / len(states)


def gpu_learner(gpu, cpu, count, **options):
    """Return a GpuLearner that knows what a Cpu knows, and learns as it does."""
    rate = options.pop("rate", 1.0 if cpu.coherent else 0.1)
    learner = gpu_learning.GpuLearner(
        gpu, cpu.game, cpu.rules, cpu.tuples, True, cpu.coherent, rate, SEED, count, **options
    )
    learner.upload(cpu.arrays.weights, cpu.arrays.traces)
    return learner


def training_limit(lookups, coherent):
    """Return moves a second that L2 has room for if each look-up is an access of its own.

    Four moves are looked at, an afterstate is read twice and changed once; its traces are read and changed as well.
    """
    reads, adds = (7, 2) if coherent else (6, 1)
    return 1 / (lookups * (reads / READS + adds / ADDS))


class Learning:
    """The update of recorded games by a thread a step, and training with coherence; the CPU has some of both."""

    def __init__(self, gpu, tiny, name, tuples):
        self._gpu, self._tiny, self._name = gpu, tiny, name
        self._cpu = Cpu(name, "2x4" if tiny and name == "2048" else tuples)
        self._steps, self._games = (20, 3) if tiny else (1000, 1000)
        paths = list(Cpu(name, tuples, known=True).paths(2 if tiny else 20, self._steps))
        self._paths = paths
        self._updater = gpu_learner(gpu, self._cpu, 512, room=16, rate=1e-3)
        self._coherent = Cpu(name, "2x4" if tiny and name == "2048" else tuples, coherent=True)
        self._at_once = 2 if tiny else gpu_learning.games_at_once(self._cpu.tuples, coherent=True)
        self._trainer = gpu_learner(gpu, self._coherent, self._at_once)

    def rows(self):
        return [self._update(), self._training()]

    def _update(self):
        paths = [self._paths[i % len(self._paths)] for i in range(self._games)]
        states = np.concatenate([states for states, _ in paths])
        gains = np.concatenate([np.diff(sums, prepend=0) for _, sums in paths])
        starts, updater, gpu = np.arange(len(paths) + 1) * self._steps, self._updater, self._gpu
        n = len(paths) * self._steps
        own = np.concatenate([states for states, _ in self._paths])
        sectors = sectors_of_a_step(self._cpu.game, self._cpu.tuples, own[: len(own) // _WARP * _WARP])
        combined = self._name == "2584"  # 5 times as fast with tuples of four cells, a little slower with those of six
        updater.take_steps(states, gains, starts)
        updater.update_steps(combined)
        gpu.wait()
        began = time.perf_counter()
        updater.take_steps(states, gains, starts)
        first = gpu.mark()
        updater.update_steps(combined)
        kernel = gpu.seconds(first, gpu.mark())
        seconds = time.perf_counter() - began
        self._cpu.learner.learn(*self._paths[0])
        began = time.process_time()
        for path in self._paths:
            self._cpu.learner.learn(*path)
        cpu_seconds = (time.process_time() - began) / len(self._paths) * len(paths)
        limit = 1 / (sectors * (1 / READS + 1 / ADDS))
        return row(f"{self._name}, TD update", "steps", n, kernel, limit, seconds, cpu_seconds)

    def _training(self):
        learner, gpu, tiny, cpu = self._trainer, self._gpu, self._tiny, self._coherent
        began = time.process_time()
        cpu_moves = int(cpu.play(0, 5 if tiny else 500)[:, 2].sum())
        cpu_seconds = time.process_time() - began
        learner.upload(cpu.arrays.weights, cpu.arrays.traces)
        learner.begin(0, 0, 1 << 30, gpu_learning.BACKWARD)
        budget = {"budget": 100} if tiny else {}
        ended = 0
        while ended < (1 if tiny else gpu_learning.RAMP * self._at_once):  # until all are at once
            ended += len(learner.launch(**budget))
        before, began, first = learner.moves, time.perf_counter(), gpu.mark()
        for _ in range(2 if tiny else 20):
            learner.launch(**budget)
        kernel, seconds = gpu.seconds(first, gpu.mark()), time.perf_counter() - began
        moves = learner.moves - before
        return row(
            f"{self._name}, TC training",
            "moves",
            moves,
            kernel_seconds=kernel,
            limit=training_limit(8 * len(cpu.tuples), coherent=True),
            seconds=seconds,
            cpu_seconds=cpu_seconds * moves / max(cpu_moves, 1),
        )
