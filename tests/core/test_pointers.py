"""Arrays by their address."""

import numpy as np
import pytest

from distsearch.core.jit import compiled
from distsearch.core.pointers import address, int16s, int64s, uint64s


@compiled
def first_and_third(a, b, c):
    x, y, z = uint64s(a), int64s(b), int16s(c)
    return x[0], x[2], y[0], y[2], z[0], z[2]


def test_compiled_functions_see_an_array_by_its_address():
    arrays = [np.array([5, 6, 7], dtype) for dtype in (np.uint64, np.int64, np.int16)]
    assert first_and_third(*map(address, arrays)) == (5, 7) * 3


def test_a_part_of_an_array_has_its_own_address():
    array = np.zeros((4, 4))
    assert address(array[1:]) - address(array) == 4 * array.itemsize


@pytest.mark.parametrize(
    "array", [np.zeros(10)[::2], np.zeros(10)[::-1], np.zeros((4, 4))[:, 1], np.zeros((4, 3)).T], ids=range(4)
)
def test_an_array_with_gaps_has_no_address(array):
    with pytest.raises(ValueError, match="one after another"):
        address(array)
