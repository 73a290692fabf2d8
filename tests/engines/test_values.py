"""Values in the shared table: those that were kept are found, and nothing else is, whatever races left there."""

from collections import Counter

import numpy as np
import pytest

from distsearch.core.pointers import new_record
from distsearch.engines.pvs import table as tt
from distsearch.engines.pvs import values

_NEGATIVE = np.uint64(1 << 63)


@pytest.fixture
def record():
    """A table's record and words, with 1,024 empty buckets."""
    made = new_record(tt.TABLE)
    table = np.zeros(1024 * 2 * tt.BUCKET, np.uint64)
    made["shared"] = table.ctypes.data
    tt.set_buckets(made, 1024, 1024)
    return made, table


def bits_of(value):
    return np.float64(value).view(np.uint64)


def hashes(chance, n):
    return np.array([chance.getrandbits(64) for _ in range(n)], np.uint64)


def found(record, h, left):
    known, value = values.probe(record, h, left)
    return value if known else None


def test_what_was_kept_is_found_by_its_own_hash_and_plies(record, rng):
    record, _ = record
    kept, entries = {}, Counter()
    for h in hashes(rng, 500):
        place = tt.bucket_place(record, h)
        if entries[place] == tt.BUCKET:  # one more would push another out
            continue
        entries[place] += 1
        left, value = rng.randint(2, 40), rng.choice((0.0, -0.0, rng.uniform(-1e6, 1e6), float(rng.randint(-99, 99))))
        values.store(record, h, left, bits_of(value))
        kept[int(h)] = left, value
    for h, (left, value) in kept.items():
        assert bits_of(found(record, np.uint64(h), left)) == bits_of(value)
        assert found(record, np.uint64(h), left % 31 + 1) is None
        assert found(record, np.uint64(h ^ 1 << rng.randrange(56)), left) is None


def test_an_empty_table_has_nothing(record):
    for h in (0, 1, 1 << 56, (1 << 64) - 1):
        assert found(record[0], np.uint64(h), 2) is None


def pairs(rng):
    """Values of two writers that race, among them such as differ in the sign or in few bits."""
    for _ in range(200):
        value = rng.choice((rng.uniform(-1e6, 1e6), float(rng.randint(1, 1 << 20)), 2.0 ** rng.randint(-30, 30)))
        yield value, rng.uniform(-1e6, 1e6)
        yield value, -value
        yield value, value * 2.0**16
        yield value, float((bits_of(value) ^ np.uint64(1 << rng.randrange(64))).view(np.float64))


def test_words_of_two_writers_are_not_found(record, rng):
    record, table = record
    for one, other in pairs(rng):
        h, neighbour = hashes(rng, 2)
        if rng.random() < 0.5:  # in the same bucket
            neighbour = h ^ np.uint64(rng.randrange(1, 1 << 32))
        left = rng.randint(2, 31)
        words = []
        for hashed, value in ((h, one), (neighbour, other)):
            table[:] = 0
            values.store(record, hashed, left, bits_of(value))
            at = int(np.flatnonzero(table)[0]) // 2 * 2
            words.append(table[at : at + 2].copy())
        for head, data in ((words[0][0], words[1][1]), (words[1][0], words[0][1])):
            for hashed in (h, neighbour):
                table[:] = 0
                at = tt.bucket_place(record, hashed)
                table[at : at + 2] = head, data
                assert found(record, hashed, left) is None


def test_an_entry_of_an_earlier_request_goes_first_then_the_one_with_the_fewest_plies(record):
    record, _ = record
    lefts = (9, 8, 7, 6)
    for i, left in enumerate(lefts):
        record["generation"] = left < 8
        values.store(record, np.uint64(i), left, bits_of(left))
    order = []
    for i in range(10, 14):  # in the same bucket
        values.store(record, np.uint64(i), 20, bits_of(i))
        order += [
            left for k, left in enumerate(lefts) if found(record, np.uint64(k), left) is None and left not in order
        ]
    assert order == [8, 9, 6, 7]
    assert record["replaced"] == 4


def test_an_entry_takes_its_own_place_again(record):
    record, table = record
    for age in range(3):
        record["generation"] = age
        values.store(record, np.uint64(77), 4, bits_of(1.5))
    assert np.count_nonzero(table) == 2
    assert record["replaced"] == 0
