// The solver of Connect 4.
#include "connect4.cuh"
#include "offload.cuh"

KERNEL_BOUNDS(solve, Parameters, THREADS, BLOCKS) {
    SHARED_BYTES(memory);
    search<Connect4>(p, memory, {});
}

KERNEL_BOUNDS(offload, OffloadParameters, 32, 1) {
    SHARED_BYTES(memory);
    offload_parts<Connect4>(p, memory);
}
