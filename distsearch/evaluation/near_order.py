"""``near`` order: weights that boards look up one after another lie near one another.

In files, the number of a tuple's weight has the codes of its cells side by side, 4 bits each. In near order the two
lower bits of all cells come first, then the two upper ones. So boards that differ by a small tile in place of another,
or of none, share cache lines and pages, and a learner waits less for memory. Files do not change.
"""

import numpy as np

_CELLS, _HALF = 16, 2  # of a board, whose cells have twice so many bits


def bits_of(word):
    """Return a board's word (int) of 4 bits a cell in near order."""
    lower = (1 << _HALF) - 1
    cells = [word >> 2 * _HALF * i for i in range(_CELLS)]
    parts = [cell & lower for cell in cells] + [cell >> _HALF & lower for cell in cells]
    return sum(part << _HALF * i for i, part in enumerate(parts))


def rearrange(values, cells, near):
    """Bring what belongs to a tuple's weights, shape (16^cells, ...), to near order, or back to that of files."""
    axes = [*range(0, 2 * cells, 2), *range(1, 2 * cells, 2)]
    order = axes if near else np.argsort(axes).tolist()
    halves = values.reshape((1 << _HALF,) * 2 * cells + (-1,))
    values[:] = halves.transpose([*order, 2 * cells]).reshape(values.shape)
