"""Expectiminimax: the player takes the best move, chance draws what comes, and an adversary chooses the worst place.

What a game leaves to chance is a *placement*, two plies: chance draws (in 2048 the value of a tile; the mean of the
draws, weighted by how likely each is), then the adversary chooses among the draw's outcomes (its cell; the least). Or
the adversary chooses all of it (``WHOLE``), which is plain minimax, and one ply. A state at the depth limit, one in
which the player has no move, and one whose placement the limit cuts in two, is worth its evaluation.

With ``PRUNE`` the search is told a window, and its value is exact within: alpha-beta through chance, in the manner of
Ballard's Star2 (1983) but without bounds on evaluations. The least outcome of a draw so far is an upper bound of the
draw, which an adversary can only lower. So one outcome of every draw is tried first; with u the least of each draw so
far and p its probability, a draw matters only above (alpha − Σ p u of the others) / p. From below the others have no
bound until they are known, so only the last draw has an upper end, (beta − Σ p v of the others) / p.

The engine is iterative: frames in numpy arrays, so it can be paused at any board. A frame has the states after its
moves, in groups: one of all moves where the player moves, one a draw in a placement. Kernels take the address of the
control array, see ``addresses``.

The expectiminimax engine for one game, board and evaluation: begin a search, run it in slices, read its result.
"""

import math
from typing import NamedTuple

import numpy as np

from .. import games
from ..core import jit
from ..core.pointers import address, float64s, int16s, int64s, uint64s
from ..games import lanes
from ..games.interface import CHANCE, END, MAX_DRAWS, MAX_MOVES
from .expectimax import expand_by_playing

play = outcomes = draw = turn = expand = evaluate = None  # bound for each game and evaluation

# The control array (int64).
RULES, TABLES, MOVES, SCORES, CHILDREN, GAINS, FRAMES, NUMBERS = range(8)  # addresses
WHOLE = 8  # 1: the adversary chooses all that chance would
PRUNE = 9  # 1: alpha-beta; 0: every state of the tree
ORDER = 10  # plies left after a move from which on moves are ordered by their evaluations; 0: nowhere
BOARDS = 11  # positions reached by a move or a placement so far
EVALUATED = 12  # leaves
TOP = 13  # index of the frame at work
CONTROL_SIZE = 14

# A frame (int64): a state on the way to where the search is. NEXT and DRAWS_END are of each group.
PLACING, LEFT, GROUPS, GROUP, BEST = range(5)  # LEFT: plies after a move; GROUP: at work, or OVER
NEXT = 5
DRAWS_END = NEXT + MAX_DRAWS
FRAME_SIZE = DRAWS_END + MAX_DRAWS
OVER = -1

# Its numbers (float64): its window, what is known of its value, the window's lower end for the child at work, the last
# draw's upper end; of each group its probability, and the least of its children so far.
ALPHA, BETA, VALUE, LOW, HIGH = range(5)
WEIGHT = 5
LEAST = WEIGHT + MAX_DRAWS
NUMBERS_SIZE = LEAST + MAX_DRAWS

ANY = -1  # as the draw of a placement: chance has not drawn yet
TINY = 1e-200  # a draw's least probability, for one of 0 leaves no window; what is divided by it stays finite
# Share of its terms by which the window of one draw of several is wider: rounding neither cuts what matters by its last
# bit, nor has a value depend on where a window came from.
SLACK = 2.0**-40


def leaf(s, where):
    control = int64s(where)
    control[EVALUATED] += 1
    return np.float64(evaluate(s, uint64s(control[RULES]), uint64s(control[TABLES])))


def in_order(s, where, first, end, falling):
    """Put the children first:end in order of their evaluations; equal ones keep theirs."""
    control = int64s(where)
    out, scores, children = int16s(control[MOVES]), float64s(control[SCORES]), uint64s(control[CHILDREN])
    r, tables = uint64s(control[RULES]), uint64s(control[TABLES])
    for i in range(first, end):
        m, child = out[i], lanes.load(s, children, i * len(s))
        score = np.float64(evaluate(child, r, tables))
        score = -score if falling else score
        j = i
        while j > first and scores[j - 1] > score:
            out[j], scores[j] = out[j - 1], scores[j - 1]
            lanes.store(children, j * len(s), lanes.load(s, children, (j - 1) * len(s)))
            j -= 1
        out[j], scores[j] = m, score
        lanes.store(children, j * len(s), child)


def place(s, where, first, frames, numbers, drawn):
    """Write the groups of a placement, of one draw alone unless that is ANY; return how many there are."""
    control = int64s(where)
    r, out, chances = uint64s(control[RULES]), int16s(control[MOVES]), float64s(control[SCORES])
    n = np.int64(outcomes(s, r, out, chances, first))
    groups, of_last, kept = 0, np.int64(ANY), first
    for i in range(first, first + n):
        m, chance = np.int64(out[i]), chances[i]
        k = np.int64(0) if control[WHOLE] else np.int64(draw(m, r))
        if drawn not in (ANY, k):
            continue
        if k != of_last:
            frames[NEXT + groups], numbers[WEIGHT + groups], numbers[LEAST + groups] = kept, TINY, np.inf
            groups, of_last = groups + 1, k
        numbers[WEIGHT + groups - 1] += chance
        child, _ = play(s, r, m)
        out[kept] = m
        lanes.store(uint64s(control[CHILDREN]), kept * len(s), child)
        kept += 1
        frames[DRAWS_END + groups - 1] = kept
    if groups == 1:
        numbers[WEIGHT] = 1.0
    return groups


def push(s, where, top, left, alpha, beta, drawn):
    """Open frame ``top`` for a state, unless it is a leaf: return whether it is none, and the value."""
    control = int64s(where)
    placing = turn(s, uint64s(control[RULES])) == CHANCE
    plies = 2 if placing and drawn == ANY and not control[WHOLE] else 1
    if left < plies:
        return False, leaf(s, where)
    frames = int64s(control[FRAMES] + 8 * FRAME_SIZE * top)
    numbers = float64s(control[NUMBERS] + 8 * NUMBERS_SIZE * top)
    first = top * MAX_MOVES
    if placing:
        groups = place(s, where, first, frames, numbers, drawn)
    else:
        r, out = uint64s(control[RULES]), int16s(control[MOVES])
        n = np.int64(expand(s, r, out, uint64s(control[CHILDREN]), int64s(control[GAINS]), first))
        if n == 0:
            return False, leaf(s, where)
        frames[NEXT], frames[DRAWS_END], groups = first, first + n, 1
    left -= plies
    if 0 < control[ORDER] <= left:
        for k in range(groups):
            in_order(s, where, frames[NEXT + k], frames[DRAWS_END + k], not placing)
    frames[PLACING], frames[LEFT], frames[GROUPS], frames[GROUP], frames[BEST] = placing, left, groups, 0, -1
    numbers[ALPHA], numbers[BETA], numbers[VALUE] = alpha, beta, -np.inf
    return True, 0.0


def next_group(frames, numbers, pruned):
    """Return the group whose child is next, or OVER: where placements are pruned, every draw's first child leads."""
    if frames[GROUP] == OVER or not frames[PLACING] and numbers[VALUE] >= numbers[BETA]:
        return np.int64(OVER)
    if pruned and frames[PLACING]:
        for k in range(frames[GROUPS]):
            if numbers[LEAST + k] == np.inf:
                return np.int64(k)
    for k in range(frames[GROUPS]):
        if frames[NEXT + k] < frames[DRAWS_END + k]:
            return np.int64(k)
    return np.int64(OVER)


def mean(numbers, groups):
    """Return what a placement is worth by the least of each draw."""
    total = 0.0
    for k in range(groups):
        total += numbers[WEIGHT + k] * numbers[LEAST + k]
    return total


def narrow(frames, numbers, k):
    """Set LOW and HIGH of a frame for its child of group k; return the end of the window above which it is alike."""
    if not frames[PLACING]:
        numbers[LOW], numbers[HIGH] = max(numbers[ALPHA], numbers[VALUE]), numbers[BETA]
        return numbers[BETA]
    if frames[GROUPS] == 1:
        numbers[LOW], numbers[HIGH] = numbers[ALPHA], numbers[BETA]
        return min(numbers[HIGH], numbers[LEAST])
    rest, size, last = 0.0, 0.0, True
    for j in range(frames[GROUPS]):
        if j != k:
            term = numbers[WEIGHT + j] * numbers[LEAST + j]
            rest, size = rest + term, size + abs(term)
            last = last and frames[NEXT + j] == frames[DRAWS_END + j]
    alpha, beta, weight = numbers[ALPHA], numbers[BETA], numbers[WEIGHT + k]
    numbers[LOW] = (alpha - rest - SLACK * (size + abs(alpha))) / weight
    numbers[HIGH] = (beta - rest + SLACK * (size + abs(beta))) / weight if last else np.inf
    return min(numbers[HIGH], numbers[LEAST + k])


def take_in(frames, numbers, out, value):
    """A child of group GROUP has its value."""
    k = frames[GROUP]
    if frames[PLACING]:
        numbers[LEAST + k] = min(numbers[LEAST + k], value)
        most = mean(numbers, frames[GROUPS])  # whatever else the adversary has
        if most <= numbers[ALPHA]:
            numbers[VALUE], frames[GROUP] = most, OVER
    elif value > numbers[VALUE]:
        numbers[VALUE], frames[BEST] = value, out[frames[NEXT] - 1]


def settled(frames, numbers):
    """Return the value of a frame that has no next child."""
    if frames[PLACING] and frames[GROUP] != OVER:
        return mean(numbers, frames[GROUPS])
    return numbers[VALUE]


def advance(s, where, values, budget):
    """Search on until the end (True) or for about ``budget`` boards; s: any state (it tells the width).

    values (float64) takes the values of the root's moves where they are exact, in the order in which MOVES has them.
    """
    control = int64s(where)
    out, children = int16s(control[MOVES]), uint64s(control[CHILDREN])
    pruned, top = control[PRUNE] == 1, control[TOP]
    limit = control[BOARDS] + budget
    while True:
        frames = int64s(control[FRAMES] + 8 * FRAME_SIZE * top)
        numbers = float64s(control[NUMBERS] + 8 * NUMBERS_SIZE * top)
        k = next_group(frames, numbers, pruned)
        if k != OVER:
            if control[BOARDS] >= limit:
                control[TOP] = top
                return False
            high = np.inf
            if pruned:
                high = narrow(frames, numbers, k)
            else:
                numbers[LOW], numbers[HIGH] = -np.inf, np.inf
            i = frames[NEXT + k]
            frames[NEXT + k], frames[GROUP] = i + 1, k
            control[BOARDS] += 1
            child = lanes.load(s, children, i * len(s))
            opened, value = push(child, where, top + 1, frames[LEFT], numbers[LOW], high, np.int64(ANY))
            if opened:
                top += 1
                continue
        else:
            value = settled(frames, numbers)
            if top == 0:
                numbers[VALUE] = value
                control[TOP] = 0
                return True
            top -= 1
            frames = int64s(control[FRAMES] + 8 * FRAME_SIZE * top)
            numbers = float64s(control[NUMBERS] + 8 * NUMBERS_SIZE * top)
        if top == 0 and not frames[PLACING] and numbers[LOW] < value < numbers[HIGH]:
            values[frames[NEXT] - 1] = value
        take_in(frames, numbers, out, value)


TEMPLATES = leaf, in_order, place, push, next_group, mean, narrow, take_in, settled, advance


EXACT, LOWER, UPPER = 0, 1, -1  # what a value is
# Plies left after a move from which on moves are ordered by their evaluations: 0.71 times the boards of 2048's depth 10
_ORDERED = 2


@jit.compiled
def one_draw(m, r):
    """What stands for ``draw`` where a game has none, and the adversary chooses all."""
    return np.int64(0)


class Found(NamedTuple):
    """What a search found."""

    value: float  # of a search that was stopped −inf, or a lower bound if it is the player's turn and alpha was −inf
    bound: int  # EXACT, or LOWER or UPPER where the value is not within the window
    complete: bool
    move: int | None  # the best of the player's moves, if it is the player's turn
    values: dict  # of the moves at the root whose values are exact, by code
    boards: int
    evaluated: int


class Expectiminimax:
    """A pausable expectiminimax search.

    whole: the adversary chooses all that chance would, which is minimax; pruned: alpha-beta, or the whole tree.
    """

    def __init__(self, game, rules, evaluation, whole=False, pruned=True):
        self._game, self._rules, self._evaluation = game, rules, evaluation
        self.name = f"expectiminimax_{games.tag(game)}_{evaluation.name}"
        hooks = games.knowledge(game)
        functions = {name: getattr(game, name) for name in ("moves", "play", "outcomes")}
        functions |= {"turn": getattr(hooks, "turn", game.kind), "evaluate": evaluation.function}
        functions["draw"] = getattr(game, "draw", one_draw)
        by_playing = jit.specialise(expand_by_playing, f"expand_by_playing_{self.name}", functions)
        functions["expand"] = getattr(hooks, "expand", by_playing)
        self._kernels = jit.specialise_all(TEMPLATES, self.name, functions)
        self._width, self._state = game.words(rules), game.start(rules).state
        self._control = np.zeros(CONTROL_SIZE, np.int64)
        self._where = address(self._control)
        self._control[[RULES, TABLES]] = address(rules), address(evaluation.tables)
        self._control[[WHOLE, PRUNE]] = whole, pruned
        self._control[ORDER] = _ORDERED if pruned else 0
        self._deepest = -1

    def compile(self):
        """Compile, or load from disk, every kernel."""
        self.begin(self._state, 2)
        self.advance(1)

    def _allocate(self, depth):
        self._deepest = depth
        frames = depth + 1
        self._moves, self._values = np.zeros(frames * MAX_MOVES, np.int16), np.zeros(MAX_MOVES)
        self._scores, self._gains = np.zeros(frames * MAX_MOVES), np.zeros(frames * MAX_MOVES, np.int64)
        self._children = np.zeros(frames * MAX_MOVES * self._width, np.uint64)
        self._frames = np.zeros(frames * FRAME_SIZE, np.int64)
        self._numbers = np.zeros(frames * NUMBERS_SIZE)
        for at, array in (
            (MOVES, self._moves),
            (SCORES, self._scores),
            (CHILDREN, self._children),
            (GAINS, self._gains),
            (FRAMES, self._frames),
            (NUMBERS, self._numbers),
        ):
            self._control[at] = address(array)

    def begin(self, state, depth, alpha=-math.inf, beta=math.inf, drawn=ANY):
        """Start a search of ``state`` to ``depth`` plies, 0 for its evaluation.

        alpha, beta: the value is exact if it is between, and else a bound on the right side of both; an unpruned search
        does not look at them. drawn: what chance has drawn, as the game's ``draw`` numbers it, where the adversary is
        to choose among that draw's outcomes.
        """
        if depth > self._deepest:
            self._allocate(depth)
        control = self._control
        control[[BOARDS, EVALUATED, TOP]] = 0
        if not control[PRUNE]:
            alpha, beta = -math.inf, math.inf
        self._state, self._window, self._value = state, (alpha, beta), None
        self._values[:] = np.nan
        kind = int(self._game.kind(state, self._rules))
        self._moving = kind not in (END, CHANCE) and depth > 0
        if kind == END:
            depth = 0
        opened, value = self._kernels["push"](state, self._where, 0, depth, float(alpha), float(beta), int(drawn))
        if not opened:
            self._value = float(value)

    @property
    def boards(self):
        return int(self._control[BOARDS])

    def advance(self, budget):
        """Search on for about ``budget`` boards; return whether the search is complete."""
        if self._value is None and self._kernels["advance"](self._state, self._where, self._values, int(budget)):
            self._value = float(self._numbers[VALUE])
        return self._value is not None

    def result(self):
        """Return what was Found so far."""
        complete, move, values = self._value is not None, None, {}
        value = self._value if complete else -math.inf
        if self._moving:
            exact = np.flatnonzero(~np.isnan(self._values))
            values = dict(zip(self._moves[exact].tolist(), self._values[exact].tolist(), strict=True))
            value = float(self._numbers[VALUE])
            move = None if self._frames[BEST] < 0 else int(self._frames[BEST])
        return Found(
            value, self._bound(value, complete), complete, move, values, self.boards, int(self._control[EVALUATED])
        )

    def _bound(self, value, complete):
        if not complete:
            return LOWER
        alpha, beta = self._window
        return UPPER if value <= alpha else LOWER if value >= beta else EXACT
