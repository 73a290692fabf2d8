"""Iterative deepening A* in a game of sliding tiles whose spawns were drawn beforehand, in bounded memory.

A run fixes its spawns: the k-th (from 0 on) is the k-th kind and the k-th number of two streams of its seed, the kind
by the tiles' probabilities, and the number modulo the free cells says on which of them, in the game's order. So the
game is a puzzle of one player: have a tile of the next code, or beyond, in as few moves as can be. What is left to do
is bounded from below by two relaxed puzzles, see ``least_moves``. Memory is a stack as deep as the path and a table of
a fixed size, of states at whose place in the sequence no goal is within the threshold. Korf 1985 has the algorithm,
Reinefeld and Marsland 1994 the table.

Where the goal is not found with half of the boards, for it may be hundreds of moves away, a run goes on with the same
kernel and a bound of 0: to every state at so many moves, one more each time. The best-evaluated state of the last depth
that was done decides the run's move then. Moves that lead to better evaluations are tried first.

Memory-bounded IDA* for one game, board and evaluation: begin a run, go on in slices, read its result.
"""

from typing import NamedTuple

import numpy as np

from .. import games
from ..core import jit
from ..core.pointers import address, float64s, int16s, int64s, uint64s
from ..core.rng import drawn
from ..games import lanes
from ..games.interface import MAX, MAX_MOVES
from ..games.sliding import CELLS, KINDS, SPAWNS
from ..games.sliding import VALUES as TILES

moves = play = key = code_at = evaluate = None  # bound for each game and evaluation

# The control array (int64).
RULES, TABLES, MOVES, ENTRIES, STATES, CHILDREN, VALUES, FRAMES = range(8)  # addresses
SPAWN_KINDS, SPAWN_PLACES, SPAWN_SUMS = 8, 9, 10  # addresses: by k the kind, the number, the values of those before
PARTS, FURTHER, COUNTS, NEEDS = 11, 12, 13, 14  # addresses, by code: see ``least_moves``
ENTRY_MASK = 15  # entries of the table − 1
GOAL = 16  # code of the tile to make
LIMIT = 17  # boards of the run
BOARDS, EVALUATED, HITS, STORES = 18, 19, 20, 21
PHASE = 22  # one of the next
TO_GOAL, TO_DEPTH, OVER = range(3)
THRESHOLD = 23  # moves at which a path ends
NEXT_THRESHOLD = 24  # the least that some path would have needed more than
TOP = 25  # index of the frame at work, and moves made
FOUND, MOVE, LENGTH = 26, 27, 28  # whether there is a goal, the move that leads to it or to the best state, and how far
REACHED, REACHED_MOVE = 29, 30  # in the iteration at work: whether some state is at its depth; the best one's move
WORTH = 31  # value of the tile to make
SPAWNED = 32  # the largest code that comes by itself
CONTROL_SIZE = 33
CODES = 34  # length of arrays by code: one more than the largest tile's may be the goal's

# The two values (float64) after those of the children: of the best state, of the last iteration and of that at work.
BEST, BEST_NOW = range(2)

# A frame (int64).
NEXT, COUNT = range(2)
FRAME_SIZE = 2
MOST = 4  # moves of the player

LONGEST = 1024  # moves of a path, and spawns of a run
FAR = np.int64(1 << 30)  # more moves than any path has
_CERTAIN = 2.0**62
_SPAWN_SEED = np.uint64(0x5851F42D4C957F2D)  # what tells the stream of the numbers from that of the kinds


def draw(seed, where):
    """Draw the spawns of the run of a seed (uint64)."""
    control = int64s(where)
    r = uint64s(control[RULES])
    kinds, places, sums = int64s(control[SPAWN_KINDS]), uint64s(control[SPAWN_PLACES]), int64s(control[SPAWN_SUMS])
    sums[0] = 0
    for k in range(LONGEST):
        point = np.float64(drawn(seed, k) >> np.uint64(11)) * 2.0**-53
        kind, below = np.int64(0), r[SPAWNS + 2] / _CERTAIN
        while point >= below and kind + 1 < np.int64(r[KINDS]):
            kind += 1
            below += r[SPAWNS + 3 * kind + 2] / _CERTAIN
        kinds[k], places[k] = kind, drawn(seed ^ _SPAWN_SEED, k)
        sums[k + 1] = sums[k] + np.int64(r[SPAWNS + 3 * kind + 1])


def spawned(s, where, k, at):
    """Return the state after the k-th spawn; moves of chance are written from ``at`` on."""
    control = int64s(where)
    r, out = uint64s(control[RULES]), int16s(control[MOVES])
    free = np.int64(moves(s, r, out, at)) // np.int64(r[KINDS])  # kind by kind, and each by cells
    cell = np.int64(uint64s(control[SPAWN_PLACES])[k] % np.uint64(free))
    child, _ = play(s, r, np.int64(out[at + int64s(control[SPAWN_KINDS])[k] * free + cell]))
    return child


def least_moves(s, where, k):
    """Return a lower bound on the moves to the goal from a state after k spawns, 0 if it is there.

    Tiles add up: the last merge can make the goal only if the tiles, with the spawns of the moves before, are worth as
    much. And merges take time: of the tiles that the goal is made of, those that are not on the board have to be made,
    each by a move, and then the tiles that they go into, one after another. PARTS has the two codes that a code is
    made of (0: of none), FURTHER the least number of merges from a code to the goal.
    """
    control = int64s(where)
    r, goal = uint64s(control[RULES]), control[GOAL]
    counts, needs = int64s(control[COUNTS]), int64s(control[NEEDS])
    parts, further = int64s(control[PARTS]), int64s(control[FURTHER])
    for code in range(goal + 1):
        counts[code] = needs[code] = 0
    total = np.int64(0)
    for cell in range(CELLS):
        code = np.int64(code_at(s, np.int64(cell)))
        if code >= goal:
            return np.int64(0)
        counts[code] += 1
        total += np.int64(r[TILES + code])
    if goal <= control[SPAWNED]:
        return np.int64(1)  # it may come by itself
    sums, wanted = int64s(control[SPAWN_SUMS]), control[WORTH] - total
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


def entry_of(s, where, k):
    """Return (where the table's entry for a state after k spawns begins, what it holds if it is that one's)."""
    control = int64s(where)
    x = key(s, uint64s(control[RULES])) ^ np.uint64(k + 1) * np.uint64(0x9E3779B97F4A7C15)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(31)
    return 2 * (np.int64(x) & control[ENTRY_MASK]), x


def open_frame(s, where, top):
    """Make frame ``top`` that of a state in which the player is to move: its children, the best-evaluated first."""
    control = int64s(where)
    r, out, tables = uint64s(control[RULES]), int16s(control[MOVES]), uint64s(control[TABLES])
    states, children = uint64s(control[STATES]), uint64s(control[CHILDREN])
    values, frames = float64s(control[VALUES]), int64s(control[FRAMES])
    lanes.store(states, top * len(s), s)
    first = top * MOST
    n = np.int64(moves(s, r, out, first))
    for i in range(n):
        m = out[first + i]
        child, _ = play(s, r, np.int64(m))
        child = spawned(child, where, top, (LONGEST + 1) * MOST)
        value = np.float64(evaluate(child, r, tables))
        j = first + i
        while j > first and values[j - 1] < value:
            values[j], out[j] = values[j - 1], out[j - 1]
            lanes.store(children, j * len(s), lanes.load(s, children, (j - 1) * len(s)))
            j -= 1
        values[j], out[j] = value, m
        lanes.store(children, j * len(s), child)
    control[EVALUATED] += n
    frames[top * FRAME_SIZE + NEXT], frames[top * FRAME_SIZE + COUNT] = 0, n


def begin(s, where, seed):
    """Begin the run of a seed from a state in which the player has a move."""
    control = int64s(where)
    draw(seed, where)
    control[BOARDS] = control[EVALUATED] = control[HITS] = control[STORES] = 0
    control[FOUND] = control[LENGTH] = control[TOP] = control[REACHED] = 0
    control[NEXT_THRESHOLD] = FAR
    control[THRESHOLD] = least_moves(s, where, np.int64(0))
    control[PHASE] = TO_GOAL
    open_frame(s, where, np.int64(0))
    control[MOVE] = int16s(control[MOVES])[0]
    if control[THRESHOLD] > LONGEST:
        to_depth(where)


def to_depth(where):
    """Go on without a bound, from the first depth on."""
    control = int64s(where)
    entries = uint64s(control[ENTRIES])
    for i in range(2 * (control[ENTRY_MASK] + 1)):
        entries[i] = 0
    control[PHASE], control[THRESHOLD], control[REACHED] = TO_DEPTH, 1, 0
    control[TOP], int64s(control[FRAMES])[NEXT] = 0, 0


def iterate(where):
    """An iteration is done: begin the next one, or end the run."""
    control = int64s(where)
    values = float64s(control[VALUES] + 8 * MOST * (LONGEST + 1))
    if control[PHASE] == TO_GOAL:
        if control[NEXT_THRESHOLD] > LONGEST:
            to_depth(where)
            return
        control[THRESHOLD], control[NEXT_THRESHOLD] = control[NEXT_THRESHOLD], FAR
    else:
        if control[REACHED]:
            values[BEST], control[MOVE], control[LENGTH] = values[BEST_NOW], control[REACHED_MOVE], control[THRESHOLD]
        if not control[REACHED] or control[THRESHOLD] == LONGEST:
            control[PHASE] = OVER
        control[THRESHOLD] += 1
        control[REACHED] = 0
    control[TOP], int64s(control[FRAMES])[NEXT] = 0, 0


def advance(s, where, budget):
    """Search on until the end (True) or for about ``budget`` boards; s: any state (it tells the width)."""
    control = int64s(where)
    out, entries = int16s(control[MOVES]), uint64s(control[ENTRIES])
    states, children, frames = uint64s(control[STATES]), uint64s(control[CHILDREN]), int64s(control[FRAMES])
    values = float64s(control[VALUES])
    best = float64s(control[VALUES] + 8 * MOST * (LONGEST + 1))
    stop = control[BOARDS] + budget
    while control[PHASE] != OVER:
        if control[BOARDS] >= stop:
            return False
        if control[PHASE] == TO_GOAL and 2 * control[BOARDS] >= control[LIMIT]:
            to_depth(where)
        if control[PHASE] == TO_DEPTH and control[BOARDS] >= control[LIMIT] and control[LENGTH] > 0:
            control[PHASE] = OVER
            break
        top = control[TOP]
        i, n = frames[top * FRAME_SIZE + NEXT], frames[top * FRAME_SIZE + COUNT]
        if i == n:
            if top == 0:
                iterate(where)
                continue
            entry, check = entry_of(lanes.load(s, states, top * len(s)), where, top)
            entries[entry], entries[entry + 1] = check, np.uint64(control[THRESHOLD])
            control[STORES] += 1
            control[TOP] = top - 1
            continue
        frames[top * FRAME_SIZE + NEXT] = i + 1
        control[BOARDS] += 1
        at, made = top * MOST + i, top + 1
        child = lanes.load(s, children, at * len(s))
        least = least_moves(child, where, made)
        if least == 0:
            control[FOUND], control[LENGTH], control[MOVE] = 1, made, out[frames[NEXT] - 1]
            best[BEST] = values[at]
            control[PHASE] = OVER
            break
        if control[PHASE] == TO_DEPTH:
            if made == control[THRESHOLD]:
                if not control[REACHED] or values[at] > best[BEST_NOW]:
                    best[BEST_NOW], control[REACHED], control[REACHED_MOVE] = values[at], 1, out[frames[NEXT] - 1]
                continue
        elif made + least > control[THRESHOLD]:
            control[NEXT_THRESHOLD] = min(control[NEXT_THRESHOLD], made + least)
            continue
        entry, check = entry_of(child, where, made)
        if entries[entry] == check and np.int64(entries[entry + 1]) >= control[THRESHOLD]:
            control[HITS] += 1
            continue
        control[TOP] = made
        open_frame(child, where, made)
    return True


TEMPLATES = draw, spawned, least_moves, entry_of, open_frame, to_depth, begin, iterate, advance


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
        self._kernels = jit.specialise_all(TEMPLATES, self.name, functions)
        self.entries = np.zeros(2 << entries_bits, np.uint64)
        width, children = game.words(rules), (LONGEST + 1) * MOST
        self._control = control = np.zeros(CONTROL_SIZE, np.int64)
        self._where = address(control)
        self._arrays = {
            MOVES: np.zeros(children + MAX_MOVES, np.int16),
            ENTRIES: self.entries,
            STATES: np.zeros((LONGEST + 1) * width, np.uint64),
            CHILDREN: np.zeros(children * width, np.uint64),
            VALUES: np.zeros(children + 2),
            FRAMES: np.zeros((LONGEST + 1) * FRAME_SIZE, np.int64),
            SPAWN_KINDS: np.zeros(LONGEST, np.int64),
            SPAWN_PLACES: np.zeros(LONGEST, np.uint64),
            SPAWN_SUMS: np.zeros(LONGEST + 1, np.int64),
            PARTS: self._parts(),
            FURTHER: np.zeros(CODES, np.int64),
            COUNTS: np.zeros(CODES, np.int64),
            NEEDS: np.zeros(CODES, np.int64),
        }
        for at, array in self._arrays.items():
            control[at] = address(array)
        control[RULES], control[TABLES] = address(rules), address(evaluation.tables)
        control[ENTRY_MASK] = (1 << entries_bits) - 1
        self._state = None

    def _parts(self):
        """Return the two codes that each code is made of, where it does not come by itself."""
        parts = np.zeros(2 * CODES, np.int64)
        for a, row in enumerate(self._game.MERGES):
            for b, made in enumerate(row):
                parts[2 * made : 2 * made + 2] = a, b
        for kind in range(int(self._rules[KINDS])):
            code = int(self._rules[SPAWNS + 3 * kind])
            self._control[SPAWNED] = max(code, self._control[SPAWNED])
            parts[2 * code : 2 * code + 2] = 0
        parts[:2] = 0  # what does not merge is not made
        return parts

    def _aim(self, state):
        """Set the goal: the code after the largest on the board."""
        goal = 1 + max(int(self._game.code_at(state, np.int64(cell))) for cell in range(CELLS))
        worth = int(self._rules[TILES + goal]) if goal < len(self._game.VALUES) else _NEVER
        self._control[GOAL], self._control[WORTH] = goal, worth
        further, parts = self._arrays[FURTHER], self._arrays[PARTS]
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
        """Start the run of a seed (64 bits) from ``state``, of about ``limit`` boards.

        The first depth is searched whatever the limit; without a move of the player the run is over.
        """
        self._state = state
        self._control[LIMIT] = limit
        self._control[PHASE] = OVER
        self._control[[FOUND, LENGTH, BOARDS, EVALUATED, HITS, STORES]] = 0
        self._control[MOVE] = -1
        self.entries[:] = 0
        if int(self._game.kind(state, self._rules)) == MAX:
            self._aim(state)
            self._kernels["begin"](state, self._where, np.uint64(seed))

    @property
    def boards(self):
        return int(self._control[BOARDS])

    def advance(self, budget):
        """Search on for about ``budget`` boards; return whether the run is over."""
        return bool(self._kernels["advance"](self._state, self._where, int(budget)))

    def result(self):
        """Return what was Found so far."""
        control = self._control
        move = int(control[MOVE])
        return Found(
            bool(control[PHASE] == OVER),
            None if move < 0 else move,
            bool(control[FOUND]),
            int(control[LENGTH]),
            int(control[BOARDS]),
            int(control[EVALUATED]),
            int(control[HITS]),
            int(control[STORES]),
        )
