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
"""

import numpy as np

from ..addresses import float64s, int16s, int64s, uint64s
from ..games import lanes
from ..games.interface import CHANCE, MAX_DRAWS, MAX_MOVES

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

# A frame (int64): a state on the way to where the search is. NEXT and END are of each group.
PLACING, LEFT, GROUPS, GROUP, BEST = range(5)  # LEFT: plies after a move; GROUP: at work, or OVER
NEXT = 5
END = NEXT + MAX_DRAWS
FRAME_SIZE = END + MAX_DRAWS
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
        frames[END + groups - 1] = kept
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
        frames[NEXT], frames[END], groups = first, first + n, 1
    left -= plies
    if 0 < control[ORDER] <= left:
        for k in range(groups):
            in_order(s, where, frames[NEXT + k], frames[END + k], not placing)
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
        if frames[NEXT + k] < frames[END + k]:
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
            last = last and frames[NEXT + j] == frames[END + j]
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
