"""Multi-ProbCut: nodes whose value a shallow search predicts are not searched deeply (Buro 1997).

Searches of a position to two depths agree but for an error: v(deep) = slope · v(shallow) + offset + error, the error
of deviation sigma; the numbers are found for each pair of depths and stage of the game by ``learning.probcut_fit``. So
there are two thresholds for v(shallow): from ``beta_threshold`` up, and from ``alpha_threshold`` down, v(deep) lies
above or below the node's null window with the probability that was asked for. Where the evaluation of the node itself
reaches one, a shallow search with a null window tests it, and its answer is the node's. Without looking at the
evaluation first, and asking on both sides, the searches that decide nothing cost more: at depth 12 and 0.9 the time
was 0.52 of that of a search of every line instead of 0.38, with the same errors.

A shallow search is a frame on the stack like any other, with the state of the frame below, so it can be paused, and may
have such nodes itself. What a node makes of it depends on state, depth and window alone. The root, and nodes with an
open window, are always searched in full. A frame's ``probe`` says which of its pairs of depths is next, or at work on
top of it, the shallowest first; 0: none, its moves are searched.
"""

from statistics import NormalDist

import numpy as np

from ...core.jit import compiled, outlined
from ...core.pointers import int16s, record_view, struct, uint64s
from ...games import lanes
from . import kernels, visits
from .layout import frame_at

evaluate = probe_node = moves_left = None  # bound for each game and evaluation

# The array (float64) that a frame's tests are looked up in begins with a head.
HEAD = struct(
    ("stage", np.float64),  # moves left that make a stage
    ("stages", np.float64),
    ("depths", np.float64),  # rows of a stage are for depths below this
    ("pairs", np.float64),  # rows of a depth
    ("limit", np.float64),  # no value beyond it is predicted: those are of finished games
)
# Then there are rows, by stage, depth and number.
ROW = struct(
    ("plies", np.float64),  # of the shallow search; 0: no row
    ("slope", np.float64),
    ("offset", np.float64),
    ("margin", np.float64),  # the error that is allowed for
)
_head_at, _row_at, _HEAD_SIZE = record_view(HEAD), record_view(ROW), HEAD.itemsize


def table(probability, stage, pairs, bound):
    """Return the tests that cut a node where that is right with a probability, if errors are normal.

    stage: moves left that make a stage; pairs: of an ``evaluation.probcut.Fit``; bound: the evaluation's.
    """
    rows = {}
    for pair in sorted(pairs):  # the shallowest first
        rows.setdefault((int(pair[0]), int(pair[1])), []).append(pair)
    stages, depths = (1 + max((key[i] for key in rows), default=0) for i in (0, 1))
    most, allowed = max(map(len, rows.values()), default=1), NormalDist().inv_cdf(probability)
    tests = np.zeros((stages, depths, most, len(ROW)))
    for key, found in rows.items():
        tests[key][: len(found)] = [(shallow, a, b, allowed * sigma) for _, _, shallow, a, b, sigma, *_ in found]
    return np.concatenate([[stage, stages, depths, most, bound or float(kernels.INFINITY)], tests.ravel()])


def thresholds(s, r, c, f):
    """Return (plies, beta_threshold, alpha_threshold) of the frame's next pair of depths.

    plies: 0 where there is none. A search that sees the end of every game is not predicted by another one.
    """
    tests, nothing = _head_at(c.probcut, 0), (np.int64(0), np.int64(0), np.int64(0))
    depth_left, moves, pair = f.depth_left, np.int64(moves_left(s, r)), f.probe - 1
    stage = moves // np.int64(tests.stage)
    if moves <= depth_left or stage >= np.int64(tests.stages) or depth_left >= tests.depths or pair >= tests.pairs:
        return nothing
    i = (stage * np.int64(tests.depths) + depth_left) * np.int64(tests.pairs) + pair
    row, end = _row_at(c.probcut + _HEAD_SIZE, i), float(kernels.INFINITY)
    if row.plies == 0:
        return nothing
    beta_threshold = np.int64(min(np.ceil((f.beta + row.margin - row.offset) / row.slope), end))
    alpha_threshold = np.int64(max(np.floor((f.alpha - row.margin - row.offset) / row.slope), -end))
    return np.int64(row.plies), beta_threshold, alpha_threshold


@outlined
def start_probe(like, c):
    """Open the frame of the next shallow search of the last frame's node, or take its answer if it is known at once."""
    r, top = uint64s(c.rules), c.top
    f = frame_at(c.frames, top)
    s = lanes.load(like, uint64s(c.states), top * len(like))
    limit = np.int64(_head_at(c.probcut, 0).limit)
    value = np.int64(evaluate(s, r, uint64s(c.tables)))
    while True:
        plies, beta_threshold, alpha_threshold = thresholds(s, r, c, f)
        if plies == 0:
            f.probe = 0
            return
        if value >= beta_threshold and -limit < beta_threshold <= limit:
            low = beta_threshold - 1
            break
        if value <= alpha_threshold and -limit <= alpha_threshold < limit:
            low = alpha_threshold
            break
        f.probe += 1
    before, nodes, first = c.evaluated, c.nodes, f.first + f.count
    n, best, ceiling, h = probe_node(s, c, first, plies, low, low + 1)
    if n == kernels.RESOLVED or best >= ceiling:
        apply_probe(c, f, best, kernels.NO_MOVE, beta_threshold, alpha_threshold)
    else:
        lanes.store(uint64s(c.states), (top + 1) * len(like), s)
        kernels.open_frame(c, top + 1, first, n, low, low + 1, best, ceiling, plies, h, before)
        if plies >= c.visits_from:
            visits.enter(c.visits, nodes, np.int64(h), plies, low, low + 1)
        kernels.begin_probes(c)


@outlined
def finish_probe(like, c, f, value, move):
    """Take the answer of a shallow search, its value and best move; its frame is gone, f is the last one now."""
    s = lanes.load(like, uint64s(c.states), c.top * len(like))
    _, beta_threshold, alpha_threshold = thresholds(s, uint64s(c.rules), c, f)
    apply_probe(c, f, value, move, beta_threshold, alpha_threshold)


@compiled
def apply_probe(c, f, value, move, beta_threshold, alpha_threshold):
    """Give the node of frame f its answer if a shallow value, or bound, decides; else go on, ``move`` first."""
    out = int16s(c.moves)
    if move != kernels.NO_MOVE:
        kernels.move_to_front(out, f.first, f.count, move)
    if value >= beta_threshold or value <= alpha_threshold:
        f.best = f.beta if value >= beta_threshold else f.alpha
        f.best_move = out[f.first]
        f.next, f.probe = f.count, 0
        c.evaluated += 1  # what is predicted is never proved
    else:
        f.probe += 1
