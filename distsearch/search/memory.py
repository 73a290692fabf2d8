"""Arrays by their address, and the pages of large ones.

numba passes an array as seven words, and six arrays took a fifth of the exact solver's time. Engines pass the address
of one array instead, find those of others in it, and see them as arrays again, which costs nothing.

A large array of zeros takes memory page by page, as it is written to. Small pages suit short work: a first write to a
huge one clears 2 MiB, 2 s for 1 GiB. Huge ones suit long work: random access to 1 GiB is a third faster. So arrays
begin with small pages, and whoever has worked on one for a while has them made huge, one after another.
"""

import ctypes
import mmap
import sys

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array


def address(array):
    """Return where the elements of a contiguous numpy array are; whoever uses it keeps the array alive."""
    if not array.flags.c_contiguous:
        raise ValueError("an array whose elements are not one after another has no single address")
    return int(array.ctypes.data)


def _view(dtype):
    array_type = types.Array(dtype, 1, "C")

    @intrinsic
    def view(typingctx, where):
        """Return the array at an address (int64); nothing checks how long it is."""

        def generate(context, builder, signature, args):
            array = make_array(array_type)(context, builder)
            size = context.get_abi_sizeof(context.get_data_type(dtype))
            populate_array(
                array,
                data=builder.inttoptr(args[0], array.data.type),
                shape=cgutils.pack_array(builder, [cgutils.intp_t(1 << 48)]),
                strides=cgutils.pack_array(builder, [cgutils.intp_t(size)]),
                itemsize=cgutils.intp_t(size),
                meminfo=None,
            )
            return array._getvalue()

        return array_type(types.int64), generate

    return view


uint64s, int64s, int16s, float64s = map(_view, (types.uint64, types.int64, types.int16, types.float64))


def _reading(source, target, kind):
    @intrinsic
    def read(typingctx, value):
        """Return a number of the other type with the same 64 bits."""

        def generate(context, builder, signature, args):
            return builder.bitcast(args[0], kind)

        return target(source), generate

    return read


bits_of = _reading(types.float64, types.int64, ir.IntType(64))
number_of = _reading(types.int64, types.float64, ir.DoubleType())


@intrinsic
def prefetch(typingctx, where):
    """Begin to fetch the cache line at an address (int64)."""

    def generate(context, builder, signature, args):
        pointer, word = ir.PointerType(ir.IntType(8)), ir.IntType(32)
        function = builder.module.declare_intrinsic(
            "llvm.prefetch", [pointer], ir.FunctionType(ir.VoidType(), [pointer, word, word, word])
        )
        builder.call(function, [builder.inttoptr(args[0], pointer), word(0), word(3), word(1)])
        return context.get_dummy_value()

    return types.void(types.int64), generate


HUGE_PAGE = 1 << 21  # bytes
_COLLAPSE = 25  # MADV_COLLAPSE of Linux 6.1
_CAN_CHOOSE = sys.platform == "linux" and hasattr(mmap, "MADV_NOHUGEPAGE")


def lazy_zeros(size):
    """Return a uint64 array of zeros, in small pages that take memory when they are written to."""
    if size == 0 or not _CAN_CHOOSE:
        return np.zeros(size, np.uint64)
    memory = mmap.mmap(-1, 8 * size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, np.uint64)


class HugePages:
    """Makes the pages of an array from ``lazy_zeros`` huge, one at a time."""

    def __init__(self, array):
        start = address(array)
        self._next = -(-start // HUGE_PAGE) * HUGE_PAGE
        self._end = start + array.nbytes if _CAN_CHOOSE else 0

    @property
    def left(self):
        """Huge pages that are still to be made."""
        return max(0, (self._end - self._next) // HUGE_PAGE)

    def make_one(self):
        """Make the next page huge; if the system cannot, none is left.

        It takes about 1 ms, but 4.5 to 4.7 ms were measured at times, and 8 to 10 ms beside other work: a slice takes
        that much longer.
        """
        where, size = ctypes.c_void_p(self._next), ctypes.c_size_t(HUGE_PAGE)
        advise = ctypes.CDLL(None).madvise
        if advise(where, size, mmap.MADV_HUGEPAGE) or advise(where, size, _COLLAPSE):
            self._end = 0
        self._next += HUGE_PAGE
