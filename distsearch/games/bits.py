"""Single words of bits: what processors have an instruction for, and a plain way where they have none."""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ..core import processor
from ..core.jit import compiled

_I64 = ir.IntType(64)


def _instruction(name):
    def generate(context, builder, signature, args):
        function = ir.FunctionType(_I64, [_I64] * len(args))
        return builder.call(cgutils.get_or_insert_function(builder.module, function, name), args)

    return generate


@intrinsic
def _pext(typingctx, x, mask):
    return types.uint64(types.uint64, types.uint64), _instruction("llvm.x86.bmi.pext.64")


@intrinsic
def _pdep(typingctx, x, mask):
    return types.uint64(types.uint64, types.uint64), _instruction("llvm.x86.bmi.pdep.64")


@intrinsic
def byte_swap(typingctx, x):
    """Return a word with its bytes in the other order."""
    return types.uint64(types.uint64), _instruction("llvm.bswap.i64")


@compiled
def gathered(x, mask):
    """Return the bits of x where mask has ones, side by side from the lowest bit on: by a loop."""
    found, bit = np.uint64(0), np.uint64(1)
    while mask != 0:
        lowest = mask & (~mask + np.uint64(1))
        if x & lowest:
            found |= bit
        mask ^= lowest
        bit <<= np.uint64(1)
    return found


@compiled
def scattered(x, mask):
    """Return mask without those of its ones whose bit of x, counted from the lowest on, is 0: by a loop."""
    found = np.uint64(0)
    while mask != 0:
        lowest = mask & (~mask + np.uint64(1))
        if x & np.uint64(1):
            found |= lowest
        mask ^= lowest
        x >>= np.uint64(1)
    return found


@compiled
def _gathered_at_once(x, mask):
    return _pext(x, mask)


@compiled
def _scattered_at_once(x, mask):
    return _pdep(x, mask)


COUNTS_IN_LANES = processor.has("AVX-512")  # the leading zeros of every lane by one instruction

# The same by one instruction of BMI2, where the processor has it: learning is twice as fast so.
AT_ONCE = processor.has("BMI2")
pext, pdep = (_gathered_at_once, _scattered_at_once) if AT_ONCE else (gathered, scattered)
