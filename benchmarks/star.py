"""What Star1 and Star2 would save expectimax: boards and time of the same searches with them and without.

    python benchmarks/star.py [--boards 30] [--depth 5] [--seed 1]

At a chance node the worst and the best that an evaluation can be worth bound what children that were not searched may
add to the mean, so that the window of the others is narrowed (Star1); Star2 first looks at one move of each child, for
a better bound from below (Ballard 1983). The bounds are those of boards with no larger tiles than a search can make.
Moves are tried in the order of their evaluation, in all three, which have no table; the engine, which has one, is the
fourth. All find the same values, which is checked. Boards are from games of random moves of 2048.
"""

import argparse
import random
import time

import numba
import numpy as np

from distsearch import evaluation, games
from distsearch.engines.expectimax_engine import Expectimax
from distsearch.evaluation import row_tables
from distsearch.games.interface import CHANCE, legal_moves, step

GAME = games.find("2048")
moves, play, outcomes, turn = GAME.moves, GAME.play, GAME.outcomes, games.knowledge(GAME).turn
WAYS = "plain", "Star1", "Star2"
_WORDS, _NUMBER = "uint64[::1]", "float64"
_SIGNATURE = (
    f"{_NUMBER}(UniTuple(uint64, 2), {_WORDS}, {_WORDS}, int64, int64, {', '.join([_NUMBER] * 4)}, int64[::1], int64)"
)
_ROWS = "rows:270,700,47,4,11,3.5"  # nneonneo/2048-ai's weights, so that what was measured can be measured again


def kernel(function):
    """Return search(state, rules, tables, plies, way, low, high, counts) -> value by an evaluation."""

    @numba.njit
    def ordered(s, r, tables, out, children):
        n = np.int64(moves(s, r, out, 0))
        values = np.empty(4)
        for i in range(n):
            child, _ = play(s, r, np.int64(out[i]))
            value, j = function(child, r, tables), i
            while j > 0 and values[j - 1] < value:
                values[j], children[j, 0], children[j, 1] = values[j - 1], children[j - 1, 0], children[j - 1, 1]
                j -= 1
            values[j], children[j, 0], children[j, 1] = value, child[0], child[1]
        return n

    @numba.njit(_SIGNATURE)
    def search(s, r, tables, plies, way, low, high, alpha, beta, counts, most):
        """Value of a state, fail-soft; most: moves of the player that are tried in it."""
        if plies == 0:
            counts[1] += 1
            return np.float64(function(s, r, tables))
        if turn(s, r) != CHANCE:
            out, children = np.empty(4, np.int16), np.empty((4, 2), np.uint64)
            n = ordered(s, r, tables, out, children)
            if n == 0:
                counts[1] += 1
                return np.float64(function(s, r, tables))
            top = -np.inf
            for i in range(min(n, most)):
                counts[0] += 1
                child = children[i, 0], children[i, 1]
                top = max(top, search(child, r, tables, plies - 1, way, low, high, max(alpha, top), beta, counts, 4))
                if top >= beta:
                    break
            return top
        out, chances = np.empty(64, np.int16), np.empty(64)
        n = np.int64(outcomes(s, r, out, chances, 0))
        least = np.full(n, low)  # that children are worth
        rest, left, total = low, 1.0, 0.0  # rest: what those not searched add at least; left: their probability
        if way == 2 and plies > 1:
            for i in range(n):
                child, _ = play(s, r, np.int64(out[i]))
                counts[0] += 1
                need = min((beta - rest) / chances[i] + low, high)
                found = search(child, r, tables, plies - 1, way, low, high, low, need, counts, 1)
                least[i] = max(low, found)
                rest += chances[i] * (least[i] - low)
                if rest >= beta:
                    return rest
        for i in range(n):
            chance = chances[i]
            rest -= chance * least[i]
            left = max(left - chance, 0.0)
            child, _ = play(s, r, np.int64(out[i]))
            counts[0] += 1
            lower, upper = -np.inf, np.inf
            if way:
                lower, upper = (alpha - total - high * left) / chance, (beta - total - rest) / chance
            value = search(child, r, tables, plies - 1, way, low, high, lower, upper, counts, 4)
            total += chance * value
            if way and value <= lower:
                return total + high * left
            if way and value >= upper:
                return total + rest
        return total

    return search


def bounds(name, tables, largest):
    """Return the (least, most) that an evaluation of a board with no code above ``largest`` may be worth."""
    if name == "free":
        return 0.0, 16.0
    worth = (tables[1:].view(np.int32) >> 4) / 4.0  # of lines by their numbers, see ``evaluation.row_tables``
    worth = worth[row_tables.every(GAME.BITS, 4).max(axis=1) <= largest]
    lost = row_tables.LOST if name == _ROWS else 0.0
    return 8.0 * worth.min() + lost - 8, 8.0 * worth.max() + 8


def boards(count, rules, rng):
    """Return states of games of random moves where it is the player's turn."""
    found = []
    while len(found) < count:
        position, left = GAME.start(rules), rng.randrange(20, 200)
        while legal_moves(GAME, position, rules) and (left > 0 or int(GAME.kind(position.state, rules)) == CHANCE):
            position, left = step(GAME, position, rules, rng.choice(legal_moves(GAME, position, rules))), left - 1
        if legal_moves(GAME, position, rules):
            found.append(position.state)
    return found


def _limits(name, rules, tables, state, depth):
    largest = int(np.log2(GAME.largest(state, rules))) + depth // 2 + 1
    return bounds(name, tables, min(largest, 15))


def _print(name, title, tried, leaves, seconds):
    print(f"{name.partition(':')[0]:<13} {title:<6} {tried:>13,} {leaves:>13,} {seconds:>8.3f}", flush=True)


def _by_engine(name, rules, chosen, states, depth):
    """Print what the engine takes, which has a table and no bounds; return the values."""
    engine, values, counts = Expectimax(GAME, rules, chosen), [], np.zeros(2, np.int64)
    engine.compile()
    began = time.process_time()
    for state in states:
        engine.forget()
        engine.begin(state, depth)
        while not engine.advance(1 << 20):
            pass
        found = engine.result()
        values.append(found.value)
        counts += found.boards, found.evaluated
    _print(name, "table", *counts, time.process_time() - began)
    return values


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boards", type=int, default=30)
    parser.add_argument("--depth", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rules = GAME.rules()
    states = boards(args.boards, rules, random.Random(args.seed))
    print(f"{args.boards} boards, {args.depth} plies; boards of the tree, leaves, CPU seconds")
    for name in ("free", "monotonicity", "smoothness", _ROWS):
        chosen = evaluation.find(GAME, name, rules)
        search = kernel(chosen.function)
        for way in range(len(WAYS)):
            search(states[0], rules, chosen.tables, 2, way, -1.0, 1.0, -np.inf, np.inf, np.zeros(2, np.int64), 4)
        values = []
        for way, title in enumerate(WAYS):
            limits = [_limits(name, rules, chosen.tables, state, args.depth) for state in states]
            counts, began = np.zeros(2, np.int64), time.process_time()
            values.append(
                [
                    search(state, rules, chosen.tables, args.depth, way, *limit, -np.inf, np.inf, counts, 4)
                    for state, limit in zip(states, limits, strict=True)
                ]
            )
            _print(name, title, counts[0], counts[1], time.process_time() - began)
        values.append(_by_engine(name, rules, chosen, states, args.depth))
        assert np.allclose(values[1:], values[0], rtol=1e-9, atol=1e-6), "not the same values"


if __name__ == "__main__":
    main()
