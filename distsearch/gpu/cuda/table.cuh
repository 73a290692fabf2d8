// A transposition table in the GPU's memory: what is known of positions that were searched before, for a whole GPU.
//
// An entry is 16 bytes, read and written by one vector instruction: the position's hash xor the data, and the data
// (Hyatt and Mann 2002). So what two writers leave that raced, or a torn write, is simply not found. Bounds on a value are
// true for ever, so nothing is ever cleared; the run's number makes older entries the first to go. The hash tells every
// position of Connect 4 from every other; to a depth two may have the same, as on a CPU.
//
// Two entries are a bucket, 32 bytes, which is what memory fetches at least. The first keeps the entry with the more
// left in it, of the latest run; the second takes whatever comes.
#pragma once
#include "common.cuh"
#include "dtypes/solver.h"

struct Known {  // of a position: the bounds of its value, and the move that was good enough last
    int low, high, move;
    bool there;
};

constexpr int NO_MOVE = 0xFF;
constexpr int BOUND_OFFSET = 32768;  // bounds are stored with this added
constexpr unsigned RUNS = 0x7FFF;    // of a run's number, as much as an entry has

HD ulonglong2* bucket_of(const Table& table, uint64_t hash) {
    return table.entries + 2 * size_t((hash >> 32) * table.buckets >> 32);
}

HD uint64_t packed(int low, int high, int move, int left, unsigned run) {
    return uint64_t(unsigned(low + BOUND_OFFSET)) | uint64_t(unsigned(high + BOUND_OFFSET)) << 16 |
           uint64_t(unsigned(move)) << 32 | uint64_t(unsigned(left)) << 40 | uint64_t(run & RUNS) << 48 |
           uint64_t(1) << 63;
}

HD Known unpacked(uint64_t data) {
    return {int(data & 0xFFFF) - BOUND_OFFSET, int(data >> 16 & 0xFFFF) - BOUND_OFFSET, int(data >> 32 & 0xFF), true};
}

// What is known of a hash; ``second``: whether what comes of it belongs into the second entry of its bucket.
ON_DEVICE Known probe(const Table& table, uint64_t hash, int left, bool& second) {
    ulonglong2* at = bucket_of(table, hash);
    ulonglong2 first = __ldcg(at), other = __ldcg(at + 1);
    bool same = (first.x ^ first.y) == hash && first.y;
    second = !same && unsigned(first.y >> 48 & RUNS) == (table.run & RUNS) && int(first.y >> 40 & 0xFF) > left;
    if (same) return unpacked(first.y);
    if ((other.x ^ other.y) == hash && other.y) return unpacked(other.y);
    return {-BOUND_OFFSET, BOUND_OFFSET - 1, NO_MOVE, false};
}

ON_DEVICE void store(const Table& table, uint64_t hash, int low, int high, int move, int left, bool second) {
    uint64_t data = packed(low, high, move, left, table.run);
    __stcg(bucket_of(table, hash) + second, ulonglong2{hash ^ data, data});
}
