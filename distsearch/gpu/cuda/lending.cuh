// Groups of a search whose nodes a CPU searches: parts of the tree that are lent to ranks without a GPU.
//
// Such a group goes down from the root as any other does, by the bounds, the counters and the order of moves that all
// go by; but where so little is left that a CPU is quick at it, it stays and waits for the CPU's answer. A large number
// in the counter of that position keeps the others away as long as they have anything else to do. The answer it takes
// up as if it had found it; and if others have answered a node above it meanwhile, it lets go, as any group does.
#pragma once
#include "solver.cuh"

struct alignas(16) Loan {  // what a group of these and the host tell one another
    uint64_t state[2];  // position that is lent
    int status, beta;   // the CPU's question: is its score beta or more?
    int value, job;     // its answer, a bound of the score on the side that it lies; the job whose tree it is
};
static_assert(sizeof(Loan) == 32, "Python writes and reads it");

constexpr int FREE = 0, LENT = 1, ANSWERED = 2, FRESH = 3;  // FRESH: LENT since this launch

struct Lending {
    Parameters search;  // its ``groups`` are those of the card and of these loans
    Loan* loans;
    int first, count;  // the first of the groups, and how many
    int wanted, left;  // how many are to be lent out; of positions with at most so many moves left
};

template <class Game>
struct Lender : Group<Game> {
    using Base = Group<Game>;
    using Base::any, Base::job, Base::leads, Base::level, Base::p, Base::s, Base::stack;
    static constexpr unsigned AWAY = 1 << 20;  // more than groups are ever at a position
    static constexpr int TURNS = 200, COLLISIONS = 8;

    ON_DEVICE Lender(const Parameters& p, char* memory) : Base(p, memory) {}

    ON_DEVICE void add(unsigned mark, unsigned number) const {
        if (leads() && mark != UNMARKED) atomicAdd(&p.marks[mark], number);
    }

    // Go back to a level of the stack, and leave no mark behind; -1: give the job up.
    ON_DEVICE void go_back(int to) {
        for (int i = to + 1; job >= 0 && i <= level; ++i) add(stack[i].mark, 0xFFFFFFFFu);
        if (to >= 0) {
            s = stack[to].state;
        } else {
            if (job >= 0 && level < 0) add(this->mark_of(job), 0xFFFFFFFFu);
            job = GONE;
        }
        level = to;
    }

    // Keep the position for a CPU unless one has it already.
    ON_DEVICE bool keep(bool here) {
        unsigned before = 0;
        if (here && leads() && stack[level].mark != UNMARKED) {
            before = atomicAdd(&p.marks[stack[level].mark], AWAY);
            if (before >= AWAY) add(stack[level].mark, 0u - AWAY);
        }
        return this->from(0, before) < AWAY;
    }

    ON_DEVICE void advance(const Lending& l) {
        const unsigned own = this->number;
        const bool mine = own < unsigned(l.count);
        this->number = mine ? unsigned(l.first) + own : unsigned(p.groups);
        this->resume();
        Loan& loan = l.loans[mine ? own : 0];
        const bool out = mine && loan.status != FREE && this->searches();
        bool answered = out && loan.status == ANSWERED, held = out && !answered;
        const unsigned kept = out ? stack[level].mark : UNMARKED;
        int value = answered ? loan.value : 0, move = Table::NOTHING;
        this->retreat(answered, value, move);

        const int before = level;
        const bool elsewhere = this->look_back(value, move);
        if (held && (elsewhere || level != before)) held = false;
        this->retreat(elsewhere, value, move);
        if (out && !held) add(kept, 0u - AWAY);

        bool seeks = mine && !held && own < unsigned(l.wanted), found = false;
        if (mine && !held && !seeks) go_back(-1);
        __syncwarp();
        seek_loan(l, seeks, found);
        if (mine && leads()) tell(loan, held, found);
        this->rest();
    }

    // Look for a position to lend.
    ON_DEVICE void seek_loan(const Lending& l, bool seeks, bool& found) {
        int collisions = 0;
        this->away = !seeks;
        for (int turns = 0; turns < TURNS && any(seeks); ++turns) {
            int value = 0, move = 0;
            if (any(seeks && job == SEEKING)) this->seek();
            if (any(seeks && job >= 0 && level == ASKING)) this->ask();
            __syncwarp();
            const bool answered = this->expand(value, move);
            this->retreat(answered, value, move);
            const bool here = seeks && this->searches() && level > 0 && s.left() <= l.left;
            const bool alone = keep(here);
            if (here && alone) found = true;
            else if (here) go_back(max(level - 2 * ++collisions, 0));
            if (seeks && (found || job == GONE || collisions > COLLISIONS)) seeks = false, this->away = true;
            __syncwarp();
        }
        if (job >= 0 && seeks) go_back(-1);
        this->away = false;
    }

    ON_DEVICE void tell(Loan& loan, bool held, bool found) const {
        if (found) {
            reinterpret_cast<Game&>(loan.state) = s;
            loan.beta = this->beta_at(level), loan.job = job;
        }
        loan.status = found ? FRESH : held ? LENT : FREE;
    }
};

template <class Game>
ON_DEVICE void lend_parts(const Lending& l, char* memory) {
    Lender<Game> group(l.search, memory);
    group.advance(l);
}
