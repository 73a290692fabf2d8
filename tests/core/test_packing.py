"""Arrays as bytes: they come back, and no other bytes are taken for them."""

import numpy as np
import pytest

from distsearch.core.packing import packed, unpacked

ARRAYS = np.arange(5), np.array([7, 8], np.uint64), np.zeros(0, np.int16), np.array([-3], np.int16)
PLACES = np.zeros(9, np.int64), np.zeros(2, np.uint64), np.zeros(4, np.int16), np.zeros(4, np.int16)


def test_arrays_come_back():
    found = unpacked(packed(*ARRAYS), *PLACES)
    assert [(each.dtype, each.tolist()) for each in found] == [(each.dtype, each.tolist()) for each in ARRAYS]


def test_other_bytes_are_refused_or_are_other_arrays(rng):
    content = packed(*ARRAYS)
    for length in range(len(content)):
        with pytest.raises(ValueError, match="arrays"):
            unpacked(content[:length], *PLACES)
    for _ in range(1000):
        mutant = bytearray(content)
        for _ in range(rng.randint(1, 4)):
            mutant[rng.randrange(len(mutant))] = rng.randrange(256)
        try:
            found = unpacked(bytes(mutant), *PLACES)
        except ValueError:
            continue
        assert all(len(each) <= len(place) for each, place in zip(found, PLACES, strict=True))


@pytest.mark.parametrize("length", [-1, 1 << 62, 10])
def test_lengths_are_checked(length):
    with pytest.raises(ValueError, match="do not fit"):
        unpacked(np.array([length, 0, 0, 0]).tobytes(), *PLACES)
