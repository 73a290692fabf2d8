// The solver of Connect 4.
#include "connect4.cuh"
#include "lending.cuh"

KERNEL_BOUNDS(solve, Parameters, THREADS, BLOCKS) {
    SHARED_BYTES(memory);
    search<Connect4>(p, memory);
}

KERNEL_BOUNDS(lend, Lending, 32, 1) {
    SHARED_BYTES(memory);
    lend_parts<Connect4>(p, memory);
}
