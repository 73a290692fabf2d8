"""A learner: one rank's games, and what it changes in the weights that it may share with others."""

import numpy as np

from .. import games
from ..core import jit
from ..core.pointers import address
from ..engines.expectimax import Expectimax
from ..evaluation import Evaluation, ntuple
from ..games.interface import MAX_MOVES
from ..games.sliding import COLUMNS, with_due
from . import td

_PATH = 1 << 16  # afterstates
_ENTRIES_BITS = 12  # of the table of a search: 64 KiB, which every game begins with empty


class Learner:
    """Plays games and learns from them, some moves at a time.

    game, rules: of its games; tuples, symmetric, stages: of the network, see ``Network``; arrays: the ``Arrays`` it
    works on; rate: of learning; seed: of all games; layers: of the search for a move; steps: n; forward, coherent: see
    ``td``; counting: whether to count writes that collide; visiting: whether to count how often weights change, for
    merges; room: afterstates that are kept to be learnt from, so that longer games are learnt from in parts; pages:
    this rank's ``PrivatePages``, or None.
    """

    def __init__(
        self,
        game,
        rules,
        tuples,
        symmetric,
        stages,
        arrays,
        rate,
        seed,
        layers=0,
        steps=1,
        forward=False,
        coherent=False,
        counting=False,
        visiting=False,
        room=_PATH,
        pages=None,
    ):
        self._arrays, self._rules, self._forward = arrays, rules, forward
        self._tables = ntuple.tables_of(game, int(rules[COLUMNS]), tuples, symmetric, stages, arrays.weights)
        functions = dict(ntuple.kernels(game.NAME, bool(stages)))
        hooks = games.knowledge(game)
        functions |= {name: getattr(game, name) for name in ("free_cells", "cell_of", "put", "code_at")}
        functions |= {"with_due": with_due, "expand": hooks.expand}
        functions |= {"COHERENT": coherent, "COUNTING": counting, "FORWARD": forward, "VISITING": visiting}
        functions["PAGED"] = pages is not None
        evaluated = Evaluation(f"learning{bool(stages):d}", functions["learnt"], self._tables, 0, True)
        self._search = Expectimax(game, rules, evaluated, points=True, entries_bits=_ENTRIES_BITS)
        functions["descend"] = self._search.kernels["descend"]
        name = f"{game.NAME}_{bool(stages):d}{coherent:d}{counting:d}{forward:d}{visiting:d}{pages is not None:d}"
        self.name = f"learning_{name}"
        kernels = jit.specialise_all(td.TEMPLATES, name, functions)
        self._run, self._learn_from = kernels["run"], kernels["learn_from"]
        self._search.begin(game.start(rules).state, 2 * layers + 2)
        self._indices = np.zeros(8 * len(tuples), np.int64)
        self._moves, self._gains = np.zeros(MAX_MOVES, np.int16), np.zeros(MAX_MOVES, np.int64)
        self._children = np.zeros(2 * MAX_MOVES, np.uint64)
        self._states = np.zeros(2 * room, np.uint64)
        self._sums, self._values = np.zeros(room, np.int64), np.zeros(room)
        self._control = control = np.zeros(td.CONTROL_SIZE, np.int64)
        self._where, self._any = address(control), game.start(rules).state
        for at, array in (
            (td.RULES, rules),
            (td.TABLES, self._tables),
            (td.INDICES, self._indices),
            (td.MOVES, self._moves),
            (td.CHILDREN, self._children),
            (td.GAINS, self._gains),
            (td.STATES, self._states),
            (td.SUMS, self._sums),
            (td.VALUES, self._values),
            (td.SHARED, arrays.shared),
            (td.RESULTS, arrays.results),
        ):
            control[at] = address(array)
        if pages is not None:
            control[td.TOUCHES], control[td.SLOTS] = address(pages.touches), address(pages.slots)
            control[td.COUNTS] = address(pages.counts)
        if visiting:
            control[td.VISITS] = address(arrays.visits)
        if arrays.traces is not None:
            control[td.TRACES] = address(arrays.traces)
        control[td.SEARCH] = self._search.where
        control[td.SEED], control[td.STEPS], control[td.PLIES], control[td.ROOM] = seed, steps, 2 * layers + 1, room
        control[td.RATE] = np.float64(rate).view(np.int64)
        control[td.NUMBER], control[td.LEARNING] = -1, 1

    def compile(self):
        """Compile, or load from disk, all that a game takes."""
        shared = self._arrays.shared
        shared[td.NEXT] = shared[td.LIMIT] = 0
        self.run(1)

    def run(self, budget):
        """Play for about ``budget`` moves; return whether no game is left to begin, and none is at work."""
        return self._run(self._any, self._where, int(budget))

    def learn(self, states, sums):
        """Learn from a game that was recorded, as ``path`` has it; no longer one than there is room for."""
        n = len(sums)
        self._states[: 2 * n], self._sums[:n] = np.ravel(states), sums
        self._control[td.LENGTH], self._control[td.FIRST_LEARNT] = n, 0
        self._learn_from(self._where, True)

    @property
    def moves(self):
        """Moves made so far."""
        return int(self._control[td.MOVED])

    @property
    def learning(self):
        """Whether games change weights."""
        return bool(self._control[td.LEARNING])

    @learning.setter
    def learning(self, whether):
        self._control[td.LEARNING] = whether

    def give_up(self):
        """Drop the game at work, if nothing was learnt from it yet."""
        nothing_yet = not self._forward and self._control[td.PLAYED] <= self._control[td.ROOM]
        if nothing_yet or not self.learning:
            self._control[td.NUMBER] = -1

    @property
    def path(self):
        """Of the last game, or as much of its end as there is room for: what boards its moves left, and their points.

        Returns (states, uint64, shape (n, 2); the sum of points up to each of them, int64, shape (n,)).
        """
        n = int(self._control[td.LENGTH])
        return self._states[: 2 * n].reshape(n, 2).copy(), self._sums[:n].copy()

    @property
    def collisions(self):
        """Return (weights written, those of them that somebody else had changed in between), if they are counted."""
        return int(self._control[td.WRITES]), int(self._control[td.LOST])
