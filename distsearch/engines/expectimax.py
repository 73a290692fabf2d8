"""Expectimax: the player takes the best move, chance the mean of what it may do, weighted by how likely each is.

Depth counts plies, of the player and of chance alike. A state at the depth limit, and one in which the player has no
move, is worth its evaluation. So is a state of chance that is less likely than ``min_probability``. Its
``path_probability`` is the product of the probabilities on the way, rounded at every step to four numbers an octave
(the two highest bits of a float's fraction). So it is a small whole number which belongs to a table entry's key: a
value is a function of its key, and does not depend on what was searched before.

Values of chance's states are kept in two tables, as in ``pvs.table``: the L1 table, which is a rank's own, takes all of
them; the *shared table* those of searches that are not easy, and ranks of a host share it. Every child's value is
needed, in any order. So ranks that search the same root mark what they search, and defer what another rank searches
until nothing else is left there; by then its value is mostly in the table (see ``pvs.abdada``, of two players). They
repeat work only where they have to, and no master needs to share the tree out.

The engine can be paused, as ``alphabeta`` can: frames in numpy arrays, and recursion for the last plies. Kernels reach
everything through the control block ``c``. Algorithm: Michie 1966.
"""

import hashlib
import math
from typing import NamedTuple

import numpy as np

from .. import games
from ..core import jit
from ..core.jit import compiled
from ..core.pointers import (
    address,
    bits_of,
    float64s,
    int16s,
    int64s,
    new_record,
    number_of,
    record_view,
    set_fields,
    struct,
    uint64s,
)
from ..games import lanes
from ..games.interface import CHANCE, END, MAX_MOVES
from .pvs import abdada, side_tables, values
from .pvs import table as tt
from .pvs.abdada import PATIENCE, WAIT, SharedSearch, is_over, mark, ranks_at, wait_for
from .pvs.growing_table import Growing

# bound for each game and evaluation; the last is None for evaluations that look at one state at a time
moves = play = outcomes = key = turn = expand = evaluate = best_moves = None
AT_ONCE = None  # whether there is ``best_moves``

CONTROL = struct(
    ("table", tt.TABLE),
    # addresses
    ("rules", np.int64),
    ("tables", np.int64),  # the evaluation's
    ("moves", np.int64),  # int16, of all frames
    ("chances", np.int64),  # float64, the probabilities of these moves
    ("values", np.int64),  # float64, of these moves: nan as long as they are not known
    ("frames", np.int64),
    ("states", np.int64),  # uint64, of all frames
    ("children", np.int64),  # uint64, states after the player's moves
    ("gains", np.int64),  # int64, points of these moves
    ("points", np.int64),  # 1: the points of moves count, as well as the evaluation at the end
    ("uniform_chance", np.int64),  # 1: chance does everything with the same probability
    ("min_probability", np.int64),  # path probability below which states of chance are evaluated; 0: none
    ("salt", np.uint64),  # of hashes: what values depend on except the state and the depth left
    ("bottom", np.int64),  # plies left at which recursion takes over
    ("unlikely", np.int64),  # path probability below which it takes over with more plies left
    ("nodes", np.int64),  # positions reached by a move or by chance so far
    ("expanded", np.int64),  # of them, those in which the player's moves were tried
    ("evaluated", np.int64),  # leaves
    ("hits", np.int64),  # of the tables
    ("shared_hits", np.int64),  # those of the shared table
    ("stores", np.int64),
    ("easy_stores", np.int64),  # what the search may store before it uses the shared table
    ("top", np.int64),  # index of the frame at work
    ("root_value", np.float64),  # when the search is complete
    # searches that several ranks share, see ``pvs.abdada``
    ("defer_from", np.int64),  # plies left from which on ranks mark what they search
    ("wait_up_to", np.int64),  # plies left up to which they wait for each other
    ("waited", np.int64),  # time for which this rank has waited, in nodes
    # a rank that has joined another one's search
    ("sequence_at", np.int64),  # address of that search's sequence number; 0: none
    ("sequence", np.int64),  # the number that stands there as long as the search goes on
    ("nodes_at", np.int64),  # address to which ``nodes`` is written
)

# A state on the way to where the search is.
FRAME = struct(
    ("next", np.int64),  # index of the next child
    ("count", np.int64),  # children
    ("first", np.int64),  # where they begin in the arrays of all frames
    ("depth_left", np.int64),
    ("path_probability", np.int64),
    ("by_chance", np.int64),  # 1: chance moves
    ("hash", np.uint64),
    ("at_work", np.int64),  # which child is searched
    ("deferred", np.int64),  # children that were passed over since another rank searched them, and have no value yet
    ("marked", np.uint64),  # hash of the child at work, if this rank has marked it, else 0
    ("waits", np.int64),  # how often this rank has waited for a child's value
)

control_view, frame_at = record_view(CONTROL), record_view(FRAME)

CERTAIN = np.int64(1023 << 2)  # the path probability 1.0
_TABLED = 2  # plies left from which on values of states of chance are kept
_HALF, _FRACTION = np.int64(1 << 49), np.int64(50)


@compiled
def times(path_probability, probability):
    """Return a path probability after something of a probability."""
    return bits_of(number_of(path_probability << _FRACTION) * probability) + _HALF >> _FRACTION


def leaf(s, c):
    c.evaluated += 1
    return np.float64(evaluate(s, uint64s(c.rules), uint64s(c.tables)))


def expand_by_playing(s, r, out, states, gains, at):
    """As a game's ``expand``, by its plain functions."""
    n = np.int64(moves(s, r, out, at))
    for i in range(at, at + n):
        child, points = play(s, r, np.int64(out[i]))
        lanes.store(states, i * len(s), child)
        gains[i] = points
    return n


def hashed(s, c, depth_left, path_probability):
    """Hash of a state with what is left to search below it."""
    x = key(s, uint64s(c.rules)) ^ np.uint64(depth_left << 12 | path_probability) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ c.salt) * np.uint64(0xBF58476D1CE4E5B9)
    return x ^ x >> np.uint64(31)


@compiled
def probe_l1(c, h):
    """Return (whether the value of hash h is in the L1 table, the value)."""
    l1 = uint64s(c.table.l1)
    i = tt.l1_place(c.table, h)
    if l1[i] == h:
        c.hits += 1
        return True, number_of(np.int64(l1[i + np.uint64(1)]))
    return False, 0.0


@compiled
def probe_shared(c, h, depth_left):
    """Return (whether the value of hash h is in the shared table, the value)."""
    found, value = values.probe(c.table, h, depth_left)
    c.hits += found
    c.shared_hits += found
    return found, value


@compiled
def store_l1(c, h, value):
    """Write the value of hash h to the L1 table."""
    l1 = uint64s(c.table.l1)
    i = tt.l1_place(c.table, h)
    l1[i], l1[i + np.uint64(1)] = h, np.uint64(bits_of(value))
    c.stores += 1


@compiled
def none_at_once(s, rules, tables, moves, values, first, last, room):
    """In place of an evaluation's ``best_moves`` that there is not."""
    return np.int64(-1), np.int64(0)


def known_at_once(s, c, first, end, depth_left):
    """Find values of what chance may do from index ``first`` on, before ``end``, where the player's move is the last.

    That is so of all with 2 plies left, and else of those that are as likely as the first. Returns where they end.
    """
    last, chances = end, float64s(c.chances)
    if depth_left > 2:
        last = first + 1
        while last < end and chances[last] == chances[first]:
            last += 1
    room = c.children + np.int64(8 * len(s)) * end
    legal, ended = best_moves(s, c.rules, c.tables, c.moves, c.values, first, last, room)
    if legal < 0:
        return first
    c.nodes += legal
    c.evaluated += legal + ended
    c.expanded += last - first - ended
    return last


@jit.outlined
def descend(s, c, at, depth_left, path_probability):
    """Value of a state with depth_left > 0 plies to search, by plain recursion; moves are written from ``at`` on."""
    r, out = uint64s(c.rules), int16s(c.moves)
    if turn(s, r) == CHANCE:
        if path_probability < c.min_probability:
            return leaf(s, c)
        h = np.uint64(0)
        if depth_left >= _TABLED:
            h = hashed(s, c, depth_left, path_probability)
            known, value = probe_l1(c, h)
            if known:
                return value
        chances = float64s(c.chances)
        n = np.int64(outcomes(s, r, out, chances, at))
        total, known_to, found = 0.0, at, float64s(c.values)
        for i in range(at, at + n):
            if i >= known_to:
                lower = times(path_probability, chances[i]) if c.min_probability > 0 else path_probability
                if AT_ONCE and depth_left > 1 and (depth_left == 2 or lower < c.min_probability):
                    known_to = known_at_once(s, c, i, at + n, depth_left)
                if i >= known_to:
                    child, _ = play(s, r, np.int64(out[i]))
                    found[i] = leaf(child, c) if depth_left == 1 else descend(child, c, at + n, depth_left - 1, lower)
            total += found[i] * (1.0 / n if c.uniform_chance else chances[i])
        c.nodes += n
        if depth_left >= _TABLED:
            store_l1(c, h, total)
        return total
    children, gains = uint64s(c.children), int64s(c.gains)
    n = np.int64(expand(s, r, out, children, gains, at))
    if n == 0:
        return leaf(s, c)
    if depth_left > _TABLED:
        for i in range(at, at + n):
            child = lanes.load(s, children, i * len(s))
            tt.prefetch_l1(c.table, hashed(child, c, depth_left - 1, path_probability))
    best = -np.inf
    for i in range(at, at + n):
        child = lanes.load(s, children, i * len(s))
        value = leaf(child, c) if depth_left == 1 else descend(child, c, at + n, depth_left - 1, path_probability)
        if c.points:
            value += gains[i]
        best = max(best, value)
    c.nodes += n
    c.expanded += 1
    return best


@jit.outlined
def push(s, c, top, first, depth_left, path_probability):
    """Open frame ``top`` for a state, unless its value is known: return whether it is not, and the value."""
    r, out = uint64s(c.rules), int16s(c.moves)
    by_chance, h = turn(s, r) == CHANCE, np.uint64(0)
    if by_chance:
        if path_probability < c.min_probability:
            return False, leaf(s, c)
        h = hashed(s, c, depth_left, path_probability)
        known, value = probe_l1(c, h)
        if not known and depth_left >= c.table.shared_from:
            known, value = probe_shared(c, h, depth_left)
        if known:
            return False, value
        n = np.int64(outcomes(s, r, out, float64s(c.chances), first))
    else:
        n = np.int64(moves(s, r, out, first))
        if n == 0:
            return False, leaf(s, c)
        c.expanded += 1
    f, found = frame_at(c.frames, top), float64s(c.values)
    f.next = f.at_work = f.deferred = f.marked = f.waits = 0
    f.count, f.first, f.depth_left, f.path_probability = n, first, depth_left, path_probability
    f.by_chance, f.hash = by_chance, h
    for i in range(first, first + n):
        found[i] = np.nan
    lanes.store(uint64s(c.states), top * len(s), s)
    return True, 0.0


@compiled
def unmark(c, f):
    """Take away the mark of a frame's child at work."""
    if f.marked != 0:
        abdada.unmark(c.table, f.marked)
        f.marked = 0


def unmark_all(c):
    """Take away all marks of the search begun last."""
    for i in range(c.top + 1):
        unmark(c, frame_at(c.frames, i))


def child_of(state, c, f, i):
    """Return (child i of a frame's state, its path probability)."""
    at, path_probability = f.first + i, f.path_probability
    child, points = play(state, uint64s(c.rules), np.int64(int16s(c.moves)[at]))
    if f.by_chance:
        if c.min_probability > 0:
            path_probability = times(path_probability, float64s(c.chances)[at])
    else:
        int64s(c.gains)[at] = points
    return child, path_probability


@jit.outlined
def least_crowded(state, c, f):
    """Return which of a frame's children without a value the fewest ranks search."""
    found, best, least = float64s(c.values), np.int64(0), np.int64(1 << 40)
    for i in range(f.count):
        if np.isnan(found[f.first + i]):
            child, path_probability = child_of(state, c, f, i)
            ranks = ranks_at(c.table, hashed(child, c, f.depth_left - 1, path_probability))
            if ranks < least:
                best, least = i, ranks
    return best


@jit.outlined
def mark_child(child, c, f, i, path_probability, again):
    """Mark child i of a frame for this rank, and return True; or defer it, since another rank searches it.

    again: it was deferred before. Then ranks search it together, unless it is so small that they would only do the same
    work twice: there a rank waits for the other one, but not for ever, since that may be gone.
    """
    h = hashed(child, c, f.depth_left - 1, path_probability)
    if ranks_at(c.table, h) > 0:
        if not again:
            f.deferred += 1
            return False
        if f.depth_left <= c.wait_up_to and f.waits < PATIENCE:
            f.waits += 1
            c.waited += WAIT
            wait_for(c.table, h)
            return False
    f.waits = 0
    f.deferred -= again
    mark(c.table, h, 0)
    f.marked = h
    return True


def backed_up(c, f):
    """Value of a frame's state whose children all have theirs; added up in their order, whichever was found first."""
    found, chances, n = float64s(c.values), float64s(c.chances), f.count
    if f.by_chance:
        total = 0.0
        for i in range(f.first, f.first + n):
            total += found[i] * (1.0 / n if c.uniform_chance else chances[i])
        return total
    best = -np.inf
    for i in range(f.first, f.first + n):
        best = max(best, found[i])
    return best


def advance(s, where, budget):
    """Search on until the end (True) or for about ``budget`` nodes; s: any state (it tells the width)."""
    c = control_view(where, 0)
    found, states = float64s(c.values), uint64s(c.states)
    limit, top = c.nodes + c.waited + budget, c.top
    while True:
        f = frame_at(c.frames, top)
        c.top = top
        shared = f.depth_left >= c.defer_from
        if shared and is_over(c):
            return False
        known, value = False, 0.0
        if shared and f.by_chance and f.next > 0:  # another rank may have come to the end of it
            known, value = probe_shared(c, f.hash, f.depth_left)
        again = f.next == f.count
        if not known and (not again or f.deferred > 0):
            if c.nodes + c.waited >= limit:
                return False
            if c.stores >= c.easy_stores:
                c.table.shared_from = c.table.shared_from_later
            state = lanes.load(s, states, top * len(s))
            i = least_crowded(state, c, f) if again else f.next
            f.next += not again
            child, path_probability = child_of(state, c, f, i)
            if shared and not mark_child(child, c, f, i, path_probability, again):
                continue
            f.at_work = i
            c.nodes += 1
            first, depth_left = f.first + f.count, f.depth_left - 1
            if depth_left > c.bottom and path_probability >= c.unlikely:
                opened, value = push(child, c, top + 1, first, depth_left, path_probability)
                if opened:
                    top += 1
                    continue
            elif depth_left == 0:
                value = leaf(child, c)
            else:
                value = descend(child, c, first, depth_left, path_probability)
        else:
            if not known:
                value = backed_up(c, f)
                if f.by_chance:
                    store_l1(c, f.hash, value)
                    if f.depth_left >= c.table.shared_from:
                        values.store(c.table, f.hash, f.depth_left, np.uint64(bits_of(value)))
            if top == 0:
                c.root_value = value
                return True
            top -= 1
            f = frame_at(c.frames, top)
        # the value of a child has come back to frame top
        unmark(c, f)
        at = f.first + f.at_work
        found[at] = value + int64s(c.gains)[at] if c.points and not f.by_chance else value


def begin(s, where, depth, path_probability):
    """Begin a search: return whether it was not resolved at once, and the value; depth 0: s is evaluated."""
    c = control_view(where, 0)
    c.easy_stores -= c.stores  # of the same request
    c.nodes = c.expanded = c.evaluated = c.hits = c.shared_hits = c.stores = c.table.replaced = c.waited = c.top = 0
    if depth == 0:
        return False, leaf(s, c)
    return push(s, c, 0, 0, depth, path_probability)


_RECURSIVE = leaf, hashed, known_at_once, descend
_TEMPLATES = push, unmark_all, child_of, least_crowded, mark_child, backed_up, begin, advance


_BOTTOM = 3  # plies left to recursion
_UNLIKELY = 16  # path probabilities above the least, four an octave, up to which it takes over
_ENTRIES_BITS = 17  # of the L1 table: 2 MiB
# Plies left from which on values go to the shared table, once a search has turned out not to be easy, but none of what
# recursion searches: a miss there takes as long as some nodes, so the values that are cheapest gain nothing by it.
_SHARED_FROM = _BOTTOM + 1
_DEFER_FROM, _WAIT_UP_TO = 5, 5  # plies left, see ``CONTROL``
_EASY_STORES = 1 << 18  # of an easy search, of some tenths of a second


class ExpectimaxResult(NamedTuple):
    """What a search found."""

    value: float  # expected; of a search that was stopped −inf
    complete: bool
    move: int | None  # the best of the player's moves, if it is the player's turn
    values: dict  # of the moves at the root that were searched to their end, by code
    nodes: int
    expanded: int  # of them, those in which the player's moves were tried
    evaluated: int
    table_hits: int
    table_far_hits: int  # of the hits, those of the shared table
    table_stores: int
    table_replacements: int  # of other entries of the shared table


class Expectimax(SharedSearch):
    """A pausable expectimax search.

    points: whether the points of moves count as well as the evaluation; min_probability: states of chance that are less
    likely are evaluated, 0: none; uniform_chance: chance does everything with the same probability; entries_bits: the
    L1 table (16 bytes an entry) has 2 to the power of that; it holds values of one evaluation and one set of these
    arguments. table: the shared table (uint64, length a multiple of 8, or a ``Growing``, of which the first part is
    used; None: none), which engines share, of this kind and of others; tag: a text that tells the entries of those with
    the same game, evaluation and arguments from others'; part: searches are parts of a larger one: they use the shared
    table from the start.
    """

    kind = "expectimax"

    def __init__(
        self,
        game,
        rules,
        evaluation,
        points=False,
        min_probability=0.0,
        uniform_chance=False,
        entries_bits=_ENTRIES_BITS,
        table=None,
        tag="",
        part=False,
    ):
        self._game, self._rules, self._evaluation = game, rules, evaluation
        self._at_once = evaluation.best_moves is not None and not points
        self.name = f"{self.kind}_{games.tag(game)}_{evaluation.name}{'_at_once' if self._at_once else ''}"
        self.kernels = jit.specialise_all(_RECURSIVE + _TEMPLATES, self.name, self._functions())
        self._width, self._state = game.words(rules), game.start(rules).state
        self._control = control = new_record(CONTROL)
        self.where, self._table = address(control), control["table"]
        self._l1 = tt.new_l1_table(entries_bits)
        self._shared = np.zeros(0, np.uint64) if table is None else table.words if isinstance(table, Growing) else table
        least = times(CERTAIN, min_probability) if min_probability else 0
        set_fields(control, points=points, uniform_chance=uniform_chance, min_probability=least)
        set_fields(control, rules=address(rules), tables=address(evaluation.tables))
        unlikely = least + _UNLIKELY if min_probability else 0
        set_fields(control, bottom=_BOTTOM, unlikely=unlikely, defer_from=tt.NEVER, wait_up_to=_WAIT_UP_TO)
        control["salt"] = np.frombuffer(hashlib.sha256(tag.encode()).digest()[:8], np.uint64)[0]
        self._deepest, self._part = 0, part
        buckets = side_tables.buckets(self._shared)
        words = 2 * tt.BUCKET * buckets
        set_fields(self._table, l1=address(self._l1), l1_mask=(1 << entries_bits) - 1, bucket_words=words)
        self._use_shared(table.first if isinstance(table, Growing) else buckets)
        self._request = None
        self.age(0)

    def _use_shared(self, buckets):
        """Use so many buckets of the shared table from now on."""
        self._table["shared"] = address(self._shared)
        tt.set_buckets(self._table, buckets, buckets)
        set_fields(self._table, shared_from=tt.NEVER, shared_from_later=_SHARED_FROM if buckets else tt.NEVER)
        if self._part:
            self._use_shared_at_once()

    def _use_shared_at_once(self):
        self._table["shared_from"] = self._table["shared_from_later"]

    def _functions(self):
        """Return what the templates are specialised with, by name."""
        game, hooks = self._game, games.knowledge(self._game)
        functions = {name: getattr(game, name) for name in ("moves", "play", "outcomes", "key")}
        functions |= {"turn": getattr(hooks, "turn", game.kind), "evaluate": self._evaluation.function}
        functions |= {"AT_ONCE": self._at_once, "best_moves": self._evaluation.best_moves or none_at_once}
        by_playing = jit.specialise(expand_by_playing, f"expand_by_playing_{self.name}", functions)
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
        self._frames = np.zeros(depth + 1, FRAME)
        self._states = np.zeros((depth + 1) * self._width, np.uint64)
        self._children = np.zeros((depth + 1) * MAX_MOVES * self._width, np.uint64)
        self._gains = np.zeros((depth + 1) * MAX_MOVES, np.int64)
        for name in ("moves", "chances", "values", "frames", "states", "children", "gains"):
            self._control[name] = address(getattr(self, f"_{name}"))

    def forget(self):
        """Forget the L1 table's entries: without a shared one, searches then depend on nothing before."""
        self._l1[:] = 0

    def evaluate_by(self, tables):
        """Evaluate by other tables (uint64) of the same evaluation from now on, and forget what is of the old ones.

        The shared table, where others may have those still, is not used any more.
        """
        self._evaluation = self._evaluation._replace(tables=tables)
        self._control["tables"] = address(tables)
        self.forget()
        self._use_shared(0)

    def age(self, request):
        """Take entries from now on for those of a request, by its number."""
        if request != self._request:
            self._request = request
            self._table["generation"] = request % values.AGES
            self._control["easy_stores"] = _EASY_STORES
            self._use_shared(int(self._table["buckets"]))

    def share(self, shared):
        """Have other ranks with the same shared table take part in this search, or not; see ``expectimax``."""
        if self.is_shared:
            self.kernels["unmark_all"](self._control)
        set_fields(self._control, defer_from=_DEFER_FROM if shared else tt.NEVER, sequence_at=0)
        if shared:
            self._use_shared_at_once()

    @property
    def can_be_shared(self):
        """Whether the search begun last is large enough for several ranks, and there is a table to share it by."""
        return bool(self._value is None and self._depth > _DEFER_FROM and self._table["buckets"])

    def begin(self, state, depth, path_probability=CERTAIN):
        """Start a search of ``state`` to ``depth`` plies, 0 for its evaluation."""
        self.make_room(depth)
        self._state, self._depth = state, depth
        self._value = self._opened = None
        kind = self._game.kind(state, self._rules)
        self._by_chance = kind == CHANCE
        plies = 0 if kind == END else depth
        opened, value = self.kernels["begin"](state, self.where, plies, int(path_probability))
        if not opened:
            self._value = float(value)

    def advance(self, budget):
        """Search on for about ``budget`` nodes; return whether the search is complete."""
        if self._value is None and self.kernels["advance"](self._state, self.where, int(budget)):
            self._value = float(self._control["root_value"])
            self._opened = True
        return self._value is not None

    def result(self):
        """Return what was found so far."""
        control, complete = self._control, self._value is not None
        move, by_move = None, {}
        if not self._by_chance and (self._opened or not complete):
            n = int(self._frames["count"][0])
            known = [i for i in range(n) if not math.isnan(self._values[i])]
            by_move = {int(self._moves[i]): float(self._values[i]) for i in known}
            move = max(by_move, key=by_move.get) if by_move else None
        return ExpectimaxResult(
            value=self._value if complete else -math.inf,
            complete=complete,
            move=move,
            values=by_move,
            nodes=int(control["nodes"]),
            expanded=int(control["expanded"]),
            evaluated=int(control["evaluated"]),
            table_replacements=int(self._table["replaced"]),
            table_hits=int(control["hits"]),
            table_far_hits=int(control["shared_hits"]),
            table_stores=int(control["stores"]),
        )
