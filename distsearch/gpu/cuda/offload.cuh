// Groups of a search whose nodes a CPU searches: parts of the tree that are offloaded to ranks without a GPU.
//
// Such a group goes down from the root as any other does, by the bounds, the counters and the order of moves that all
// go by; but where so little is left that a CPU is quick at it, it stays and waits for the CPU's answer. A large number
// in the counter of that position keeps other groups from it as long as they have anything else to do. The group takes
// the answer up as if it had found it. If others have answered a node above it meanwhile, it lets go, as any group does.
#pragma once
#include "solver.cuh"

constexpr int FREE = 0, OFFLOADED = 1, ANSWERED = 2, NEW = 3;  // NEW: OFFLOADED since this launch

template <class Game>
struct OffloadGroup : Group<Game> {
    using Base = Group<Game>;
    using Base::any, Base::job, Base::leads, Base::level, Base::p, Base::s, Base::stack;
    static constexpr unsigned CLAIMED = 1 << 20;  // more than groups are ever at a position
    static constexpr int TURNS = 200, COLLISIONS = 8;

    ON_DEVICE OffloadGroup(const Parameters& p, char* memory) : Base(p, memory, {}) {}

    ON_DEVICE void add(unsigned counter, unsigned number) const {
        if (leads() && counter != NOT_COUNTED) atomicAdd(&p.node_counters[counter], number);
    }

    // Go back to a level of the stack, and take its counts away; -1: give the job up.
    ON_DEVICE void go_back(int to) {
        for (int i = to + 1; job >= 0 && i <= level; ++i) add(stack[i].counter, 0xFFFFFFFFu);
        if (to >= 0) {
            s = stack[to].state;
        } else {
            if (job >= 0 && level < 0) add(this->counter_of(job), 0xFFFFFFFFu);
            job = GONE;
        }
        level = to;
    }

    // Keep the position for a CPU unless one has it already.
    ON_DEVICE bool claim(bool here) {
        unsigned before = 0;
        if (here && leads() && stack[level].counter != NOT_COUNTED) {
            before = atomicAdd(&p.node_counters[stack[level].counter], CLAIMED);
            if (before >= CLAIMED) add(stack[level].counter, 0u - CLAIMED);
        }
        return this->from(0, before) < CLAIMED;
    }

    ON_DEVICE void advance(const OffloadParameters& l) {
        const unsigned own = this->number;
        const bool mine = own < unsigned(l.count);
        this->number = mine ? unsigned(l.first) + own : unsigned(p.groups);
        this->resume();
        Part& part = l.parts[mine ? own : 0];
        const bool out = mine && part.status != FREE && this->searches();
        bool answered = out && part.status == ANSWERED, pending = out && !answered;
        const unsigned claimed = out ? stack[level].counter : NOT_COUNTED;
        int value = answered ? part.value : 0, move = NO_MOVE;
        this->retreat(answered, value, move);

        const int before = level;
        const bool elsewhere = this->look_back(value, move);
        if (pending && (elsewhere || level != before)) pending = false;
        this->retreat(elsewhere, value, move);
        if (out && !pending) add(claimed, 0u - CLAIMED);

        bool wants = mine && !pending && own < unsigned(l.wanted), found = false;
        if (mine && !pending && !wants) go_back(-1);
        __syncwarp();
        find_part(l, wants, found);
        if (mine && leads()) report(part, pending, found);
        this->suspend();
    }

    // Look for a position to offload.
    ON_DEVICE void find_part(const OffloadParameters& l, bool wants, bool& found) {
        int collisions = 0;
        this->detached = !wants;
        for (int turns = 0; turns < TURNS && any(wants); ++turns) {
            int value = 0, move = 0;
            if (any(wants && job == UNASSIGNED)) this->acquire_job();
            if (any(wants && job >= 0 && level == ASKING)) this->ask();
            __syncwarp();
            const bool answered = this->expand(value, move);
            this->retreat(answered, value, move);
            const bool here = wants && this->searches() && level > 0 && s.left() <= l.left;
            const bool alone = claim(here);
            if (here && alone) found = true;
            else if (here) go_back(max(level - 2 * ++collisions, 0));
            if (wants && (found || job == GONE || collisions > COLLISIONS)) wants = false, this->detached = true;
            __syncwarp();
        }
        if (job >= 0 && wants) go_back(-1);
        this->detached = false;
    }

    ON_DEVICE void report(Part& part, bool pending, bool found) const {
        if (found) {
            reinterpret_cast<Game&>(part.state) = s;
            part.beta = this->beta_at(level), part.job = job;
        }
        part.status = found ? NEW : pending ? OFFLOADED : FREE;
    }
};

template <class Game>
ON_DEVICE void offload_parts(const OffloadParameters& l, char* memory) {
    OffloadGroup<Game> group(l.search, memory);
    group.advance(l);
}
