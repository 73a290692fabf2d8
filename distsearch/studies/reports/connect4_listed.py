"""Negamax of Connect 4 as the report lists it: by one core, or from every position a few plies on, as its GPU does.

A call counts as a node. A full board is 0. A column that wins at once ends the call. No other move brings more than a
win two stones later, which narrows the window. Then come the columns from left to right. On the report's GPU each
position S plies on has a thread and is searched with the full window. The report's list goes on past games that are
won: so 3,848 calls a position of its own file at S = 4, where it prints 3,804, and 1,443 if it ended there.
"""

import numpy as np

from ...core.jit import compiled
from ...games import connect4
from ...games.connect4_knowledge import winning_squares

_COLUMN, _ALPHA, _BETA, _FIELDS = range(4)
_MOST = 21  # points: more than any score


@compiled
def negamax(s, r, alpha, beta, own, stones, frames):
    """Return (score, calls) of a state by the listing; own, stones, frames: a stack, of as many rows as squares."""
    squares = np.int64(r[connect4.SQUARES])
    depth, calls, value, down = 0, 0, 0, True
    own[0], stones[0] = s[0], s[1]
    frames[0, _ALPHA], frames[0, _BETA] = alpha, beta
    while True:
        frame = frames[depth]
        if down:
            calls += 1
            state = own[depth], stones[depth]
            free = connect4.free(state, r)
            played = squares - connect4.moves_left(state, r)
            down = False
            if played == squares:
                value, frame[_COLUMN] = 0, -1
            elif winning_squares(own[depth], r[connect4.BOARD] & ~stones[depth], r) & free != 0:
                value, frame[_COLUMN] = (squares + 1 - played) // 2, -1
            else:
                most = (squares - 1 - played) // 2
                frame[_COLUMN] = 0
                if frame[_BETA] > most:
                    frame[_BETA] = most
                    if frame[_ALPHA] >= most:
                        value, frame[_COLUMN] = most, -1
        elif frame[_COLUMN] > 0:  # a child's value is back
            if -value >= frame[_BETA]:
                value, frame[_COLUMN] = -value, -1
            else:
                frame[_ALPHA] = max(frame[_ALPHA], -value)
        column = frame[_COLUMN]
        if column >= 0:
            state = own[depth], stones[depth]
            free = connect4.free(state, r)
            while column < r[connect4.COLUMNS] and free & r[connect4.COLUMN_MASKS + column] == 0:
                column += 1
            if column < r[connect4.COLUMNS]:
                frame[_COLUMN] = column + 1
                child = connect4.play(state, r, column)[0]
                own[depth + 1], stones[depth + 1] = child
                frames[depth + 1, _ALPHA], frames[depth + 1, _BETA] = -frame[_BETA], -frame[_ALPHA]
                depth, down = depth + 1, True
                continue
            value = frame[_ALPHA]
        if depth == 0:
            return value, calls
        depth -= 1


class Listed:
    """The listing with its stack."""

    def __init__(self):
        self._rules = connect4.rules()
        rows = int(self._rules[connect4.SQUARES]) + 1
        self._stack = np.zeros(rows, np.uint64), np.zeros(rows, np.uint64), np.zeros((rows, _FIELDS), np.int64)
        self.score(connect4.start(self._rules).state, 0, 0)  # which compiles it

    def score(self, state, alpha=-_MOST, beta=_MOST):
        """Return (score, calls) of a state, (own, stones)."""
        return negamax(tuple(map(np.uint64, state)), self._rules, alpha, beta, *self._stack)

    def spread(self, state, split, past_wins=True):
        """Return (score, calls) where every position ``split`` plies on is searched with the full window.

        Positions above these are calls as well. The list goes on past wins, unless told otherwise, but not past a full
        board.
        """
        values, calls = {}, 0
        for each in self._ahead(state, split, past_wins):
            values[each], more = self.score(each)
            calls += more
        score, above = self._above(state, split, -_MOST, _MOST, values)
        return score, calls + above

    def _children(self, state):
        free = connect4.free(state, self._rules)
        columns = range(int(self._rules[connect4.COLUMNS]))
        return [
            tuple(map(int, connect4.play(tuple(map(np.uint64, state)), self._rules, c)[0]))
            for c in columns
            if free & self._rules[connect4.COLUMN_MASKS + c]
        ]

    def _ahead(self, state, plies, past_wins):
        if plies == 0:
            return [tuple(map(int, state))]
        if not past_wins and self._wins(tuple(map(np.uint64, state))):
            return []
        return [leaf for child in self._children(state) for leaf in self._ahead(child, plies - 1, past_wins)]

    def _wins(self, state):
        """Whether the side to move wins at once."""
        empty = self._rules[connect4.BOARD] & ~state[1]
        return bool(winning_squares(state[0], empty, self._rules) & connect4.free(state, self._rules))

    def _above(self, state, plies, alpha, beta, values):
        """Return (score, calls) by the listing, with ``values`` of the positions so many plies on."""
        if plies == 0:
            return values[tuple(map(int, state))], 0
        known = tuple(map(np.uint64, state))
        played = int(self._rules[connect4.SQUARES]) - int(connect4.moves_left(known, self._rules))
        squares = int(self._rules[connect4.SQUARES])
        if played == squares:
            return 0, 1
        if self._wins(known):
            return (squares + 1 - played) // 2, 1
        beta = min(beta, (squares - 1 - played) // 2)
        if alpha >= beta:
            return beta, 1
        calls = 1
        for child in self._children(state):
            score, more = self._above(child, plies - 1, -beta, -alpha, values)
            calls += more
            if -score >= beta:
                return -score, calls
            alpha = max(alpha, -score)
        return alpha, calls
