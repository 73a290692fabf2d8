"""Arrays and records by their address."""

import os
import subprocess
import sys

import numpy as np
import pytest

from distsearch.core import pointers
from distsearch.core.jit import compiled

INNER = pointers.int64_struct("a", "b")
OUTER = pointers.struct(("inner", INNER), ("x", np.float64), ("y", np.uint64), ("z", np.int64, 3))
outer_at = pointers.record_view(OUTER)


@compiled
def first_and_third(a, b, c):
    x, y, z = pointers.uint64s(a), pointers.int64s(b), pointers.int16s(c)
    return x[0], x[2], y[0], y[2], z[0], z[2]


def test_compiled_functions_see_an_array_by_its_address():
    arrays = [np.array([5, 6, 7], dtype) for dtype in (np.uint64, np.int64, np.int16)]
    assert first_and_third(*map(pointers.address, arrays)) == (5, 7) * 3


def test_a_part_of_an_array_has_its_own_address():
    array = np.zeros((4, 4))
    assert pointers.address(array[1:]) - pointers.address(array) == 4 * array.itemsize


@pytest.mark.parametrize(
    "array", [np.zeros(10)[::2], np.zeros(10)[::-1], np.zeros((4, 4))[:, 1], np.zeros((4, 3)).T], ids=range(4)
)
def test_an_array_with_gaps_has_no_address(array):
    with pytest.raises(ValueError, match="one after another"):
        pointers.address(array)


@compiled
def sum_of(inner):
    inner.a += inner.b
    return inner.a


@compiled
def write(where, i):
    o = outer_at(where, i)
    o.x, o.y, o.z[i] = 0.5, 1 << 63, 7
    return sum_of(o.inner)


def test_compiled_functions_see_records_by_their_address():
    records = np.zeros(3, OUTER)
    records["inner"]["a"], records["inner"]["b"] = 3, 4
    assert write(pointers.address(records), 2) == 7
    assert records["inner"].tolist() == [(3, 4), (3, 4), (7, 4)]
    assert (records["x"].tolist(), records["y"].tolist()) == ([0, 0, 0.5], [0, 0, 1 << 63])
    assert records["z"].tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 7]]


def test_python_and_compiled_functions_see_the_same_record():
    record = pointers.new_record(OUTER)
    pointers.set_fields(record["inner"], a=1, b=2)
    assert sum_of(record["inner"]) == 3
    assert write(pointers.address(record), 0) == 5
    assert (record["inner"].item(), record["x"]) == ((5, 2), 0.5)


def test_a_new_process_finds_kernels_that_see_records_in_the_cache(tmp_path):
    code = "from tests.core import test_pointers as t; t.test_python_and_compiled_functions_see_the_same_record(); "
    code += "print(sum(t.write.stats.cache_hits.values()))"
    environment = os.environ | {"DISTSEARCH_CACHE": str(tmp_path)}
    found = [subprocess.check_output([sys.executable, "-c", code], env=environment, text=True) for _ in range(2)]
    assert list(map(int, found)) == [0, 1]
