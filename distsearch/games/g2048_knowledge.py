"""What engines may know of 2048 beyond its rules."""

import numpy as np

from ..core.jit import compiled
from .g2048 import rewards, slide, transpose
from .sliding import ACROSS, DOWN, ONE_DUE, turn  # noqa: F401


@compiled
def expand(s, r, out, states, gains, at):
    """All four moves by two slides: searches are 1.76 times as fast as with one after another."""
    cells, turned = s[0], transpose(s[0])
    left, right = slide(cells, r, np.int64(r[ACROSS]))
    up, down = slide(turned, r, np.int64(r[DOWN]))
    gain_left, gain_right = rewards(cells, r, np.int64(r[ACROSS]))
    gain_up, gain_down = rewards(turned, r, np.int64(r[DOWN]))
    n = 0
    for m, child, old, gain in (
        (0, left, cells, gain_left),
        (1, right, cells, gain_right),
        (2, up, turned, gain_up),
        (3, down, turned, gain_down),
    ):
        if child != old:
            i = at + n
            out[i], gains[i] = m, gain
            states[2 * i], states[2 * i + 1] = child if m < 2 else transpose(child), ONE_DUE
            n += 1
    return n
