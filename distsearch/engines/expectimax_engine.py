"""The expectimax engine for one game, board and evaluation: begin a search, run it in slices, read its result."""

import hashlib
import math
from typing import NamedTuple

import numpy as np

from .. import games
from ..core import jit
from ..core.pointers import address
from ..games.interface import CHANCE, END, MAX_MOVES
from . import expectimax as em
from .pvs import shared_table, values
from .pvs import table as tt
from .pvs.growing_table import Growing

_BOTTOM = 3  # plies left to recursion
_ENTRIES_BITS = 16  # of the near table: 1 MiB
# Plies left from which on values go to the far table, once a search has turned out not to be easy, and to be hard. A
# miss there takes as long as some boards: searches of a second or less gain nothing by the values that are cheapest.
_FAR_LEFT, _FAR_LEFT_HARD = 4, 2
_SHARED_LEFT, _APART_LEFT = 5, 5  # see ``expectimax``
_EASY_STORES = 1 << 18  # of an easy search, of some tenths of a second


class Found(NamedTuple):
    """What a search found."""

    value: float  # expected; of a search that was stopped −inf
    complete: bool
    move: int | None  # the best of the player's moves, if it is the player's turn
    values: dict  # of the moves at the root that were searched to their end, by code
    boards: int
    expanded: int  # of them, those in which the player's moves were tried
    evaluated: int
    hits: int
    stores: int
    far_hits: int = 0  # of the hits
    replacements: int = 0  # of other entries of the far table


class Expectimax:
    """A pausable expectimax search.

    points: whether what moves bring counts beside the evaluation; least: states of chance that are less likely are
    evaluated, 0: none; alike: chance does everything with the same probability; entries_bits: the near table (16 bytes
    an entry) has 2 to the power of that; it holds values of one evaluation and one set of these arguments. far: the
    far table (uint64, length a multiple of 8, or a ``Growing``, of which the first part is used; None: none), which
    engines share, of this kind and of others; tag: a text
    that tells the entries of those with the same game, evaluation and arguments from others'; part: searches are parts
    of a larger one: they use the far table from the start.
    """

    kind = "expectimax"

    def __init__(
        self,
        game,
        rules,
        evaluation,
        points=False,
        least=0.0,
        alike=False,
        entries_bits=_ENTRIES_BITS,
        far=None,
        tag="",
        part=False,
    ):
        self._game, self._rules, self._evaluation = game, rules, evaluation
        self.name = f"{self.kind}_{games.tag(game)}_{evaluation.name}"
        functions = jit.specialise_all(em.RECURSIVE, self.name, {**self._functions(), "FAR": False})
        far_name = f"descend_far_{self.name}"
        functions["descend_far"] = jit.specialise(em.descend, far_name, {**functions, "FAR": True})
        self.kernels = jit.specialise_all(em.TEMPLATES, self.name, functions)
        self._width, self._state = game.words(rules), game.start(rules).state
        self._control = np.zeros(em.CONTROL_SIZE, np.int64)
        self.where = address(self._control)
        self._near = tt.near_table(entries_bits)
        self._far = np.zeros(0, np.uint64) if far is None else far.words if isinstance(far, Growing) else far
        control = self._control
        control[em.RULES], control[em.TABLES] = address(rules), address(evaluation.tables)
        control[tt.NEAR], control[tt.NEAR_MASK] = address(self._near), (1 << entries_bits) - 1
        control[em.POINTS], control[em.ALIKE] = points, alike
        control[em.LEAST] = em.times(em.CERTAIN, least) if least else 0
        control[em.BOTTOM] = _BOTTOM
        self._deepest, self._part = 0, part
        buckets = shared_table.buckets(self._far)
        control[tt.FAR_WORDS] = 2 * tt.BUCKET * buckets
        self._use_far(far.first if isinstance(far, Growing) else buckets)
        control[em.SALT] = np.frombuffer(hashlib.sha256(tag.encode()).digest()[:8], np.int64)[0]
        control[em.SHARED_LEFT], control[em.APART_LEFT] = tt.NEVER, _APART_LEFT
        self._request = None
        self.age(0)

    def _use_far(self, buckets):
        """Use so many buckets of the far table from now on."""
        control = self._control
        control[tt.FAR] = address(self._far)
        tt.set_buckets(control, buckets, buckets)
        control[[tt.FAR_LEFT, tt.FAR_LEFT_LATER, em.FAR_LEFT_HARD]] = tt.NEVER
        if buckets:
            control[tt.FAR_LEFT_LATER], control[em.FAR_LEFT_HARD] = _FAR_LEFT, _FAR_LEFT_HARD
            if self._part:
                self._use_far_at_once()

    def _use_far_at_once(self):
        control = self._control
        control[[tt.FAR_LEFT, tt.FAR_LEFT_LATER]] = control[em.FAR_LEFT_HARD]

    def _functions(self):
        """Return what the templates are specialised with, by name."""
        game, hooks = self._game, games.knowledge(self._game)
        functions = {name: getattr(game, name) for name in ("moves", "play", "outcomes", "key")}
        functions |= {"turn": getattr(hooks, "turn", game.kind), "evaluate": self._evaluation.function}
        by_playing = jit.specialise(em.expand_by_playing, f"expand_by_playing_{self.name}", functions)
        functions["expand"] = getattr(hooks, "expand", by_playing)
        return functions

    def compile(self):
        """Compile, or load from disk, every kernel."""
        self.begin(self._state, 1)
        self.advance(1)
        self.share(True)
        self.share(False)
        self._request = None
        self.age(0)

    def make_room(self, depth):
        """Have arrays for searches of so many plies."""
        if depth <= self._deepest:
            return
        self._deepest = depth
        self._moves = np.zeros((depth + 1) * MAX_MOVES, np.int16)
        self._chances = np.zeros((depth + 1) * MAX_MOVES)
        self._values = np.zeros((depth + 1) * MAX_MOVES)
        self._frames = np.zeros((depth + 1) * em.FRAME_SIZE, np.int64)
        self._states = np.zeros((depth + 1) * self._width, np.uint64)
        self._children = np.zeros((depth + 1) * MAX_MOVES * self._width, np.uint64)
        self._gains = np.zeros((depth + 1) * MAX_MOVES, np.int64)
        for at, array in (
            (em.MOVES, self._moves),
            (em.CHANCES, self._chances),
            (em.VALUES, self._values),
            (em.FRAMES, self._frames),
            (em.STATES, self._states),
            (em.CHILDREN, self._children),
            (em.GAINS, self._gains),
        ):
            self._control[at] = address(array)

    def forget(self):
        """Forget the near table's entries: without a far one, what a search takes then depends on nothing before it."""
        self._near[:] = 0

    def evaluate_by(self, tables):
        """Evaluate by other tables (uint64) of the same evaluation from now on, and forget what is of the old ones.

        The far table, where others may have those still, is not used any more.
        """
        self._evaluation = self._evaluation._replace(tables=tables)
        self._control[em.TABLES] = address(tables)
        self.forget()
        self._use_far(0)

    def age(self, request):
        """Take entries from now on for those of a request, by its number; all that it searches is one work."""
        if request != self._request:
            self._request = request
            self._control[tt.GENERATION] = request % values.AGES
            self._control[em.EASY_STORES] = _EASY_STORES
            self._use_far(int(self._control[tt.FAR_BUCKETS]))

    def share(self, shared):
        """Have other ranks with the same far table take part in this search, or not; see ``expectimax``."""
        control = self._control
        if self.is_shared:
            self.kernels["leave_all"](self.where)
        control[em.SHARED_LEFT], control[em.SEQUENCE_AT] = _SHARED_LEFT if shared else tt.NEVER, 0
        if shared:
            self._use_far_at_once()

    def watch(self, sequence_at, sequence, boards_at):
        """Stop when another number than ``sequence`` stands at the first address; write boards to the other one."""
        self._control[[em.SEQUENCE_AT, em.SEQUENCE, em.BOARDS_AT]] = sequence_at, sequence, boards_at

    @property
    def is_shared(self):
        return self._control[em.SHARED_LEFT] < tt.NEVER

    @property
    def can_be_shared(self):
        """Whether the search begun last is large enough for several ranks, and there is a table to share it by."""
        return bool(self._value is None and self._depth > _SHARED_LEFT and self._control[tt.FAR_BUCKETS])

    @property
    def table_full(self):
        """The share of the far table's entries that are used, 0 to 1, by a sample of them."""
        return tt.full(self._far[: 2 * tt.BUCKET * int(self._control[tt.FAR_BUCKETS])])

    def begin(self, state, depth, likely=em.CERTAIN):
        """Start a search of ``state`` to ``depth`` plies, 0 for its evaluation; likely: as ``expectimax`` has it."""
        self.make_room(depth)
        control = self._control
        control[em.EASY_STORES] -= control[em.STORES]  # of the same work
        control[
            [em.BOARDS, em.EXPANDED, em.EVALUATED, em.HITS, em.FAR_HITS, em.STORES, tt.REPLACED, em.WAITED, em.TOP]
        ] = 0
        self._state, self._depth = state, depth
        self._value = self._opened = None
        self._by_chance = self._game.kind(state, self._rules) == CHANCE
        if depth == 0 or self._game.kind(state, self._rules) == END:
            self._value = float(self.kernels["leaf"](state, self.where))
            return
        opened, value = self.kernels["push"](state, self.where, 0, 0, depth, int(likely))
        if not opened:
            self._value = float(value)

    @property
    def waited(self):
        """Time for which it has waited for others so far, in boards."""
        return int(self._control[em.WAITED])

    @property
    def boards(self):
        return int(self._control[em.BOARDS])

    def advance(self, budget):
        """Search on for about ``budget`` boards; return whether the search is complete."""
        if self._value is None and self.kernels["advance"](self._state, self.where, int(budget)):
            self._value = float(self._control[em.ROOT_VALUE].view(np.float64))
            self._opened = True
        return self._value is not None

    def result(self):
        """Return what was Found so far."""
        control, complete = self._control, self._value is not None
        move, by_move = None, {}
        if not self._by_chance and (self._opened or not complete):
            n = int(self._frames[em.COUNT])
            known = [i for i in range(n) if not math.isnan(self._values[i])]
            by_move = {int(self._moves[i]): float(self._values[i]) for i in known}
            move = max(by_move, key=by_move.get) if by_move else None
        return Found(
            self._value if complete else -math.inf,
            complete,
            move,
            by_move,
            int(control[em.BOARDS]),
            int(control[em.EXPANDED]),
            int(control[em.EVALUATED]),
            int(control[em.HITS]),
            int(control[em.STORES]),
            int(control[em.FAR_HITS]),
            int(control[tt.REPLACED]),
        )
