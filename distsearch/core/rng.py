"""Random numbers inside compiled code: the n-th of a seed's stream, as ``player.splitmix64`` has it."""

import numpy as np

from .jit import compiled

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@compiled
def drawn(seed, n):
    """Return the n-th number (uint64) of a seed's (uint64) stream of splitmix64, n from 0 on."""
    x = seed + (np.uint64(n) + np.uint64(1)) * _GOLDEN
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return x ^ x >> np.uint64(31)


@compiled
def below(number, n):
    """Return a whole number (int64) from 0 to n − 1 by a drawn one, from its upper half; n is below 2^32."""
    return np.int64((number >> np.uint64(32)) * np.uint64(n) >> np.uint64(32))
