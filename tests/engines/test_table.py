"""The transposition table: what an entry holds, which entries stay, and what racing processes make of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from distsearch.engines.pvs import table as tt
from distsearch.games.interface import PASS

from .racing import control_of, counts_of_races

FAR_LEFT = 10


class Table:
    """Near and far tables, and the control array that kernels see them by."""

    def __init__(self, near_bits=4, buckets=1):
        self.near, self.far = tt.near_table(near_bits), np.zeros(8 * buckets, np.uint64)
        self.control = control_of(self.near, self.far, FAR_LEFT)

    def keep(self, h, left=20, move=0, low=0, high=0):
        """Keep an entry and return its data."""
        data = np.uint64(tt.packed(self.control, low, high, move, left, 0))
        tt.keep(self.control, np.uint64(h), data, left)
        return data

    def look_near(self, h):
        return tt.look_near(self.control, np.uint64(h))

    def look_far(self, h):
        return tt.look_far(self.control, np.uint64(h))

    def found_far(self, hashes):
        """Those of ``hashes`` that the far table holds."""
        return [h for h in hashes if self.look_far(h)]

    def next_generation(self):
        self.control[tt.GENERATION] += 1

    @property
    def replaced(self):
        return self.control[tt.REPLACED]


def some_hashes(rng, n):
    """n different hashes; with a single bucket they all want the same four places."""
    return [rng.getrandbits(64) for _ in range(n)]


# --- entries ---

scores = st.integers(int(tt.LOWEST), int(tt.HIGHEST))
moves = st.integers(int(tt.NO_MOVE), 2**15 - 3)


@given(scores, scores, moves, st.integers(0, 1000), st.integers(0, 255))
def test_data_unpacks(low, high, move, left, generation):
    table = Table()
    table.control[tt.GENERATION] = generation
    data = int(tt.packed(table.control, low, high, move, left, 0))
    assert (tt.low_of(np.uint64(data)), tt.high_of(np.uint64(data)), tt.move_of(np.uint64(data))) == (low, high, move)
    assert data >> 48 & 0xFF == min(left, 255)
    assert data >> 56 == generation


@pytest.mark.parametrize("low", [tt.LOWEST, -30_000, -1, 0, 1, 30_000, tt.HIGHEST])
@pytest.mark.parametrize("move", [tt.NO_MOVE, PASS, 0, 1, 255, 2**15 - 3])
@pytest.mark.parametrize("cut_off", [0, 1])
def test_the_ends_of_every_range_unpack(low, move, cut_off):
    table = Table()
    for high in (tt.LOWEST, -1, 0, 30_000, tt.HIGHEST):
        data = np.uint64(tt.packed(table.control, low, high, move, 255, cut_off))
        assert (tt.low_of(data), tt.high_of(data), tt.move_of(data)) == (low, high, move)
        assert (tt.left_of(data), tt.is_cut_off(data)) == (255, cut_off)


def test_bounds_beyond_the_range_say_nothing():
    data = np.uint64(tt.packed(Table().control, -(10**9), 10**9, 0, 0, 0))
    assert (tt.low_of(data), tt.high_of(data)) == (tt.LOWEST, tt.HIGHEST)


# --- looking up ---


def test_an_empty_table_has_nothing(rng):
    table = Table(buckets=13)
    for h in (0, 1, 2**64 - 1, *some_hashes(rng, 1000)):
        assert table.look_near(h) == 0
        assert table.look_far(h) == 0


def test_what_was_kept_is_found(rng):
    table = Table(near_bits=16, buckets=1000)
    hashes = [0, 2**64 - 1, *some_hashes(rng, 50)]
    # of those that share a place of the near table, which 2% of samples have, it keeps one
    apart = {tt.near_place(table.control, np.uint64(h)): h for h in hashes}.values()
    kept = {h: table.keep(h, low=i, high=i + 1) for i, h in enumerate(apart)}
    for h, data in kept.items():
        assert table.look_near(h) == data
        assert table.look_far(h) == data
    assert table.replaced == 0


def test_easy_results_stay_out_of_the_far_table(rng):
    table = Table()
    easy, hard = some_hashes(rng, 2)
    assert table.keep(easy, left=FAR_LEFT - 1) == table.look_near(easy)
    assert table.keep(hard, left=FAR_LEFT) == table.look_near(hard)
    assert table.found_far([easy, hard]) == [hard]


@pytest.mark.parametrize("buckets", [1, 2, 13, 64, 1000])
def test_every_bucket_is_used(buckets, rng):
    control = Table(buckets=buckets).control
    places = [tt.far_place(control, np.uint64(h)) for h in (0, 2**64 - 1, *some_hashes(rng, 20 * buckets))]
    assert set(places) <= set(range(0, 8 * buckets, 8))
    assert (places[0], places[1]) == (0, 8 * (buckets - 1))
    assert len(set(places)) > 0.9 * buckets


@pytest.mark.parametrize(("near_bits", "buckets"), [(0, 1), (2, 2), (5, 13), (16, 1000)])
def test_nothing_but_the_latest_is_found(near_bits, buckets, full, rng):
    table, hashes = Table(near_bits, buckets), some_hashes(rng, 200)
    near, far = {}, {}
    for i in range(50_000 if full else 3_000):
        h, left = rng.choice(hashes), rng.randint(1, 40)
        near[h] = data = table.keep(h, left, low=i, high=i)
        if left >= FAR_LEFT:
            far[h] = data
        if i % 500 == 0:
            table.next_generation()
        h = rng.choice(hashes)
        assert table.look_near(h) in (0, near.get(h, 0))
        assert table.look_far(h) in (0, far.get(h, 0))
    assert 0 < sum(table.look_near(h) != 0 for h in hashes) <= 2**near_bits
    assert 0 < len(table.found_far(hashes)) <= tt.BUCKET * buckets


# --- replacing ---


def test_the_near_table_keeps_the_latest_of_a_place():
    table = Table(near_bits=4)
    first, same_place, other_place = 0x10003, 0x20003, 0x10004
    table.keep(other_place, left=1)
    table.keep(first, left=9)
    table.keep(same_place, left=1)
    assert table.look_near(first) == 0
    assert table.look_near(same_place) != 0
    assert table.look_near(other_place) != 0
    assert table.replaced == 1


def test_an_entry_of_the_same_hash_is_replaced(rng):
    table, hashes = Table(near_bits=16), some_hashes(rng, 4)
    for h in hashes:
        table.keep(h, left=30, low=1)
    for h in hashes[::-1]:
        data = table.keep(h, left=FAR_LEFT, low=2)
        assert table.look_near(h) == data
        assert table.look_far(h) == data
        assert table.found_far(hashes) == hashes
    assert table.replaced == 0


def test_the_entry_of_the_least_work_goes_first(rng):
    table, hashes = Table(near_bits=16), some_hashes(rng, 7)
    for h, left in zip(hashes, (30, 12, 25, 20, 11, 40, 300)):
        table.keep(h, left)
    # 11 took the place of 12, 40 that of 11 and 300 that of 20
    assert table.found_far(hashes) == [hashes[i] for i in (0, 2, 5, 6)]
    assert table.replaced == 3


def test_an_entry_of_an_older_generation_goes_first(rng):
    table, hashes = Table(near_bits=16), some_hashes(rng, 9)
    for h, left in zip(hashes, (40, 30, 50, 20)):
        table.keep(h, left)
    table.next_generation()
    for i, gone in zip(range(4, 8), (3, 1, 0, 2)):
        before = table.found_far(hashes)
        assert hashes[gone] in before
        table.keep(hashes[i], left=FAR_LEFT + i)
        assert set(table.found_far(hashes)) == {*before, hashes[i]} - {hashes[gone]}
    table.keep(hashes[8], left=FAR_LEFT)
    assert table.found_far(hashes) == hashes[5:]


def test_an_entry_found_again_belongs_to_the_new_generation(rng):
    table, hashes = Table(near_bits=16), some_hashes(rng, 5)
    for h in hashes[:4]:
        table.keep(h, left=20)
    table.next_generation()
    table.keep(hashes[0], left=FAR_LEFT)
    table.keep(hashes[4], left=FAR_LEFT)
    assert hashes[0] in table.found_far(hashes)
    assert len(table.found_far(hashes)) == 4


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
