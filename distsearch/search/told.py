"""What others have found, put into an engine's tables: rows of int64, [left, low, high, cut, words of the state] each.

An engine writes such a row for every frame that took it DEAR boards. The bounds are true whatever was asked there, and
the entry made of them has the hash of the state and what is left, as the engine's own have; so it answers for just what
its own search would have told. cut: 1 where the bounds rest on leaves that a depth limit cut off.
"""

from ..addresses import int64s, uint64s
from ..games import lanes
from . import pvs
from . import table as tt

# bound for each game, and by the engine
answers = hashed = None

HEAD = pvs.TOLD


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
        left, low, high, cut = rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3]
        move = tt.NO_MOVE
        h = hashed(s, r, control)
        data = tt.look(control, h)
        if data != 0:
            move = tt.move_of(data)
            if answers(data, left):
                low, high = max(low, tt.low_of(data)), min(high, tt.high_of(data))
                cut |= tt.is_cut_off(data)
        if left >= control[pvs.TABLE_LEFT]:
            tt.keep(control, h, tt.packed(control, low, high, move, left, cut), left)
    control[tt.FAR_LEFT], control[tt.REPLACED] = far_left, replaced
