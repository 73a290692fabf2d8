"""Single words of bits: what processors have an instruction for, and a plain way where they have none."""

import llvmlite.binding
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

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


def _has(feature, instruction, source):
    """Whether the processor that kernels are made for has a feature: if LLVM makes an instruction of some source."""
    named = numba.config.CPU_FEATURES
    if named is None:  # numba then names those of this machine, whatever the processor is called
        return llvmlite.binding.get_host_cpu_features().get(feature, False)
    # names of processors stand for features that only LLVM knows
    llvmlite.binding.initialize_native_target()
    llvmlite.binding.initialize_native_asmprinter()
    target = llvmlite.binding.Target.from_default_triple()
    machine = target.create_target_machine(cpu=numba.config.CPU_NAME or "", features=named)
    return instruction in machine.emit_assembly(llvmlite.binding.parse_assembly(source))


# Of a feature: its name, an instruction, and what LLVM makes that instruction of where it has the feature.
_BMI2 = "bmi2", "shlx", "define i64 @f(i64 %x, i64 %n) {\n %y = shl i64 %x, %n\n ret i64 %y\n}"
_COUNT = "<8 x i64> @llvm.ctlz.v8i64(<8 x i64>{}, i1{})"
_AVX512CD = (
    "avx512cd",
    "vplzcntq",
    f"declare {_COUNT.format('', '')}\n"
    f"define <8 x i64> @f(<8 x i64> %x) {{\n %y = call {_COUNT.format(' %x', ' true')}\n ret <8 x i64> %y\n}}",
)

COUNTS_IN_LANES = _has(*_AVX512CD)  # the leading zeros of every lane by one instruction

# The same by one instruction of BMI2, where the processor has it: learning is twice as fast so.
AT_ONCE = _has(*_BMI2)
pext, pdep = (_gathered_at_once, _scattered_at_once) if AT_ONCE else (gathered, scattered)
