"""A GPU that is not there: kernels of this package compiled for the CPU, behind the interface of ``gpu.device``.

Threads are fibers (``cuda_on_cpu.h``), some ten million times slower than a GPU; it is for tests.
"""

import ctypes
import os
import time
from pathlib import Path

import numpy as np

from ..gpu import build

_HEADER = Path(__file__).parent / "cuda_on_cpu.h"
_COMPILER = os.environ.get("CXX", "g++")
# longjmp is how fibers change, which a hardened library takes for an error
_COMMAND = _COMPILER, "-x", "c++", "-std=c++17", "-O1", "-shared", "-fPIC", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=0"


class EmulatedArray:
    """An array that kernels work on; see ``gpu.device.Array``."""

    def __init__(self, shape, dtype, of=None, first=0):
        if of is None:
            self._array = np.empty(shape, dtype)
            self._array.reshape(-1).view(np.uint8)[:] = 0xA5
        else:
            self._array = of._array[first : first + shape]
        self.shape, self.dtype, self.nbytes = self._array.shape, self._array.dtype, self._array.nbytes
        self.address = self._array.ctypes.data

    def set(self, values):
        self._array[...] = values

    def get(self):
        return self._array.copy()

    def part(self, count, first=0):
        return EmulatedArray(count, self.dtype, self, first)

    def zero(self):
        self._array.reshape(-1).view(np.uint8)[:] = 0


class EmulatedPinnedArray(EmulatedArray):
    """See ``gpu.device.PinnedArray``."""

    @property
    def values(self):
        return self._array

    def wait_for(self, at, word):
        assert self._array.view(np.uint64)[at] == word, "a kernel has not told that it is done"


class EmulatedKernel:
    def __init__(self, gpu, function, size):
        self._gpu, self._function, self._size = gpu, function, size
        self.registers, self.local_bytes = 0, 0

    def __call__(self, parameters, blocks, threads, shared=0, timed=True):
        content = parameters.tobytes()
        assert len(content) == self._size, f"{len(content)} bytes of parameters, the kernel takes {self._size}"
        began = time.perf_counter()
        self._function(content, (ctypes.c_uint * 3)(blocks, threads, shared))
        if timed:
            self._gpu.busy_seconds += time.perf_counter() - began

    def resident(self, threads, shared=0):
        return 1


class EmulatedGpu:
    """See ``gpu.device.Gpu``. seed: of the order in which threads go on; card: which of its host's it is taken for."""

    name, architecture = "emulated", "cpu"
    memory = 1 << 30

    def __init__(self, seed=0, multiprocessors=2, card="0"):
        self.multiprocessors, self.card = multiprocessors, card
        self._seed = seed
        self._libraries = {}
        self.busy_seconds = 0.0

    def array(self, shape, dtype):
        return EmulatedArray(shape, dtype)

    def pinned(self, count, dtype):
        return EmulatedPinnedArray(count, dtype)

    def upload(self, values):
        array = EmulatedArray(np.shape(values), np.asarray(values).dtype)
        array.set(values)
        return array

    def kernel(self, source, name, **defines):
        command = [*_COMMAND, f"-I{_HEADER.parent}", "-include", str(_HEADER)]
        stamp = _HEADER.stat().st_mtime_ns
        path = build.built(source, [*command, f"-DEMULATED={stamp}"], sorted(defines.items()), "so")
        if path not in self._libraries:
            self._libraries[path] = ctypes.CDLL(str(path))
            self._libraries[path].emulated_seed(ctypes.c_uint64(self._seed))
        library = self._libraries[path]
        return EmulatedKernel(self, library[name], library[f"{name}_bytes"]())

    def wait(self):
        """Everything is done already."""

    def free(self):
        return self.memory

    def mark(self):
        return time.perf_counter()

    def seconds(self, first, second):
        return second - first

    def close(self):
        """Nothing is held."""
