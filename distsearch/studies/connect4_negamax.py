"""The kernel of ``reports.connect4_listed``: the report's negamax, on boards of a column of bits for each column."""

import numpy as np

from ..core.jit import compiled

COLUMN, ALPHA, BETA, FIELDS = range(4)  # of a frame


@compiled
def negamax(position, rules, column_masks, alpha, beta, own, stones, frames):
    """Return (score, calls) of a position by the listing.

    position: uint64, the stones of the side to move and of both; rules: uint64, the number of squares, of bits a
    column, the lowest square of every column, all squares; column_masks: the squares of each column; own, stones,
    frames: a stack, of a row more than there are squares.
    """
    squares, height, bottom, board = np.int64(rules[0]), rules[1], rules[2], rules[3]
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    first = 0
    for bit in range(64):
        first += np.int64(position[1] >> np.uint64(bit) & one)
    depth, calls, value, down = 0, 0, 0, True
    own[0], stones[0] = position[0], position[1]
    frames[0, ALPHA], frames[0, BETA] = alpha, beta
    while True:
        frame = frames[depth]
        free = (stones[depth] + bottom) & board
        if down:
            calls += 1
            played = first + depth
            down = False
            if played == squares:
                value, frame[COLUMN] = 0, -1
            else:
                mine = own[depth]
                wins = mine << one & mine << two & mine << three
                for line in (height - one, height, height + one):
                    pair = mine << line & mine << two * line
                    wins |= pair & (mine << three * line | mine >> line)
                    pair = mine >> line & mine >> two * line
                    wins |= pair & (mine >> three * line | mine << line)
                most = (squares - 1 - played) // 2
                frame[COLUMN] = 0
                if wins & free:
                    value, frame[COLUMN] = (squares + 1 - played) // 2, -1
                elif frame[BETA] > most:
                    frame[BETA] = most
                    if frame[ALPHA] >= most:
                        value, frame[COLUMN] = most, -1
        elif frame[COLUMN] > 0:  # a child's value is back
            if -value >= frame[BETA]:
                value, frame[COLUMN] = -value, -1
            else:
                frame[ALPHA] = max(frame[ALPHA], -value)
        column = frame[COLUMN]
        if column >= 0:
            while column < len(column_masks) and free & column_masks[column] == 0:
                column += 1
            if column < len(column_masks):
                frame[COLUMN] = column + 1
                own[depth + 1] = stones[depth] ^ own[depth]
                stones[depth + 1] = stones[depth] | free & column_masks[column]
                frames[depth + 1, ALPHA], frames[depth + 1, BETA] = -frame[BETA], -frame[ALPHA]
                depth, down = depth + 1, True
                continue
            value = frame[ALPHA]
        if depth == 0:
            return value, calls
        depth -= 1
