"""Principal-variation search with a transposition table, over any game of two players with zero sum.

Fail-soft alpha-beta: the first move of a node gets the node's window, the others are asked only whether they are better
(a *null window*), and get more of it if they are (Marsland and Campbell 1982): 1.2 times fewer boards than full
windows. With a window that is null at the root, all are. The questions come from a driver, see ``drivers``; the table
makes the next answer cheaper than the last. It saves 2.5 times the boards at depth 10, 3 times in Othello's end games,
15 to 80 times in Connect 4. Killer moves and history were tried at depth 11 and 12: killers cost a third more boards
where moves are in a dear order already, and saved 2% in the last two plies; history cost 3%.

One template serves searches to the end of the game (``EXACT``), where ``left`` counts the moves that are left in it,
and searches of a depth, where it counts plies. Then a table entry answers only for its own depth, since a score must
not depend on what was searched before. What a game knows beyond its rules comes in by hooks, see ``games.interface``.

Like ``alphabeta``, it can be paused: an explicit stack of frames in numpy arrays above, and plain recursion for null
windows where at most ``BOTTOM`` is left. All arrays are reached through the control array, see ``addresses``: templates
take it, or its address ``where``. Scores, bounds and what is left are int64 and the side to move's, hashes and table
data uint64.
"""

import numpy as np

from ...core.jit import compiled, inlined
from ...core.pointers import int16s, int64s, uint64s
from ...games import lanes
from ...games.interface import END, PASS
from . import abdada, visits
from . import table as tt
from .abdada import LOOK_EVERY, PATIENCE, WAIT, enter, keep_order, kept_order, order_comes, ranks_at, wait_for
from .remote_hosts import begin_question, belongs_to_remote_host, tell

# bound for each game, and by the engine
ask = bounds = candidates = canonical = final = key = kind = moves = play = rank = settled = take = None
SMALL = -1  # what is left where ``settled`` is asked first
EXACT = True  # to the end of the game; else by depth
SELECTIVE = False  # by depth, with ``probcut``

INFINITY = np.int64(30_000)
_DEAR = np.int64(10_000)  # boards a rank must have spent below a node for other hosts to be told of it: half a ms
ROOT = np.uint64(0x23EC647659359ACD)  # xor a hash: that of a root, see ``root_hash``
SETTLED = np.int64(-1)  # instead of a number of moves: the score is known well enough
NO_MOVE = tt.NO_MOVE

# The control array (int64), after the table's own entries.
BOTTOM, BUDGET, BOARDS, TOP, HITS, STORES, SALT = range(tt.CONTROL_SIZE, tt.CONTROL_SIZE + 7)
TABLE_LEFT, CUT_LEFT = range(SALT + 1, SALT + 3)  # left from which on: table, enhanced transposition cut-offs
WIN = CUT_LEFT + 1  # a finished game is worth its final score plus this in the winner's favour
NULL_WINDOWS = WIN + 1  # 0: every move gets all of its node's window
EVALUATED = NULL_WINDOWS + 1  # leaves that the depth cut off, and table entries that rest on such
RULES, TABLES, MOVES, SCORES, STATES, FRAMES = range(EVALUATED + 1, EVALUATED + 7)  # addresses
WHERE = FRAMES + 1  # address of the control array itself
# for engines that order moves as ``learnt`` does: what is left from which on, how much more takes another ply, what the
# order of ``candidates`` counts beside it, and at how many BOARDS a short search gives up
RANK_LEFT, RANK_STEP, RANK_WEIGHT, RANK_END = range(WHERE + 1, WHERE + 5)
PROBCUT = RANK_END + 1  # address of what ``probcut`` looks up
# for searches that several ranks share, see ``abdada``: what is left from which on moves are deferred; at how many
# BOARDS the table is asked next about the nodes on the path; what a first move's score must reach, beyond UNIT times
# beta, for it to be likely to cut
SHARED_LEFT, LOOK_AT, LIKELY_CUT, UNIT = range(PROBCUT + 1, PROBCUT + 5)
# what is left at most at nodes whose moves are not searched together: they take less time than it takes to share them
APART_LEFT = UNIT + 1
WAITED = APART_LEFT + 1  # time for which this rank has waited for others, in boards
ORDER_LEFT = WAITED + 1  # what is left from which on ranks share the order of moves
# of a rank that has joined another one's search: address of that search's sequence number, the number to be found
# there, and where to write BOARDS to
SEQUENCE_AT, SEQUENCE, BOARDS_AT = range(ORDER_LEFT + 1, ORDER_LEFT + 4)
FAR_HITS = BOARDS_AT + 1  # those of the HITS that the far table had
VISITS_LEFT, VISITS = range(FAR_HITS + 1, FAR_HITS + 3)  # what is left from which on ``visits`` tells; their block
# how LIKELY_CUT changes, see ``least_score_to_join``: per ply, for a later move, at most; what is left at a node whose
# first move one rank is enough for
SCORE_PER_PLY, LATER_SCORE, MOST_SCORE, ONE_RANK_LEFT = range(VISITS + 1, VISITS + 5)
OWNED_LEFT = ONE_RANK_LEFT + 1  # what is left from which on moves belong to hosts
CONTROL_SIZE = OWNED_LEFT + 1  # drivers have theirs behind it

# A frame (int64): a node on the way from the root to where the search is.
NEXT, COUNT, FIRST, ALPHA, BETA, BEST, FLOOR, CEILING, LEFT, BEST_MOVE, HASH = range(11)
GIVEN = 11  # upper end of the window that the move at work got
AGAIN = 12  # 1: it is to get all of the window
BEFORE = 13  # EVALUATED before its node was looked at
OPENED = 14  # BOARDS when it was opened
PROBE = 15  # which shallow search is next or at work, see ``probcut``; 0: none
FRESH = 16  # so many of its moves come before those that are deferred
MARKED = 17  # hash of the position after the move at work, if this rank has marked it, else 0
WAITS = 18  # how often this rank has waited for the next move's answer
FRAME_SIZE = 19


def hashed(s, r, control):
    """Hash of a state, the same for symmetric ones, another for another game, board or option."""
    return key(canonical(s, r), r) ^ np.uint64(control[SALT])


def root_hash(s, r, control):
    """Return the hash (uint64) of the table entry that belongs to a root alone.

    Ranks that share a search take the move of this entry as one that has its lower bound. For that the entry of
    ``hashed`` will not do: symmetric states, which share it, have other moves, and an inner node keeps the lower bound
    of an earlier search beside the move of the latest one.
    """
    return key(s, r) ^ np.uint64(control[SALT]) ^ ROOT


def ended(s, r, control):
    """Value of a finished game."""
    score = np.int64(final(s, r))
    return score + control[WIN] if score > 0 else score - control[WIN] if score < 0 else score


def left_after(left, m):
    """Return what is left after move m: a pass takes a ply, but no move of the game."""
    return left - (np.int64(m != PASS) if EXACT else np.int64(1))


def answers(data, left):
    """Whether an entry's bounds hold for what is left."""
    return EXACT or tt.left_of(data) == left < tt.MOST_LEFT


def known_cut(s, r, control, out, at, n, left, beta):
    """Return the value of a move to a position that the table knows to be bad enough, or −INFINITY.

    The enhanced transposition cut-off (Schaeffer and Plaat 1996): 1.02 (Othello) or 1.16 times fewer boards.
    """
    for i in range(at, at + n):
        m = np.int64(out[i])
        child, _ = play(s, r, m)
        h = hashed(child, r, control)
        data, far = tt.look_near(control, h), False
        if data == 0 and left > control[SHARED_LEFT]:
            data, far = tt.look_far(control, h), True
        if data != 0 and -tt.high_of(data) >= beta and answers(data, left_after(left, m)):
            rely_on(control, data, far)
            return -tt.high_of(data)
    return -INFINITY


@compiled
def rely_on(control, data, far):
    """Count an entry that is used; far: whether the far table had it."""
    control[HITS] += 1
    control[FAR_HITS] += far
    control[EVALUATED] += tt.is_cut_off(data)


def weigh(control, data, left, low, high, far):
    """Return (low, high, move) of a node with an entry: its bounds, if they hold, narrow those that are known."""
    if answers(data, left):
        rely_on(control, data, far)
        low, high = max(low, tt.low_of(data)), min(high, tt.high_of(data))
    return low, high, tt.move_of(data)


def put_in_order(s, control, at, n, left, h):
    """Put the n moves at ``at`` in the learnt order, if the engine has one, and share it with ranks in the same search.

    h: hash of the node (uint64).
    """
    out, scores = int16s(control[MOVES]), int64s(control[SCORES])
    if left < control[ORDER_LEFT]:
        rank(s, control, at, n, left)
    elif not (kept_order(control, h, out, scores, at, n) or order_comes(control, h, out, scores, at, n)):
        rank(s, control, at, n, left)
        keep_order(control, h, out, scores, at, n)


@inlined  # 1.15 times the boards a second
def examine(s, control, at, left, alpha, beta):
    """Return (n, best, ceiling, hash) of a node: n moves, written at ``at``, and bounds; SETTLED if best is enough.

    ``best`` is a lower bound of the score, ``ceiling`` an upper one, SETTLED means best >= beta or best is an upper
    bound that is at most alpha.
    """
    r, nothing = uint64s(control[RULES]), np.uint64(0)
    if left <= SMALL:
        known, best = settled(s, r, control, left, beta)
        if known:
            return SETTLED, best, INFINITY, nothing
    h, data, move, far = nothing, nothing, NO_MOVE, False
    if left >= control[TABLE_LEFT]:
        h = hashed(s, r, control)
        tt.expect_near(control, h)
        if left >= control[tt.FAR_LEFT]:
            tt.expect_far(control, h)
    low, high, note = bounds(s, r, left, beta)
    if low >= beta or high <= alpha:
        return SETTLED, low if low >= beta else high, high, nothing
    if left >= control[TABLE_LEFT]:
        data = tt.look_near(control, h)
        # of shared nodes others may know more by now than the near table, which is this rank's own
        far = (data == 0 or left >= control[SHARED_LEFT]) and left >= control[tt.FAR_LEFT]
        if data != 0:
            low, high, move = weigh(control, data, left, low, high, False)
            if low >= beta or high <= alpha:
                return SETTLED, low if low >= beta else high, high, h
    out = int16s(control[MOVES])
    n = candidates(s, r, left, note, out, int64s(control[SCORES]), at)
    if n == 0:
        return SETTLED, ended(s, r, control), high, h
    if far:
        data = tt.look_far(control, h)
        if data != 0:
            low, high, far_move = weigh(control, data, left, low, high, True)
            move = far_move if far_move != NO_MOVE else move
            if low >= beta or high <= alpha:
                return SETTLED, low if low >= beta else high, high, h
    if left >= control[CUT_LEFT]:
        cut = known_cut(s, r, control, out, at, n, left, beta)
        if cut >= beta:
            return SETTLED, cut, high, h
    if left >= control[RANK_LEFT]:  # below it no score is read, see is_deferrable, and no order is shared
        put_in_order(s, control, at, n, left, h)
        if move != NO_MOVE:
            scored_move_to_front(out, int64s(control[SCORES]), at, n, move)
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
    """Return what a search's answer says of a score beside what was known of it."""
    return max(floor, best) if best > alpha else floor, min(ceiling, best) if best < beta else ceiling


@compiled
def remember(control, h, best, alpha, beta, best_move, floor, ceiling, left, before):
    """Keep a search's answer beside what was known of the other bound."""
    if left >= control[TABLE_LEFT]:
        control[STORES] += 1
        low, high = bounds_by(best, alpha, beta, floor, ceiling)
        tt.keep(control, h, tt.packed(control, low, high, best_move, left, control[EVALUATED] != before), left)


def descend(s, where, at, left, beta):
    """Value of s, fail-soft, by recursion: at least beta, or less than it, as the true one is."""
    control = int64s(where)
    before = control[EVALUATED]
    n, best, ceiling, h = examine(s, control, at, left, beta - np.int64(1), beta)
    if n == SETTLED:
        return best
    floor, best_move = best, NO_MOVE
    out = int16s(control[MOVES])
    for i in range(at, at + n):
        m = np.int64(out[i])
        child, _ = play(s, uint64s(control[RULES]), m)
        control[BOARDS] += 1
        value = -descend(child, where, at + n, left_after(left, m), np.int64(1) - beta)
        if value > best:
            best, best_move = value, m
            if best >= beta:
                break
    remember(control, h, best, beta - np.int64(1), beta, best_move, floor, ceiling, left, before)
    return best


def open_root(s, control, left, alpha, beta):
    """Open the frame of the root. Bounds and table are not asked: a move has to be found, whatever they say."""
    r, out = uint64s(control[RULES]), int16s(control[MOVES])
    low, high, note = bounds(s, r, left, beta)
    n = np.int64(0)
    if low < high:
        n = np.int64(candidates(s, r, left, note, out, int64s(control[SCORES]), 0))
    if n == 0:  # none worth a search: all lose, or one wins at once
        n = np.int64(moves(s, r, out, 0))
    h = hashed(s, r, control)
    put_in_order(s, control, np.int64(0), n, left, h)
    data = tt.look_near(control, h)
    if data != 0:
        scored_move_to_front(out, int64s(control[SCORES]), np.int64(0), n, tt.move_of(data))
    begin_question(control, alpha, left)
    open_frame(control, 0, 0, n, alpha, beta, -INFINITY, INFINITY, left, root_hash(s, r, control), control[EVALUATED])
    if control[VISITS_LEFT] < tt.NEVER:
        visits.enter(control[VISITS], control[BOARDS], np.int64(h), left, alpha, beta)


@compiled
def open_frame(control, top, first, n, alpha, beta, best, ceiling, left, h, before):
    """Begin the frame of index ``top`` with what ``examine`` found: n moves from ``first`` on, bounds and hash."""
    control[TOP] = top
    f = int64s(control[FRAMES] + np.int64(8 * FRAME_SIZE) * top)
    f[NEXT] = f[AGAIN] = f[PROBE] = f[MARKED] = f[WAITS] = 0
    f[COUNT], f[FIRST], f[ALPHA], f[BETA], f[LEFT] = n, first, alpha, beta, left
    f[FRESH] = n
    f[BEST] = f[FLOOR] = best
    f[CEILING], f[BEST_MOVE], f[HASH] = ceiling, NO_MOVE, np.int64(h)
    f[BEFORE], f[OPENED] = before, control[BOARDS]


@compiled
def begin_probes(control):
    """Have shallow searches come first at the last frame's node, if its window is null and it has a choice of moves."""
    f = int64s(control[FRAMES] + np.int64(8 * FRAME_SIZE) * control[TOP])
    f[PROBE] = f[BETA] - f[ALPHA] == 1 and f[COUNT] > 1


@compiled
def defer(control, f):
    """Put a frame's next move behind all others, since another rank is at it."""
    out, scores = int16s(control[MOVES]), int64s(control[SCORES])
    at, last = f[FIRST] + f[NEXT], f[FIRST] + f[COUNT] - 1
    m, score = out[at], scores[at]
    for i in range(at, last):
        out[i], scores[i] = out[i + 1], scores[i + 1]
    out[last], scores[last] = m, score
    f[FRESH] -= 1


@compiled
def least_score_to_join(control, f, ranks):
    """Return what the score of a frame's next move must reach for a rank to join the ``ranks`` that are at it.

    Passing it over for the next move is speculation: nothing is lost by it unless the move cuts. So the more likely
    that is, the rather a rank joins, but where many ranks share a small subtree they have too little to do in it. A
    subtree takes twice as many ranks for each two plies more, and a ply counts as SCORE_PER_PLY of the score.
    """
    plies_short = control[ONE_RANK_LEFT] - f[LEFT]
    while ranks > 1:
        plies_short += 2
        ranks //= 2
    score = min(control[LIKELY_CUT] + control[SCORE_PER_PLY] * plies_short, control[MOST_SCORE])
    if f[NEXT] > 0:  # where the first moves have failed, another one seldom cuts
        score += control[LATER_SCORE]
    return score + control[UNIT] * f[BETA]


@compiled
def expected_score(control, f):
    """Return the score (int64, in units of the learnt order) that a frame's next move is expected to have.

    For a first move this is the value of its short search. Once that move has failed, its value was too high, and the
    parent's short search of the move to this node is the better estimate of the node: from it is taken by how much
    the next move's value is below the first one's.
    """
    scores = int64s(control[SCORES])
    value, top = scores[f[FIRST] + f[NEXT]], control[TOP]
    if f[NEXT] == 0 or top == 0:
        return value
    above = int64s(control[FRAMES] + np.int64(8 * FRAME_SIZE) * (top - 1))
    if above[COUNT] == 1:  # the only move of a node has no short search
        return value
    return value - scores[f[FIRST]] - scores[above[FIRST] + above[NEXT] - 1]


@compiled
def is_deferrable(control, f, ranks):
    """Whether a frame's next move is left to the ``ranks`` that are at it, rather than searched together with them.

    Not a move that the others are likely not to be needed after: the eldest one or, where moves have scores, one that
    is likely to cut. Where none is, a null window has no eldest, for no move's score changes what is asked of others.
    Nor has a node so small that ranks would only do the same twice.
    """
    if f[LEFT] <= control[APART_LEFT]:
        return True
    if f[LEFT] < control[RANK_LEFT] or f[BETA] - f[ALPHA] > 1:
        return f[NEXT] > 0
    return expected_score(control, f) < least_score_to_join(control, f, ranks)


def least_crowded_first(like, control, f, top):
    """Of a frame's deferred moves, put that one first which the fewest ranks are at."""
    r, out, scores = uint64s(control[RULES]), int16s(control[MOVES]), int64s(control[SCORES])
    s = lanes.load(like, uint64s(control[STATES]), top * len(like))
    first, best, least = f[FIRST] + f[NEXT], f[FIRST] + f[NEXT], np.int64(1 << 40)
    for i in range(first, f[FIRST] + f[COUNT]):
        child, _ = play(s, r, np.int64(out[i]))
        ranks = ranks_at(control, hashed(child, r, control))
        if ranks < least:
            best, least = i, ranks
    m, score = out[best], scores[best]
    for i in range(best, first, -1):
        out[i], scores[i] = out[i - 1], scores[i - 1]
    out[first], scores[first] = m, score


@compiled
def leave(control, f):
    """Take away the mark that a frame has for its move at work; callers check that: a call costs 2% of a search."""
    abdada.leave(control, np.uint64(f[MARKED]))
    f[MARKED] = 0


@compiled
def leave_all(control, first):
    """Take away the marks of all frames but the last, from a frame on."""
    for i in range(first, control[TOP]):
        f = int64s(control[FRAMES] + np.int64(8 * FRAME_SIZE) * i)
        if f[MARKED] != 0:
            leave(control, f)


@compiled
def is_over(control):
    """Whether the search that this rank has joined is over; tells its owner how many boards it took here."""
    if control[SEQUENCE_AT] == 0:
        return False
    int64s(control[BOARDS_AT])[0] = control[BOARDS]
    return int64s(control[SEQUENCE_AT])[0] != control[SEQUENCE]


def look_at_path(control):
    """Take in what other ranks have found of the nodes on the path: a frame that is answered ends those above it."""
    for i in range(control[TOP] + 1):  # the cache misses of all frames at once
        f = int64s(control[FRAMES] + np.int64(8 * FRAME_SIZE) * i)
        if f[LEFT] < control[tt.FAR_LEFT]:
            break
        tt.expect_far(control, np.uint64(f[HASH]))
    for i in range(control[TOP] + 1):
        f = int64s(control[FRAMES] + np.int64(8 * FRAME_SIZE) * i)
        if f[LEFT] < control[tt.FAR_LEFT]:
            break
        data = tt.look_far(control, np.uint64(f[HASH]))
        if data == 0 or not answers(data, f[LEFT]):
            continue
        low, high, move = max(f[FLOOR], tt.low_of(data)), min(f[CEILING], tt.high_of(data)), tt.move_of(data)
        if low < f[BETA] and high > f[ALPHA] and low < high or i == 0 and move == NO_MOVE and high > f[ALPHA]:
            continue
        rely_on(control, data, True)
        leave_all(control, i)
        if control[VISITS_LEFT] < tt.NEVER:
            visits.give_up(control[VISITS], control[BOARDS], i + 1)
        control[TOP] = i
        f[BEST] = low if low >= f[BETA] or low >= high else high
        f[BEST_MOVE], f[FLOOR], f[CEILING] = move, low, high
        f[NEXT], f[PROBE], f[AGAIN] = f[COUNT], 0, 0
        break


def advance(like, where):
    """Run the search on until it ends (True) or its budget of boards is used up (False); ``like`` tells the width."""
    control = int64s(where)
    r, out, states = uint64s(control[RULES]), int16s(control[MOVES]), uint64s(control[STATES])
    limit = control[BOARDS] + control[WAITED] + control[BUDGET]
    if control[VISITS_LEFT] < tt.NEVER and visits.is_full(control[VISITS]):
        limit = np.int64(0)
    width = len(like)
    while True:
        if control[BOARDS] >= control[LOOK_AT]:
            if is_over(control):
                return False
            control[LOOK_AT] = control[BOARDS] + LOOK_EVERY
            look_at_path(control)
        top = control[TOP]
        f = int64s(control[FRAMES] + np.int64(8 * FRAME_SIZE) * top)
        if SELECTIVE and f[PROBE] > 0:
            ask(like, control)
            continue
        beta, left = f[BETA], f[LEFT]
        if f[NEXT] < f[COUNT] and f[BEST] < beta:
            if control[BOARDS] + control[WAITED] >= limit:
                return False
            if control[BOARDS] >= tt.EASY:
                control[tt.FAR_LEFT] = control[tt.FAR_LEFT_LATER]
            low = max(f[ALPHA], f[BEST])
            all_of_it = f[NEXT] == 0 or f[AGAIN] or not control[NULL_WINDOWS]
            high = beta if all_of_it else low + np.int64(1)
            shared = left >= control[SHARED_LEFT]
            if shared and f[FRESH] <= f[NEXT] < f[COUNT] - 1 and not f[AGAIN]:
                least_crowded_first(like, control, f, top)
            m = np.int64(out[f[FIRST] + f[NEXT]])
            child, _ = play(lanes.load(like, states, top * width), r, m)
            if shared:
                # before the node is looked at: that may take thousands of boards, in which others would begin with it
                h = hashed(child, r, control)
                ranks = ranks_at(control, h)
                begun = ranks > 0 or left >= control[OWNED_LEFT] and belongs_to_remote_host(control, h)
                if begun and f[NEXT] < f[FRESH] and not f[AGAIN] and is_deferrable(control, f, ranks):
                    defer(control, f)
                    continue
                if ranks > 0 and left <= control[APART_LEFT] and f[WAITS] < PATIENCE:
                    f[WAITS] += 1
                    control[WAITED] += WAIT
                    wait_for(control, h)
                    control[LOOK_AT] = 0
                    continue
                f[WAITS] = 0
                enter(control, h, left)
                f[MARKED] = np.int64(h)
            f[NEXT], f[AGAIN], f[GIVEN] = f[NEXT] + 1, 0, high
            control[BOARDS] += 1
            first, left = f[FIRST] + f[COUNT], left_after(left, m)
            if top == 0 and kind(child, r) == END:  # elsewhere moves that end the game are met by bounds
                value = -ended(child, r, control)
            elif left <= control[BOTTOM] and low + 1 == high:
                value = -descend(child, where, first, left, -low)
            else:
                before, boards = control[EVALUATED], control[BOARDS]
                n, best, ceiling, h = examine(child, control, first, left, -high, -low)
                if n != SETTLED and best < ceiling:
                    top += 1
                    lanes.store(states, top * width, child)
                    open_frame(control, top, first, n, -high, -low, best, ceiling, left, h, before)
                    if left >= control[VISITS_LEFT]:
                        visits.enter(control[VISITS], boards, np.int64(h), left, -high, -low)
                    if SELECTIVE:
                        begin_probes(control)
                    continue
                value = -best
            if f[MARKED] != 0:
                leave(control, f)
        else:
            h = np.uint64(f[HASH])
            floor = f[FLOOR]
            if top == 0:
                root = hashed(lanes.load(like, states, 0), r, control)
                remember(control, root, f[BEST], f[ALPHA], beta, f[BEST_MOVE], floor, f[CEILING], left, f[BEFORE])
                floor = -INFINITY
            remember(control, h, f[BEST], f[ALPHA], beta, f[BEST_MOVE], floor, f[CEILING], left, f[BEFORE])
            if control[BOARDS] - f[OPENED] >= _DEAR and left >= control[SHARED_LEFT]:
                tell(control, h, tt.look_near(control, h))
            if left >= control[VISITS_LEFT] or top == 0 and control[VISITS_LEFT] < tt.NEVER:
                visits.end(control[VISITS], control[BOARDS], np.int64(1))
                if visits.is_full(control[VISITS]):
                    limit = np.int64(0)
            if top == 0:
                return True
            value, move = -f[BEST], f[BEST_MOVE]
            control[TOP] = top - 1
            f = int64s(control[FRAMES] + np.int64(8 * FRAME_SIZE) * (top - 1))
            if f[MARKED] != 0:
                leave(control, f)
            if SELECTIVE and f[PROBE] > 0:
                take(like, control, f, -value, move)
                continue
        if value > f[BEST]:
            f[BEST], f[BEST_MOVE] = value, out[f[FIRST] + f[NEXT] - 1]
            if f[ALPHA] < value < f[BETA] and f[GIVEN] < f[BETA]:  # better, but how much is not known
                f[NEXT], f[AGAIN] = f[NEXT] - 1, 1
