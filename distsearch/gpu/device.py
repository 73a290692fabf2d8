"""One GPU through PyCUDA: its memory, its kernels, its clock. The only file that imports PyCUDA.

Everything goes to one stream and happens in order; what Python asks for is under way when the call returns, but for
``get``, ``set`` and ``wait``. Errors of CUDA become UserErrors with CUDA's name for them, and what a user can do.
"""

import contextlib

import numpy as np

from ..core.errors import UserError
from . import build

_HINTS = {
    "out of memory": "fewer ranks on this GPU take less of its memory",
    "insufficient driver": "the NVIDIA driver is older than the CUDA toolkit: update it, or use --device cpu",
    "unsupported toolchain": "the NVIDIA driver is older than nvcc: update it, or use an older nvcc",
    "no kernel image": "nvcc does not know this GPU: use a newer CUDA toolkit",
    "unsupported gpu architecture": "nvcc does not know this GPU: use a newer CUDA toolkit",
}
_LOOKS = 1 << 14  # at a word that a kernel is to write, some milliseconds
_STAGED = 1 << 14  # bytes, up to which what is read goes through memory that the GPU writes itself


def count():
    """Return how many GPUs this host has; raises UserError if PyCUDA or a driver is missing."""
    return _driver().Device.count()


def _driver():
    try:
        import pycuda.driver as cuda
    except ImportError as error:
        raise UserError(f"no PyCUDA ({error}): pip install distsearch[gpu], or use --device cpu") from error
    with _named():
        cuda.init()
    return cuda


@contextlib.contextmanager
def _named():
    """Turn CUDA's errors into UserErrors."""
    import pycuda.driver as cuda

    try:
        yield
    except cuda.Error as error:
        raise _user_error(error) from error


def _user_error(error):
    text = str(error)
    hint = next((hint for sign, hint in _HINTS.items() if sign in text.lower()), None)
    return UserError(f"CUDA: {text}" + (f" ({hint})" if hint else ""))


class Array:
    """An array in the GPU's memory; address (int) is what kernels take.

    of: the Array that this is a part of; first: where it begins there.
    """

    def __init__(self, gpu, shape, dtype, of=None, first=0):
        self.shape = tuple(np.atleast_1d(np.asarray(shape, np.int64)).tolist())
        self.dtype = np.dtype(dtype)
        self.nbytes = int(np.prod(self.shape)) * self.dtype.itemsize
        self._gpu = gpu
        if of is None:
            with gpu.active() as cuda:
                self._memory = cuda.mem_alloc(max(self.nbytes, 16))
        else:
            self._of = of  # which keeps the memory
            self._memory = of.address + first * self.dtype.itemsize
        self.address = int(self._memory)

    def set(self, values):
        """Copy an ndarray, or what broadcasts to one, to the GPU."""
        values = np.ascontiguousarray(np.broadcast_to(np.asarray(values, self.dtype), self.shape))
        with self._gpu.active() as cuda:
            cuda.memcpy_htod_async(self._memory, values, self._gpu.stream)
            self._gpu.synchronize()

    def get(self):
        """Return the contents as an ndarray, once all that was asked for before is done."""
        small = self.nbytes <= _STAGED
        values = np.empty(self.shape, self.dtype)
        with self._gpu.active() as cuda:
            cuda.memcpy_dtoh_async(self._gpu.stage[: self.nbytes] if small else values, self._memory, self._gpu.stream)
            self._gpu.synchronize()
        if small:
            values.reshape(-1).view(np.uint8)[:] = self._gpu.stage[: self.nbytes]
        return values

    def part(self, count, first=0):
        """Return an Array of so many elements of this one from ``first`` on, of one dimension: the same memory."""
        return Array(self._gpu, count, self.dtype, self, first)

    def zero(self):
        with self._gpu.active() as cuda:
            cuda.memset_d8_async(self._memory, 0, self.nbytes, self._gpu.stream)


class PinnedArray:
    """An array, ``values``, in the host's memory, that kernels write to at its ``address``: no copy follows them.

    count: elements, of eight bytes each.
    """

    def __init__(self, gpu, count, dtype):
        self._gpu = gpu
        with gpu.active() as cuda:
            self.values = cuda.pagelocked_zeros(count, dtype, mem_flags=cuda.host_alloc_flags.DEVICEMAP)
            self.address = int(self.values.base.get_device_pointer())
        self._words = self.values.view(np.uint64)

    def wait_for(self, at, word):
        """Return once a kernel has written a word (uint64) at an index, or all that was asked for before is done.

        What the kernel wrote before it is there then. That is some microseconds sooner than waiting for the kernel.
        """
        words = self._words
        for _ in range(_LOOKS):
            if words[at] == word:
                return
        self._gpu.wait()


class Kernel:
    """A function of a source. registers, local_bytes: of a thread."""

    def __init__(self, gpu, function):
        self._gpu, self._function = gpu, function
        self.registers, self.local_bytes = function.num_regs, function.local_size_bytes
        self._shared = 0

    def __call__(self, parameters, blocks, threads, shared=0, timed=True):
        """Launch it with a structure of parameters (a numpy record), so many blocks, threads and bytes a block.

        timed: whether the GPU's clock takes the time, which costs some microseconds.
        """
        with self._gpu.active() as cuda:
            self._allow(cuda, shared)
            if timed:
                self._gpu.begin()
            self._function._launch_kernel(
                (int(blocks), 1, 1), (int(threads), 1, 1), parameters.tobytes(), int(shared), self._gpu.stream
            )
            if timed:
                self._gpu.end()

    def _allow(self, cuda, shared):
        if shared > max(self._shared, 48 << 10):  # more than that a kernel has to ask for
            self._function.set_attribute(cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, int(shared))
            self._shared = shared

    def resident(self, threads, shared=0):
        """Return how many blocks of so many threads and bytes a multiprocessor holds at a time."""
        registers = -(-self.registers // 8) * 8 * threads
        by_registers = self._gpu.registers // max(registers, 1)
        by_memory = self._gpu.shared_memory // (shared + 1024)
        return max(1, min(self._gpu.threads // threads, by_registers, by_memory, 32))


class _Active:
    """See ``Gpu.active``. No generator, which takes longer than some launches."""

    def __init__(self, cuda, context):
        self._cuda, self._push, self._pop = cuda, context.push, cuda.Context.pop

    def __enter__(self):
        self._push()
        return self._cuda

    def __exit__(self, kind, error, _):
        self._pop()
        if isinstance(error, self._cuda.Error):
            raise _user_error(error) from error


class Gpu:
    """A GPU of this host by its number; one context of a process, shared with other users of CUDA in it.

    name; card: which of its host's it is (its address on the bus); architecture ("sm_90"); multiprocessors; memory,
    shared_memory (bytes); threads and registers of a multiprocessor; busy_seconds: its own time from launches to their
    ends, so far, to which launches that are not ``timed`` add what their callers saw. Raises UserError if it cannot be
    used.
    """

    def __init__(self, number=0):
        self._cuda = _driver()
        if not 0 <= number < self._cuda.Device.count():
            raise UserError(f"there is no GPU {number}: this host has {self._cuda.Device.count()}")
        with _named():
            self.device = self._cuda.Device(number)
            self._context = self.device.retain_primary_context()
        self._active = _Active(self._cuda, self._context)
        of = self.device.get_attribute
        which = self._cuda.device_attribute
        self.name, self.card = self.device.name(), self.device.pci_bus_id()
        self.architecture = "sm_{}{}".format(*self.device.compute_capability())
        self.memory = self.device.total_memory()
        self.multiprocessors = of(which.MULTIPROCESSOR_COUNT)
        self.threads = of(which.MAX_THREADS_PER_MULTIPROCESSOR)
        self.registers = of(which.MAX_REGISTERS_PER_MULTIPROCESSOR)
        self.shared_memory = of(which.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)
        self._modules = {}
        self.busy_seconds, self._at_work = 0.0, False
        with self.active() as cuda:
            self.stream = cuda.Stream()
            self._began, self._ended = cuda.Event(), cuda.Event()
            self.stage = cuda.pagelocked_empty(_STAGED, np.uint8)

    def active(self):
        """A context that has this GPU's context current, and CUDA's errors named; gives pycuda.driver."""
        return self._active

    def array(self, shape, dtype):
        """Return an Array of whatever was there."""
        return Array(self, shape, dtype)

    def pinned(self, count, dtype):
        """Return a PinnedArray."""
        return PinnedArray(self, count, dtype)

    def upload(self, values):
        """Return an Array with the contents of an ndarray."""
        values = np.asarray(values)
        array = Array(self, values.shape, values.dtype)
        array.set(values)
        return array

    def kernel(self, source, name, **defines):
        """Return the Kernel of that name in a source (a file of ``cuda/``), compiled with macros defined so."""
        key = source, *sorted(defines.items())
        with self.active() as cuda:
            if key not in self._modules:
                path = build.cubin(source, self.architecture, sorted(defines.items()))
                self._modules[key] = cuda.module_from_file(str(path))
            return Kernel(self, self._modules[key].get_function(name))

    def wait(self):
        """Return once all that was asked for is done."""
        with self.active():
            self.synchronize()

    def begin(self):
        """Note that a launch follows; with the context current, as the next two."""
        if self._at_work and self._ended.query():
            self._add_up()
        if not self._at_work:
            self._began.record(self.stream)
            self._at_work = True

    def end(self):
        """Note that a launch was asked for."""
        self._ended.record(self.stream)

    def synchronize(self):
        """``wait``, with the context current."""
        self.stream.synchronize()
        if self._at_work:
            self._add_up()

    def _add_up(self):
        self.busy_seconds += self._began.time_till(self._ended) / 1000
        self._at_work = False

    def mark(self):
        """Return an event at this point of the stream, for ``seconds``."""
        with self.active() as cuda:
            event = cuda.Event()
            event.record(self.stream)
        return event

    def seconds(self, first, second):
        """Return the GPU's time from one mark to another, once both are past."""
        with self.active():
            second.synchronize()
            return first.time_till(second) / 1000

    def free(self):
        """Return the bytes of free memory."""
        with self.active() as cuda:
            return cuda.mem_get_info()[0]

    def close(self):
        """Let go of the context."""
        with contextlib.suppress(self._cuda.Error):  # of a context that is lost
            self._modules.clear()
            self._context.detach()
