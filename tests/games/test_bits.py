"""Words of bits against loops over their bits."""

import platform

import llvmlite.binding
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


@pytest.mark.parametrize(
    ("name", "features", "gathers", "counts"),
    [
        ("generic", "", False, False),
        ("x86-64-v2", "", False, False),
        ("x86-64-v3", "", True, False),
        ("znver3", "-bmi2", False, False),
        ("x86-64-v4", "", True, True),
    ],
)
@pytest.mark.skipif(platform.machine() != "x86_64", reason="names of x86 processors")
def test_the_instruction_is_that_of_the_processor_that_kernels_are_made_for(
    monkeypatch, name, features, gathers, counts
):
    monkeypatch.setattr(bits.numba.config, "CPU_NAME", name)
    monkeypatch.setattr(bits.numba.config, "CPU_FEATURES", features)
    assert (bits._has(*bits._BMI2), bits._has(*bits._AVX512CD)) == (gathers, counts)


def test_a_name_alone_takes_the_instructions_of_this_machine(monkeypatch):
    monkeypatch.setattr(bits.numba.config, "CPU_NAME", "znver3")
    monkeypatch.setattr(bits.numba.config, "CPU_FEATURES", None)
    assert bits._has(*bits._BMI2) == llvmlite.binding.get_host_cpu_features().get("bmi2", False)
