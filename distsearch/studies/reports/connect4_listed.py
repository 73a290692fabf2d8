"""Negamax of Connect 4 as the report lists it: by one core, or from every position a few plies on, as its GPU does.

A call counts as a node. A full board is 0. A column that wins at once ends the call. No other move brings more than a
win two stones later, which narrows the window. Then come the columns from left to right. On the report's GPU each
position S plies on has a thread and is searched with the full window. The report's list goes on past games that are
won: so 3,848 calls a position of its own file at S = 4, where it prints 3,804, and 1,443 if it ended there.
"""

import numpy as np

from ...games import connect4
from ...games.connect4_knowledge import winning_squares
from ..connect4_negamax import FIELDS, negamax

_MOST = 21  # points: more than any score


class Listed:
    """The listing with its stack."""

    def __init__(self):
        self._rules = connect4.rules()
        rows = int(self._rules[connect4.SQUARES]) + 1
        self._stack = np.zeros(rows, np.uint64), np.zeros(rows, np.uint64), np.zeros((rows, FIELDS), np.int64)
        first, columns = int(connect4.COLUMN_MASKS), int(self._rules[connect4.COLUMNS])
        self._columns = self._rules[first : first + columns].copy()
        self._board = self._rules[[connect4.SQUARES, connect4.HEIGHT, connect4.BOTTOM, connect4.BOARD]]
        self.score(connect4.start(self._rules).state, 0, 0)  # which compiles it

    def score(self, state, alpha=-_MOST, beta=_MOST):
        """Return (score in stones, calls) of a state: uint64 words, the stones of the side to move and of both."""
        return negamax(np.array(state, np.uint64), self._board, self._columns, alpha, beta, *self._stack)

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
