// Exact scores of Othello end games, a batch of positions at a time.
//
// LANES lanes of a warp are a *group* and search one position together, by principal-variation search over frames in
// shared memory; groups of all blocks take positions from one queue. At a node with more than LEAF + 1 empty squares
// every lane makes the moves on some of these, and the group orders them by the replies that they leave. A node with at
// most LEAF + 1, a *bottom*, is solved by lanes on their own: each takes one of its squares after another and searches
// below it, and the first that cuts the bottom off ends it for all.
//
// A lane's search is a loop whose every turn tries one square, at whatever depth: all lanes of a warp do the same
// thing at a time wherever they are, which recursion would not have. All meetings are of whole warps.
#include "endgame_lanes.cuh"

namespace {

ON_DEVICE void keep(const Group& g, const Place& at, Kept& kept) {
    if (of_group() == 0) kept.group = g;
    for (int i = of_group(); i <= g.top; i += LANES) kept.frames[i] = at.frames[i];
}

ON_DEVICE Group resumed(const Parameters& p, const Place& at, const Kept& kept) {
    Group g = kept.group;
    if (g.mode == OUT || g.mode == IDLE) g.mode = FETCH;
    if (g.mode == FETCH) return g;
    for (int i = of_group(); i <= g.top; i += LANES) at.frames[i] = kept.frames[i];
    const Window window = p.windows[g.job];
    if (window.low >= window.high) {
        g.value = NONE;
        g.move = NO_MOVE;
        if (SHARING) release(p, g, at, 0);
        answer(p, g, GIVEN_UP);
    }
    if (g.top >= 0 && of_group() == 0) {  // the window may be narrower now
        Line& line = at.frames[0].line;
        const bool passed = line.flags & PASSED;
        line.alpha = int8_t(max(int(line.alpha), passed ? -window.high : window.low));
        line.beta = int8_t(min(int(line.beta), passed ? -window.low : window.high));
    }
    return g;
}

}  // namespace

__device__ constexpr Rays RAYS = othello::all_rays<BOARD_ROWS, BOARD_COLUMNS>();

KERNEL_BOUNDS(endgame, Parameters, THREADS, BLOCKS) {
    SHARED(Rays, rays);
    SHARED_BYTES(memory);
    for (int i = threadIdx.x; i < Game::SQUARES * othello::RAY_STRIDE; i += THREADS) rays[i] = RAYS[i];
    __syncthreads();
    const Place at = place(memory, rays.at);
    Kept& kept = reinterpret_cast<Kept*>(p.kept)[thread_number() / LANES];
    Group g = {};
    g.top = -1;
    g.mode = FETCH;
    if (!p.first) g = resumed(p, at, kept);
    Lane lane = {};
    lane.square = NO_MOVE;
    unsigned counts[COUNTS] = {};
    const uint64_t end = nanoseconds() + p.limit;
    bool stops = false;
    __syncwarp();
    for (unsigned turn = 1;;) {
        const unsigned bottoms = which(g.mode == BOTTOM), out = which(g.mode == OUT || g.mode == IDLE);
        const int waiting = 32 - bits_in(bottoms | out);
        if (!bottoms && (stops || !waiting && !some(g.mode == IDLE))) break;
        if (stops || waiting * 32 < WAITING * (32 - bits_in(out)) && bottoms) {
            search_bottoms(p, g, lane, at, counts);
            continue;
        }
        if (SHARING && !waiting && !bottoms) spin();  // all are idle
        while (some(g.mode == RETURN)) fold(p, g, at, counts);
        if (some(g.mode == FETCH || g.mode == IDLE)) fetch(p, g, turn);
        __syncwarp();
        if (SHARING && some(g.mode == MOVE)) put_off(p, g, at);
        make_move(p, g, at, counts);
        open(p, g, at, counts);
        if (++turn % POLL_INTERVAL) continue;
        stops = __shfl_sync(ALL_LANES, nanoseconds() >= end, 0);
        if (!SHARING) continue;
        __syncwarp();
        leave_answered(p, g, at);
        look_back(p, g, at);
    }
    __syncwarp();
    keep(g, at, kept);
    for (int i = 0; i < COUNTS; ++i) {
        const unsigned sum = __reduce_add_sync(ALL_LANES, counts[i]);
        if (lane_number() == 0) atomicAdd(p.counts + i, (unsigned long long)sum);
    }
}
