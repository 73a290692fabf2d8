"""Expectimax for ``bench --device gpu``: both games, by the three methods."""

import time

import numpy as np

from ... import evaluation, games
from ...api.sample import CLASSES
from ...core import jit
from ...engines import expectimax as em
from ...engines.expectimax import Expectimax
from ...engines.player import Player, seed_of
from ...evaluation.ntuple import SMALLER
from ...games.interface import as_state
from ...gpu.expectimax import GpuExpectimax
from .timing import Timed, row

_BOARDS = {"merged": 20_000, "multilevel": 4_000, "naive": 2_000}

descend = None  # the engine's


def one_after_another(states, where, depth, path_probability, values):
    """Search states (uint64, shape (n, 2)) to ``depth`` plies."""
    c = em.control_view(where, 0)
    for i in range(len(states)):
        values[i] = descend((states[i, 0], states[i, 1]), c, np.int64(0), depth, path_probability)


class Cpu:
    """One rank's engine, by a table of 2 to the power of ``bits`` entries."""

    def __init__(self, game, rules, chosen, bits):
        self._engine = Expectimax(game, rules, chosen, points=chosen.points, entries_bits=bits)
        self._engine.compile()
        self._loop = jit.specialise(one_after_another, f"one_after_another_{self._engine.name}", self._engine.kernels)
        nothing = np.empty((0, 2), np.uint64), self._engine.where, np.int64(1), em.CERTAIN, np.empty(0)
        self._loop(*nothing)  # compiles it, which is not to be timed

    def values(self, states, layers=None, depth=None):
        """Return (values, leaves, CPU seconds); layers: as many moves with what follows each, and one; depth: plies."""
        plies = 2 * layers + 1 if depth is None else depth
        self._engine.make_room(plies)
        self._engine.forget()
        self._engine.begin((states[0, 0], states[0, 1]), 1)
        values = np.empty(len(states))
        began = time.process_time()
        self._loop(states, self._engine.where, np.int64(plies), em.CERTAIN, values)
        return values, int(self._engine.result().evaluated), time.process_time() - began


def boards_of_games(game, rules, chosen, count, seed=1):
    """Return the states of so many games by class, (n, 2) each, in an order drawn at random, all by the seed."""
    player = Player(game, rules, Expectimax(game, rules, chosen, points=chosen.points))
    found = {stage: [] for stage in CLASSES}
    for number in range(count):
        player.begin(game.start(rules).state, 3, seed_of(seed, number), 0, 1 << 30)
        while not player.advance(1 << 20):
            pass
        state, path = game.start(rules).state, []
        for code in player.codes:
            if code < 4:
                path.append(state)
            state = as_state(game.play(state, rules, np.int64(code))[0])
        for stage, (low, high) in CLASSES.items():
            found[stage] += path[int(np.ceil(low * len(path))) : int(high * (len(path) - 1)) + 1]
    order = np.random.default_rng(seed)
    return {stage: order.permutation(np.array(states, np.uint64)) for stage, states in found.items()}


def different_boards(game, rules, chosen, count, seed=1, stages=tuple(CLASSES)):
    """Return {class: states (uint64, shape (count, 2))}, all of a class different, of as many games as that takes.

    A GPU that merges equal boards would search fewer where boards repeat.
    """
    games_played = 4
    while True:
        played = boards_of_games(game, rules, chosen, games_played, seed)
        found = {stage: _different(played[stage]) for stage in stages}
        if min(map(len, found.values())) >= count:
            return {stage: states[:count] for stage, states in found.items()}
        games_played *= 2


def _different(states):
    """Return each of the states once, in the order in which they come first."""
    _, first = np.unique(states, axis=0, return_index=True)
    return states[np.sort(first)]


class Expectimaxes:
    """Boards of a game at 2 layers, by each method; the CPU has a sample of them."""

    def __init__(self, gpu, tiny, name):
        self._game, self._tiny = games.find(name), tiny
        rules = self._game.rules()
        chosen = evaluation.find(self._game, SMALLER[name], rules)
        self._gpu = Timed(gpu)
        self._searches = {method: GpuExpectimax(self._gpu, self._game, rules, chosen, method) for method in _BOARDS}
        self._cpu = Cpu(self._game, rules, chosen, 16)
        count = 3 if tiny else max(_BOARDS.values())
        self._boards = different_boards(self._game, rules, chosen, count, stages=("normal",))["normal"]

    def rows(self):
        layers, found = 1 if self._tiny else 2, []
        sample = self._boards[: 3 if self._tiny else 500]
        expected, _, cpu_seconds = self._cpu.values(sample, layers)
        limit = self._searches["merged"].evaluation_rate(self._boards, 10 if self._tiny else 4000)
        for method, search in self._searches.items():
            states = self._boards[: _BOARDS[method]]
            for _ in range(1 if self._tiny else 2):  # lists have their lengths then
                search.values(states, layers=layers)
            self._gpu.seconds_by_kernel()
            began = time.perf_counter()
            done = search.values(states, layers=layers)
            seconds = time.perf_counter() - began
            n = min(len(sample), len(states))
            error = np.abs(done.values[:n] - expected[:n]) / np.maximum(np.abs(expected[:n]), 1)
            found.append(
                row(
                    f"{self._game.NAME}, {method}",
                    "leaves",
                    done.leaves,
                    kernel_seconds=sum(self._gpu.seconds_by_kernel().values()),
                    limit=limit,
                    seconds=seconds,
                    cpu_seconds=cpu_seconds / len(sample) * len(states),
                    wrong=int((error > 1e-5).sum()),
                )
            )
        return found
