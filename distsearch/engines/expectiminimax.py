"""Expectiminimax: the player takes the best move, chance draws what comes, and an adversary chooses the worst place.

What a game leaves to chance is a *placement*, two plies: chance draws (in 2048 the value of a tile; the mean of the
draws, weighted by how likely each is), then the adversary chooses among the draw's outcomes (its cell; the least). Or
the adversary chooses all of it, which is plain minimax, and one ply. A state at the depth limit, one in which the
player has no move, and one whose placement the limit cuts in two, is worth its evaluation.

With ``prune`` the search is told a window, and its value is exact within: alpha-beta through chance, in the manner of
Ballard's Star2 (1983) but without bounds on evaluations. The least outcome of a draw so far is an upper bound of the
draw, which an adversary can only lower. So one outcome of every draw is tried first; with u the least of each draw so
far and p its probability, a draw matters only above (alpha − Σ p u of the others) / p. From below the others have no
bound until they are known, so only the last draw has an upper end, (beta − Σ p v of the others) / p.

The engine is iterative: frames in numpy arrays, so it can be paused at any node. A frame has the states after its
moves, in groups: one of all moves c the player moves, one a draw in a placement. Kernels reach
everything through the control block ``c``.

The expectiminimax engine for one game, board and evaluation: begin a search, run it in slices, read its result.
"""

import math
from typing import NamedTuple

import numpy as np

from .. import games
from ..core import jit
from ..core.pointers import address, float64s, int16s, int64s, new_record, record_view, set_fields, struct, uint64s
from ..games import lanes
from ..games.interface import CHANCE, END, MAX_DRAWS, MAX_MOVES
from .expectimax import expand_by_playing

play = outcomes = draw = turn = expand = evaluate = None  # bound for each game and evaluation

CONTROL = struct(
    # addresses
    ("rules", np.int64),
    ("tables", np.int64),  # the evaluation's
    ("moves", np.int64),  # int16, of all frames
    ("scores", np.int64),  # float64, of these moves
    ("children", np.int64),  # uint64, states after these moves
    ("gains", np.int64),  # int64, points of these moves
    ("frames", np.int64),
    ("adversary_chooses_all", np.int64),  # 1: the adversary chooses all that chance would
    ("prune", np.int64),  # 1: alpha-beta; 0: every state of the tree
    ("order_from", np.int64),  # plies left after a move from which on moves are ordered by evaluations; 0: nowhere
    ("nodes", np.int64),  # positions reached by a move or a placement so far
    ("evaluated", np.int64),  # leaves
    ("top", np.int64),  # index of the frame at work
)

# A state on the way to where the search is.
FRAME = struct(
    ("placing", np.int64),  # 1: a placement; 0: the player moves
    ("depth_left", np.int64),  # plies after a move
    ("groups", np.int64),
    ("group", np.int64),  # at work, or OVER
    ("best", np.int64),  # the best move
    ("alpha", np.float64),
    ("beta", np.float64),
    ("value", np.float64),  # what is known of it
    ("low", np.float64),  # the window's lower end for the child at work
    ("high", np.float64),  # the last draw's upper end
    # of each group
    ("next", np.int64, MAX_DRAWS),  # index of its next child
    ("end", np.int64, MAX_DRAWS),  # index after its last child
    ("weight", np.float64, MAX_DRAWS),  # its probability
    ("least", np.float64, MAX_DRAWS),  # value of its children so far
)
OVER = -1
_control_at, _frame_at = record_view(CONTROL), record_view(FRAME)

ANY = -1  # as the draw of a placement: chance has not drawn yet
TINY = 1e-200  # a draw's least probability, for one of 0 leaves no window; what is divided by it stays finite
# Share of its terms by which the window of one draw of several is wider: rounding neither cuts what matters by its last
# bit, nor has a value depend on where a window came from.
SLACK = 2.0**-40


def leaf(s, c):
    c.evaluated += 1
    return np.float64(evaluate(s, uint64s(c.rules), uint64s(c.tables)))


def in_order(s, c, first, end, falling):
    """Put the children first:end in order of their evaluations; equal ones keep theirs."""
    out, scores, children = int16s(c.moves), float64s(c.scores), uint64s(c.children)
    r, tables = uint64s(c.rules), uint64s(c.tables)
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


def place(s, c, first, f, drawn):
    """Write the groups of a placement, of one draw alone unless that is ANY; return how many there are."""
    r, out, chances = uint64s(c.rules), int16s(c.moves), float64s(c.scores)
    n = np.int64(outcomes(s, r, out, chances, first))
    groups, of_last, kept = 0, np.int64(ANY), first
    for i in range(first, first + n):
        m, chance = np.int64(out[i]), chances[i]
        k = np.int64(0) if c.adversary_chooses_all else np.int64(draw(m, r))
        if drawn not in (ANY, k):
            continue
        if k != of_last:
            f.next[groups], f.weight[groups], f.least[groups] = kept, TINY, np.inf
            groups, of_last = groups + 1, k
        f.weight[groups - 1] += chance
        child, _ = play(s, r, m)
        out[kept] = m
        lanes.store(uint64s(c.children), kept * len(s), child)
        kept += 1
        f.end[groups - 1] = kept
    if groups == 1:
        f.weight[0] = 1.0
    return groups


@jit.outlined
def push(s, c, top, depth_left, alpha, beta, drawn):
    """Open frame ``top`` for a state, unless it is a leaf: return whether it is none, and the value."""
    placing = turn(s, uint64s(c.rules)) == CHANCE
    plies = 2 if placing and drawn == ANY and not c.adversary_chooses_all else 1
    if depth_left < plies:
        return False, leaf(s, c)
    f = _frame_at(c.frames, top)
    first = top * MAX_MOVES
    if placing:
        groups = place(s, c, first, f, drawn)
    else:
        r, out = uint64s(c.rules), int16s(c.moves)
        n = np.int64(expand(s, r, out, uint64s(c.children), int64s(c.gains), first))
        if n == 0:
            return False, leaf(s, c)
        f.next[0], f.end[0], groups = first, first + n, 1
    depth_left -= plies
    if 0 < c.order_from <= depth_left:
        for k in range(groups):
            in_order(s, c, f.next[k], f.end[k], not placing)
    f.placing, f.depth_left, f.groups, f.group, f.best = placing, depth_left, groups, 0, -1
    f.alpha, f.beta, f.value = alpha, beta, -np.inf
    return True, 0.0


def next_group(f, pruned):
    """Return the group whose child is next, or OVER: where placements are pruned, every draw's first child leads."""
    if f.group == OVER or not f.placing and f.value >= f.beta:
        return np.int64(OVER)
    if pruned and f.placing:
        for k in range(f.groups):
            if f.least[k] == np.inf:
                return np.int64(k)
    for k in range(f.groups):
        if f.next[k] < f.end[k]:
            return np.int64(k)
    return np.int64(OVER)


def mean(f):
    """Return what a placement is worth by the least of each draw."""
    total = 0.0
    for k in range(f.groups):
        total += f.weight[k] * f.least[k]
    return total


def narrow(f, k):
    """Set ``low`` and ``high`` of a frame for its child of group k; return the upper end of the child's window."""
    if not f.placing:
        f.low, f.high = max(f.alpha, f.value), f.beta
        return f.beta
    if f.groups == 1:
        f.low, f.high = f.alpha, f.beta
        return min(f.high, f.least[0])
    rest, size, last = 0.0, 0.0, True
    for j in range(f.groups):
        if j != k:
            term = f.weight[j] * f.least[j]
            rest, size = rest + term, size + abs(term)
            last = last and f.next[j] == f.end[j]
    alpha, beta, weight = f.alpha, f.beta, f.weight[k]
    f.low = (alpha - rest - SLACK * (size + abs(alpha))) / weight
    f.high = (beta - rest + SLACK * (size + abs(beta))) / weight if last else np.inf
    return min(f.high, f.least[k])


def take_in(f, out, value):
    """The child at work has its value."""
    k = f.group
    if f.placing:
        f.least[k] = min(f.least[k], value)
        most = mean(f)  # whatever else the adversary has
        if most <= f.alpha:
            f.value, f.group = most, OVER
    elif value > f.value:
        f.value, f.best = value, out[f.next[0] - 1]


def frame_value(f):
    """Return the value of a frame that has no next child."""
    if f.placing and f.group != OVER:
        return mean(f)
    return f.value


def begin(s, where, depth, alpha, beta, drawn):
    """Begin a search: return whether it is not resolved at once, and the value."""
    c = _control_at(where, 0)
    c.nodes = c.evaluated = c.top = 0
    return push(s, c, 0, depth, alpha, beta, drawn)


def advance(s, where, values, budget):
    """Search on until the end (True) or for about ``budget`` nodes; s: any state (it tells the width).

    values (float64) takes the values of the root's moves where they are exact, in the order of ``moves``.
    """
    c = _control_at(where, 0)
    out, children = int16s(c.moves), uint64s(c.children)
    pruned, top = c.prune == 1, c.top
    limit = c.nodes + budget
    while True:
        f = _frame_at(c.frames, top)
        k = next_group(f, pruned)
        if k != OVER:
            if c.nodes >= limit:
                c.top = top
                return False
            high = np.inf
            if pruned:
                high = narrow(f, k)
            else:
                f.low, f.high = -np.inf, np.inf
            i = f.next[k]
            f.next[k], f.group = i + 1, k
            c.nodes += 1
            child = lanes.load(s, children, i * len(s))
            opened, value = push(child, c, top + 1, f.depth_left, f.low, high, np.int64(ANY))
            if opened:
                top += 1
                continue
        else:
            value = frame_value(f)
            if top == 0:
                f.value = value
                c.top = 0
                return True
            top -= 1
            f = _frame_at(c.frames, top)
        if top == 0 and not f.placing and f.low < value < f.high:
            values[f.next[0] - 1] = value
        take_in(f, out, value)


_TEMPLATES = leaf, in_order, place, push, next_group, mean, narrow, take_in, frame_value, begin, advance


EXACT, LOWER, UPPER = 0, 1, -1  # what a value is
# Plies left after a move from which on moves are ordered by their evaluations: 0.71 times the nodes of 2048's depth 10
_ORDERED = 2


@jit.compiled
def one_draw(m, r):
    """What stands for ``draw`` where a game has none, and the adversary chooses all."""
    return np.int64(0)


class ExpectiminimaxResult(NamedTuple):
    """What a search found."""

    value: float  # of a search that was stopped −inf, or a lower bound if it is the player's turn and alpha was −inf
    bound: int  # EXACT, or LOWER or UPPER where the value is not within the window
    complete: bool
    move: int | None  # the best of the player's moves, if it is the player's turn
    values: dict  # of the moves at the root whose values are exact, by code
    nodes: int
    evaluated: int


class Expectiminimax:
    """A pausable expectiminimax search.

    adversary_chooses_all: all that chance would, which is minimax; prune: alpha-beta, or the whole tree.
    """

    def __init__(self, game, rules, evaluation, adversary_chooses_all=False, prune=True):
        self._game, self._rules, self._evaluation = game, rules, evaluation
        self.name = f"expectiminimax_{games.tag(game)}_{evaluation.name}"
        hooks = games.knowledge(game)
        functions = {name: getattr(game, name) for name in ("moves", "play", "outcomes")}
        functions |= {"turn": getattr(hooks, "turn", game.kind), "evaluate": evaluation.function}
        functions["draw"] = getattr(game, "draw", one_draw)
        by_playing = jit.specialise(expand_by_playing, f"expand_by_playing_{self.name}", functions)
        functions["expand"] = getattr(hooks, "expand", by_playing)
        self._kernels = jit.specialise_all(_TEMPLATES, self.name, functions)
        self._width, self._state = game.words(rules), game.start(rules).state
        self._control = new_record(CONTROL)
        self._where, self._prune = address(self._control), prune
        set_fields(self._control, rules=address(rules), tables=address(evaluation.tables))
        set_fields(self._control, adversary_chooses_all=adversary_chooses_all, prune=prune)
        self._control["order_from"] = _ORDERED if prune else 0
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
        self._frames = np.zeros(frames, FRAME)
        for name in ("moves", "scores", "children", "gains", "frames"):
            self._control[name] = address(getattr(self, f"_{name}"))

    def begin(self, state, depth, alpha=-math.inf, beta=math.inf, drawn=ANY):
        """Start a search of ``state`` to ``depth`` plies, 0 for its evaluation.

        alpha, beta: the value is exact if it is between, and else a bound on the right side of both; an unpruned search
        does not look at them. drawn: what chance has drawn, as the game's ``draw`` numbers it, where the adversary
        chooses among that draw's outcomes.
        """
        if depth > self._deepest:
            self._allocate(depth)
        if not self._prune:
            alpha, beta = -math.inf, math.inf
        self._state, self._window, self._value = state, (alpha, beta), None
        self._values[:] = np.nan
        kind = int(self._game.kind(state, self._rules))
        self._moving = kind not in (END, CHANCE) and depth > 0
        if kind == END:
            depth = 0
        opened, value = self._kernels["begin"](state, self._where, depth, float(alpha), float(beta), int(drawn))
        if not opened:
            self._value = float(value)

    @property
    def nodes(self):
        return int(self._control["nodes"])

    def advance(self, budget):
        """Search on for about ``budget`` nodes; return whether the search is complete."""
        if self._value is None and self._kernels["advance"](self._state, self._where, self._values, int(budget)):
            self._value = float(self._frames["value"][0])
        return self._value is not None

    def result(self):
        """Return what was found so far."""
        complete, move, values = self._value is not None, None, {}
        value = self._value if complete else -math.inf
        if self._moving:
            exact = np.flatnonzero(~np.isnan(self._values))
            values = dict(zip(self._moves[exact].tolist(), self._values[exact].tolist(), strict=True))
            root = self._frames[0]
            value, move = float(root["value"]), None if root["best"] < 0 else int(root["best"])
        evaluated = int(self._control["evaluated"])
        return ExpectiminimaxResult(value, self._bound(value, complete), complete, move, values, self.nodes, evaluated)

    def _bound(self, value, complete):
        if not complete:
            return LOWER
        alpha, beta = self._window
        return UPPER if value <= alpha else LOWER if value >= beta else EXACT
