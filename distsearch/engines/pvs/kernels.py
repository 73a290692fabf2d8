"""Principal-variation search with a transposition table, over any game of two players with zero sum.

Fail-soft alpha-beta: the first move of a node gets the node's window. The others get a *null window*, which only tells
whether they are better, and more of the window if they are (Marsland and Campbell 1982): 1.2 times fewer nodes than
with full windows. With a window that is null at the root, all are. A driver asks the questions, see ``drivers``; the
table makes the next answer cheaper than the last. It saves 2.5 times the nodes at depth 10, 3 times in Othello's end
games, 15 to 80 times in Connect 4. Killer moves and history were tried at depth 11 and 12: killers cost a third more
nodes where moves are in a slow order already, and saved 2% in the last two plies; history cost 3%.

One template serves searches to the end of the game (``EXACT``), where ``depth_left`` counts the moves that are left in
it, and searches of a depth, where it counts plies. Then a table entry answers only for its own depth, since a score
must not depend on what was searched before. What a game knows beyond its rules comes in by hooks, see
``games.interface``.

Like ``alphabeta``, the search can be paused: a stack of frames in a numpy array, and plain recursion for null windows
up to the depth ``bottom``. Kernels reach everything through the control block ``c``, see ``layout``. Scores, bounds and
depths are int64, scores the side to move's; hashes and table data are uint64.
"""

import numpy as np

from ...core.jit import compiled, inlined, outlined
from ...core.pointers import int16s, int64s, uint64s
from ...games import lanes
from ...games.interface import END, PASS
from . import abdada, visits
from . import table as tt
from .abdada import LOOK_EVERY, PATIENCE, WAIT, mark, probe_order, ranks_at, store_order, wait_for, wait_for_order
from .layout import frame_at
from .remote_hosts import begin_question, belongs_to_remote_host, tell

# bound for each game, and by the engine
bounds = solver_moves = canonical = final = key = kind = moves = play = order_moves = resolved = attempted = None
start_probe = finish_probe = None
SMALL = -1  # depth up to which ``resolved`` is asked first
SUBTREES = False  # whether ``attempted`` is tried before a frame is opened
EXACT = True  # to the end of the game; else by depth
SELECTIVE = False  # by depth, with ``probcut``

INFINITY = np.int64(30_000)
_EXPENSIVE = np.int64(10_000)  # nodes a rank must have spent below a node for other hosts to be told of it: half a ms
ROOT = np.uint64(0x23EC647659359ACD)  # xor a hash: that of a root, see ``root_hash``
RESOLVED = np.int64(-1)  # instead of a number of moves: the score is known well enough
NO_MOVE = tt.NO_MOVE


def hashed(s, r, c):
    """Hash of a state, the same for symmetric ones, another for another game, board or option."""
    return key(canonical(s, r), r) ^ c.salt


def root_hash(s, r, c):
    """Return the hash (uint64) of the table entry that belongs to a root alone.

    Ranks that share a search take the move of this entry as one that has its lower bound. For that the entry of
    ``hashed`` will not do: symmetric states, which share it, have other moves, and an inner node keeps the lower bound
    of an earlier search next to the move of the latest one.
    """
    return key(s, r) ^ c.salt ^ ROOT


def ended(s, r, c):
    """Value of a finished game."""
    score = np.int64(final(s, r))
    return score + c.win_bonus if score > 0 else score - c.win_bonus if score < 0 else score


def depth_left_after(depth_left, m):
    """Return the depth left after move m: a pass takes a ply, but no move of the game."""
    return depth_left - (np.int64(m != PASS) if EXACT else np.int64(1))


def entry_usable(data, depth_left):
    """Whether an entry's bounds hold for this depth."""
    return EXACT or tt.depth_of(data) == depth_left < tt.MAX_DEPTH


def transposition_cut(s, r, c, out, at, n, depth_left, beta):
    """Return the value of a move to a position that the table knows to be bad enough, or −INFINITY.

    The enhanced transposition cut-off (Schaeffer and Plaat 1996): 1.02 (Othello) or 1.16 times fewer nodes.
    """
    for i in range(at, at + n):
        m = np.int64(out[i])
        child, _ = play(s, r, m)
        h = hashed(child, r, c)
        data, shared = tt.probe_l1(c.table, h), False
        if data == 0 and depth_left > c.defer_from:
            data, shared = tt.probe_shared(c.table, h), True
        if data != 0 and -tt.high_of(data) >= beta and entry_usable(data, depth_left_after(depth_left, m)):
            count_hit(c, data, shared)
            return -tt.high_of(data)
    return -INFINITY


@compiled
def count_hit(c, data, shared):
    """Count an entry that is used; shared: whether the shared table had it."""
    c.hits += 1
    c.shared_hits += shared
    c.evaluated += tt.is_cut_off(data)


def apply_entry(c, data, depth_left, low, high, shared):
    """Return (low, high, move) of a node with an entry: its bounds, if they hold, narrow those that are known."""
    if entry_usable(data, depth_left):
        count_hit(c, data, shared)
        low, high = max(low, tt.low_of(data)), min(high, tt.high_of(data))
    return low, high, tt.move_of(data)


def put_in_order(s, c, at, n, depth_left, beta, h):
    """Put the n moves at ``at`` in the learnt order, if the engine has one, and share it with ranks in the same search.

    h: hash of the node (uint64).
    """
    out, scores = int16s(c.moves), int64s(c.scores)
    if depth_left < c.share_order_from:
        order_moves(s, c, at, n, depth_left, beta)
    elif not (probe_order(c.table, h, out, scores, at, n) or wait_for_order(c.table, h, out, scores, at, n)):
        order_moves(s, c, at, n, depth_left, beta)
        store_order(c.table, h, out, scores, at, n)


@inlined  # 1.15 times the nodes a second
def probe_node(s, c, at, depth_left, alpha, beta):
    """Return (n, best, ceiling, hash) of a node: n moves, written at ``at``, and bounds; RESOLVED if best is enough.

    ``best`` is a lower bound of the score, ``ceiling`` an upper one, RESOLVED means best >= beta or best is an upper
    bound that is at most alpha.
    """
    r, nothing = uint64s(c.rules), np.uint64(0)
    if depth_left <= SMALL:
        known, best = resolved(s, r, c, depth_left, beta)
        if known:
            return RESOLVED, best, INFINITY, nothing
    h, data, move, shared = nothing, nothing, NO_MOVE, False
    if depth_left >= c.table_from:
        h = hashed(s, r, c)
        tt.prefetch_l1(c.table, h)
        if depth_left >= c.table.shared_from:
            tt.prefetch_shared(c.table, h)
    low, high, note = bounds(s, r, depth_left, beta)
    if low >= beta or high <= alpha:
        return RESOLVED, low if low >= beta else high, high, nothing
    if depth_left >= c.table_from:
        data = tt.probe_l1(c.table, h)
        # of deferrable nodes other ranks may know more by now than the L1 table, which is this rank's own
        shared = (data == 0 or depth_left >= c.defer_from) and depth_left >= c.table.shared_from
        if data != 0:
            low, high, move = apply_entry(c, data, depth_left, low, high, False)
            if low >= beta or high <= alpha:
                return RESOLVED, low if low >= beta else high, high, h
    out = int16s(c.moves)
    n = solver_moves(s, r, depth_left, note, out, int64s(c.scores), at)
    if n == 0:
        return RESOLVED, ended(s, r, c), high, h
    if shared:
        data = tt.probe_shared(c.table, h)
        if data != 0:
            low, high, far_move = apply_entry(c, data, depth_left, low, high, True)
            move = far_move if far_move != NO_MOVE else move
            if low >= beta or high <= alpha:
                return RESOLVED, low if low >= beta else high, high, h
    if SUBTREES and depth_left < c.defer_from:  # nodes that ranks share are searched by frames
        known, best = attempted(s, r, c, depth_left, beta, c.subtree_nodes)
        if known:
            return RESOLVED, best, high, h
    if depth_left >= c.cut_from:
        bound = transposition_cut(s, r, c, out, at, n, depth_left, beta)
        if bound >= beta:
            return RESOLVED, bound, high, h
    if depth_left >= c.order_from:  # below it no score is read, see is_deferrable, and no order is shared
        put_in_order(s, c, at, n, depth_left, beta, h)
        if move != NO_MOVE:
            scored_move_to_front(out, int64s(c.scores), at, n, move)
    elif move != NO_MOVE:
        move_to_front(out, at, n, move)
    return n, low, high, h


@compiled
def scored_move_to_front(out, scores, at, n, move):
    """Put a move first, and its score, if it is there; the others keep their order."""
    for i in range(at, at + n):
        if out[i] == move:
            score = scores[i]
            for j in range(i, at, -1):
                out[j], scores[j] = out[j - 1], scores[j - 1]
            out[at], scores[at] = move, score
            break


@compiled
def move_to_front(out, at, n, move):
    """Put a move first, if it is there; the others keep their order."""
    for i in range(at, at + n):
        if out[i] == move:
            for j in range(i, at, -1):
                out[j] = out[j - 1]
            out[at] = move
            break


@compiled
def bounds_by(best, alpha, beta, floor, ceiling):
    """Return the bounds of a score by a search's answer and by what was known before."""
    return max(floor, best) if best > alpha else floor, min(ceiling, best) if best < beta else ceiling


@compiled
def store_result(c, h, best, alpha, beta, best_move, floor, ceiling, depth_left, before):
    """Write a search's answer to the tables, with what was known of the other bound."""
    if depth_left >= c.table_from:
        c.stores += 1
        low, high = bounds_by(best, alpha, beta, floor, ceiling)
        tt.store(c.table, h, tt.packed(c.table, low, high, best_move, depth_left, c.evaluated != before), depth_left)


@outlined
def descend(s, c, at, depth_left, beta):
    """Value of s, fail-soft, by recursion: at least beta, or less than it, as the true one is."""
    before = c.evaluated
    n, best, ceiling, h = probe_node(s, c, at, depth_left, beta - np.int64(1), beta)
    if n == RESOLVED:
        return best
    floor, best_move = best, NO_MOVE
    out = int16s(c.moves)
    for i in range(at, at + n):
        m = np.int64(out[i])
        child, _ = play(s, uint64s(c.rules), m)
        c.nodes += 1
        value = -descend(child, c, at + n, depth_left_after(depth_left, m), np.int64(1) - beta)
        if value > best:
            best, best_move = value, m
            if best >= beta:
                break
    store_result(c, h, best, beta - np.int64(1), beta, best_move, floor, ceiling, depth_left, before)
    return best


@outlined
def open_root(s, c, depth_left, alpha, beta):
    """Open the frame of the root. Bounds and table are not asked: a move has to be found, whatever they say."""
    r, out = uint64s(c.rules), int16s(c.moves)
    low, high, note = bounds(s, r, depth_left, beta)
    n = np.int64(0)
    if low < high:
        n = np.int64(solver_moves(s, r, depth_left, note, out, int64s(c.scores), 0))
    if n == 0:  # none worth a search: all lose, or one wins at once
        n = np.int64(moves(s, r, out, 0))
    h = hashed(s, r, c)
    put_in_order(s, c, np.int64(0), n, depth_left, beta, h)
    data = tt.probe_l1(c.table, h)
    if data != 0:
        scored_move_to_front(out, int64s(c.scores), np.int64(0), n, tt.move_of(data))
    begin_question(c.table, alpha, depth_left)
    open_frame(c, 0, 0, n, alpha, beta, -INFINITY, INFINITY, depth_left, root_hash(s, r, c), c.evaluated)
    if c.visits_from < tt.NEVER:
        visits.enter(c.visits, c.nodes, np.int64(h), depth_left, alpha, beta)


@compiled
def open_frame(c, top, first, n, alpha, beta, best, ceiling, depth_left, h, before):
    """Begin the frame of index ``top`` with what ``probe_node`` found: n moves from ``first`` on, bounds and hash."""
    c.top = top
    f = frame_at(c.frames, top)
    f.next = f.again = f.probe = f.marked = f.waits = 0
    f.count, f.first, f.alpha, f.beta, f.depth_left = n, first, alpha, beta, depth_left
    f.undeferred = n
    f.best = f.floor = best
    f.ceiling, f.best_move, f.hash = ceiling, NO_MOVE, h
    f.evaluated_before, f.nodes_before = before, c.nodes


@compiled
def begin_probes(c):
    """Have shallow searches come first at the last frame's node, if its window is null and it has a choice of moves."""
    f = frame_at(c.frames, c.top)
    f.probe = f.beta - f.alpha == 1 and f.count > 1


@compiled
def defer(c, f):
    """Put a frame's next move behind all others, since another rank searches it."""
    out, scores = int16s(c.moves), int64s(c.scores)
    at, last = f.first + f.next, f.first + f.count - 1
    m, score = out[at], scores[at]
    for i in range(at, last):
        out[i], scores[i] = out[i + 1], scores[i + 1]
    out[last], scores[last] = m, score
    f.undeferred -= 1


@compiled
def least_score_to_join(c, f, ranks):
    """Return what the score of a frame's next move must reach for a rank to join the ``ranks`` that search it.

    Passing it over for the next move is speculation: nothing is lost by it unless the move cuts. So the more likely
    that is, the rather a rank joins, but where many ranks share a small subtree they have too little to do in it. A
    subtree takes twice as many ranks for each two plies more, and a ply counts as ``score_per_ply`` of the score.
    """
    plies_short = c.one_rank_depth - f.depth_left
    while ranks > 1:
        plies_short += 2
        ranks //= 2
    score = min(c.likely_cut + c.score_per_ply * plies_short, c.max_score)
    if f.next > 0:  # where the first moves have failed, another one seldom cuts
        score += c.later_score
    return score + c.unit * f.beta


@compiled
def expected_score(c, f):
    """Return the score (int64, in units of the learnt order) that a frame's next move is expected to have.

    For a first move this is the value of its quick search. Once that move has failed, its value was too high, and the
    parent's quick search of the move to this node is the better estimate of the node: from it is taken by how much
    the next move's value is below the first one's.
    """
    scores = int64s(c.scores)
    value, top = scores[f.first + f.next], c.top
    if f.next == 0 or top == 0:
        return value
    above = frame_at(c.frames, top - 1)
    if above.count == 1:  # the only move of a node has no quick search
        return value
    return value - scores[f.first] - scores[above.first + above.next - 1]


@compiled
def is_deferrable(c, f, ranks):
    """Whether a frame's next move is left to the ``ranks`` that are at it, rather than searched together with them.

    A move after which the others are probably not needed is not: the first one or, where moves have scores, one that is
    likely to cut. Where none is, a null window has no such move, for no move's score changes the others' windows. At a
    node so small that ranks would only do the same work twice, every move is.
    """
    if f.depth_left <= c.wait_up_to:
        return True
    if f.depth_left < c.order_from or f.beta - f.alpha > 1:
        return f.next > 0
    return expected_score(c, f) < least_score_to_join(c, f, ranks)


@outlined
def least_crowded_first(like, c, f, top):
    """Of a frame's deferred moves, put that one first which the fewest ranks search."""
    r, out, scores = uint64s(c.rules), int16s(c.moves), int64s(c.scores)
    s = lanes.load(like, uint64s(c.states), top * len(like))
    first, best, least = f.first + f.next, f.first + f.next, np.int64(1 << 40)
    for i in range(first, f.first + f.count):
        child, _ = play(s, r, np.int64(out[i]))
        ranks = ranks_at(c.table, hashed(child, r, c))
        if ranks < least:
            best, least = i, ranks
    m, score = out[best], scores[best]
    for i in range(best, first, -1):
        out[i], scores[i] = out[i - 1], scores[i - 1]
    out[first], scores[first] = m, score


@compiled
def unmark(c, f):
    """Take away the mark that a frame has for its move at work; callers check that: a call costs 2% of a search."""
    abdada.unmark(c.table, f.marked)
    f.marked = 0


@compiled
def unmark_all(c, first):
    """Take away the marks of all frames but the last, from a frame on."""
    for i in range(first, c.top):
        f = frame_at(c.frames, i)
        if f.marked != 0:
            unmark(c, f)


@outlined
def probe_path(c):
    """Take in what other ranks have found of the nodes on the path: a frame that is answered ends those above it."""
    for i in range(c.top + 1):  # the cache misses of all frames at once
        f = frame_at(c.frames, i)
        if f.depth_left < c.table.shared_from:
            break
        tt.prefetch_shared(c.table, f.hash)
    for i in range(c.top + 1):
        f = frame_at(c.frames, i)
        if f.depth_left < c.table.shared_from:
            break
        data = tt.probe_shared(c.table, f.hash)
        if data == 0 or not entry_usable(data, f.depth_left):
            continue
        low, high, move = max(f.floor, tt.low_of(data)), min(f.ceiling, tt.high_of(data)), tt.move_of(data)
        if low < f.beta and high > f.alpha and low < high or i == 0 and move == NO_MOVE and high > f.alpha:
            continue
        count_hit(c, data, True)
        unmark_all(c, i)
        if c.visits_from < tt.NEVER:
            visits.give_up(c.visits, c.nodes, i + 1)
        c.top = i
        f.best = low if low >= f.beta or low >= high else high
        f.best_move, f.floor, f.ceiling = move, low, high
        f.next, f.probe, f.again = f.count, 0, 0
        break


@outlined
def advance(like, c):
    """Run the search on until it ends (True) or its budget of nodes is used up (False); ``like`` tells the width."""
    r, out, states = uint64s(c.rules), int16s(c.moves), uint64s(c.states)
    limit = c.nodes + c.waited + c.budget
    if c.visits_from < tt.NEVER and visits.is_full(c.visits):
        limit = np.int64(0)
    width = len(like)
    while True:
        if c.nodes >= c.next_look:
            if abdada.is_over(c):
                return False
            c.next_look = c.nodes + LOOK_EVERY
            probe_path(c)
        top = c.top
        f = frame_at(c.frames, top)
        if SELECTIVE and f.probe > 0:
            start_probe(like, c)
            continue
        beta, depth_left = f.beta, f.depth_left
        if f.next < f.count and f.best < beta:
            if c.nodes + c.waited >= limit:
                return False
            if c.nodes >= tt.EASY:
                c.table.shared_from = c.table.shared_from_later
            low = max(f.alpha, f.best)
            all_of_it = f.next == 0 or f.again or not c.null_windows
            high = beta if all_of_it else low + np.int64(1)
            shared = depth_left >= c.defer_from
            if shared and f.undeferred <= f.next < f.count - 1 and not f.again:
                least_crowded_first(like, c, f, top)
            m = np.int64(out[f.first + f.next])
            child, _ = play(lanes.load(like, states, top * width), r, m)
            if shared:
                # before the node is looked at: that may take thousands of nodes, in which others would begin with it
                h = hashed(child, r, c)
                ranks = ranks_at(c.table, h)
                begun = ranks > 0 or depth_left >= c.owned_from and belongs_to_remote_host(c.table, h)
                if begun and f.next < f.undeferred and not f.again and is_deferrable(c, f, ranks):
                    defer(c, f)
                    continue
                if ranks > 0 and depth_left <= c.wait_up_to and f.waits < PATIENCE:
                    f.waits += 1
                    c.waited += WAIT
                    wait_for(c.table, h)
                    c.next_look = 0
                    continue
                f.waits = 0
                mark(c.table, h, depth_left)
                f.marked = h
            f.next, f.again, f.given = f.next + 1, 0, high
            c.nodes += 1
            first, depth_left = f.first + f.count, depth_left_after(depth_left, m)
            if top == 0 and kind(child, r) == END:  # elsewhere moves that end the game are met by bounds
                value = -ended(child, r, c)
            elif depth_left <= c.bottom and low + 1 == high:
                value = -descend(child, c, first, depth_left, -low)
            else:
                before, nodes = c.evaluated, c.nodes
                n, best, ceiling, h = probe_node(child, c, first, depth_left, -high, -low)
                if n != RESOLVED and best < ceiling:
                    top += 1
                    lanes.store(states, top * width, child)
                    open_frame(c, top, first, n, -high, -low, best, ceiling, depth_left, h, before)
                    if depth_left >= c.visits_from:
                        visits.enter(c.visits, nodes, np.int64(h), depth_left, -high, -low)
                    if SELECTIVE:
                        begin_probes(c)
                    continue
                value = -best
            if f.marked != 0:
                unmark(c, f)
        else:
            h = f.hash
            floor, before = f.floor, f.evaluated_before
            if top == 0:
                root = hashed(lanes.load(like, states, 0), r, c)
                store_result(
                    c, root, f.best, f.alpha, beta, f.best_move, floor, f.ceiling, depth_left, f.evaluated_before
                )
                floor = -INFINITY
            store_result(c, h, f.best, f.alpha, beta, f.best_move, floor, f.ceiling, depth_left, before)
            if c.nodes - f.nodes_before >= _EXPENSIVE and depth_left >= c.defer_from:
                tell(c.table, h, tt.probe_l1(c.table, h))
            if depth_left >= c.visits_from or top == 0 and c.visits_from < tt.NEVER:
                visits.end(c.visits, c.nodes, np.int64(1))
                if visits.is_full(c.visits):
                    limit = np.int64(0)
            if top == 0:
                return True
            value, move = -f.best, f.best_move
            c.top = top - 1
            f = frame_at(c.frames, top - 1)
            if f.marked != 0:
                unmark(c, f)
            if SELECTIVE and f.probe > 0:
                finish_probe(like, c, f, -value, move)
                continue
        if value > f.best:
            f.best, f.best_move = value, out[f.first + f.next - 1]
            if f.alpha < value < f.beta and f.given < f.beta:  # better, but how much is not known
                f.next, f.again = f.next - 1, 1


# What engines specialise, in this order; those that pause a search come last.
TEMPLATES = (
    hashed,
    root_hash,
    ended,
    depth_left_after,
    entry_usable,
    transposition_cut,
    apply_entry,
    put_in_order,
    probe_node,
    descend,
    open_root,
)
PAUSABLE = probe_path, least_crowded_first, advance
