"""A plain selective search: principal-variation search with Multi-ProbCut, without tables, deepening or pauses."""

import math

from distsearch.engines.pvs.kernels import INFINITY
from distsearch.games.interface import END, as_state

INFINITE = int(INFINITY)


class SelectiveTwin:
    """Searches states of a game by an Evaluation.

    tests: (stage, deep) → [(shallow, slope, offset, margin)], the shallowest first; stage: moves left that make one;
    ordered(state, left) → the moves in their order. ``nodes`` counts positions reached by a move, ``cuts`` nodes that
    a shallow search has answered.
    """

    def __init__(self, game, rules, evaluation, stage, tests, ordered):
        self._game, self._r, self._evaluation = game, rules, evaluation
        self._stage, self._tests, self._ordered = stage, tests, ordered
        self.nodes = self.cuts = 0

    def search(self, state, depth):
        """Return the score of a state."""
        return self._node(state, depth, -INFINITE, INFINITE, root=True)[0]

    def _value(self, state):
        return int(self._evaluation.function(state, self._r, self._evaluation.tables))

    def _ended(self, state):
        score = int(self._game.final(state, self._r))
        return score + (score > 0) * self._evaluation.bound - (score < 0) * self._evaluation.bound

    def _node(self, state, left, alpha, beta, root=False):
        """Return (score, best move or None)."""
        if self._game.kind(state, self._r) == END:
            return self._ended(state), None
        if left == 0:
            return self._value(state), None
        moves = self._ordered(state, left)
        if not root and beta - alpha == 1 and len(moves) > 1:
            for shallow, enough, little in self._asked(state, left, alpha, beta):
                low = enough - 1 if self._value(state) >= enough else little
                value, move = self._node(state, shallow, low, low + 1)
                if move is not None:
                    moves = [move, *(m for m in moves if m != move)]
                if value >= enough or value <= little:
                    self.cuts += 1
                    return (beta if value >= enough else alpha), moves[0]
        best, best_move = -INFINITE, None
        for i, m in enumerate(moves):
            value = self._after(state, m, left, alpha if i == 0 else max(alpha, best), beta, i > 0)
            if i > 0 and max(alpha, best) < value < beta and max(alpha, best) + 1 < beta:
                best, best_move = value, m
                value = self._after(state, m, left, best, beta, False)
            if value > best:
                best, best_move = value, m
            if best >= beta:
                break
        return best, best_move

    def _after(self, state, m, left, low, high, null):
        child, _ = self._game.play(state, self._r, m)
        self.nodes += 1
        return -self._node(as_state(child), left - 1, -(low + 1 if null else high), -low)[0]

    def _asked(self, state, left, alpha, beta):
        """Yield (shallow, enough, little) of the tests that the state's own evaluation makes worth while."""
        rest, value = int(self._game.moves_left(state, self._r)), self._value(state)
        limit = self._evaluation.bound or INFINITE
        for shallow, slope, offset, margin in self._tests.get((rest // self._stage, left), ()) if rest > left else ():
            enough = min(math.ceil((beta + margin - offset) / slope), INFINITE)
            little = max(math.floor((alpha - margin - offset) / slope), -INFINITE)
            if value >= enough and -limit < enough <= limit or value <= little and -limit <= little < limit:
                yield shallow, enough, little
