"""Othello once more, on plain lists and as clearly as can be: what the package's bitboards are checked against.

A position is (squares, side): a list of rows, each a list of "X", "O" and "-", and "X" or "O" for the side to move.
"""

DIRECTIONS = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]
OTHER = {"X": "O", "O": "X"}


def name(i, j):
    """The name of the square in row i and column j."""
    return f"{'abcdefghijklmnop'[j]}{i + 1}"


class OthelloTwin:
    """Othello on rows × columns squares; ``empties`` says which side they count for at the end: "winner", "none"."""

    def __init__(self, rows, columns, empties="winner"):
        self.rows, self.columns, self.empties = rows, columns, empties
        self.square = {name(i, j): (i, j) for i in range(rows) for j in range(columns)}
        on_board = set(self.square.values())
        self.neighbours = {  # of a square: those next to it, and in which direction
            (i, j): [
                (i + down, j + right, (down, right)) for down, right in DIRECTIONS if (i + down, j + right) in on_board
            ]
            for i, j in on_board
        }

    def start(self):
        squares = [["-"] * self.columns for _ in range(self.rows)]
        i, j = self.rows // 2 - 1, self.columns // 2 - 1
        squares[i][j] = squares[i + 1][j + 1] = "O"
        squares[i][j + 1] = squares[i + 1][j] = "X"
        return squares, "X"

    def kind(self, position):
        squares, side = position
        return "max" if self.can_move(squares, side) or self.can_move(squares, OTHER[side]) else "end"

    def moves(self, position):
        squares, side = position
        found = [text for text, (i, j) in self.square.items() if self.is_legal(squares, side, i, j)]
        if found:
            return found
        return ["pass"] if self.can_move(squares, OTHER[side]) else []

    def play(self, position, move):
        squares, side = position
        squares = [row.copy() for row in squares]
        if move != "pass":
            i, j = self.square[move]
            for direction in DIRECTIONS:
                for k, m in self.line(squares, side, i, j, direction):
                    squares[k][m] = side
            squares[i][j] = side
        return (squares, OTHER[side]), 0

    def final(self, position):
        squares, side = position
        own, other, empty = (sum(row.count(disc) for row in squares) for disc in (side, OTHER[side], "-"))
        if self.empties == "winner" and own > other:
            own += empty
        if self.empties == "winner" and other > own:
            other += empty
        return own - other

    def text(self, position):
        squares, side = position
        return "".join("".join(row) for row in squares) + " " + side

    def can_move(self, squares, side):
        return any(self.is_legal(squares, side, i, j) for i, j in self.square.values())

    def is_legal(self, squares, side, i, j):
        if squares[i][j] != "-":
            return False
        for k, m, direction in self.neighbours[i, j]:
            if squares[k][m] == OTHER[side] and self.line(squares, side, i, j, direction):
                return True
        return False

    def line(self, squares, side, i, j, direction):
        """The squares whose discs a disc of ``side`` on (i, j) turns in one direction."""
        line = []
        while True:
            i, j = i + direction[0], j + direction[1]
            if not (0 <= i < self.rows and 0 <= j < self.columns) or squares[i][j] == "-":
                return []
            if squares[i][j] == side:
                return line
            line.append((i, j))


def random_position(rng, rows, columns):
    """A position with discs strewn at random: few or many, in equal numbers or mostly of one side.

    Such positions seldom come up in play, but have the long lines, passes and finished games that play is short of.
    """
    n = rows * columns
    empty, crosses = rng.choice((1, 2, 5, n // 2, n - 6)), rng.choice((0.03, 0.1, 0.5))
    discs = ["-"] * empty + ["X" if rng.random() < crosses else "O" for _ in range(n - empty)]
    rng.shuffle(discs)
    return [discs[i : i + columns] for i in range(0, n, columns)], rng.choice("XO")


def random_game(rng, twin):
    """The positions of a random game from its start to its end."""
    position = twin.start()
    positions = [position]
    while moves := twin.moves(position):
        position, _ = twin.play(position, rng.choice(moves))
        positions.append(position)
    return positions
