// Many games that learn at once, one step each by turns, in one thread: what they learn from weights to which others'
// last changes have not come yet. See in_flight.py; it runs where kernels run on a CPU, and nowhere else.
#include <deque>
#include <vector>

#include "differences.cuh"

struct Parameters {
    Learnt learnt;
    float* averages;  // of every 1,000 games
    uint64_t seed;
    double chance;  // of the first kind of tile
    int codes[2];   // of both
    int games, at_once, delay, forward;
};

struct Game {
    State board;
    std::vector<State> path;
    std::vector<int> gains;
    uint64_t stream;
    int drawn = -1, score, left = 0;  // drawn: −1 where no game is at work; left: afterstates that have to learn
};

struct Changes {  // on their way to the weights
    const Parameters& p;
    std::deque<std::pair<State, float>> queue;
    void add(State board, double target) {
        queue.push_back({board, float(target - double(value_by_one(p.learnt.weights, board)))});
        if (int(queue.size()) <= p.delay) return;
        for (int i = 0; i < IMAGES; ++i) change(p.learnt, image_of(queue.front().first, i), queue.front().second);
        queue.pop_front();
    }
};

void spawn(const Parameters& p, Game& game) {
    const uint64_t number = drawn(game.stream, game.drawn++);
    const unsigned empty = G::empty(game.board);
    const int bit = bit_number(in_order(empty), int((number >> 32) * bits_in(empty) >> 32));
    const int cell = WORDS == 1 ? bit : bit / 2 + bit % 2 * 8;
    game.board = G::with(game.board, cell, p.codes[double(number & 0xFFFFFFFF) / 4294967296.0 >= p.chance]);
}

bool move(const Parameters& p, Game& game, Changes& changes) {  // false: the game is over
    State best = {};
    double most = -INFINITY;
    int gain = 0;
    for (int m = 0; m < 4; ++m) {
        const Moved found = moved<G>(game.board, m);
        const double total = found.legal ? found.gain + double(value_by_one(p.learnt.weights, found.state)) : -INFINITY;
        if (total > most) most = total, best = found.state, gain = found.gain;
    }
    if (most == -INFINITY) return false;
    if (p.forward && !game.path.empty()) changes.add(game.path.back(), most);
    game.path.push_back(best);
    game.gains.push_back(gain);
    game.score += gain;
    game.board = best;
    spawn(p, game);
    return true;
}

KERNEL(in_flight, Parameters) {
    std::vector<Game> games(p.at_once);
    Changes changes = {p};
    int next = 0, ended = 0;
    double sum = 0;
    while (ended < p.games)
        for (Game& game : games) {
            if (game.left) {  // it learns, from its end to its beginning
                const size_t t = --game.left;
                const bool last = t + 1 == game.path.size();
                changes.add(game.path[t],
                            last ? 0 : game.gains[t + 1] + double(value_by_one(p.learnt.weights, game.path[t + 1])));
                continue;
            }
            if (game.drawn < 0) {
                if (next == p.games) continue;
                game = Game();
                game.stream = stream_of(p.seed, uint64_t(next++));
                game.drawn = game.score = 0;
                game.board = State{};
                spawn(p, game), spawn(p, game);
            }
            if (move(p, game, changes)) continue;
            game.drawn = -1;
            if (p.forward && !game.path.empty()) changes.add(game.path.back(), 0);
            if (!p.forward) game.left = int(game.path.size());
            sum += game.score;
            if (++ended % 1000 == 0) p.averages[ended / 1000 - 1] = float(sum / 1000), sum = 0;
        }
}
