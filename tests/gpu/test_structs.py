"""C structs from dtypes: as C lays them out, and a field of the dtype is all that a kernel's new parameter takes."""

import numpy as np
import pytest

from distsearch.gpu import solver, structs
from distsearch.gpu.structs import COUNTER, struct, typed
from distsearch.testing.emulated_gpu import EmulatedGpu

KERNEL = """
#include "common.cuh"
#include "dtypes/solver.h"
KERNEL(sum, Test) {
    if (thread_number() == 0) *p.out = p.inner.small + p.inner.many[2] + p.%s;
}
"""
INNER = struct("Inner", [("small", "i1"), ("many", "u2", 3), ("count", COUNTER)], align=32)
FIELDS = [("inner", INNER), ("out", typed("long long*")), ("byte", "u1"), ("number", "i8")]


def test_structs_are_as_large_as_c_says_and_hold_what_numpy_puts_there(tmp_path, monkeypatch):
    gpu, out = EmulatedGpu(), EmulatedGpu().array(1, np.int64)
    for field, fields in (("number", FIELDS), ("more", [*FIELDS, ("more", "i4")])):
        monkeypatch.setattr(solver, "TEST", struct("Test", fields), raising=False)
        source = tmp_path / "sum.cu"
        source.write_text(KERNEL % field)
        record = np.zeros((), solver.TEST)
        record["out"], record[field] = out.address, 1000
        record["inner"]["small"], record["inner"]["many"] = -7, (1, 2, 30)
        gpu.kernel(str(source), "sum")(record, 1, 32)
        assert out.get()[0] == 1023


def test_a_size_is_a_multiple_of_what_the_struct_is_aligned_to():
    assert (INNER.itemsize, struct("Outer", [("a", "u1"), ("b", INNER)]).fields["b"][1]) == (32, 32)
    assert struct("Plain", [("a", "u1"), ("b", "u8")]).itemsize == 16


@pytest.mark.parametrize("name", ["solver", "othello_endgame", "expectimax_merged", "learning"])
def test_a_header_declares_a_struct_once(name):
    text = structs.header(f"dtypes/{name}.h")
    declared = [line for line in text.splitlines() if line.startswith("struct ")]
    assert len(declared) == len(set(declared)) > 1
