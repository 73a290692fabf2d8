"""2048 and 2584 once more, plainly: a position is (rows of tile values, tiles due)."""

import functools
from fractions import Fraction

FIBONACCI = [1, 2]
while len(FIBONACCI) < 31:
    FIBONACCI.append(FIBONACCI[-2] + FIBONACCI[-1])
POWERS = [2**e for e in range(1, 16)]
MOVES = ("left", "right", "up", "down")


def merged_2048(a, b):
    """The tile that two neighbours merge to, or None."""
    return a + b if a == b and a + b in POWERS else None


def merged_2584(a, b):
    return a + b if a + b in FIBONACCI else None


@functools.cache
def slide_left(row, merged):
    """Return (a row, which is a tuple, slid to the left, points)."""
    tiles, out, points = [tile for tile in row if tile], [], 0
    while tiles:
        tile = tiles.pop(0)
        if out and not isinstance(out[-1], tuple) and merged(out[-1], tile):
            tile = merged(out.pop(), tile)
            points += tile
            tile = (tile,)  # it does not merge again
        out.append(tile)
    plain = [tile[0] if isinstance(tile, tuple) else tile for tile in out]
    return (*plain, *[0] * (len(row) - len(plain))), points


class SlidingTwin:
    """merged: of two neighbours; tiles: what may come, with their probabilities."""

    def __init__(self, merged, tiles, rows=4, columns=4):
        self.merged, self.tiles, self.rows, self.columns = merged, tiles, rows, columns

    def start(self):
        return ((0,) * self.columns,) * self.rows, 2

    def slid(self, board, move):
        turned = [tuple(line) for line in (zip(*board, strict=True) if move in ("up", "down") else board)]
        points = 0
        for i, line in enumerate(turned):
            back = move in ("right", "down")
            out, gained = slide_left(line[::-1] if back else line, self.merged)
            turned[i], points = (out[::-1] if back else out), points + gained
        board = zip(*turned, strict=True) if move in ("up", "down") else turned
        return tuple(map(tuple, board)), points

    def kind(self, position):
        board, due = position
        return "chance" if due else "max" if self.moves(position) else "end"

    def moves(self, position):
        board, due = position
        if due:
            return [move for move, _ in self.outcomes(position)]
        return [move for move in MOVES if self.slid(board, move)[0] != board]

    def outcomes(self, position):
        """[(text of what chance does, its probability, a Fraction)]"""
        free = [(i, j) for i in range(self.rows) for j in range(self.columns) if not position[0][i][j]]
        shares = [(tile, Fraction(probability) / max(len(free), 1)) for tile, probability in self.tiles]
        return [(f"{tile}@{'abcd'[j]}{i + 1}", share) for tile, share in shares for i, j in free]

    def play(self, position, move):
        board, due = position
        if move in MOVES:
            board, points = self.slid(board, move)
            return (board, 1), points
        tile, at = move.split("@")
        rows = [list(row) for row in board]
        rows[int(at[1]) - 1]["abcd".index(at[0])] = int(tile)
        return (tuple(map(tuple, rows)), due - 1), 0

    def draw(self, move):
        return move.split("@")[0]

    def final(self, position):
        return 0

    def text(self, position):
        board, due = position
        return ",".join(str(tile) for row in board for tile in row) + (f" +{due}" if due else "")


def twin_of(name, board=(4, 4), tiles=None):
    if name == "2048":
        return SlidingTwin(merged_2048, tiles or [(2, "9/10"), (4, "1/10")], *board)
    return SlidingTwin(merged_2584, tiles or [(1, "3/4"), (3, "1/4")], *board)
