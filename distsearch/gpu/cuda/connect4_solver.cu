// The solver of Connect 4.
#include "connect4.cuh"
#include "solver.cuh"

KERNEL_BOUNDS(solve, Parameters, THREADS, BLOCKS) {
    SHARED_BYTES(memory);
    search<Connect4>(p, memory);
}
