"""A shared table that grows: where entries are, what ranks of different sizes make of them, and that scores stay."""

import random

import numpy as np
import pytest

from distsearch import games
from distsearch.engines.pvs import growing_table as growing
from distsearch.engines.pvs import side_tables, table_search
from distsearch.engines.pvs import table as tt
from distsearch.engines.pvs.exact_solver import ExactSolver
from distsearch.engines.pvs.growing_table import Growing
from distsearch.games.random_play import random_position

from .racing import table_of

STEP = 1 << 10  # buckets here
FIRST_MIB, MIB = 1, 5


@pytest.fixture(autouse=True)
def small_steps(monkeypatch):
    monkeypatch.setattr(growing, "_BUCKETS_A_STEP", STEP)


def nothing_to_do(begin, end):
    return True


def growing_table(mib=MIB, back=nothing_to_do):
    return Growing(tt.new_shared_table(mib), FIRST_MIB, back)


class Rank:
    """What one rank sees of a growing table."""

    def __init__(self, table):
        self.table, self.near = table, tt.new_l1_table(4)
        self.record = table_of(self.near, table.words, far_left=0)
        self.follow()

    def follow(self):
        tt.set_buckets(self.record, self.table.first, self.table.buckets)

    def keep(self, h):
        data = np.uint64(tt.packed(self.record, 1, 2, h % 60, 30, 0))
        tt.store(self.record, np.uint64(h), data, 30)
        return data

    def look(self, h):
        return tt.probe_shared(self.record, np.uint64(h))


def some_hashes(rng, count):
    return [rng.getrandbits(64) for _ in range(count)]


def grow_to_the_end(table, each=lambda: None):
    """Have a table grow until it does no more; return how many buckets it had after each step."""
    sizes = [table.buckets]
    while True:
        table.grow()
        each()
        if table.buckets == sizes[-1]:
            return sizes
        sizes.append(table.buckets)


def test_it_grows_step_by_step_as_far_as_there_is_room():
    table = growing_table()
    sizes = grow_to_the_end(table)
    assert sizes[0] == table.first == (FIRST_MIB << 20) // 64
    assert set(np.diff(sizes)) == {STEP}
    room = side_tables.buckets(table.words)
    assert room - STEP < sizes[-1] <= room


def test_every_entry_is_found_at_every_size(rng):
    rank, hashes = Rank(growing_table()), some_hashes(rng, 500)  # so few that no bucket gets five
    kept = {h: rank.keep(h) for h in hashes}

    def look_at_all():
        rank.follow()
        assert all(rank.look(h) == data for h, data in kept.items())

    grow_to_the_end(rank.table, look_at_all)
    entries = rank.table.words[: 8 * rank.table.buckets]
    assert np.count_nonzero(entries) == 2 * len(hashes)  # none is left where no probe looks


@pytest.mark.parametrize("steps", [0, 1, 3, 16, 17, 40])
def test_places_are_buckets_in_use_and_all_are_used(steps, rng):
    record, first = Rank(growing_table()).record, 64
    tt.set_buckets(record, first, first + steps)
    places = {tt.bucket_place(record, np.uint64(h)) for h in some_hashes(rng, 60 * (first + steps))}
    assert places == set(range(0, 8 * (first + steps), 8))


def test_a_rank_of_another_size_misses_entries_and_takes_none_for_another(rng):
    table = growing_table()
    old, new, hashes = Rank(table), Rank(table), some_hashes(rng, 4000)
    for _ in range(20):
        table.grow()
    new.follow()
    kept = {h: rng.choice((old, new)).keep(h) for h in hashes}
    for rank in (old, new):
        assert all(rank.look(h) in (0, data) for h, data in kept.items())
        assert any(rank.look(h) for h in hashes)


def test_it_grows_no_more_without_memory():
    asked = []

    def refuse_the_third(begin, end):
        asked.append((begin, end))
        return len(asked) < 3

    table = growing_table(back=refuse_the_third)
    sizes = grow_to_the_end(table)
    assert len(sizes) == 3
    table.grow()
    size, first = 64 * STEP, FIRST_MIB << 20
    assert asked == [(first + i * size, first + (i + 1) * size) for i in range(3)]


def test_ranks_grow_one_table(rng):
    words = tt.new_shared_table(MIB)
    tables = [Growing(words, FIRST_MIB, nothing_to_do) for _ in range(3)]
    for count in range(1, 30):
        rng.choice(tables).grow()
        assert {table.buckets for table in tables} == {tables[0].first + count * STEP}


def test_how_full_it_is_is_told_of_what_is_in_use(rng):
    rank = Rank(growing_table())
    for h in some_hashes(rng, 30_000):
        rank.keep(h)
    assert tt.full(rank.table.words[: 8 * rank.table.buckets]) == pytest.approx(0.45, abs=0.05)
    grow_to_the_end(rank.table)
    assert tt.full(rank.table.words[: 8 * rank.table.buckets]) == pytest.approx(0.1, abs=0.03)


@pytest.fixture
def soon(monkeypatch):
    """Searches are long at once, and every lost entry makes the table grow."""
    monkeypatch.setattr(table_search, "LONG", 0)
    monkeypatch.setattr(table_search, "LOST_A_STEP", 1)
    monkeypatch.setattr(growing, "_BUCKETS_A_STEP", 1)


def tiny_growing(steps):
    """A table of one bucket that may grow by so many."""
    words = np.zeros(8 * (1 + steps) + side_tables.WORDS + growing.WORDS, np.uint64)
    table = Growing(words, 0, nothing_to_do)
    table.first, table._most = 1, steps
    return table


@pytest.mark.parametrize("name", ["connect4", "othello"])
def test_scores_stay_while_it_grows(name, soon, seed):
    chance, game = random.Random(seed), games.find(name)
    rules, plies = game.rules(), {"connect4": range(16, 20), "othello": range(44, 47)}[name]
    table = tiny_growing(500)
    alone, engines = ExactSolver(game, rules), [ExactSolver(game, rules, table, part=True) for _ in range(2)]
    positions = 0
    while positions < 4 or table.buckets <= 2:  # some are so easy that nothing goes to the shared table
        state = random_position(game, rules, plies, chance).state
        positions += 1
        alone.begin(state)
        alone.advance(10**9)
        for engine in engines:
            engine.begin(state)
        while not any(engine.advance(chance.randint(1, 3000)) for engine in engines):
            pass
        found = next(result for engine in engines if (result := engine.result()).complete)
        assert found.score == alone.result().score
        assert positions < 40


def test_a_short_search_leaves_it_as_it_is(monkeypatch, seed):
    monkeypatch.setattr(table_search, "LOST_A_STEP", 0)
    game, table = games.find("connect4"), growing_table()
    engine = ExactSolver(game, game.rules(), table)
    for _ in range(20):
        engine.begin(random_position(game, game.rules(), range(16, 20), random.Random(seed)).state)
        while not engine.advance(10_000):
            pass
    assert engine.nodes < growing.LONG
    assert table.buckets == table.first
