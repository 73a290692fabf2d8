// How often a second a GPU can find the discs that a move turns, and nothing else: the limit of the end-game kernel.
#include "othello.cuh"

using Game = othello::Board<8, 8>;
using Rays = Fixed<uint64_t, Game::SQUARES * othello::RAY_STRIDE>;

struct Parameters {
    uint64_t* out;
    int turns;
};

__device__ constexpr Rays RAYS = othello::all_rays<8, 8>();

KERNEL(turning, Parameters) {
    SHARED(Rays, rays);
    for (int i = threadIdx.x; i < Game::SQUARES * othello::RAY_STRIDE; i += blockDim.x) rays[i] = RAYS[i];
    __syncthreads();
    uint64_t own = thread_number() * 0x9E3779B97F4A7C15u, opp = ~own & own << 7;
    for (int i = 0; i < p.turns; ++i) {  // every turn needs the one before
        const uint64_t discs = Game::turned(own, opp, int(own >> 58), rays.at);
        own = (own ^ discs) * 0x9E3779B97F4A7C15u;
        opp = ~own & (opp ^ discs);
    }
    p.out[thread_number()] = own;
}
