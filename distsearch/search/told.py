"""What others have found, put into an engine's tables: rows of int64, [left, low, high, words of the state] each.

Bounds of positions, true whatever was asked there. An entry is of the state's own hash and of what is left, as the
engine's own are, so it answers for just what a search of its own would have told. Whether a depth limit cut off what
they rest on is not known, so of a search to a depth it is said that one did: scores are the same, and only a game's own
score passes for less than that.
"""

from ..games import lanes
from . import pvs
from . import table as tt
from .memory import int64s, uint64s

# bound for each game, and by the engine
answers = hashed = None
EXACT = True

HEAD = 3  # numbers of a row before the state's words


def learn(like, where, rows, words):
    """Put what ``rows`` tell into the tables, beside what these hold already.

    words: the same numbers one after another, as uint64; ``like`` tells the width of a state.
    """
    control = int64s(where)
    r, far_left, replaced = uint64s(control[pvs.RULES]), control[tt.FAR_LEFT], control[tt.REPLACED]
    control[tt.FAR_LEFT] = control[tt.FAR_LEFT_LATER]  # whatever the search at work does with the far table as yet
    size = HEAD + len(like)
    for i in range(len(rows)):
        s = lanes.load(like, words, i * size + HEAD)
        left, low, high, move = rows[i, 0], rows[i, 1], rows[i, 2], tt.NO_MOVE
        h = hashed(s, r, control)
        data = tt.look(control, h)
        if data != 0:
            move = tt.move_of(data)
            if answers(data, left):
                low, high = max(low, tt.low_of(data)), min(high, tt.high_of(data))
        if left >= control[pvs.TABLE_LEFT]:
            tt.keep(control, h, tt.packed(control, low, high, move, left, not EXACT), left)
    control[tt.FAR_LEFT], control[tt.REPLACED] = far_left, replaced
