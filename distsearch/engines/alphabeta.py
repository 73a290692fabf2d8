"""Fail-soft negamax alpha-beta, and plain minimax, over any game in which two players alternate with zero sum.

The engine can be paused. It runs on a stack of frames in numpy arrays, so that a search is data: it stops after a
budget of nodes and goes on later as if nothing had happened. Only subtrees of up to ``bottom`` plies, at most a few
thousand nodes, run as plain recursion. Both parts visit the same nodes in the same order with the same windows, so
where one hands over to the other never shows in a result or a count.

A *node* is a position reached by one applied move or pass; every visit counts. Nodes of ordering searches are counted
separately. Algorithm: Knuth and Moore 1975, in Fishburn's fail-soft form (1983).

With Rank-Cut a node searches only its first few moves; how many depends on the stage of the game and the plies left
(Lim and Lee 2006). The root's moves are all searched.

The alpha-beta engine for one game, board and evaluation: begin a search, run it in slices, read its result.
"""

from typing import NamedTuple

import numpy as np

from .. import games
from ..core import jit
from ..core.errors import UserError
from ..core.jit import compiled
from ..core.packing import packed, unpacked
from ..core.pointers import address, int64_struct, int64s, record_view, set_fields
from ..games import lanes
from ..games.interface import END, MAX_MOVES, PASS, as_state
from ..games.ordering import sort
from .saved_path import check_path, check_within, legal_part

kind = moves = ordered_moves = play = final = evaluate = None  # bound for each game and evaluation
RANK_CUT = False  # bound to True for searches with Rank-Cut

INFINITY = np.int64(1) << np.int64(40)

# What is asked for, and where the search is.
CONTROL = int64_struct(
    "prune",  # 1: alpha-beta, 0: minimax
    "pass_plies",  # plies that a pass costs: 1, or 0 when depth counts the moves left to the end
    "win_bonus",  # a finished game is worth its final score plus this in the winner's favour
    "static_order",  # 1: order moves by the game's knowledge
    "ordering_depth",  # of the searches that order moves, 0: none
    "bottom",  # plies left at which recursion takes over
    "budget",  # nodes (of both counts) after which to pause
    "nodes",  # so far
    "ordering_nodes",  # of ordering searches so far
    "evaluated",  # leaves that the depth limit cut off
    "top",  # index of the frame that is searched
    "ordering",  # 1 while an ordering search runs
    "kept_moves",  # address: int64 by plies left, how many moves a node searches, see ``evaluation.rank_cut``
)

# A node on the way from the root to where the search is.
FRAME = int64_struct(
    "next",  # index of its next move
    "count",  # moves
    "first",  # where the moves begin in the array of all frames'
    "alpha",
    "beta",
    "best",  # value so far
    "depth_left",
    "phase",  # SEARCHING or SORTING
    "line_length",  # moves of its best line
    "left_out",  # moves that Rank-Cut leaves out, behind the others
)
_control_at = record_view(CONTROL)
# What a paused search has in its control block.
_IN_PROGRESS = "nodes", "ordering_nodes", "evaluated", "top", "ordering"
SEARCHING, SORTING = 0, 1  # phases of a frame

LINE_LENGTH = 64  # moves of a principal variation that are kept
# ``bottom`` of ordering searches, whose depth is plies also where the search's own is moves to the end
_ORDERING_BOTTOM = 2
SHALLOW_MARGIN = 3  # an ordering search of depth D is worth its while where D + 3 plies are left


def finished(s, r, c):
    """Value of a finished game."""
    score = np.int64(final(s, r))
    return score + c.win_bonus if score > 0 else score - c.win_bonus if score < 0 else score


@jit.inlined
def leaf(s, r, tables, c):
    """Value of a position at the depth limit. As a call, for which LLVM takes it otherwise, it costs 8% of the rate."""
    if kind(s, r) == END:
        return finished(s, r, c)
    c.evaluated += 1
    return np.int64(evaluate(s, r, tables))


@jit.outlined
def descend(s, r, tables, out, at, depth, alpha, beta, c):
    """Value of s by plain recursion over depth > 0 plies, for the side to move. Counts its nodes."""
    n = ordered_moves(s, r, out, at) if c.static_order else moves(s, r, out, at)
    if n == 0:
        return finished(s, r, c)
    best = -INFINITY
    visited = np.int64(0)
    searched = n
    if RANK_CUT and not c.ordering:
        searched = min(n, int64s(c.kept_moves)[depth])
    for i in range(at, at + searched):
        m = np.int64(out[i])
        child, _ = play(s, r, m)
        visited += 1
        depth_left = depth - (np.int64(1) if m != PASS else c.pass_plies)
        if depth_left == 0:
            value = -leaf(child, r, tables, c)
        else:
            low = max(alpha, best) if c.prune else -INFINITY
            value = -descend(child, r, tables, out, at + n, depth_left, -beta, -low, c)
        if value > best:
            best = value
            if best >= beta:
                break
    if RANK_CUT and searched < n and best < beta:
        c.evaluated += 1  # as where the depth cuts off: the value is no proof
    c.nodes += visited
    return best


def advance(s, r, tables, words, frames, out, scores, lines, where):
    """Run the search on until it ends (True) or its budget of nodes is used up (False).

    s is any state (it tells the width); words (uint64, frames · width) are the frames' states; frames: a FRAME each;
    out (int16) and scores (int64) hold the frames' moves and their ordering scores one after another; lines (int16,
    frames · LINE_LENGTH) are the best lines from each frame; where: address of the control block.
    """
    c = _control_at(where, 0)
    width = len(s)
    limit = c.nodes + c.ordering_nodes + c.budget
    top = c.top
    while True:
        f = frames[top]
        first, n, i = f.first, f.count, f.next
        sorting = f.phase == SORTING
        if sorting and i == n:
            sort(out, scores, first, n)
            f.phase = SEARCHING
            f.next = 0
            c.ordering = 0
            if RANK_CUT:
                leave_out(f, top, c)
            continue
        if i < n and f.best < f.beta:
            if c.nodes + c.ordering_nodes >= limit:
                c.top = top
                return False
            f.next = i + 1
            m = np.int64(out[first + i])
            child, _ = play(lanes.load(s, words, top * width), r, m)
            if c.ordering:
                c.ordering_nodes += 1
            else:
                c.nodes += 1
            if sorting:
                depth_left, alpha, beta = c.ordering_depth - 1, -INFINITY, INFINITY
            else:
                depth_left = f.depth_left - (np.int64(1) if m != PASS else c.pass_plies)
                low = max(f.alpha, f.best) if c.prune else -INFINITY
                alpha, beta = -f.beta, -low
            if depth_left > (_ORDERING_BOTTOM if c.ordering else c.bottom):
                top += 1
                lanes.store(words, top * width, child)
                push(child, r, frames, out, top, first + n, depth_left, alpha, beta, c)
                continue
            before, evaluated = c.nodes, c.evaluated
            if depth_left == 0:
                value = -leaf(child, r, tables, c)
            else:
                value = -descend(child, r, tables, out, first + n, depth_left, alpha, beta, c)
            if c.ordering:
                c.ordering_nodes += c.nodes - before
                c.nodes, c.evaluated = before, evaluated
            above = frames[top + 1]
            above.line_length = 0
        else:
            if RANK_CUT and f.left_out > 0 and f.best < f.beta:
                c.evaluated += 1
            if n == 0:
                f.best = finished(lanes.load(s, words, top * width), r, c)
            if top == 0:
                c.top = 0
                return True
            value = -f.best
            top -= 1
            f = frames[top]
        # the value of a child has come back to frame top
        first, i = f.first, f.next - 1
        if f.phase == SORTING:
            scores[first + i] = value
        elif value > f.best:
            f.best = value
            keep_line(lines, frames, top, out[first + i])


@jit.outlined
def push(s, r, frames, out, top, first, depth, alpha, beta, c):
    """Open frame ``top`` for state s: write its moves at ``out[first:]`` and choose how they are ordered."""
    n = ordered_moves(s, r, out, first) if c.static_order else moves(s, r, out, first)
    f = frames[top]
    f.next = 0
    f.count = n
    f.first = first
    f.alpha = alpha
    f.beta = beta
    f.best = -INFINITY
    f.depth_left = depth
    f.line_length = 0
    f.left_out = 0
    f.phase = SEARCHING
    shallow = c.ordering_depth
    if shallow > 0 and n > 1 and not c.ordering and depth >= shallow + SHALLOW_MARGIN:
        f.phase = SORTING
        c.ordering = 1
    elif RANK_CUT and not c.ordering:
        leave_out(f, top, c)


def leave_out(f, top, c):
    """Have frame ``top``, whose moves are in order, search only those that Rank-Cut leaves."""
    kept = int64s(c.kept_moves)[f.depth_left]
    if top > 0 and f.count > kept:
        f.left_out = f.count - kept
        f.count = kept


@compiled
def keep_line(lines, frames, top, m):
    """Make the best line of frame ``top`` the move m, then the line of the frame above it."""
    f = frames[top]
    length = min(frames[top + 1].line_length, LINE_LENGTH - 1)
    start = top * LINE_LENGTH
    lines[start] = m
    for i in range(length):
        lines[start + 1 + i] = lines[start + LINE_LENGTH + i]
    f.line_length = length + 1


_BOTTOM = 2  # plies left to recursion: on 16×16 with the slowest evaluation, minimax needs 2 ms for them at most
_EXACT_BOTTOM = 6  # the same where depth counts the moves left in the game: 2,000 nodes at most


class Result(NamedTuple):
    """What a search found. Nodes are counted as ``alphabeta`` defines them."""

    score: int  # side to move's view
    complete: bool  # False: stopped early, and score is a lower bound from the moves searched so far
    line: list  # move codes, the best first; empty if the game is over
    nodes: int
    ordering_nodes: int
    evaluated: int  # leaves that the depth limit cut off; 0: every line was searched to the end of the game


def parse_ordering(text):
    """Return (static, shallow) of ``none``, ``static`` or ``shallow[:D]``; raises UserError."""
    name, _, depth = text.partition(":")
    if name in ("none", "static") and not depth and text == name:
        return int(name == "static"), 0
    if name == "shallow" and (text == name or depth.isdecimal() and 1 <= int(depth) <= 9):
        return 1, int(depth or 1)
    raise UserError(f"ordering '{text[:40]}' is not none, static or shallow[:D] with D from 1 to 9")


class AlphaBeta:
    """A pausable alpha-beta search.

    ``prune`` False makes it plain minimax; ``ordering`` is as ``parse_ordering`` takes it: the game's own order
    (static), or a search of each move to depth D before the real one (shallow), where the plies left pay for it.
    keep(moves left of the state, plies) -> how many moves a node searches, an int64 array by the plies left of it:
    Rank-Cut; None: all.
    """

    def __init__(self, game, rules, evaluation, prune=True, ordering="static", keep=None):
        static, shallow = parse_ordering(ordering)
        self._game, self._rules, self._tables = game, rules, evaluation.tables
        self._bound = evaluation.bound
        self.name = f"{games.tag(game)}_{evaluation.name}{'' if keep is None else '_rank_cut'}"
        templates = finished, leaf, descend, leave_out, push, advance
        functions = {**games.functions(game), "evaluate": evaluation.function, "RANK_CUT": keep is not None}
        self._kernels = jit.specialise_all(templates, self.name, functions)
        self._width, self._keep = game.words(rules), keep
        self._controls = np.zeros(1, CONTROL)
        self._control, self._where = self._controls[0], address(self._controls)
        set_fields(self._control, prune=prune, static_order=static, ordering_depth=shallow)
        self._allocate(game.moves_left(game.start(rules).state, rules))

    def _allocate(self, moves_left):
        # a pass may stand between any two moves, one frame holds the end, and one more the line that it lacks
        self._moves_left, frames = moves_left, 2 * moves_left + 4
        self._words = np.zeros(frames * self._width, np.uint64)
        self._frames = np.zeros(frames, FRAME)
        self._out = np.zeros(frames * MAX_MOVES, np.int16)
        self._scores = np.zeros(frames * MAX_MOVES, np.int64)
        self._lines = np.zeros(frames * LINE_LENGTH, np.int16)
        self._kept_moves = np.full(frames, MAX_MOVES, np.int64)
        set_fields(self._control, kept_moves=address(self._kept_moves))

    def compile(self):
        """Compile, or load from disk, every kernel, by a search of a few nodes."""
        self.begin(self._game.start(self._rules).state, 4)
        while not self.advance(100):
            pass
        self.result()

    def begin(self, state, depth=None, alpha=-INFINITY, beta=INFINITY):
        """Start a search of ``state`` to ``depth`` plies, or to the end of the game if None, in a window."""
        exact = depth is None
        control = self._control
        self._state = state
        moves_left = int(self._game.moves_left(state, self._rules))
        if moves_left > self._moves_left:
            self._allocate(moves_left)
        self._depth = moves_left if exact else min(depth, 2 * moves_left + 1)  # no line of play is longer
        set_fields(control, pass_plies=0 if exact else 1, win_bonus=0 if exact else self._bound)
        set_fields(control, bottom=_EXACT_BOTTOM if exact else _BOTTOM)
        set_fields(control, nodes=0, ordering_nodes=0, evaluated=0, top=0, ordering=0)
        self._words[: self._width] = state
        self._kept_moves[:] = MAX_MOVES
        if self._keep is not None and not exact:
            self._kept_moves[: self._depth + 1] = self._keep(moves_left, self._depth)
        self._complete = False
        self._push(alpha, beta)
        if self._depth == 0:
            self._frames["count"][0] = 0
            self._frames["best"][0] = self._kernels["leaf"](state, self._rules, self._tables, control)
            self._complete = True

    def _push(self, alpha, beta):
        self._kernels["push"](
            self._state, self._rules, self._frames, self._out, 0, 0, self._depth, int(alpha), int(beta), self._control
        )

    @property
    def nodes(self):
        """Nodes searched so far, those of ordering searches included."""
        return int(self._control["nodes"] + self._control["ordering_nodes"])

    def advance(self, budget):
        """Search on for about ``budget`` nodes; return whether the search is complete."""
        if not self._complete:
            self._control["budget"] = budget
            self._complete = bool(
                self._kernels["advance"](
                    self._state,
                    self._rules,
                    self._tables,
                    self._words,
                    self._frames,
                    self._out,
                    self._scores,
                    self._lines,
                    self._where,
                )
            )
        return self._complete

    def save(self):
        """Return the search begun last as bytes."""
        frames = int(self._control["top"]) + 1
        last = self._frames[frames - 1]
        moves = last["first"] + last["count"]
        return packed(
            np.array([self._control[name] for name in _IN_PROGRESS]),
            self._words[: frames * self._width],
            self._frames[:frames].view(np.int64),
            self._out[:moves],
            self._scores[:moves],
            self._lines[: frames * LINE_LENGTH],
        )

    def restore(self, content):
        """Go on with a search that ``save`` gave and that is not complete; one like it must have been begun.

        Raises ValueError, with the begun search as it was, for what no such search could have given.
        """
        places = np.zeros(len(_IN_PROGRESS), np.int64), self._words, self._frames.view(np.int64)
        progress, words, frames, *others = unpacked(content, *places, self._out, self._scores, self._lines)
        saved, frames = dict(zip(_IN_PROGRESS, progress.tolist(), strict=True)), frames.view(FRAME).copy()
        self._check(saved, words, frames, *others)
        for place, part in zip((self._out, self._scores, self._lines), others, strict=True):
            place[: len(part)] = part
        for k, frame in enumerate(frames):  # a line is shown: its moves must be some
            line, state = others[2][k * LINE_LENGTH :], as_state(words[k * self._width : (k + 1) * self._width])
            line = legal_part(self._game, self._rules, state, line[: frame["line_length"]].tolist())
            frame["line_length"] = len(line)
        self._words[: len(words)], self._frames[: len(frames)] = words, frames
        set_fields(self._control, **saved)

    def _check(self, saved, words, frames, out, scores, lines):
        """Raise ValueError unless a search from the begun one's state could be as it was saved."""
        count, width = len(frames), self._width
        whole = len(words) == count * width and len(lines) == count * LINE_LENGTH and len(out) == len(scores)
        if not whole or count == 0 or saved["top"] != count - 1:
            raise ValueError("arrays of other lengths")
        if words[:width].tolist() != self._words[:width].tolist():
            raise ValueError("another position")
        progress = np.array([tuple(saved.values())], [(name, np.int64) for name in saved])
        check_within(progress, **dict.fromkeys(("nodes", "ordering_nodes", "evaluated"), (0, 1 << 60)))
        check_within(frames, **dict.fromkeys(("alpha", "beta", "best"), (-int(INFINITY), int(INFINITY))))
        check_within(frames, phase=(SEARCHING, SORTING), depth_left=(1, self._depth))
        check_within(frames, line_length=(0, LINE_LENGTH), left_out=(0, MAX_MOVES))
        if frames["depth_left"][0] != self._depth or saved["ordering"] != np.count_nonzero(frames["phase"] == SORTING):
            raise ValueError("another question")
        pass_plies, ordering_depth = (int(self._control[name]) for name in ("pass_plies", "ordering_depth"))
        if saved["ordering"] and ordering_depth == 0:
            raise ValueError("another ordering")

        def follows(k, m):
            before, here = frames[k - 1], int(frames["depth_left"][k])
            if before["phase"] == SORTING:
                return m is not None and here == ordering_depth - 1
            return m is not None and here == before["depth_left"] - (pass_plies if m == PASS else 1)

        check_path(self._game, self._rules, words.reshape(-1, width), frames, out, follows)

    def result(self):
        """Return the Result so far; of a stopped search the score is that of the moves searched, or −INFINITY."""
        control = self._control
        line = self._lines[: self._frames["line_length"][0]].tolist()
        return Result(
            score=int(self._frames["best"][0]),
            complete=self._complete,
            line=self._to_the_leaf(line) if self._complete else line,
            nodes=int(control["nodes"]),
            ordering_nodes=int(control["ordering_nodes"]),
            evaluated=int(control["evaluated"]),
        )

    def _to_the_leaf(self, line):
        """Lengthen the line of the frames by the plies that recursion searched, a few hundred nodes for each."""
        state, left = self._state, self._depth
        control = self._control.copy()
        line = list(line)
        played = 0
        while left > 0 and len(line) < LINE_LENGTH:
            if played == len(line):
                if left > control["bottom"] + 1:
                    break  # the line ends early: a cut-off, or the end of the game
                best = self._best_move(state, left, control, played == 0)
                if best is None:
                    break
                line.append(best)
            m = line[played]
            state = as_state(self._game.play(state, self._rules, m)[0])
            left -= 1 if m != PASS else int(control["pass_plies"])
            played += 1
        return line

    def _best_move(self, state, left, control, at_root):
        out = np.zeros(MAX_MOVES, np.int16)
        moves = games.functions(self._game)["ordered_moves"] if control["static_order"] else self._game.moves
        kept = MAX_MOVES if at_root else int(self._kept_moves[left])
        searched = out[: moves(state, self._rules, out, 0)].tolist()[:kept]
        values = [self._value(state, m, left, control) for m in searched]
        return searched[values.index(max(values))] if searched else None

    def _value(self, state, m, left, control):
        child = as_state(self._game.play(state, self._rules, m)[0])
        left -= 1 if m != PASS else int(control["pass_plies"])
        if left == 0:
            return -self._kernels["leaf"](child, self._rules, self._tables, control)
        return -self._kernels["descend"](
            child, self._rules, self._tables, self._out, 0, left, -int(INFINITY), int(INFINITY), control
        )
