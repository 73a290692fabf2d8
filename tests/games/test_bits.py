"""Words of bits against loops over their bits."""

import numpy as np
import pytest

from distsearch.core.jit import compiled
from distsearch.games import bits


@compiled
def swapped(x):
    return bits.byte_swap(x)


def gathered(x, mask):
    """The bits of x where mask has ones, by the definition."""
    chosen = [x >> i & 1 for i in range(64) if mask >> i & 1]
    return sum(bit << i for i, bit in enumerate(chosen))


def words(rng):
    sparse = rng.getrandbits(64) & rng.getrandbits(64) & rng.getrandbits(64)
    return rng.choice((rng.getrandbits(64), sparse, ~sparse & (1 << 64) - 1, 0, (1 << 64) - 1, 1 << 63, 1))


@pytest.mark.parametrize("function", [bits.pext, bits.gathered], ids=["pext", "gathered"])
def test_bits_are_gathered(function, rng):
    for _ in range(3000):
        x, mask = words(rng), words(rng)
        assert int(function(np.uint64(x), np.uint64(mask))) == gathered(x, mask), (hex(x), hex(mask))


def test_bytes_are_swapped(rng):
    for _ in range(100):
        x = rng.getrandbits(64)
        assert int(swapped(np.uint64(x))) == int.from_bytes(x.to_bytes(8, "little"), "big")
