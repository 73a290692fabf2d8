"""Arrays by their address.

numba passes an array as seven words, and six arrays took a fifth of the exact solver's time. Engines pass the address
of one array instead, find those of others in it, and see them as arrays again, which costs nothing.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array


def address(array):
    """Return where the elements of a contiguous numpy array are; the caller keeps the array alive."""
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
