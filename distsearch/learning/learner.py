"""A learner: one rank's games, and what it changes in the weights that it may share with others."""

import numpy as np

from .. import games
from ..core import jit
from ..core.pointers import address, new_record, set_fields
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
    this rank's ``PrivatePages``, or None; restart: whether a game that is over goes on from the middle of its path;
    dead_boards: whether a search takes the network's word for boards without a move, see ``Evaluation``.
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
        restart=False,
        dead_boards=False,
    ):
        self._arrays, self._rules, self._forward = arrays, rules, forward
        near = arrays.near is not None
        self._tables = ntuple.tables_of(game, int(rules[COLUMNS]), tuples, symmetric, stages, arrays.weights, near)
        functions = dict(ntuple.kernels(game.NAME, bool(stages), near, dead_boards))
        hooks = games.knowledge(game)
        functions |= {name: getattr(game, name) for name in ("free_cells", "cell_of", "put", "code_at")}
        functions |= {"with_due": with_due, "expand": hooks.expand}
        functions |= {"COHERENT": coherent, "COUNTING": counting, "FORWARD": forward, "VISITING": visiting}
        functions["PAGED"] = pages is not None
        name = f"learning{bool(stages):d}{near:d}{'_dead' * dead_boards}"
        evaluated = Evaluation(name, functions["learnt"], self._tables, 0, True)
        self._search = Expectimax(game, rules, evaluated, points=True, entries_bits=_ENTRIES_BITS)
        functions["descend"] = self._search.kernels["descend"]
        flags = bool(stages), near, coherent, counting, forward, visiting, pages is not None
        name = f"{game.NAME}_{''.join(f'{flag:d}' for flag in flags)}{'_dead' * dead_boards}"
        self.name = f"learning_{name}"
        kernels = jit.specialise_all(td.TEMPLATES, name, functions)
        self._run, self._learn_from = kernels["run"], kernels["learn_from"]
        self._search.begin(game.start(rules).state, 2 * layers + 2)
        self._indices = np.zeros(4 * 8 * len(tuples), np.uint64)
        self._moves, self._gains = np.zeros(MAX_MOVES, np.int16), np.zeros(MAX_MOVES, np.int64)
        self._children = np.zeros(2 * MAX_MOVES, np.uint64)
        self._states = np.zeros(2 * room, np.uint64)
        self._sums, self._values = np.zeros(room, np.int64), np.zeros(room)
        self._control = control = new_record(td.CONTROL)
        self._where, self._any = address(control), game.start(rules).state
        for name in ("tables", "indices", "moves", "children", "gains", "states", "sums", "values"):
            control[name] = address(getattr(self, f"_{name}"))
        set_fields(control, rules=address(rules), shared=address(arrays.shared), results=address(arrays.results))
        if pages is not None:
            touches, slots, counts = map(address, (pages.touches, pages.slots, pages.counts))
            set_fields(control, touches=touches, slots=slots, counts=counts)
        if visiting:
            control["visits"] = address(arrays.visits)
        if arrays.traces is not None:
            control["traces"] = address(arrays.traces)
        set_fields(control, search=self._search.where, seed=seed, steps=steps, plies=2 * layers + 1, capacity=room)
        set_fields(control, rate=rate, number=-1, learning=1, restart=restart)

    def compile(self):
        """Compile, or load from disk, all that a game takes."""
        set_fields(self._arrays.games, next=0, limit=0)
        self.run(1)

    def run(self, budget):
        """Play for about ``budget`` moves; return whether no game is left to begin, and none is at work."""
        return self._run(self._any, self._where, int(budget))

    def learn(self, states, sums):
        """Learn from a game that was recorded, as ``path`` has it; no longer one than there is room for."""
        n = len(sums)
        self._states[: 2 * n], self._sums[:n] = np.ravel(states), sums
        set_fields(self._control, length=n, first_learnt=0)
        self._learn_from(self._control, True)

    @property
    def moves(self):
        """Moves made so far."""
        return int(self._control["moved"])

    @property
    def learning(self):
        """Whether games change weights."""
        return bool(self._control["learning"])

    @learning.setter
    def learning(self, whether):
        self._control["learning"] = whether

    def give_up(self):
        """Drop the game at work, if nothing was learnt from it yet."""
        nothing_yet = not self._forward and self._control["played"] <= self._control["capacity"]
        if nothing_yet or not self.learning:
            self._control["number"] = -1

    @property
    def path(self):
        """Of the last game, or as much of its end as there is room for: what boards its moves left, and their points.

        Returns (states, uint64, shape (n, 2); the sum of points up to each of them, int64, shape (n,)).
        """
        n = int(self._control["length"])
        return self._states[: 2 * n].reshape(n, 2).copy(), self._sums[:n].copy()

    @property
    def collisions(self):
        """Return (weights written, those of them that another rank had changed in between), if they are counted."""
        return int(self._control["writes"]), int(self._control["lost"])
