"""What asks the questions of a search: resumable drivers outside its stack, and many searches in one call.

``mtd_solve`` closes in on an exact score by null windows (MTD: Plaat et al. 1996). ``iterative_deepening`` goes a ply
or two deeper from one search to the next, so that the table holds a good first move for most of its nodes (depth 10 to
12: 1.7 to 3 times fewer nodes).

A slice of a long search is a call from Python. A call for each small search would cost several times what the search
takes, so ``batch`` does one after another in compiled code, with the same results.
"""

import numpy as np

from ...core.jit import compiled, outlined
from ...core.pointers import int16s, int64s, uint64s
from ...games import lanes
from ...games.interface import END
from ..alphabeta import LINE_LENGTH
from . import table as tt
from . import visits
from .kernels import NO_MOVE, unmark_all
from .layout import control_view, frame_at

# bound for each game, and by the engine
advance = descend = ended = entry_usable = hashed = kind = depth_left_after = moves = moves_left = next_beta = None
attempted = bounds = drive = init_search = open_root = play = root_hash = search_result = solver_moves = None
EXACT = True
SUBTREES = False

_MOST_FOR_A_MOVE = np.int64(100_000)  # nodes spent on each candidate of a line's next move, some milliseconds


@compiled
def clamp_to_window(c, score):
    """Return a score as the search tells it: within its window, unless it is a part of a larger one."""
    return score if c.part else min(max(score, c.window_low), c.window_high)


@outlined
def mtd_solve(s, c):
    """Ask one question after another until the score of s is known (True) or the budget is used up (False).

    A budget of 0 ends it before the first question. The score is ``low``, and equal to ``high``, unless it lies beyond
    the window: ``low`` is then a bound that is at least ``window_high``, or ``high`` one that is at most
    ``window_low``.
    """
    r, end = uint64s(c.rules), c.nodes + c.budget
    while True:
        if c.top < 0:
            if c.defer_from < tt.NEVER:
                import_root_bounds(s, c)
            low, high = c.low, c.high
            known = low >= high or low >= c.window_high
            if high <= c.window_low or known and c.best_root_move != NO_MOVE:
                return True
            low, high = max(low, c.window_low), min(high, c.window_high)
            beta = next_beta(s, r, low, high, c.latest) if low < high else low
            beta = min(max(beta, low + (low < high)), high)
            open_root(s, c, c.root_depth, beta - 1, beta)
        c.budget = end - c.nodes
        if not advance(s, c):
            return False
        f = frame_at(c.frames, 0)
        c.latest, c.top = f.best, -1
        if f.best >= f.beta:
            c.low, c.best_root_move = f.best, f.best_move
        else:
            c.high = f.best


@outlined
def import_root_bounds(s, c):
    """Take in the bounds of the root that ranks in the same search have found."""
    data = tt.probe_shared(c.table, root_hash(s, uint64s(c.rules), c))
    if data == 0:
        return
    if tt.low_of(data) > c.low and tt.move_of(data) != NO_MOVE:
        c.low = c.latest = tt.low_of(data)
        c.best_root_move = tt.move_of(data)
    if tt.high_of(data) < c.high:
        c.high = c.latest = tt.high_of(data)


@outlined
def iterative_deepening(s, c):
    """Search s deeper and deeper until ``root_depth`` plies are done (True) or the budget is used up (False).

    The score, ``latest``, is that of ``depth`` plies, the latest depth that is done, and exact if it is within the
    window. Ends early where no line was cut off by the depth.
    """
    r, end, goal = uint64s(c.rules), c.nodes + c.budget, c.root_depth
    while True:
        if c.top < 0:
            if c.depth >= goal:
                return True
            c.evaluated = 0
            open_root(s, c, next_depth(s, r, c), c.window_low, c.window_high)
        c.budget = end - c.nodes
        if not advance(s, c):
            return False
        f = frame_at(c.frames, 0)
        c.latest, c.best_root_move, c.top = f.best, f.best_move, -1
        c.depth = f.depth_left if c.evaluated else goal


@outlined
def next_depth(s, r, c):
    """Return the depth to search next: all of it if the table has a move from a depth that is close."""
    goal, done, step = c.root_depth, c.depth, c.step
    data = tt.probe(c.table, hashed(s, r, c))
    if data != 0:
        done = max(done, min(tt.depth_of(data), goal - 1))
    return goal - (goal - done - 1) // step * step


def write_moves(s, r, c, depth_left, score):
    """Write the candidates for the next move of the principal variation to ``c.moves``; return their number."""
    out, n = int16s(c.moves), np.int64(0)
    if SUBTREES:
        low, high, note = bounds(s, r, depth_left, score)
        if low < high:
            n = np.int64(solver_moves(s, r, depth_left, note, out, int64s(c.scores), np.int64(0)))
    return n if n > 0 else np.int64(moves(s, r, out, 0))


@outlined
def follow_pv(s, c, depth_left, score, line, length):
    """Write moves that keep ``score``, which s is known to be worth, behind ``length`` others; return how many now.

    line: address of LINE_LENGTH int16. Goes on as long as the tables, or a search of what little is left, prove a move
    good enough.
    """
    r, out, path = uint64s(c.rules), int16s(c.moves), int16s(line)
    most_nodes = min(max(c.subtree_nodes, c.nodes >> 10), _MOST_FOR_A_MOVE)
    found = True
    while found and length < LINE_LENGTH and kind(s, r) != END and (EXACT or depth_left > 0):
        n = write_moves(s, r, c, depth_left, score)
        found, refuted = False, np.int64(0)
        searches = SUBTREES and n < 63  # as many as there are bits in ``refuted``
        for i in range((1 + searches) * n):  # the table alone first, then a search of each subtree
            m, bit = np.int64(out[i % n]), np.int64(1) << i % n
            child, _ = play(s, r, m)
            after = depth_left_after(depth_left, m)
            if kind(child, r) == END:
                found = -ended(child, r, c) >= score
            elif depth_left <= c.bottom:
                found = -descend(child, c, n, after, np.int64(1) - score) >= score
            else:
                data = tt.probe(c.table, hashed(child, r, c))
                found = data != 0 and entry_usable(data, after) and -tt.high_of(data) >= score
                if searches and not found and refuted & bit == 0:
                    limit = most_nodes if i >= n else np.int64(1)
                    known, value = refuted | bit == (1 << n) - 1, -score  # all others are refuted
                    if not known:
                        known, value = attempted(child, r, c, after, np.int64(1) - score, limit)
                    found = known and -value >= score
                    refuted |= bit if known else np.int64(0)
            if found:
                path[length], length = m, length + 1
                s, depth_left, score = child, after, -score
                break
    return length


@outlined
def begin(s, where, depth, low, high):
    """Start to search s; return False, with nothing done, if there is no room for so many moves.

    where: address of the control block.
    """
    c = control_view(where, 0)
    r, f = uint64s(c.rules), frame_at(c.frames, 0)
    if moves_left(s, r) > c.capacity:
        return False
    if c.repeatable:
        tt.forget_l1(c.table)
    lanes.store(uint64s(c.states), 0, s)
    searched = c.nodes
    c.nodes = c.evaluated = c.hits = c.shared_hits = c.stores = c.waited = c.table.replaced = 0
    if not c.part:
        c.table.lost = 0
    unmark_all(c, 0)
    if c.defer_from < tt.NEVER:
        c.next_look = 0
    c.top, c.latest, c.depth, c.best_root_move = -1, 0, 0, NO_MOVE
    c.window_low, c.window_high = low, high
    f.count, f.best_move = 0, NO_MOVE
    c.complete = init_search(s, r, c, depth)
    if c.visits_from < tt.NEVER:
        visits.begin(c.visits, searched, np.int64(hashed(s, r, c)), c.root_depth)
    return True


@compiled
def any_move(c):
    """Return the best move at the root so far, or the likeliest one; NO_MOVE before the first question."""
    f = frame_at(c.frames, 0)
    if c.best_root_move != NO_MOVE:
        return c.best_root_move
    if f.best_move != NO_MOVE:
        return f.best_move
    return np.int64(int16s(c.moves)[0]) if f.count > 0 else NO_MOVE


@outlined
def run(s, where):
    """Search on until the answer is known (True) or the budget is used up (False)."""
    return drive(s, control_view(where, 0))


@outlined
def extract_pv(s, where, line, brief):
    """Return (score, length): the score of s so far, and how many moves of its line were written at ``line``.

    line: address of LINE_LENGTH int16; brief: whether the best move will do. Without, the line goes as far as it can be
    proved, of a complete search whose score is within its window.
    """
    c, out = control_view(where, 0), int16s(line)
    r, f = uint64s(c.rules), frame_at(c.frames, 0)
    score, move, proved = search_result(s, r, c)
    if move == NO_MOVE:
        return score, np.int64(0)
    out[0], length = move, np.int64(1)
    if proved and not brief:
        nodes, evaluated, hits = c.nodes, c.evaluated, c.hits
        shared_hits, stores, replaced = c.shared_hits, c.stores, c.table.replaced
        child, _ = play(s, r, move)
        # by the depth of the latest search, which entries are of: it is less where the whole game takes less
        length = follow_pv(child, c, depth_left_after(f.depth_left, move), -score, line, length)
        # what this takes is not counted
        c.nodes, c.evaluated, c.hits = nodes, evaluated, hits
        c.shared_hits, c.stores, c.table.replaced = shared_hits, stores, replaced
    return score, length


def batch(like, where, states, requests, answers, lines, budget):
    """Do searches one after another until about ``budget`` nodes; return (how many, whether the next one is at work).

    states: their words, one state's after another's; requests, answers: REQUEST and ANSWER for each; lines: address of
    LINE_LENGTH int16 for each. A search takes a node of the budget at least, so that the budget bounds their number
    too. None is at work if all are done, or if frames have no room for the next one.
    """
    c, width = control_view(where, 0), len(like)
    for i in range(len(requests)):
        s = lanes.load(like, states, i * width)
        request, answer = requests[i], answers[i]
        own = request.budget
        if not begin(s, where, request.depth, request.low, request.high):
            return i, False
        if budget > 0 and not c.complete:
            c.budget = min(budget, own) if own > 0 else budget
            c.complete = drive(s, c)
        nodes = c.nodes
        if budget <= 0 or not c.complete and not 0 < own <= nodes:
            return i, True
        budget -= max(nodes, 1)
        answer.score, answer.line_length = extract_pv(s, where, lines + 2 * LINE_LENGTH * i, request.brief)
        answer.complete, answer.nodes, answer.evaluated = c.complete, nodes, c.evaluated
        answer.table_hits, answer.table_far_hits = c.hits, c.shared_hits
        answer.table_stores, answer.table_replacements = c.stores, c.table.replaced
    return len(requests), False
