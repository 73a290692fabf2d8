"""Connect 4 in plain Python, as another opinion: a board is a tuple of columns, each a text of X and O from below."""

from functools import cache

ROWS, COLUMNS = 4, 4
DIRECTIONS = (0, 1), (1, 0), (1, 1), (1, -1)


def played(moves):
    """Return the board after a text of columns from 1 on."""
    board = ("",) * COLUMNS
    for move in moves:
        board = after(board, int(move) - 1)
    return board


def after(board, c):
    """Return the board after a stone in column c."""
    return (*board[:c], board[c] + "XO"[stones(board) % 2], *board[c + 1 :])


def stones(board):
    return sum(map(len, board))


def free(board):
    return [c for c in range(COLUMNS) if len(board[c]) < ROWS]


def mirrored(board):
    return board[::-1]


def wins(board, c):
    """Whether the last stone, in column c, makes four in a row."""
    row = len(board[c]) - 1
    return any(row_of_four(board, c, row, *direction) for direction in DIRECTIONS)


def row_of_four(board, c, row, right, up):
    """Whether four stones like that at (c, row) stand in a row with it, in one direction and its opposite."""
    count = 1
    for sign in (1, -1):
        x, y = c + sign * right, row + sign * up
        while 0 <= x < COLUMNS and 0 <= y < len(board[x]) and board[x][y] == board[c][row]:
            count, x, y = count + 1, x + sign * right, y + sign * up
    return count >= 4


def value(board):
    """Return Pons's score, for the side to move, of a board that is not won."""
    return _value(min(board, mirrored(board)))


@cache
def _value(board):
    return max((move_value(board, c) for c in free(board)), default=0)


def move_value(board, c):
    """Return the score of a move for the side that makes it: with a win, 1 and the stones that it has left."""
    child = after(board, c)
    return (ROWS * COLUMNS + 1 - stones(board)) // 2 if wins(child, c) else -value(child)


def levels(plies):
    """Return, for each ply, moves to the positions in which the game goes on, to one of each mirrored pair."""
    found = [[""]]
    for _ in range(plies):
        below = {}
        for moves in found[-1]:
            board = played(moves)
            for c in free(board):
                child = after(board, c)
                if not wins(child, c) and free(child):
                    below.setdefault(min(child, mirrored(child)), f"{moves}{c + 1}")
        found.append(list(below.values()))
    return found
