"""Whether what runs kernels on a CPU does what a GPU does: threads that meet, blocks at work together, errors found."""

import subprocess
import sys

import numpy as np
import pytest

from distsearch.core.errors import UserError
from distsearch.gpu import build
from distsearch.testing.emulated_gpu import EmulatedGpu

SOURCE = """
#include "common.cuh"
struct Parameters {
    const int* in;
    int* out;
    unsigned long long* total;
    int n, mode;
};
// Sums over warps and blocks, by every way of meeting, and a barrier of the whole grid.
KERNEL(sums, Parameters) {
    SHARED(Fixed<int COMMA 32>, parts);
    int i = int(thread_number()), lane = int(lane_number()), warp = threadIdx.x / 32;
    int value = i < p.n ? p.in[i] : 0, sum = value;
    for (int by = 16; by; by /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, by);
    if (lane == 0) parts[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        int part = lane < int(blockDim.x) / 32 ? parts[lane] : 0;
        part = __reduce_add_sync(ALL_LANES, part);
        if (lane == 0) atomicAdd(&p.total[0], (unsigned long long)part);
    }
    unsigned odd = __ballot_sync(ALL_LANES, value & 1);
    unsigned eight = 0xFFu << (lane & 24);
    int largest = __reduce_max_sync(eight, value);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&p.total[1], 1ull);
        while (atomicAdd(&p.total[1], 0ull) < gridDim.x) spin();
    }
    __syncthreads();
    if (i < p.n) p.out[i] = int(p.total[0]) + bits_in(odd) * 1000000 + largest * 100;
    if (p.mode && lane == 3) __syncwarp(p.mode == 1 ? 0xF0u : 0xFFu);
}
"""
PARAMETERS = np.dtype([("in", "u8"), ("out", "u8"), ("total", "u8"), ("n", "i4"), ("mode", "i4")], align=True)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("cuda") / "sums.cu"
    path.write_text("#define COMMA ,\n" + SOURCE)
    return str(path)


def launched(source, seed, blocks, threads, mode=0):
    gpu = EmulatedGpu(seed)
    n = blocks * threads - 5
    values = np.random.default_rng(seed).integers(0, 100, n).astype(np.int32)
    given, out, total = gpu.upload(values), gpu.array(n, np.int32), gpu.upload(np.zeros(2, np.uint64))
    record = np.array((given.address, out.address, total.address, n, mode), PARAMETERS)
    gpu.kernel(source, "sums")(record, blocks, threads)
    return values, out.get()


@pytest.mark.parametrize(("blocks", "threads"), [(1, 32), (3, 64), (2, 1024)])
def test_threads_meet(source, seed, blocks, threads):
    values, found = launched(source, seed, blocks, threads)
    padded = np.zeros(blocks * threads, np.int64)
    padded[: len(values)] = values
    odd = (padded.reshape(-1, 32) & 1).sum(axis=1).repeat(32)
    largest = padded.reshape(-1, 8).max(axis=1).repeat(8)
    assert (found == (values.sum() + odd * 1000000 + largest * 100)[: len(values)]).all()


@pytest.mark.parametrize(("mode", "said"), [(1, "not in its own mask"), (2, "all threads wait")])
def test_a_lane_too_many_and_a_lane_too_few_are_found(source, mode, said):
    program = f"from tests.gpu.test_emulated import launched; launched({source!r}, 1, 1, 32, {mode})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode < 0
    assert said in done.stderr


def test_a_source_that_is_wrong_is_an_error_with_what_the_compiler_says(tmp_path):
    path = tmp_path / "wrong.cu"
    path.write_text('#include "common.cuh"\nint f() { return nothing_of_that_name; }\n')
    with pytest.raises(UserError, match=r"cannot compile .*wrong\.cu:(.|\n)*nothing_of_that_name"):
        EmulatedGpu().kernel(str(path), "f")


def test_sources_are_packed(source):
    assert "common.cuh" in {path.name for path in build.SOURCES.iterdir()}
