// CUDA kernels on a CPU, for tests where there is no GPU: every thread of a launch is a fiber of one process.
//
// What a fiber does between two points where threads meet (a shuffle, a ballot, a barrier, a spin, a fence of the whole
// card) it does without interruption; which fiber goes on is drawn by a seed (emulated_seed), so that code that counts
// on an order of threads is found out. Shuffles and ballots wait for exactly the lanes of their mask, and a launch
// whose threads all wait ends the process with a word, as does a lane outside its own mask. Blocks are at work together, as
// many as fit a few thousand fibers, so kernels whose blocks wait for one another run too. Atomics need no care here:
// nothing else runs.
#pragma once
#include <setjmp.h>
#include <time.h>
#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#define __host__
#define __device__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))

struct uint3 {
    unsigned x, y, z;
};
struct alignas(16) ulonglong2 {
    unsigned long long x, y;
};
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};

namespace emulated {

constexpr size_t STACK = 64 * 1024;
constexpr unsigned MOST_FIBERS = 4096;

[[noreturn]] inline void fail(const char* why) {
    fprintf(stderr, "emulated kernel: %s\n", why);
    abort();
}

struct Meeting {  // of the lanes of a mask, or of a block's threads
    unsigned long long arrived = 0;
    unsigned phase = 0;
    uint64_t in[32] = {}, out[32] = {};
};

struct Warp {
    std::map<unsigned, Meeting> meetings;  // by mask
};

struct Block {
    uint3 index;
    unsigned live = 0;  // threads that have not ended
    std::vector<Warp> warps;
    unsigned arrived = 0, phase = 0;
    long sum = 0, total = 0;
    std::map<const void*, std::unique_ptr<char[]>> shared;
    std::unique_ptr<char[]> memory;
};

struct Fiber {
    uint3 thread;
    Block* block;
    Warp* warp;
    unsigned lane;
    const unsigned* awaited = nullptr;  // it waits until this is another phase than `seen`
    unsigned seen = 0;
    bool started = false;
    jmp_buf context;
    char* stack = nullptr;
};

struct State {
    uint3 block_size, grid_size;
    std::function<void()> body;
    jmp_buf scheduler;
    Fiber* current = nullptr;
    std::vector<Fiber*> fibers;
    std::vector<char*> stacks;
    uint64_t seed = 0;
    ucontext_t unused;
};
inline State state;

inline uint64_t drawn() {
    uint64_t x = state.seed += 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

__attribute__((noinline)) inline void pause() {
    if (_setjmp(state.current->context) == 0) _longjmp(state.scheduler, 1);
}

inline void wait(const unsigned& phase, unsigned seen) {
    state.current->awaited = &phase;
    state.current->seen = seen;
    while (phase == seen) pause();
    state.current->awaited = nullptr;
}

// Every lane of the mask gives a value and gets those of all.
__attribute__((noinline)) inline const uint64_t* exchanged(unsigned mask, uint64_t value) {
    Fiber& me = *state.current;
    if (!(mask >> me.lane & 1)) fail("a lane is not in its own mask");
    Meeting& meeting = me.warp->meetings[mask];
    meeting.in[me.lane] = value;
    meeting.arrived |= 1ull << me.lane;
    if (meeting.arrived == mask) {
        memcpy(meeting.out, meeting.in, sizeof meeting.out);
        meeting.arrived = 0;
        ++meeting.phase;
    } else {
        wait(meeting.phase, meeting.phase);
    }
    return meeting.out;
}

inline void meet_if_all(Block& block) {
    if (block.live && block.arrived == block.live) {
        block.total = block.sum;
        block.sum = block.arrived = 0;
        ++block.phase;
    }
}

__attribute__((noinline)) inline long barrier(long value) {
    Block& block = *state.current->block;
    block.sum += value;
    ++block.arrived;
    unsigned seen = block.phase;
    meet_if_all(block);
    if (block.phase == seen) wait(block.phase, seen);
    return block.total;
}

template <class T>
T& shared(const void* which) {
    auto& place = state.current->block->shared[which];
    if (!place) {
        place.reset(new char[sizeof(T) + 64]);
        memset(place.get(), 0xA5, sizeof(T) + 64);  // a read before the first write sees nonsense
    }
    return *reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(place.get()) + 63) & ~uintptr_t(63));
}

inline void enter() {
    state.body();
    state.current->started = false;  // it has ended
    --state.current->block->live;
    meet_if_all(*state.current->block);
    _longjmp(state.scheduler, 2);
}

inline void resume(Fiber* fiber) {
    state.current = fiber;
    if (_setjmp(state.scheduler) == 0) {
        if (fiber->started) _longjmp(fiber->context, 1);
        fiber->started = true;
        static ucontext_t context;
        getcontext(&context);
        context.uc_stack.ss_sp = fiber->stack;
        context.uc_stack.ss_size = STACK;
        context.uc_link = nullptr;
        makecontext(&context, enter, 0);
        setcontext(&context);
    }
    state.current = nullptr;
}

inline void add_block(uint3 index, size_t memory, std::vector<std::unique_ptr<Block>>& blocks,
                      std::vector<std::unique_ptr<Fiber>>& all) {
    const uint3 size = state.block_size;
    const unsigned threads = size.x * size.y * size.z;
    blocks.emplace_back(new Block);
    Block& block = *blocks.back();
    block.index = index;
    block.live = threads;
    block.warps.resize((threads + 31) / 32);
    block.memory.reset(new char[memory + 64]);
    memset(block.memory.get(), 0xA5, memory + 64);
    for (unsigned i = 0; i < threads; ++i) {
        all.emplace_back(new Fiber);
        Fiber& fiber = *all.back();
        fiber.thread = {i % size.x, i / size.x % size.y, i / size.x / size.y};
        fiber.block = &block;
        fiber.warp = &block.warps[i / 32];
        fiber.lane = i % 32;
        if (state.stacks.empty()) state.stacks.push_back(static_cast<char*>(malloc(STACK)));
        fiber.stack = state.stacks.back();
        state.stacks.pop_back();
        state.fibers.push_back(&fiber);
    }
}

inline void launch(const unsigned* shape, std::function<void()> body) {  // shape: blocks, threads, bytes a block
    state.grid_size = {shape[0], 1, 1};
    state.block_size = {shape[1], 1, 1};
    state.body = std::move(body);
    std::vector<std::unique_ptr<Block>> blocks;
    std::vector<std::unique_ptr<Fiber>> all;
    unsigned next = 0, idle = 0;
    auto& fibers = state.fibers;
    while (next < shape[0] || !fibers.empty()) {
        if (fibers.empty()) {
            all.clear();
            blocks.clear();
        }
        while (next < shape[0] && (fibers.empty() || fibers.size() + shape[1] <= MOST_FIBERS)) {
            add_block({next++, 0, 0}, shape[2], blocks, all);
            idle = 0;
        }
        size_t at = drawn() % fibers.size();
        Fiber* fiber = fibers[at];
        if (fiber->awaited && *fiber->awaited == fiber->seen) {
            // a scan now and then tells a launch that hangs from bad luck
            if (++idle > 4 * fibers.size() && std::all_of(fibers.begin(), fibers.end(), [](Fiber* each) {
                    return each->awaited && *each->awaited == each->seen;
                }))
                fail("all threads wait for others: a lane of a mask, or a thread of a barrier, never comes");
            continue;
        }
        idle = 0;
        resume(fiber);
        if (!fiber->started) {
            state.stacks.push_back(fiber->stack);
            fibers[at] = fibers.back();
            fibers.pop_back();
        }
    }
}

template <class T>
uint64_t as_word(T value) {
    static_assert(sizeof(T) <= 8, "at most a word is exchanged");
    uint64_t word = 0;
    memcpy(&word, &value, sizeof(T));
    return word;
}

template <class T>
T from_word(uint64_t word) {
    T value;
    memcpy(&value, &word, sizeof(T));
    return value;
}

}  // namespace emulated

#define threadIdx (emulated::state.current->thread)
#define blockIdx (emulated::state.current->block->index)
#define blockDim (emulated::state.block_size)
#define gridDim (emulated::state.grid_size)

// A kernel takes one structure, p. Python calls it with its bytes, and with the shape of the launch.
#define KERNEL_BOUNDS(name, Parameters, threads, blocks)                                        \
    static void name##_body(const Parameters& p);                                               \
    extern "C" void name(const void* p, const unsigned* shape) {                                \
        const Parameters copy = *static_cast<const Parameters*>(p);                             \
        emulated::launch(shape, [&copy] { name##_body(copy); });                                \
    }                                                                                           \
    extern "C" unsigned name##_bytes() { return sizeof(Parameters); }                           \
    static void name##_body(const Parameters& p)
#define SHARED(Type, name)                    \
    static char name##_place;                 \
    Type& name = emulated::shared<Type>(&name##_place)
#define SHARED_BYTES(name)                                                                                    \
    char* name = reinterpret_cast<char*>(                                                                     \
        (reinterpret_cast<uintptr_t>(emulated::state.current->block->memory.get()) + 63) & ~uintptr_t(63))

extern "C" inline void emulated_seed(uint64_t seed) { emulated::state.seed = seed; }
__attribute__((used)) static void (*const keep_emulated_seed)(uint64_t) = emulated_seed;

// Threads that meet.
inline void __syncthreads() { emulated::barrier(0); }
inline int __syncthreads_count(int predicate) { return int(emulated::barrier(predicate != 0)); }
inline int __syncthreads_or(int predicate) { return emulated::barrier(predicate != 0) > 0; }
inline void __syncwarp(unsigned mask = 0xFFFFFFFF) { emulated::exchanged(mask, 0); }
template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
    int lane = emulated::state.current->lane, from = (lane & ~(width - 1)) | (source & (width - 1));
    auto all = emulated::exchanged(mask, emulated::as_word(value));
    return mask >> from & 1 ? emulated::from_word<T>(all[from]) : value;
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
    int lane = emulated::state.current->lane, from = lane ^ bits;
    auto all = emulated::exchanged(mask, emulated::as_word(value));
    bool inside = (from & ~(width - 1)) == (lane & ~(width - 1)) && mask >> from & 1;
    return inside ? emulated::from_word<T>(all[from]) : value;
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32) {
    unsigned lane = emulated::state.current->lane, from = lane + by;
    auto all = emulated::exchanged(mask, emulated::as_word(value));
    return (lane & (width - 1)) + by < unsigned(width) && mask >> from & 1 ? emulated::from_word<T>(all[from]) : value;
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32) {
    unsigned lane = emulated::state.current->lane;
    auto all = emulated::exchanged(mask, emulated::as_word(value));
    if ((lane & (width - 1)) < by || !(mask >> (lane - by) & 1)) return value;
    return emulated::from_word<T>(all[lane - by]);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
    auto all = emulated::exchanged(mask, predicate != 0);
    unsigned found = 0;
    for (int lane = 0; lane < 32; ++lane) found |= unsigned(mask >> lane & 1 && all[lane]) << lane;
    return found;
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) == mask; }
template <class T>
unsigned __match_any_sync(unsigned mask, T value) {
    auto all = emulated::exchanged(mask, emulated::as_word(value));
    unsigned found = 0, me = emulated::state.current->lane;
    for (int lane = 0; lane < 32; ++lane) found |= unsigned(mask >> lane & 1 && all[lane] == all[me]) << lane;
    return found;
}
template <class T, class F>
T emulated_reduce(unsigned mask, T value, F combine) {
    auto all = emulated::exchanged(mask, emulated::as_word(value));
    bool any = false;
    T found = value;
    for (int lane = 0; lane < 32; ++lane)
        if (mask >> lane & 1) {
            found = any ? combine(found, emulated::from_word<T>(all[lane])) : emulated::from_word<T>(all[lane]);
            any = true;
        }
    return found;
}
template <class T>
T __reduce_add_sync(unsigned mask, T value) {
    return emulated_reduce(mask, value, [](T a, T b) { return T(a + b); });
}
template <class T>
T __reduce_max_sync(unsigned mask, T value) {
    return emulated_reduce(mask, value, [](T a, T b) { return std::max(a, b); });
}
template <class T>
T __reduce_min_sync(unsigned mask, T value) {
    return emulated_reduce(mask, value, [](T a, T b) { return std::min(a, b); });
}
template <class T>
T __reduce_or_sync(unsigned mask, T value) {
    return emulated_reduce(mask, value, [](T a, T b) { return T(a | b); });
}
inline void __nanosleep(unsigned) { emulated::pause(); }

// Memory.
inline void __threadfence() { emulated::pause(); }  // what is announced behind it others may announce first
inline void __threadfence_system() { emulated::pause(); }
inline void __threadfence_block() {}
template <class T, class V>
T atomicAdd(T* place, V value) {
    T old = *place;
    *place = T(old + value);
    return old;
}
template <class T, class V>
T atomicExch(T* place, V value) {
    T old = *place;
    *place = T(value);
    return old;
}
template <class T, class V, class W>
T atomicCAS(T* place, V expected, W value) {
    T old = *place;
    if (old == T(expected)) *place = T(value);
    return old;
}
#define ATOMIC(name, changed)      \
    template <class T, class V>   \
    T name(T* place, V value) {   \
        T old = *place;           \
        *place = T(changed);      \
        return old;               \
    }
ATOMIC(atomicMax, std::max(old, T(value)))
ATOMIC(atomicMin, std::min(old, T(value)))
ATOMIC(atomicOr, old | value)
ATOMIC(atomicAnd, old & value)
#undef ATOMIC
template <class T>
T __ldg(const T* place) {
    return *place;
}
template <class T>
T __ldcg(const T* place) {
    return *place;
}
template <class T>
void __stcg(T* place, T value) {
    *place = value;
}

// Bits.
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
inline unsigned __brev(unsigned x) {
    unsigned found = 0;
    for (int i = 0; i < 32; ++i) found |= (x >> i & 1) << (31 - i);
    return found;
}
inline unsigned long long __brevll(unsigned long long x) {
    return (unsigned long long)__brev(unsigned(x)) << 32 | __brev(unsigned(x >> 32));
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((unsigned long long)a * b >> 32); }
inline long long __double_as_longlong(double x) { return emulated::from_word<long long>(emulated::as_word(x)); }
inline double __longlong_as_double(long long x) { return emulated::from_word<double>(emulated::as_word(x)); }
inline int __float_as_int(float x) { return emulated::from_word<int>(emulated::as_word(x)); }
inline float __int_as_float(int x) { return emulated::from_word<float>(emulated::as_word(x)); }
using std::max;
using std::min;

inline uint64_t nanoseconds() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec);
}
inline void spin() { emulated::pause(); }
