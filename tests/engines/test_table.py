"""The transposition table: what an entry holds, which entries stay, and what racing processes make of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from distsearch.engines.pvs import table as tt
from distsearch.games.interface import PASS

from .racing import counts_of_races, table_of

SHARED_FROM = 10


class Table:
    """An L1 table, a shared table, and the record that kernels see them by."""

    def __init__(self, l1_bits=4, buckets=1):
        self.l1, self.shared = tt.new_l1_table(l1_bits), np.zeros(8 * buckets, np.uint64)
        self.record = table_of(self.l1, self.shared, SHARED_FROM)

    def store(self, h, left=20, move=0, low=0, high=0):
        """Store an entry and return its data."""
        data = np.uint64(tt.packed(self.record, low, high, move, left, 0))
        tt.store(self.record, np.uint64(h), data, left)
        return data

    def probe_l1(self, h):
        return tt.probe_l1(self.record, np.uint64(h))

    def probe_shared(self, h):
        return tt.probe_shared(self.record, np.uint64(h))

    def found_shared(self, hashes):
        """Those of ``hashes`` that the shared table holds."""
        return [h for h in hashes if self.probe_shared(h)]

    def next_generation(self):
        self.record["generation"] += 1

    @property
    def replaced(self):
        return self.record["replaced"]


def some_hashes(rng, n):
    """n different hashes; with a single bucket they all want the same four places."""
    return [rng.getrandbits(64) for _ in range(n)]


# --- entries ---

scores = st.integers(int(tt.LOWEST), int(tt.HIGHEST))
moves = st.integers(int(tt.NO_MOVE), 2**15 - 3)


@given(scores, scores, moves, st.integers(0, 1000), st.integers(0, 255))
def test_data_unpacks(low, high, move, left, generation):
    table = Table()
    table.record["generation"] = generation
    data = int(tt.packed(table.record, low, high, move, left, 0))
    assert (tt.low_of(np.uint64(data)), tt.high_of(np.uint64(data)), tt.move_of(np.uint64(data))) == (low, high, move)
    assert data >> 48 & 0xFF == min(left, 255)
    assert data >> 56 == generation


@pytest.mark.parametrize("low", [tt.LOWEST, -30_000, -1, 0, 1, 30_000, tt.HIGHEST])
@pytest.mark.parametrize("move", [tt.NO_MOVE, PASS, 0, 1, 255, 2**15 - 3])
@pytest.mark.parametrize("cut_off", [0, 1])
def test_the_ends_of_every_range_unpack(low, move, cut_off):
    table = Table()
    for high in (tt.LOWEST, -1, 0, 30_000, tt.HIGHEST):
        data = np.uint64(tt.packed(table.record, low, high, move, 255, cut_off))
        assert (tt.low_of(data), tt.high_of(data), tt.move_of(data)) == (low, high, move)
        assert (tt.depth_of(data), tt.is_cut_off(data)) == (255, cut_off)


def test_bounds_beyond_the_range_say_nothing():
    data = np.uint64(tt.packed(Table().record, -(10**9), 10**9, 0, 0, 0))
    assert (tt.low_of(data), tt.high_of(data)) == (tt.LOWEST, tt.HIGHEST)


# --- looking up ---


def test_an_empty_table_has_nothing(rng):
    table = Table(buckets=13)
    for h in (0, 1, 2**64 - 1, *some_hashes(rng, 1000)):
        assert table.probe_l1(h) == 0
        assert table.probe_shared(h) == 0


def test_what_was_kept_is_found(rng):
    table = Table(l1_bits=16, buckets=1000)
    hashes = [0, 2**64 - 1, *some_hashes(rng, 50)]
    # of those that share a place of the L1 table, which 2% of samples have, it keeps one
    apart = {tt.l1_place(table.record, np.uint64(h)): h for h in hashes}.values()
    kept = {h: table.store(h, low=i, high=i + 1) for i, h in enumerate(apart)}
    for h, data in kept.items():
        assert table.probe_l1(h) == data
        assert table.probe_shared(h) == data
    assert table.replaced == 0


def test_easy_results_stay_out_of_the_shared_table(rng):
    table = Table()
    easy, hard = some_hashes(rng, 2)
    assert table.store(easy, left=SHARED_FROM - 1) == table.probe_l1(easy)
    assert table.store(hard, left=SHARED_FROM) == table.probe_l1(hard)
    assert table.found_shared([easy, hard]) == [hard]


@pytest.mark.parametrize("buckets", [1, 2, 13, 64, 1000])
def test_every_bucket_is_used(buckets, rng):
    record = Table(buckets=buckets).record
    places = [tt.bucket_place(record, np.uint64(h)) for h in (0, 2**64 - 1, *some_hashes(rng, 20 * buckets))]
    assert set(places) <= set(range(0, 8 * buckets, 8))
    assert (places[0], places[1]) == (0, 8 * (buckets - 1))
    assert len(set(places)) > 0.9 * buckets


@pytest.mark.parametrize(("l1_bits", "buckets"), [(0, 1), (2, 2), (5, 13), (16, 1000)])
def test_nothing_but_the_latest_is_found(l1_bits, buckets, full, rng):
    table, hashes = Table(l1_bits, buckets), some_hashes(rng, 200)
    l1, shared = {}, {}
    for i in range(50_000 if full else 3_000):
        h, left = rng.choice(hashes), rng.randint(1, 40)
        l1[h] = data = table.store(h, left, low=i, high=i)
        if left >= SHARED_FROM:
            shared[h] = data
        if i % 500 == 0:
            table.next_generation()
        h = rng.choice(hashes)
        assert table.probe_l1(h) in (0, l1.get(h, 0))
        assert table.probe_shared(h) in (0, shared.get(h, 0))
    assert 0 < sum(table.probe_l1(h) != 0 for h in hashes) <= 2**l1_bits
    assert 0 < len(table.found_shared(hashes)) <= tt.BUCKET * buckets


# --- replacing ---


def test_the_l1_table_keeps_the_latest_of_a_place():
    table = Table(l1_bits=4)
    first, same_place, other_place = 0x10003, 0x20003, 0x10004
    table.store(other_place, left=1)
    table.store(first, left=9)
    table.store(same_place, left=1)
    assert table.probe_l1(first) == 0
    assert table.probe_l1(same_place) != 0
    assert table.probe_l1(other_place) != 0
    assert table.replaced == 1


def test_an_entry_of_the_same_hash_is_replaced(rng):
    table, hashes = Table(l1_bits=16), some_hashes(rng, 4)
    for h in hashes:
        table.store(h, left=30, low=1)
    for h in hashes[::-1]:
        data = table.store(h, left=SHARED_FROM, low=2)
        assert table.probe_l1(h) == data
        assert table.probe_shared(h) == data
        assert table.found_shared(hashes) == hashes
    assert table.replaced == 0


def test_the_entry_of_the_least_work_goes_first(rng):
    table, hashes = Table(l1_bits=16), some_hashes(rng, 7)
    for h, left in zip(hashes, (30, 12, 25, 20, 11, 40, 300)):
        table.store(h, left)
    # 11 took the place of 12, 40 that of 11 and 300 that of 20
    assert table.found_shared(hashes) == [hashes[i] for i in (0, 2, 5, 6)]
    assert table.replaced == 3


def test_an_entry_of_an_older_generation_goes_first(rng):
    table, hashes = Table(l1_bits=16), some_hashes(rng, 9)
    for h, left in zip(hashes, (40, 30, 50, 20)):
        table.store(h, left)
    table.next_generation()
    for i, gone in zip(range(4, 8), (3, 1, 0, 2)):
        before = table.found_shared(hashes)
        assert hashes[gone] in before
        table.store(hashes[i], left=SHARED_FROM + i)
        assert set(table.found_shared(hashes)) == {*before, hashes[i]} - {hashes[gone]}
    table.store(hashes[8], left=SHARED_FROM)
    assert table.found_shared(hashes) == hashes[5:]


def test_an_entry_found_again_belongs_to_the_new_generation(rng):
    table, hashes = Table(l1_bits=16), some_hashes(rng, 5)
    for h in hashes[:4]:
        table.store(h, left=20)
    table.next_generation()
    table.store(hashes[0], left=SHARED_FROM)
    table.store(hashes[4], left=SHARED_FROM)
    assert hashes[0] in table.found_shared(hashes)
    assert len(table.found_shared(hashes)) == 4


# --- races ---


@pytest.fixture(scope="module")
def races(full, seed, tmp_path_factory):
    """Kind of table → (looked, found, found what was wrong), when four processes wrote and read at once."""
    counts = counts_of_races(tmp_path_factory.mktemp("races"), 10 if full else 1, seed)
    for kind, (looks, found, wrong) in counts.items():
        print(f"{kind}: {looks:,} looked for, {found:,} found, {wrong:,} of them wrong")
    return counts


def test_racing_processes_find_no_wrong_answer(races):
    _, found, wrong = races["table"]
    assert wrong == 0
    assert found > 100_000


def test_a_table_without_protection_gives_wrong_answers(races):
    assert races["unprotected"][2] > 0
