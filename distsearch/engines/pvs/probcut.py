"""Multi-ProbCut: nodes whose value a shallow search foretells are not searched deeply (Buro 1997).

Searches of a position to two depths agree but for an error: v(deep) = slope · v(shallow) + offset + error, the error
of deviation sigma; the numbers are found for each pair of depths and stage of the game by ``learning.probcut_fit``. So
there are two values that v(shallow) may reach, *enough* and *little*, from which on v(deep) lies above or below the
node's null window with the probability that was asked for. Where the evaluation of the node itself reaches one, a
shallow search with a null window asks whether that is so, and its answer is the node's. Without looking at the
evaluation first, and asking on both sides, the searches that decide nothing cost more: at depth 12 and 0.9 the time
was 0.52 of that of a search of every line instead of 0.38, with the same errors.

A shallow search is a frame on the stack like any other, with the state of the frame below, so it can be paused, and may
have such nodes itself. What a node makes of it depends on state, depth and window alone. The root, and nodes with an
open window, are always searched in full. A frame's PROBE says which of its pairs of depths, the shallowest first, is
next, or at work on top of it; 0: none, it is on with its moves.
"""

from statistics import NormalDist

import numpy as np

from ...core.jit import compiled
from ...core.pointers import float64s, int16s, int64s, uint64s
from ...games import lanes
from . import kernels, visits

evaluate = examine = moves_left = None  # bound for each game and evaluation

# The array (float64) that a frame's tests are looked up in: a head, then rows by stage, depth and number.
STAGE, STAGES = 0, 1  # moves left that make a stage; how many of them
DEPTHS, PAIRS = 2, 3  # rows of a stage are for depths below DEPTHS, PAIRS of them for each
LIMIT = 4  # no value beyond it is foretold: those are of finished games
HEAD = 5
SHALLOW, SLOPE, OFFSET, MARGIN = range(4)  # of a row: plies (0: none), the line, and the error that is allowed for
ROW = 4


def table(probability, stage, pairs, bound):
    """Return the array of tests for nodes to be cut where that is right with a probability, if errors are normal.

    stage: moves left that make a stage; pairs: of an ``evaluation.probcut.Fit``; bound: the evaluation's.
    """
    rows = {}
    for pair in sorted(pairs):  # the shallowest first
        rows.setdefault((int(pair[0]), int(pair[1])), []).append(pair)
    stages, depths = (1 + max((key[i] for key in rows), default=0) for i in (0, 1))
    most, allowed = max(map(len, rows.values()), default=1), NormalDist().inv_cdf(probability)
    tests = np.zeros((stages, depths, most, ROW))
    for key, found in rows.items():
        tests[key][: len(found)] = [(shallow, a, b, allowed * sigma) for _, _, shallow, a, b, sigma, *_ in found]
    return np.concatenate([[stage, stages, depths, most, bound or float(kernels.INFINITY)], tests.ravel()])


def thresholds(s, r, control, f):
    """Return (plies, enough, little) of the frame's next pair: what a shallow search has to reach, either way.

    plies: 0 where there is none. A search that sees the end of every game is none that another one foretells.
    """
    tests, nothing = float64s(control[kernels.PROBCUT]), (np.int64(0), np.int64(0), np.int64(0))
    left, rest, pair = f[kernels.LEFT], np.int64(moves_left(s, r)), f[kernels.PROBE] - 1
    stage = rest // np.int64(tests[STAGE])
    if rest <= left or stage >= np.int64(tests[STAGES]) or left >= tests[DEPTHS] or pair >= tests[PAIRS]:
        return nothing
    at = HEAD + ROW * ((stage * np.int64(tests[DEPTHS]) + left) * np.int64(tests[PAIRS]) + pair)
    if tests[at + SHALLOW] == 0:
        return nothing
    slope, offset, margin, end = tests[at + SLOPE], tests[at + OFFSET], tests[at + MARGIN], float(kernels.INFINITY)
    enough = np.int64(min(np.ceil((f[kernels.BETA] + margin - offset) / slope), end))
    little = np.int64(max(np.floor((f[kernels.ALPHA] - margin - offset) / slope), -end))
    return np.int64(tests[at + SHALLOW]), enough, little


def ask(like, control):
    """Open the frame of the next shallow search of the last frame's node, or take its answer if it is known at once."""
    r, top = uint64s(control[kernels.RULES]), control[kernels.TOP]
    f = int64s(control[kernels.FRAMES] + np.int64(8 * kernels.FRAME_SIZE) * top)
    s = lanes.load(like, uint64s(control[kernels.STATES]), top * len(like))
    limit = np.int64(float64s(control[kernels.PROBCUT])[LIMIT])
    value = np.int64(evaluate(s, r, uint64s(control[kernels.TABLES])))
    while True:
        plies, enough, little = thresholds(s, r, control, f)
        if plies == 0:
            f[kernels.PROBE] = 0
            return
        if value >= enough and -limit < enough <= limit:
            low = enough - 1
            break
        if value <= little and -limit <= little < limit:
            low = little
            break
        f[kernels.PROBE] += 1
    before, boards, first = control[kernels.EVALUATED], control[kernels.BOARDS], f[kernels.FIRST] + f[kernels.COUNT]
    n, best, ceiling, h = examine(s, control, first, plies, low, low + 1)
    if n == kernels.SETTLED or best >= ceiling:
        judge(control, f, best, kernels.NO_MOVE, enough, little)
    else:
        lanes.store(uint64s(control[kernels.STATES]), (top + 1) * len(like), s)
        kernels.open_frame(control, top + 1, first, n, low, low + 1, best, ceiling, plies, h, before)
        if plies >= control[kernels.VISITS_LEFT]:
            visits.enter(control[kernels.VISITS], boards, np.int64(h), plies, low, low + 1)
        kernels.begin_probes(control)


def take(like, control, f, value, move):
    """Take the answer of a shallow search, its value and best move; its frame is gone, f is the last one now."""
    s = lanes.load(like, uint64s(control[kernels.STATES]), control[kernels.TOP] * len(like))
    _, enough, little = thresholds(s, uint64s(control[kernels.RULES]), control, f)
    judge(control, f, value, move, enough, little)


@compiled
def judge(control, f, value, move, enough, little):
    """Give the node of frame f its answer if a shallow value, or bound, decides; else it is on, ``move`` first."""
    out = int16s(control[kernels.MOVES])
    if move != kernels.NO_MOVE:
        kernels.move_to_front(out, f[kernels.FIRST], f[kernels.COUNT], move)
    if value >= enough or value <= little:
        f[kernels.BEST] = f[kernels.BETA] if value >= enough else f[kernels.ALPHA]
        f[kernels.BEST_MOVE] = out[f[kernels.FIRST]]
        f[kernels.NEXT], f[kernels.PROBE] = f[kernels.COUNT], 0
        control[kernels.EVALUATED] += 1  # what is foretold is never proved
    else:
        f[kernels.PROBE] += 1
