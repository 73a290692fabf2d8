"""Arrays and records by their address.

numba passes an array as seven words, and six arrays took a fifth of the exact solver's time. Engines pass one record
instead, which is a single pointer, find the addresses of arrays and of other records in it, and see them as such again,
which costs nothing. In Python a record is a scalar of a structured dtype, ``control["top"]``; in a kernel its fields
are attributes, ``c.top``.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.numpy_support import from_dtype


def address(array: np.ndarray | np.void) -> int:
    """Return the address of a record, or of a contiguous array's elements; the caller keeps the object alive."""
    if not array.flags.c_contiguous:
        raise ValueError("an array whose elements are not one after another has no single address")
    return int(array.ctypes.data) if isinstance(array, np.ndarray) else array.__array_interface__["data"][0]


def struct(*fields: tuple) -> np.dtype:
    """Return the dtype of a record whose fields are aligned as in C."""
    return np.dtype(list(fields), align=True)


def int64_struct(*names: str) -> np.dtype:
    """Return the dtype of a record of int64 fields."""
    return struct(*((name, np.int64) for name in names))


def new_record(dtype: np.dtype) -> np.void:
    """Return a record of a structured dtype, all zero."""
    return np.zeros(1, dtype)[0]


def set_fields(record: np.void | np.ndarray, **values) -> None:
    """Set several fields of a record, or of all records of an array."""
    for name, value in values.items():
        record[name] = value


def record_view(dtype: np.dtype) -> Any:
    """Return an intrinsic ``at(where, i)``: record number i of those that lie one after another from an address on.

    A kernel that uses it is found in numba's disk cache by a new process.
    """
    record_type = from_dtype(dtype)

    @intrinsic
    def at(typingctx, where, i):
        """Return record i (int64) from an address (int64) on; nothing checks how many there are."""

        def generate(context, builder, signature, args):
            offset = builder.mul(args[1], ir.IntType(64)(dtype.itemsize))
            return builder.inttoptr(builder.add(args[0], offset), context.get_value_type(record_type))

        return record_type(types.int64, types.int64), generate

    return at


def _view(dtype) -> Any:
    array_type = types.Array(dtype, 1, "C")

    @intrinsic
    def view(typingctx, where):
        """Return the array at an address (int64); nothing checks how long it is."""

        def generate(context, builder, signature, args):
            # which takes a tenth of this package's time to load, and is needed only to compile
            from numba.np.arrayobj import make_array, populate_array

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


uint64s, int64s, int16s, uint8s, float64s, float32s = map(
    _view, (types.uint64, types.int64, types.int16, types.uint8, types.float64, types.float32)
)


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


@intrinsic
def replaced(typingctx, where, old, new):
    """Write ``new`` (float32) to an address (int64) if ``old`` is there; return whether it was, in one step for all."""

    def generate(context, builder, signature, args):
        word = ir.IntType(32)
        pointer = builder.inttoptr(args[0], ir.PointerType(word))
        old, new = (builder.bitcast(each, word) for each in args[1:])
        return builder.extract_value(builder.cmpxchg(pointer, old, new, "monotonic"), 1)

    return types.boolean(types.int64, types.float32, types.float32), generate


@intrinsic
def taken(typingctx, where):
    """Return the int64 at an address (int64) and add 1 to it, in one step for all processes that share it."""

    def generate(context, builder, signature, args):
        pointer = builder.inttoptr(args[0], ir.PointerType(ir.IntType(64)))
        return builder.atomic_rmw("add", pointer, ir.IntType(64)(1), "monotonic")

    return types.int64(types.int64), generate


@intrinsic
def add_to(typingctx, where, count):
    """Add ``count`` to the int64 at an address (int64), in one step for all processes that share it."""

    def generate(context, builder, signature, args):
        pointer = builder.inttoptr(args[0], ir.PointerType(ir.IntType(64)))
        builder.atomic_rmw("add", pointer, args[1], "monotonic")
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate
