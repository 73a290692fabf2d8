// Connect 4 to a number of plies: a game that is not over by then is worth nothing yet.
#include "connect4.cuh"
#include "solver.cuh"

struct alignas(16) ToDepth {
    Connect4 board;
    int depth;

    using Score = int8_t;
    using Tables = Connect4::Tables;
    static constexpr bool TO_DEPTH = true, BY_SQUARE = false;
    static constexpr int MOVES = COLUMNS, BEST = Connect4::BEST, MOST = (Connect4::SQUARES + 1) / 2;

    HD static ToDepth of(const Job& job) { return {Connect4::of(job), job.depth}; }
    HD int left() const { return depth; }
    HD uint64_t moves() const { return board.free(); }
    HD static int slots(uint64_t) { return MOVES; }
    HD static bool has(uint64_t moves, int m) { return Connect4::has(moves, m); }
    HD static int code(uint64_t, int m) { return m; }
    HD ToDepth played(int m) const { return {board.played(m), depth - 1}; }
    HD ToDepth shallower() const { return {board, depth - 2}; }

    HD void opening(int& low, int& high) const { low = -MOST, high = MOST; }
    HD static void settle(int, bool, int& low, int& high) { low = -MOST, high = MOST; }

    HD void bounds(Tables, int m, int left, int, int& low, int& high, int& order) const {
        const uint64_t other = board.all ^ board.own;
        order = Connect4::worth(m, Connect4::completing(other, board.empty()));
        settle(left, true, low, high);
        if (Connect4::has_four(other)) low = high = -((board.left() + 2) / 2);
        else if (left == 0 || board.left() == 0) low = high = 0;
    }

    HD uint64_t hash() const {
        const uint64_t h = (board.hash() ^ uint64_t(depth)) * 0x9E3779B97F4A7C15ull;
        return h ^ h >> 32;
    }
    HD static int question(int, int low, int high, int) { return low >= 0 ? low + 1 : high <= 0 ? high : 1; }
};

KERNEL_BOUNDS(solve, Parameters, THREADS, BLOCKS) {
    SHARED_BYTES(memory);
    search<ToDepth>(p, memory, {});
}
