"""Iterative deepening A* in a game of sliding tiles whose spawns were drawn beforehand, in bounded memory.

A run fixes its spawns: the k-th (from 0 on) is the k-th kind and the k-th number of two streams of its seed, the kind
by the tiles' probabilities, and the number modulo the free cells says on which of them, in the game's order. So the
game is a puzzle of one player: have a tile of the next code, or beyond, in as few moves as can be. What is left to do
is bounded from below by two relaxed puzzles, see ``least_moves``. Memory is a stack as deep as the path and a table of
a fixed size, of states at whose place in the sequence no goal is within the threshold. Korf 1985 has the algorithm,
Reinefeld and Marsland 1994 the table.

Where the goal is not found with half of the nodes, for it may be hundreds of moves away, a run goes on with the same
kernel and a bound of 0: to every state at so many moves, one more each time. The best-evaluated state of the last depth
that was done decides the run's move then. Moves that lead to better evaluations are tried first.

Memory-bounded IDA* for one game, board and evaluation: begin a run, go on in slices, read its result.
"""

from typing import NamedTuple

import numpy as np

from .. import games
from ..core import jit
from ..core.pointers import (
    address,
    float64s,
    int16s,
    int64_struct,
    int64s,
    new_record,
    record_view,
    set_fields,
    struct,
    uint64s,
)
from ..core.rng import drawn
from ..games import lanes
from ..games.interface import MAX, MAX_MOVES
from ..games.sliding import CELLS, KINDS, SPAWNS
from ..games.sliding import VALUES as TILES

moves = play = key = code_at = evaluate = None  # bound for each game and evaluation

CONTROL = int64_struct(
    # addresses
    "rules",
    "tables",  # the evaluation's
    "moves",  # int16, of all frames
    "entries",  # of the table
    "states",  # uint64, of all frames
    "children",  # uint64, states after the moves of all frames
    "values",  # float64, of these children
    "frames",
    "spawn_kinds",  # by k the kind of a spawn
    "spawn_places",  # its number
    "spawn_sums",  # the values of the spawns before
    "parts",  # by code, see ``least_moves``
    "further",
    "counts",
    "needs",
    "entry_mask",  # entries of the table - 1
    "goal",  # code of the tile to make
    "limit",  # nodes of the run
    "nodes",
    "evaluated",
    "hits",
    "stores",
    "phase",  # TO_GOAL, TO_DEPTH or OVER
    "threshold",  # moves at which a path ends
    "next_threshold",  # the least that some path would have needed more than
    "top",  # index of the frame at work, and moves made
    "found",  # 1: there is a goal
    "move",  # that leads to the goal, or to the best state
    "length",  # moves to there
    "reached",  # 1: some state is at the depth of the iteration at work
    "reached_move",  # the best such state's move
    "worth",  # value of the tile to make
    "spawned",  # the largest code that comes by itself
)
TO_GOAL, TO_DEPTH, OVER = range(3)
CODES = 34  # length of arrays by code: one more than the largest tile's may be the goal's

# What stands behind the values of the children: that of the best state, of the last iteration and of the one at work.
BEST_VALUES = struct(("best", np.float64), ("best_now", np.float64))
FRAME = int64_struct("next", "count")
_control_at, _best_at, _frame_at = map(record_view, (CONTROL, BEST_VALUES, FRAME))
MOST = 4  # moves of the player

LONGEST = 1024  # moves of a path, and spawns of a run
FAR = np.int64(1 << 30)  # more moves than any path has
_CERTAIN = 2.0**62
_SPAWN_SEED = np.uint64(0x5851F42D4C957F2D)  # what tells the stream of the numbers from that of the kinds


def draw(seed, c):
    """Draw the spawns of the run of a seed (uint64)."""
    r = uint64s(c.rules)
    kinds, places, sums = int64s(c.spawn_kinds), uint64s(c.spawn_places), int64s(c.spawn_sums)
    sums[0] = 0
    for k in range(LONGEST):
        point = np.float64(drawn(seed, k) >> np.uint64(11)) * 2.0**-53
        kind, below = np.int64(0), r[SPAWNS + 2] / _CERTAIN
        while point >= below and kind + 1 < np.int64(r[KINDS]):
            kind += 1
            below += r[SPAWNS + 3 * kind + 2] / _CERTAIN
        kinds[k], places[k] = kind, drawn(seed ^ _SPAWN_SEED, k)
        sums[k + 1] = sums[k] + np.int64(r[SPAWNS + 3 * kind + 1])


def spawned(s, c, k, at):
    """Return the state after the k-th spawn; moves of chance are written from ``at`` on."""
    r, out = uint64s(c.rules), int16s(c.moves)
    free = np.int64(moves(s, r, out, at)) // np.int64(r[KINDS])  # kind by kind, and each by cells
    cell = np.int64(uint64s(c.spawn_places)[k] % np.uint64(free))
    child, _ = play(s, r, np.int64(out[at + int64s(c.spawn_kinds)[k] * free + cell]))
    return child


def least_moves(s, c, k):
    """Return a lower bound on the moves to the goal from a state after k spawns, 0 if it is there.

    Tiles add up: the last merge can make the goal only if the tiles, with the spawns of the moves before, are worth as
    much. And merges take time: of the tiles that the goal is made of, those that are not on the board have to be made,
    each by a move, and then the tiles that they go into, one after another. ``parts`` has the two codes that a code is
    made of (0: of none), ``further`` the least number of merges from a code to the goal.
    """
    r, goal = uint64s(c.rules), c.goal
    counts, needs = int64s(c.counts), int64s(c.needs)
    parts, further = int64s(c.parts), int64s(c.further)
    for code in range(goal + 1):
        counts[code] = needs[code] = 0
    total = np.int64(0)
    for cell in range(CELLS):
        code = np.int64(code_at(s, np.int64(cell)))
        if code >= goal:
            return np.int64(0)
        counts[code] += 1
        total += np.int64(r[TILES + code])
    if goal <= c.spawned:
        return np.int64(1)  # it may come by itself
    sums, wanted = int64s(c.spawn_sums), c.worth - total
    if sums[LONGEST] - sums[k] < wanted:
        return FAR
    low, high = k, np.int64(LONGEST)  # the first place by which the spawns are worth so much
    while low < high:
        middle = (low + high) // 2
        if sums[middle] - sums[k] >= wanted:
            high = middle
        else:
            low = middle + 1
    least = low - k + 1
    needs[goal] = 1
    for code in range(goal, 0, -1):
        missing = needs[code] - counts[code]
        if missing <= 0:
            continue
        least = max(least, further[code] + 1)
        if parts[2 * code] == 0:
            continue  # it comes by itself, or never
        needs[parts[2 * code]] += missing
        needs[parts[2 * code + 1]] += missing
    return least


def entry_of(s, c, k):
    """Return (where the table's entry for a state after k spawns begins, what it holds if it is that one's)."""
    x = key(s, uint64s(c.rules)) ^ np.uint64(k + 1) * np.uint64(0x9E3779B97F4A7C15)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(31)
    return 2 * (np.int64(x) & c.entry_mask), x


def open_frame(s, c, top):
    """Make frame ``top`` that of a state in which the player is to move: its children, the best-evaluated first."""
    r, out, tables = uint64s(c.rules), int16s(c.moves), uint64s(c.tables)
    states, children = uint64s(c.states), uint64s(c.children)
    values = float64s(c.values)
    lanes.store(states, top * len(s), s)
    first = top * MOST
    n = np.int64(moves(s, r, out, first))
    for i in range(n):
        m = out[first + i]
        child, _ = play(s, r, np.int64(m))
        child = spawned(child, c, top, (LONGEST + 1) * MOST)
        value = np.float64(evaluate(child, r, tables))
        j = first + i
        while j > first and values[j - 1] < value:
            values[j], out[j] = values[j - 1], out[j - 1]
            lanes.store(children, j * len(s), lanes.load(s, children, (j - 1) * len(s)))
            j -= 1
        values[j], out[j] = value, m
        lanes.store(children, j * len(s), child)
    c.evaluated += n
    f = _frame_at(c.frames, top)
    f.next, f.count = 0, n


def restart(c):
    """Begin an iteration at the root."""
    c.top = 0
    root = _frame_at(c.frames, 0)
    root.next = 0


def begin(s, where, seed):
    """Begin the run of a seed from a state in which the player has a move."""
    c = _control_at(where, 0)
    draw(seed, c)
    c.nodes = c.evaluated = c.hits = c.stores = 0
    c.found = c.length = c.top = c.reached = 0
    c.next_threshold = FAR
    c.threshold = least_moves(s, c, np.int64(0))
    c.phase = TO_GOAL
    open_frame(s, c, np.int64(0))
    c.move = int16s(c.moves)[0]
    if c.threshold > LONGEST:
        to_depth(c)


def to_depth(c):
    """Go on without a bound, from the first depth on."""
    entries = uint64s(c.entries)
    for i in range(2 * (c.entry_mask + 1)):
        entries[i] = 0
    c.phase, c.threshold, c.reached = TO_DEPTH, 1, 0
    restart(c)


def iterate(c):
    """An iteration is done: begin the next one, or end the run."""
    values = _best_at(c.values + 8 * MOST * (LONGEST + 1), 0)
    if c.phase == TO_GOAL:
        if c.next_threshold > LONGEST:
            to_depth(c)
            return
        c.threshold, c.next_threshold = c.next_threshold, FAR
    else:
        if c.reached:
            values.best, c.move, c.length = values.best_now, c.reached_move, c.threshold
        if not c.reached or c.threshold == LONGEST:
            c.phase = OVER
        c.threshold += 1
        c.reached = 0
    restart(c)


def advance(s, where, budget):
    """Search on until the end (True) or for about ``budget`` nodes; s: any state (it tells the width)."""
    c = _control_at(where, 0)
    out, entries = int16s(c.moves), uint64s(c.entries)
    states, children = uint64s(c.states), uint64s(c.children)
    values = float64s(c.values)
    best = _best_at(c.values + 8 * MOST * (LONGEST + 1), 0)
    stop = c.nodes + budget
    while c.phase != OVER:
        if c.nodes >= stop:
            return False
        if c.phase == TO_GOAL and 2 * c.nodes >= c.limit:
            to_depth(c)
        if c.phase == TO_DEPTH and c.nodes >= c.limit and c.length > 0:
            c.phase = OVER
            break
        top = c.top
        f = _frame_at(c.frames, top)
        i = f.next
        if i == f.count:
            if top == 0:
                iterate(c)
                continue
            entry, check = entry_of(lanes.load(s, states, top * len(s)), c, top)
            entries[entry], entries[entry + 1] = check, np.uint64(c.threshold)
            c.stores += 1
            c.top = top - 1
            continue
        f.next = i + 1
        c.nodes += 1
        at, made = top * MOST + i, top + 1
        child = lanes.load(s, children, at * len(s))
        least = least_moves(child, c, made)
        if least == 0:
            c.found, c.length, c.move = 1, made, out[_frame_at(c.frames, 0).next - 1]
            best.best = values[at]
            c.phase = OVER
            break
        if c.phase == TO_DEPTH:
            if made == c.threshold:
                if not c.reached or values[at] > best.best_now:
                    best.best_now, c.reached, c.reached_move = values[at], 1, out[_frame_at(c.frames, 0).next - 1]
                continue
        elif made + least > c.threshold:
            c.next_threshold = min(c.next_threshold, made + least)
            continue
        entry, check = entry_of(child, c, made)
        if entries[entry] == check and np.int64(entries[entry + 1]) >= c.threshold:
            c.hits += 1
            continue
        c.top = made
        open_frame(child, c, made)
    return True


_TEMPLATES = draw, spawned, least_moves, entry_of, open_frame, restart, to_depth, begin, iterate, advance


_ENTRIES_BITS = 16  # of the table: 1 MiB
_NEVER = 1 << 40  # what a tile is worth that cannot be made


def plays(game):
    """Whether a game is one of sliding tiles, which alone can be searched so."""
    return all(hasattr(game, name) for name in ("MERGES", "code_at", "free_cells"))


class IdaResult(NamedTuple):
    """What a run found."""

    complete: bool
    move: int | None  # the move to make, None where the player has none
    goal: bool  # whether the larger tile was made
    length: int  # moves to it, the fewest there are; or to the states whose evaluations decided
    nodes: int
    evaluated: int
    table_hits: int
    table_stores: int


class Ida:
    """A pausable run, see ``ida``. entries_bits: the table has 2 to the power of that, 16 bytes each.

    ``entries`` is the table; nothing grows while a run searches.
    """

    def __init__(self, game, rules, evaluation, entries_bits=_ENTRIES_BITS):
        self._game, self._rules, self._evaluation = game, rules, evaluation
        self.name = f"ida_{games.tag(game)}_{evaluation.name}"
        functions = {name: getattr(game, name) for name in ("moves", "play", "key", "code_at")}
        functions["evaluate"] = evaluation.function
        self._kernels = jit.specialise_all(_TEMPLATES, self.name, functions)
        self.entries = np.zeros(2 << entries_bits, np.uint64)
        width, children = game.words(rules), (LONGEST + 1) * MOST
        self._control = control = new_record(CONTROL)
        self._where = address(control)
        self._arrays = {
            "moves": np.zeros(children + MAX_MOVES, np.int16),
            "entries": self.entries,
            "states": np.zeros((LONGEST + 1) * width, np.uint64),
            "children": np.zeros(children * width, np.uint64),
            "values": np.zeros(children + 2),
            "frames": np.zeros(LONGEST + 1, FRAME),
            "spawn_kinds": np.zeros(LONGEST, np.int64),
            "spawn_places": np.zeros(LONGEST, np.uint64),
            "spawn_sums": np.zeros(LONGEST + 1, np.int64),
            "parts": self._parts(),
            "further": np.zeros(CODES, np.int64),
            "counts": np.zeros(CODES, np.int64),
            "needs": np.zeros(CODES, np.int64),
        }
        set_fields(control, **{name: address(array) for name, array in self._arrays.items()})
        set_fields(control, rules=address(rules), tables=address(evaluation.tables), entry_mask=(1 << entries_bits) - 1)
        self._state = None

    def _parts(self):
        """Return the two codes that each code is made of, where it does not come by itself."""
        parts = np.zeros(2 * CODES, np.int64)
        for a, row in enumerate(self._game.MERGES):
            for b, made in enumerate(row):
                parts[2 * made : 2 * made + 2] = a, b
        for kind in range(int(self._rules[KINDS])):
            code = int(self._rules[SPAWNS + 3 * kind])
            self._control["spawned"] = max(code, self._control["spawned"])
            parts[2 * code : 2 * code + 2] = 0
        parts[:2] = 0  # what does not merge is not made
        return parts

    def _aim(self, state):
        """Set the goal: the code after the largest on the board."""
        goal = 1 + max(int(self._game.code_at(state, np.int64(cell))) for cell in range(CELLS))
        worth = int(self._rules[TILES + goal]) if goal < len(self._game.VALUES) else _NEVER
        self._control["goal"], self._control["worth"] = goal, worth
        further, parts = self._arrays["further"], self._arrays["parts"]
        further[:] = FAR
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
        """Start the run of a seed (64 bits) from ``state``, of about ``limit`` nodes.

        The first depth is searched whatever the limit; without a move of the player the run is over.
        """
        self._state = state
        set_fields(self._control, phase=OVER, move=-1, limit=limit)
        set_fields(self._control, found=0, length=0, nodes=0, evaluated=0, hits=0, stores=0)
        self.entries[:] = 0
        if int(self._game.kind(state, self._rules)) == MAX:
            self._aim(state)
            self._kernels["begin"](state, self._where, np.uint64(seed))

    @property
    def nodes(self):
        return int(self._control["nodes"])

    def advance(self, budget):
        """Search on for about ``budget`` nodes; return whether the run is over."""
        return bool(self._kernels["advance"](self._state, self._where, int(budget)))

    def result(self):
        """Return what was found so far."""
        control = self._control
        move = int(control["move"])
        return IdaResult(
            complete=bool(control["phase"] == OVER),
            move=None if move < 0 else move,
            goal=bool(control["found"]),
            length=int(control["length"]),
            nodes=int(control["nodes"]),
            evaluated=int(control["evaluated"]),
            table_hits=int(control["hits"]),
            table_stores=int(control["stores"]),
        )
