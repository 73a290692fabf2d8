"""Connect 4 once more, on plain lists and as clearly as can be: what the package's bitboards are checked against.

A position is (stones, side): a list of columns, each the list of its stones "X" and "O" from the bottom up, and "X" or
"O" for the side to move.
"""

import numba
import numpy as np

DIRECTIONS = [(0, 1), (1, 0), (1, 1), (1, -1)]
OTHER = {"X": "O", "O": "X"}
NAMES = "123456789abcdefghijklmnopqrstuvw"  # of the columns


class Connect4Twin:
    """Connect 4 on rows × columns squares."""

    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.order = np.array(sorted(range(columns), key=lambda i: abs(2 * i - columns + 1)))  # the middle first
        self.lines = [line for i in range(columns) for j in range(rows) for line in self.lines_from(i, j)]

    def lines_from(self, i, j):
        """The lines of four squares, as (column, row), that begin in column i and row j."""
        for di, dj in DIRECTIONS:
            if i + 3 * di < self.columns and 0 <= j + 3 * dj < self.rows:
                yield [(i + k * di, j + k * dj) for k in range(4)]

    def start(self):
        return [[] for _ in range(self.columns)], "X"

    def kind(self, position):
        return "max" if self.moves(position) else "end"

    def moves(self, position):
        stones, _ = position
        if self.winner(stones):
            return []
        return [name for name, column in zip(NAMES, stones, strict=False) if len(column) < self.rows]

    def play(self, position, move):
        stones, side = position
        stones = [column.copy() for column in stones]
        stones[NAMES.index(move)].append(side)
        return (stones, OTHER[side]), 0

    def final(self, position):
        stones, side = position
        winner = self.winner(stones)
        if not winner:
            return 0
        before = sum(map(len, stones)) - 1
        score = (self.rows * self.columns + 1 - before) // 2
        return score if winner == side else -score

    def text(self, position):
        """The columns played to get there, the last of them as far left as can be, then the one before, and so on."""
        stones, side = position
        order = self.order_of_play(stones, OTHER[side], set())
        return "".join(order) or "startpos"

    def order_of_play(self, stones, last, dead):
        """Columns played by turns until ``last`` put the last stone, or None; no board of ``dead`` heights has one."""
        heights = tuple(map(len, stones))
        if heights in dead:
            return None
        if not any(heights):
            return []
        for i, column in enumerate(stones):
            if column and column[-1] == last:
                before = [*stones[:i], column[:-1], *stones[i + 1 :]]
                order = None if self.winner(before) else self.order_of_play(before, OTHER[last], dead)
                if order is not None:
                    return [*order, NAMES[i]]
        dead.add(heights)
        return None

    def drawn(self, position):
        """The board row by row from the top, and the side to move."""
        stones, side = position
        rows = ([column[j] if j < len(column) else "-" for column in stones] for j in reversed(range(self.rows)))
        return "".join(map("".join, rows)) + " " + side

    def winner(self, stones):
        """The side that has four in a row, or None."""
        grid = [column + [None] * (self.rows - len(column)) for column in stones]
        for (a, b), (c, d), (e, f), (g, h) in self.lines:
            if grid[a][b] and grid[a][b] == grid[c][d] == grid[e][f] == grid[g][h]:
                return grid[a][b]
        return None

    def empties(self, position):
        return self.rows * self.columns - sum(map(len, position[0]))

    def score(self, position):
        """The exact score of any position for its side to move, by plain search; good for 18 empty squares."""
        if not self.moves(position):
            return self.final(position)
        empty = self.empties(position)
        return negamax(*self.arrays(position), self.order, 1, empty, -empty, empty)

    def arrays(self, position):
        """The squares, one row a column, of 0, 1 (side to move) and 2, and how many stones each column has."""
        stones, side = position
        squares = np.zeros((self.columns, self.rows), np.int8)
        for i, column in enumerate(stones):
            squares[i, : len(column)] = [1 if stone == side else 2 for stone in column]
        return squares, np.array([*map(len, stones)])

    def quiet_moves(self, position):
        """The moves that do not end the game, nor let the other side end it by the next one."""
        found = []
        for move in self.moves(position):
            after, _ = self.play(position, move)
            if self.moves(after) and not can_win(*self.arrays(after), 1):
                found.append(move)
        return found


@numba.njit(cache=True)
def can_win(squares, heights, side):
    """Whether a stone of ``side`` can make a row of four at once."""
    for i in range(len(heights)):
        if heights[i] < squares.shape[1] and makes_four(squares, i, heights[i], side):
            return True
    return False


@numba.njit(cache=True)
def makes_four(squares, i, j, side):
    """Whether a stone of ``side`` on column i and row j would stand in a row of four."""
    columns, rows = squares.shape
    for di, dj in ((0, 1), (1, 0), (1, 1), (1, -1)):
        length = 1
        for sign in (-1, 1):
            k, m = i + sign * di, j + sign * dj
            while 0 <= k < columns and 0 <= m < rows and squares[k, m] == side:
                length += 1
                k, m = k + sign * di, m + sign * dj
        if length >= 4:
            return True
    return False


@numba.njit(cache=True)
def negamax(squares, heights, order, side, empty, alpha, beta):
    """Score of an unfinished position for ``side`` (1 or 2), by alpha-beta; one row of ``squares`` a column."""
    if can_win(squares, heights, side):
        return (empty + 1) // 2
    if empty == 1:
        return 0
    best = -empty
    for i in order:
        if heights[i] == squares.shape[1]:
            continue
        squares[i, heights[i]] = side
        heights[i] += 1
        best = max(best, -negamax(squares, heights, order, 3 - side, empty - 1, -beta, -max(alpha, best)))
        heights[i] -= 1
        squares[i, heights[i]] = 0
        if best >= beta:
            break
    return best


def random_game(rng, twin, quiet=0.0):
    """The positions of a random game from its start to its end; a share of ``quiet`` moves is so where possible."""
    position = twin.start()
    positions = [position]
    while moves := twin.moves(position):
        if rng.random() < quiet:
            moves = twin.quiet_moves(position) or moves
        position, _ = twin.play(position, rng.choice(moves))
        positions.append(position)
    return positions


def random_positions(rng, twin, n, empties):
    """n unfinished positions with so many empty squares (a range), half of them from games that last long."""
    found = []
    while len(found) < n:
        game = random_game(rng, twin, rng.choice((0.0, 1.0)))
        if late := [position for position in game[:-1] if twin.empties(position) in empties]:
            found.append(rng.choice(late))
    return found
