// What all kernels share: the words by which the same sources compile for a GPU, and for a CPU where tests run them.
//
// A kernel is KERNEL(name, Parameters) { … p.field … }: it takes one structure of numbers and addresses, by value. Its
// shared memory is SHARED(Type, name), where Type may be Fixed<T, N>, or SHARED_BYTES(name), as many as the launch says.
// A block that waits for another calls spin(). Shuffles and the like name the lanes that take part, which all come.
#pragma once

#ifdef __CUDACC__
#include <cstdint>
#define KERNEL_BOUNDS(name, Parameters, threads, blocks) \
    extern "C" __global__ void __launch_bounds__(threads, blocks) name(const __grid_constant__ Parameters p)
#define SHARED(Type, name) __shared__ Type name
#define SHARED_BYTES(name) extern __shared__ __align__(16) char name[]
__device__ __forceinline__ void spin() { __nanosleep(50); }
__device__ __forceinline__ uint64_t nanoseconds() {
    uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}
#endif

#define KERNEL(name, Parameters) KERNEL_BOUNDS(name, Parameters, 256, 1)
#define HD __host__ __device__ __forceinline__
#define ON_DEVICE __device__ __forceinline__

constexpr unsigned ALL_LANES = 0xFFFFFFFF;

template <class T, int N>
struct Fixed {  // an array that is a value
    T at[N];
    HD T& operator[](int i) { return at[i]; }
    HD const T& operator[](int i) const { return at[i]; }
};

// The same on a GPU and on a CPU.
HD int bits_in(uint64_t x) {
#ifdef __CUDA_ARCH__
    return __popcll(x);
#else
    return __builtin_popcountll(x);
#endif
}

HD int lowest_bit(uint64_t x) {  // its number, of x other than 0
#ifdef __CUDA_ARCH__
    return __ffsll(static_cast<long long>(x)) - 1;
#else
    return __builtin_ctzll(x);
#endif
}

// This thread's number in the launch, and how many there are.
ON_DEVICE uint64_t thread_number() { return uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; }
ON_DEVICE uint64_t thread_count() { return uint64_t(gridDim.x) * blockDim.x; }
ON_DEVICE unsigned lane_number() { return threadIdx.x & 31; }

struct Team {  // threads that share work out: this one's number, and how many there are
    unsigned own, all;
};
ON_DEVICE Team launch_team() { return {unsigned(thread_number()), unsigned(thread_count())}; }
ON_DEVICE Team block_team() { return {threadIdx.x, blockDim.x}; }
