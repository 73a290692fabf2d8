"""Memory-bounded IDA* for one game, board and evaluation: begin a run, go on in slices, read its result."""

from typing import NamedTuple

import numpy as np

from .. import games, jit
from ..addresses import address
from ..games.interface import MAX, MAX_MOVES
from ..games.sliding import CELLS, KINDS, SPAWNS
from ..games.sliding import VALUES as TILES
from . import ida

_ENTRIES_BITS = 16  # of the table: 1 MiB
_NEVER = 1 << 40  # what a tile is worth that cannot be made


def plays(game):
    """Whether a game is one of sliding tiles, which alone can be searched so."""
    return all(hasattr(game, name) for name in ("MERGES", "code_at", "free_cells"))


class Found(NamedTuple):
    """What a run found."""

    complete: bool
    move: int | None  # the move to make, None where the player has none
    goal: bool  # whether the larger tile was made
    length: int  # moves to it, the fewest there are; or to the states whose evaluations decided
    boards: int
    evaluated: int
    hits: int
    stores: int


class Ida:
    """A pausable run, see ``ida``. entries_bits: the table has 2 to the power of that, 16 bytes each.

    ``entries`` is the table; nothing grows while a run searches.
    """

    def __init__(self, game, rules, evaluation, entries_bits=_ENTRIES_BITS):
        self._game, self._rules, self._evaluation = game, rules, evaluation
        self.name = f"ida_{games.tag(game)}_{evaluation.name}"
        functions = {name: getattr(game, name) for name in ("moves", "play", "key", "code_at")}
        functions["evaluate"] = evaluation.function
        self._kernels = jit.specialise_all(ida.TEMPLATES, self.name, functions)
        self.entries = np.zeros(2 << entries_bits, np.uint64)
        width, children = game.words(rules), (ida.LONGEST + 1) * ida.MOST
        self._control = control = np.zeros(ida.CONTROL_SIZE, np.int64)
        self._where = address(control)
        self._arrays = {
            ida.MOVES: np.zeros(children + MAX_MOVES, np.int16), ida.ENTRIES: self.entries,
            ida.STATES: np.zeros((ida.LONGEST + 1) * width, np.uint64),
            ida.CHILDREN: np.zeros(children * width, np.uint64), ida.VALUES: np.zeros(children + 2),
            ida.FRAMES: np.zeros((ida.LONGEST + 1) * ida.FRAME_SIZE, np.int64),
            ida.SPAWN_KINDS: np.zeros(ida.LONGEST, np.int64), ida.SPAWN_PLACES: np.zeros(ida.LONGEST, np.uint64),
            ida.SPAWN_SUMS: np.zeros(ida.LONGEST + 1, np.int64), ida.PARTS: self._parts(),
            ida.FURTHER: np.zeros(ida.CODES, np.int64), ida.COUNTS: np.zeros(ida.CODES, np.int64),
            ida.NEEDS: np.zeros(ida.CODES, np.int64),
        }  # fmt: skip
        for at, array in self._arrays.items():
            control[at] = address(array)
        control[ida.RULES], control[ida.TABLES] = address(rules), address(evaluation.tables)
        control[ida.ENTRY_MASK] = (1 << entries_bits) - 1
        self._state = None

    def _parts(self):
        """Return the two codes that each code is made of, where it does not come by itself."""
        parts = np.zeros(2 * ida.CODES, np.int64)
        for a, row in enumerate(self._game.MERGES):
            for b, made in enumerate(row):
                parts[2 * made : 2 * made + 2] = a, b
        for kind in range(int(self._rules[KINDS])):
            code = int(self._rules[SPAWNS + 3 * kind])
            self._control[ida.SPAWNED] = max(code, self._control[ida.SPAWNED])
            parts[2 * code : 2 * code + 2] = 0
        parts[:2] = 0  # what does not merge is not made
        return parts

    def _aim(self, state):
        """Set the goal: the code after the largest on the board."""
        goal = 1 + max(int(self._game.code_at(state, np.int64(cell))) for cell in range(CELLS))
        worth = int(self._rules[TILES + goal]) if goal < len(self._game.VALUES) else _NEVER
        self._control[ida.GOAL], self._control[ida.WORTH] = goal, worth
        further, parts = self._arrays[ida.FURTHER], self._arrays[ida.PARTS]
        further[:] = ida.FAR
        further[goal] = 0
        for code in range(goal, 0, -1):
            for part in parts[2 * code : 2 * code + 2]:
                further[part] = min(further[part], further[code] + 1)

    def compile(self):
        """Compile, or load from disk, every kernel."""
        state = self._game.start(self._rules).state
        while int(self._game.kind(state, self._rules)) != MAX:
            state = tuple(map(np.uint64, self._game.play(state, self._rules, self._first(state))[0]))
        self.begin(state, 0, 1)
        self.advance(1)

    def _first(self, state):
        out = np.zeros(MAX_MOVES, np.int16)
        self._game.moves(state, self._rules, out, 0)
        return np.int64(out[0])

    def begin(self, state, seed, limit):
        """Start the run of a seed (64 bits) from ``state``, of about ``limit`` boards.

        The first depth is searched whatever the limit; without a move of the player the run is over.
        """
        self._state = state
        self._control[ida.LIMIT] = limit
        self._control[ida.PHASE] = ida.OVER
        self._control[[ida.FOUND, ida.LENGTH, ida.BOARDS, ida.EVALUATED, ida.HITS, ida.STORES]] = 0
        self._control[ida.MOVE] = -1
        self.entries[:] = 0
        if int(self._game.kind(state, self._rules)) == MAX:
            self._aim(state)
            self._kernels["begin"](state, self._where, np.uint64(seed))

    @property
    def boards(self):
        return int(self._control[ida.BOARDS])

    def advance(self, budget):
        """Search on for about ``budget`` boards; return whether the run is over."""
        return bool(self._kernels["advance"](self._state, self._where, int(budget)))

    def result(self):
        """Return what was Found so far."""
        control = self._control
        move = int(control[ida.MOVE])
        return Found(
            bool(control[ida.PHASE] == ida.OVER), None if move < 0 else move, bool(control[ida.FOUND]),
            int(control[ida.LENGTH]), int(control[ida.BOARDS]), int(control[ida.EVALUATED]), int(control[ida.HITS]),
            int(control[ida.STORES]),
        )  # fmt: skip
