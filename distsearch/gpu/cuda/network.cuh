// An n-tuple network that is being learnt: which weights a board looks up, their sum, and changes of them.
//
// Macros say which network: GAME (2048 or 2584), TUPLES (TUPLE(mask of its cells) for each), SYMMETRIC (0 or 1: also on
// the seven boards that turning and mirroring make), STAGES, COHERENT (rates by traces). So which bits a tuple takes is known to
// the compiler, and all look-ups of a lane are under way together. IMAGES lanes look at a board, each at one image.
// Weights are read past the first-level cache, which does not learn what other multiprocessors write.
#pragma once
#include <utility>

#include "lanes.cuh"

#if GAME == 2048
using G = G2048;
#else
using G = G2584;
#endif
constexpr int WORDS = G::IN_WORD == 16 ? 1 : 2;  // of a state that hold anything where no tile is due

#include "dtypes/learning.h"

constexpr int IMAGES = SYMMETRIC ? 8 : 1;

#define TUPLE(cells) cells,
struct Tuples {
    static constexpr unsigned CELLS[] = {TUPLES};
    static constexpr int COUNT = sizeof(CELLS) / sizeof(CELLS[0]);

    HD static constexpr int size(unsigned cells) { return cells ? int(cells & 1) + size(cells >> 1) : 0; }
    HD static constexpr uint64_t begin(int tuple) {  // of its weights
        return tuple ? begin(tuple - 1) + (1ull << G::BITS * size(CELLS[tuple - 1])) : 0;
    }
};
constexpr int LOOKUPS = IMAGES * Tuples::COUNT;
using EveryTuple = std::make_integer_sequence<int, Tuples::COUNT>;

HD constexpr int first_of(unsigned cells) { return cells & 1 ? 0 : 1 + first_of(cells >> 1); }
HD constexpr int run_of(unsigned cells, int from) {  // how many cells of one word follow each other
    return cells >> from & 1 ? 1 + ((from + 1) % G::IN_WORD ? run_of(cells, from + 1) : 0) : 0;
}

template <unsigned CELLS>
HD uint64_t gathered(State board) {  // what the cells hold, side by side
    if constexpr (CELLS == 0) {
        return 0;
    } else {
        constexpr int first = first_of(CELLS), run = run_of(CELLS, first), bits = G::BITS * run;
        constexpr unsigned rest = CELLS & ~(((1u << run) - 1) << first);
        const uint64_t part = G::word(board, first / G::IN_WORD) >> G::BITS * (first % G::IN_WORD);
        return (part & ((1ull << bits) - 1)) | gathered<rest>(board) << bits;
    }
}

template <int... I>
ON_DEVICE Fixed<uint64_t, sizeof...(I)> looked_up(State image, std::integer_sequence<int, I...>) {
    return {{(Tuples::begin(I) + gathered<Tuples::CELLS[I]>(image))...}};
}

// One of the eight boards, paired as the CPU adds them: the board itself, mirrored; half turned, both; transposed ...
ON_DEVICE State image_of(State board, int image) {
    return IMAGES == 1 ? board : turned<G>(board, image & 4, image & 1, image & 2);
}

ON_DEVICE uint64_t begin_of_stage(const Learnt& p, State board) {  // of its weights
    if (STAGES == 1) return 0;
    int stage = 0;
    for (const int code = int(largest_code<G>(board)); stage + 1 < STAGES && code >= p.begins[stage];) ++stage;
    return uint64_t(stage) * p.stage_size;
}

// A weight; if its stage has not learnt it (NaN), that of the stage before.
ON_DEVICE float learnt(const Learnt& p, float weight, uint64_t at) {
    while (STAGES > 1 && weight != weight && at >= uint64_t(p.stage_size))
        weight = __ldcg(p.weights + (at -= p.stage_size));
    return weight;
}

// What one image adds; stage: where the weights of its board's stage begin.
ON_DEVICE float part_of_value(const Learnt& p, State image, uint64_t stage) {
    const auto at = looked_up(image, EveryTuple());
    Fixed<float, Tuples::COUNT> found;
#pragma unroll
    for (int i = 0; i < Tuples::COUNT; ++i) found[i] = __ldcg(p.weights + stage + at[i]);
    float total = 0;
#pragma unroll
    for (int i = 0; i < Tuples::COUNT; ++i) total += learnt(p, found[i], stage + at[i]);
    return total;
}

ON_DEVICE float value_by_one(const Learnt& p, State board) {  // by one thread, added as the CPU adds
    const uint64_t stage = begin_of_stage(p, board);
    float parts[IMAGES];
#pragma unroll
    for (int i = 0; i < IMAGES; ++i) parts[i] = part_of_value(p, image_of(board, i), stage);
#pragma unroll
    for (int by = 1; by < IMAGES; by *= 2)
#pragma unroll
        for (int i = 0; i < IMAGES; i += 2 * by) parts[i] += parts[i + by];
    return parts[0];
}

// The sum over the images, in the CPU's order; the lanes of `mask` come, an image each.
ON_DEVICE float added(float part, unsigned mask) {
#pragma unroll
    for (int by = 1; by < IMAGES; by *= 2) part += __shfl_xor_sync(mask, part, by);
    return part;
}

// An image's indexes into all weights; initialises those that are NaN from the stage before.
ON_DEVICE Fixed<uint64_t, Tuples::COUNT> to_be_changed(const Learnt& p, State image) {
    auto at = looked_up(image, EveryTuple());
    if (STAGES == 1) return at;
    const uint64_t stage = begin_of_stage(p, image);
#pragma unroll
    for (int i = 0; i < Tuples::COUNT; ++i) {
        at[i] += stage;
        const float old = __ldcg(p.weights + at[i]), now = learnt(p, old, at[i]);
        if (old != old) atomicCAS(reinterpret_cast<int*>(p.weights + at[i]), __float_as_int(old), __float_as_int(now));
    }
    return at;
}

#if COHERENT
using Trace = float2;  // of a weight: the sum of its errors, and that of their sizes

ON_DEVICE Fixed<Trace, Tuples::COUNT> traces_of(const Learnt& p, State image) {
    const auto at = looked_up(image, EveryTuple());
    const uint64_t stage = begin_of_stage(p, image);
    Fixed<Trace, Tuples::COUNT> found;
#pragma unroll
    for (int i = 0; i < Tuples::COUNT; ++i) found[i] = __ldcg(reinterpret_cast<const Trace*>(p.traces) + stage + at[i]);
    return found;
}

ON_DEVICE void add_to_trace(float* trace, float error, float size) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    atomicAdd(reinterpret_cast<float2*>(trace), make_float2(error, size));  // one access of the L2 cache
#else
    atomicAdd(trace, error);
    atomicAdd(trace + 1, size);
#endif
}

// Changes what an image looks up, by an error of its board. Traces are from before all changes; the CPU reads those of a
// weight that it meets twice again. Lanes of `mask` come, an image of the same board each, and those that change the same weight
// add once: some weights of small tuples are in every board. mask 0: a lane comes alone.
ON_DEVICE void change(const Learnt& p, State image, float error, const Fixed<Trace, Tuples::COUNT>& traces,
                      unsigned mask) {
    const auto at = to_be_changed(p, image);
    const float by = float(p.rate * error / LOOKUPS);
#pragma unroll
    for (int i = 0; i < Tuples::COUNT; ++i) {
        const float rate = traces[i].y > 0 ? fabsf(traces[i].x) / traces[i].y : 1.0f;
        const unsigned same = mask ? __match_any_sync(mask, (unsigned long long)(at[i])) & mask : 1u << lane_number();
        const float times = float(bits_in(same));
        if (lane_number() != unsigned(lowest_bit(same))) continue;
        atomicAdd(p.weights + at[i], times * by * rate);
        add_to_trace(p.traces + 2 * at[i], times * error, times * fabsf(error));
    }
}
#else
struct Trace {};

ON_DEVICE Fixed<Trace, 1> traces_of(const Learnt&, State) { return {}; }

// Changes what an image looks up, by an error of its board.
ON_DEVICE void change(const Learnt& p, State image, float error, const Fixed<Trace, 1>&, unsigned) {
    const auto at = to_be_changed(p, image);
    const float by = float(p.rate * error / LOOKUPS);
#pragma unroll
    for (int i = 0; i < Tuples::COUNT; ++i) atomicAdd(p.weights + at[i], by);
}
#endif

// The same by all lanes of a warp, each for a board of its own, without traces: lanes that change the same weight add once.
ON_DEVICE void change_together(const Learnt& p, State image, float error, bool live) {
    const auto at = to_be_changed(p, image);
    const float by = float(p.rate * error / LOOKUPS);
#pragma unroll
    for (int i = 0; i < Tuples::COUNT; ++i) {
        const unsigned same = __match_any_sync(ALL_LANES, (unsigned long long)(live ? at[i] : ~0ull));
        float sum = 0;
        for (unsigned left = same; left; left &= left - 1) sum += __shfl_sync(same, by, lowest_bit(left));
        if (live && lane_number() == unsigned(lowest_bit(same))) atomicAdd(p.weights + at[i], sum);
    }
}
