"""What the report on 2048 in parallel Haskell does otherwise: its windows, and its slide.

Alpha-beta with windows that pass chance unchanged, as the report lists it.
A value outside a window is a bound, and the mean of bounds and values is neither. The exact search narrows the window
of each draw (a tile's value) by the bounds of the other draws (``engines.expectiminimax``).
"""

import numpy as np

from ...games.interface import MAX_MOVES, as_state

FIRST = 0.0, 2.0**30  # the report's first window
_WIN = 1024  # two of them make the tile that wins


def near_win(squares):
    """Return a board's tiles (4 rows of 4 numbers) with two next to one another that make the tile that wins."""
    found = [list(row) for row in squares]
    found[0][0] = found[0][1] = _WIN
    return found


def slid(line, again=False):
    """Return a line's tiles (numbers, 0 for an empty cell) slid to its beginning; again: merged tiles merge again."""
    found, may_merge = [], False
    for tile in filter(None, line):
        if may_merge and found[-1] == tile:
            found[-1] += tile
            may_merge = again
        else:
            found.append(tile)
            may_merge = True
        while again and len(found) > 1 and found[-2] == found[-1]:
            found[-2:] = [2 * found[-1]]
    return found + [0] * (len(line) - len(found))


def merges_again(squares):
    """Return (how many of the four moves change a board, of how many the board after it is another if tiles chain)."""
    columns = list(zip(*squares, strict=True))
    changed = chained = 0
    for lines in (squares, [row[::-1] for row in squares], columns, [column[::-1] for column in columns]):
        plain = [slid(line) for line in lines]
        if plain != [list(line) for line in lines]:
            changed += 1
            chained += plain != [slid(line, again=True) for line in lines]
    return changed, chained


def squares_of(game, position, rules):
    """Return a position's tiles, rows of numbers."""
    tiles = [int(tile) for tile in game.text(position, rules).split()[0].split(",")]
    return [tiles[at : at + 4] for at in range(0, 16, 4)]


class Listing:
    """A game's search to a depth in plies: a move is one, a tile and its cell are two."""

    def __init__(self, game, rules, chosen):
        self._game, self._rules, self._chosen = game, rules, chosen

    def moves(self, state, depth):
        """Return {move: value} of a state, each with the window that the moves before it have left.

        Moves and cells come from the last to the first, as the report's fold takes them.
        """
        alpha, beta = FIRST
        found = {}
        for move in self._moves(state):
            found[move] = self._placed(self._after(state, move), depth - 1, alpha, beta)
            alpha = max(alpha, found[move])
            if alpha >= beta:
                break
        return found

    def _moves(self, state):
        out = np.zeros(MAX_MOVES, np.int16)
        return out[: self._game.moves(state, self._rules, out, 0)].tolist()[::-1]

    def _after(self, state, code):
        return as_state(self._game.play(state, self._rules, code)[0])

    def _worth(self, state):
        return float(self._chosen.function(state, self._rules, self._chosen.tables))

    def _best(self, state, depth, alpha, beta):
        moves = self._moves(state) if depth > 0 else []
        if not moves:
            return self._worth(state)
        best = alpha
        for move in moves:
            best = max(best, self._placed(self._after(state, move), depth - 1, best, beta))
            if best >= beta:
                break
        return best

    def _placed(self, state, depth, alpha, beta):
        if depth < 2:
            return self._worth(state)
        out, probability = np.zeros(MAX_MOVES, np.int16), np.zeros(MAX_MOVES)
        count = self._game.outcomes(state, self._rules, out, probability, 0)
        draws = {}
        for code, chance in zip(out[:count].tolist(), probability[:count].tolist(), strict=True):
            draws.setdefault(self._game.draw(code, self._rules), []).append((code, chance))
        total = 0.0
        for draw in draws.values():
            least = beta
            for code, _ in draw[::-1]:
                least = min(least, self._best(self._after(state, code), depth - 2, alpha, least))
                if least <= alpha:
                    break
            total += sum(chance for _, chance in draw) * least
        return total
