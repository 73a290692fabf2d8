"""Perft: how many positions there are at each depth, counted by a walk that can be paused.

It is the check of a move generator, and a job kind of its own. Positions at the last ply are counted in bulk where the
game can count its moves without writing them. A pass is a ply; whether a finished game counts again at every deeper
depth is the game's own convention (``ENDED_STAYS``).
"""

import numpy as np

from .. import games
from ..core import jit
from ..core.packing import packed, unpacked
from ..core.pointers import int64_struct
from ..games import lanes
from ..games.interface import MAX_MOVES
from .saved_path import check_path

MAX_DEPTH = 32  # plies
_BOTTOM = 3  # plies left to recursion: 60 moves everywhere on a 16×16 board are 1 ms
FRAME = int64_struct("next", "count", "first")  # its next move, how many there are, and where they begin

play = moves = count_moves = count = None  # bound for each game


def count_by_writing(s, r, out, at):
    """Number of legal moves, for a game that cannot count them otherwise."""
    return moves(s, r, out, at)


def count_in_bulk(s, r, out, at):
    """Number of legal moves."""
    return count_moves(s, r)


def walk(s, r, out, at, ply, depth, stays, counts):
    """Add the positions 1 to depth plies below s to counts[ply + 1 : ply + 1 + depth] (int64), by recursion."""
    if depth == 1:
        n = count(s, r, out, at)
        counts[ply + 1] += n if n > 0 else stays
        return
    n = np.int64(moves(s, r, out, at))
    if n == 0:
        for deeper in range(ply + 1, ply + depth + 1):
            counts[deeper] += stays
        return
    counts[ply + 1] += n
    for i in range(at, at + n):
        child, _ = play(s, r, np.int64(out[i]))
        walk(child, r, out, at + n, ply + 1, depth - 1, stays, counts)


def advance(s, r, words, frames, out, depth, bottom, stays, counts, top, budget):
    """Walk on for about ``budget`` leaves; return the index of the open frame to go on with, −1 at the end."""
    width = len(s)
    limit = counts[depth] + budget
    while top >= 0:
        f = frames[top]
        first, n, i = f.first, f.count, f.next
        if i == n:
            top -= 1
            continue
        if counts[depth] >= limit:
            return top
        f.next = i + 1
        child, _ = play(lanes.load(s, words, top * width), r, np.int64(out[first + i]))
        left = depth - top - 1
        if left <= bottom:
            if left > 0:
                walk(child, r, out, first + n, top + 1, left, stays, counts)
            continue
        top += 1
        lanes.store(words, top * width, child)
        push(child, r, frames, out, top, first + n, depth, stays, counts)
    return top


def push(s, r, frames, out, top, first, depth, stays, counts):
    """Open frame ``top``, which is also the ply, for state s."""
    n = np.int64(moves(s, r, out, first))
    f = frames[top]
    f.next, f.count, f.first = 0, n, first
    counts[top + 1] += n
    if n == 0:
        for deeper in range(top + 1, depth + 1):
            counts[deeper] += stays


class Perft:
    """A pausable count of the positions below a state."""

    def __init__(self, game, rules):
        self._game, self._rules = game, rules
        self.name = f"{games.tag(game)}_perft"
        functions = games.functions(game)
        counter = count_in_bulk if functions["count_moves"] else count_by_writing
        functions["count"] = jit.specialise(counter, f"count_{self.name}", functions)
        self._kernels = jit.specialise_all((walk, push, advance), self.name, functions)
        self._width = width = game.words(rules)
        self._words = np.zeros((MAX_DEPTH + 1) * width, np.uint64)
        self._frames = np.zeros(MAX_DEPTH + 1, FRAME)
        self._out = np.zeros((MAX_DEPTH + 1) * MAX_MOVES, np.int16)
        self.counts = np.zeros(MAX_DEPTH + 2, np.int64)

    def compile(self):
        """Compile, or load from disk, every kernel."""
        self.begin(self._game.start(self._rules).state, _BOTTOM + 1)
        while not self.advance(1):
            pass

    def begin(self, state, depth):
        """Start counting to ``depth`` plies, 0 to MAX_DEPTH; ``counts`` (int64, by ply) grows as it goes on."""
        self._state, self._depth = state, depth
        self._words[: len(state)] = state
        self.counts[:] = 0
        self.counts[0] = 1
        self._top = 0 if depth else -1
        if depth:
            stays = int(self._game.ENDED_STAYS)
            self._kernels["push"](state, self._rules, self._frames, self._out, 0, 0, depth, stays, self.counts)

    def save(self):
        """Return the count begun last as bytes; it must not be complete."""
        frames = self._top + 1
        last = self._frames[self._top]
        return packed(
            np.array([self._top]),
            self.counts,
            self._words[: frames * self._width],
            self._frames[:frames].view(np.int64),
            self._out[: last["first"] + last["count"]],
        )

    def restore(self, content):
        """Go on with a count that ``save`` gave; one with the same arguments must have been begun.

        Raises ValueError, with the begun count as it was, for what no such count could have given.
        """
        places = np.zeros(1, np.int64), self.counts, self._words, self._frames.view(np.int64), self._out
        top, counts, words, frames, out = unpacked(content, *places)
        top, width, frames = int(top[0]) if len(top) else -1, self._width, frames.view(FRAME)
        whole = len(words) == (top + 1) * width and len(frames) == top + 1 and len(counts) == len(self.counts)
        if not (whole and 0 <= top < max(1, self._depth - _BOTTOM)) or np.any((counts < 0) | (counts > 1 << 60)):
            raise ValueError("arrays of other lengths")
        if words[:width].tolist() != self._words[:width].tolist():
            raise ValueError("another position")
        check_path(self._game, self._rules, words.reshape(-1, width), frames, out, lambda k, m: m is not None)
        for place, part in ((self.counts, counts), (self._words, words), (self._frames, frames), (self._out, out)):
            place[: len(part)] = part
        self._top = top

    @property
    def complete(self):
        """Whether the count has come to its end."""
        return self._top < 0

    @property
    def nodes(self):
        """Leaves counted so far."""
        return int(self.counts[self._depth])

    def advance(self, budget):
        """Count on for about ``budget`` leaves; return whether the count is complete."""
        self._top = self._kernels["advance"](
            self._state,
            self._rules,
            self._words,
            self._frames,
            self._out,
            self._depth,
            _BOTTOM,
            int(self._game.ENDED_STAYS),
            self.counts,
            self._top,
            budget,
        )
        return self._top < 0
