"""The tables of the depth-limited search: what is kept there, and what of it answers."""

import functools
import itertools

import numpy as np
import pytest

from distsearch.core.errors import UserError
from distsearch.core.jit import compiled
from distsearch.engines.pvs import kernels, side_tables
from distsearch.engines.pvs import table as tt
from distsearch.engines.pvs.depth_search import DepthSearch
from distsearch.evaluation import Evaluation
from distsearch.games.interface import Position, as_state, legal_moves, step

from ..games import tictactoe
from .depth_searches import EVERYWHERE, changed, deep, midgame, shuffled, techniques
from .positions import EMPTIES, NO_PAUSE, engine, names, search, unfinished_states

TICTACTOE_PLIES = 9


@pytest.mark.parametrize("buckets", [1, 2, 1 << 14])
def test_engines_by_turns_on_one_far_table(buckets, endings, full, rng):
    """No engine takes what another left there for its own, though all of a board search the same states."""
    far, boards_asked = np.zeros(8 * buckets, np.uint64), [(4, 4), (4, 6), (6, 4)]
    kinds = list(itertools.product(boards_asked, names((4, 4), full), EMPTIES))
    engines = [deep(board, name, far, empties, changes=EVERYWHERE) for board, name, empties in kinds]
    for i in range(100 if full else 10):
        asked = {
            board: (rng.choice(endings(board)) if i % 2 else unfinished_states(rng, board, 1)[0], rng.randint(2, 6))
            for board in boards_asked
        }
        for searcher, (board, *_) in zip(engines, kinds, strict=True):
            searcher.begin(*asked[board])
        done = [False]
        while not all(done):
            done = [searcher.advance(rng.choice((1, 20, 100))) for searcher in engines]
        for searcher, (board, name, empties) in zip(engines, kinds, strict=True):
            expected = search(engine(board, name, empties=empties), *asked[board]).score
            assert searcher.result().score == expected, (board, name, empties, asked[board])


@pytest.mark.parametrize("near_bits", [0, 1, 4, 16])
def test_no_limit_and_no_size_of_table_changes_a_score(near_bits, full, rng, monkeypatch):
    monkeypatch.setattr(tt, "new_l1_table", functools.partial(tt.new_l1_table, near_bits))
    board, places = (6, 6), ("table_from", "table.shared_from_later", "cut_from", "bottom", "step")
    for _ in range(50 if full else 3):
        limits = rng.randint(1, 5), rng.randint(1, 6), rng.randint(2, 6), rng.choice((0, 2, 4, 6)), rng.randint(1, 3)
        far = np.zeros(8 * rng.choice((1, 2, 13, 1000)), np.uint64)
        searcher = deep(board, "static", far, changes=dict(zip(places, limits, strict=True)))
        for state in unfinished_states(rng, board, 5):
            for depth in shuffled(rng, range(7)):
                result = search(searcher, state, depth, budget=rng.choice((1, 50, NO_PAUSE)))
                assert result.score == search(engine(board), state, depth).score, (state, depth, limits)


def test_a_shared_table_saves_nodes():
    far, state, depth = tt.new_shared_table(4), midgame(), 8
    first, same = (search(deep((8, 8), far=far), state, depth) for _ in range(2))
    other = search(deep((8, 8), "complex", far), state, depth)
    assert first.score == same.score
    assert same.nodes < first.nodes / 2
    # the others' entries may have taken the place of some of its own
    assert other.nodes == pytest.approx(search(deep((8, 8), "complex"), state, depth).nodes, rel=0.01)


def test_nothing_is_found_after_clear():
    searcher, state, depth = deep((8, 8)), midgame(), 8
    first = search(searcher, state, depth)
    searcher.clear()
    cleared = search(searcher, state, depth)
    assert (cleared.score, cleared.nodes) == (first.score, first.nodes)
    assert search(searcher, state, depth).nodes < first.nodes  # it was there to be found


def test_entries_are_of_the_age_at_which_they_were_written():
    far = np.zeros(8 * 1000 + side_tables.WORDS, np.uint64)
    entries = far[: 8 * 1000]
    searcher = deep((8, 8), far=far)
    for seed, age in enumerate((0, 3, 255, tt.GENERATIONS + 7)):
        before, state = entries[1::2].copy(), midgame(seed=seed)
        searcher.age(age)
        assert search(searcher, state, 7).score == search(engine((8, 8)), state, 7).score
        written = entries[1::2][entries[1::2] != before]
        assert set(written >> np.uint64(56)) == {age % tt.GENERATIONS}


# --- every position of a small game ---


def plain_search(game, r, chosen):
    """A function from a state and a depth to its minimax value; it remembers those of every position below."""

    @functools.cache
    def value(state, depth):
        moves = legal_moves(game, Position(state), r)
        if not moves:
            final = int(game.final(state, r))
            return final + chosen.bound * ((final > 0) - (final < 0))
        if depth == 0:
            return int(chosen.function(state, r, chosen.tables))
        return max(-value(as_state(game.play(state, r, m)[0]), depth - 1) for m in moves)

    return value


@functools.cache
def reachable(game):
    """Every state of a game, from its start to all ends."""
    r, states = game.rules(), {}
    new = [game.start(r)]
    while new:
        states.update((position.state, None) for position in new)
        after = [step(game, position, r, m) for position in new for m in legal_moves(game, position, r)]
        new = list({position.state: position for position in after if position.state not in states}.values())
    return list(states)


@compiled
def noise(s, r, tables):
    """Any number up to ``tables[1]``, or minus it, another one for every state and every ``tables[0]``.

    With ``tables[2]``, only the highest and the lowest of them.
    """
    h = (s[0] << np.uint64(9) | s[1]) * tables[0]
    if tables[2]:
        return np.int64(tables[1]) if h >> np.uint64(63) else -np.int64(tables[1])
    return np.int64(h >> np.uint64(40)) % (2 * np.int64(tables[1]) + 1) - np.int64(tables[1])


def noisy(salt, highest, bound, extreme=False):
    """The Evaluation by ``noise``."""
    return Evaluation("noise", noise, np.array([salt, highest, extreme], np.uint64), bound)


# Final scores are from -1 to 1. With a bound of 0, evaluations are not less than all wins, which no search may rely on.
@pytest.mark.parametrize(("highest", "bound"), [(3, 3), (3, 0), (13_999, 14_000)])
@techniques
def test_every_position_and_depth_of_tictactoe(highest, bound, changes, full, rng):
    r, chosen = tictactoe.rules(), noisy(rng.getrandbits(64) | 1, highest, bound)
    value = plain_search(tictactoe, r, chosen)
    searcher = changed(DepthSearch(tictactoe, r, chosen, np.zeros(8 * 1000, np.uint64)), changes)
    cases = shuffled(rng, itertools.product(reachable(tictactoe), range(11)))
    for state, depth in cases if full else cases[:2_000]:
        window = rng.choice(((-kernels.INFINITY, kernels.INFINITY), (-1, 1), (-highest, 0)))
        result = search(searcher, state, depth, *window, budget=rng.choice((1, 7, 1000)))
        check_value(result, value, state, depth, *window)
    assert check_entries(searcher, value) > 100


# found by random searches, a few among thousands, that left entries which claimed too much
@pytest.mark.parametrize(
    ("salt", "highest", "state", "depth"),
    [
        (1565612049045789139, 3, (34, 272), 4),
        (1565612049045789139, 3, (8, 34), 5),
        (15632393290034665547, 7, (128, 16), 6),
        (6700007401447374273, 3, (32, 64), 6),
    ],
)
@techniques
def test_an_entry_that_rests_on_a_depth_limit_says_so(salt, highest, state, depth, changes):
    chosen, state = noisy(salt, highest, 0), as_state(state)
    value = plain_search(tictactoe, tictactoe.rules(), chosen)
    searcher = changed(DepthSearch(tictactoe, tictactoe.rules(), chosen, np.zeros(8 * 1000, np.uint64)), changes)
    for _ in range(2):
        check_value(search(searcher, state, depth), value, state, depth)
        check_entries(searcher, value)


def check_value(result, value, state, depth, low=-kernels.INFINITY, high=kernels.INFINITY):
    """Check a score, and that it is the whole game's if no leaf was cut off."""
    assert result.score == np.clip(value(state, depth), low, high), (state, depth, low, high)
    assert result.evaluated or result.score == np.clip(value(state, TICTACTOE_PLIES), low, high), (state, depth)


def check_entries(searcher, value):
    """Check that every entry is true of its depth, or else of the whole game; return how many there are."""
    found, control = 0, searcher._control
    for state in reachable(tictactoe):
        data = np.uint64(
            tt.probe(control["table"], np.uint64(searcher._kernels["hashed"](state, searcher._rules, control)))
        )
        if data != 0:
            depth = tt.depth_of(data) if tt.is_cut_off(data) else TICTACTOE_PLIES
            assert tt.low_of(data) <= value(state, min(depth, TICTACTOE_PLIES)) <= tt.high_of(data), (state, hex(data))
            found += 1
    return found


@pytest.mark.parametrize("bound", [14_001, 30_000])
def test_an_evaluation_too_large_for_the_table_is_refused(bound):
    with pytest.raises(UserError, match=str(bound)):
        DepthSearch(tictactoe, tictactoe.rules(), noisy(1, 1, bound))


def test_values_at_the_limit(full, rng):
    r, highest = tictactoe.rules(), 14_000
    chosen = noisy(rng.getrandbits(64) | 1, highest, highest, extreme=True)
    value = plain_search(tictactoe, r, chosen)
    searcher = changed(DepthSearch(tictactoe, r, chosen, np.zeros(8 * 1000, np.uint64)), EVERYWHERE)
    cases = shuffled(rng, itertools.product(reachable(tictactoe), range(11)))
    for state, depth in cases if full else cases[:1_000]:
        assert search(searcher, state, depth).score == value(state, depth), (chosen.tables, state, depth)
    assert {abs(value(state, 1)) for state in reachable(tictactoe)} == {0, highest, highest + 1}
