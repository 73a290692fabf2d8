"""Processes that write to one shared table, and read from it, as fast as they can."""

import multiprocessing
import time

import numpy as np

from distsearch.core import jit
from distsearch.core.jit import compiled
from distsearch.core.pointers import address, new_record, set_fields, uint64s
from distsearch.engines.pvs import table as tt

PROCESSES = 4
BUCKETS = 4  # of the shared table
NEAR_BITS = 1
LEFT = 20  # moves left of every entry, enough for the shared table
HASHES = 32
ROUNDS = 10_000  # between two looks at the clock
LONGEST = 60  # seconds that it may take to find an error where there is one
LOOKS, FOUND, WRONG = range(3)

store = probe_shared = None  # bound for each kind of table


def table_of(near, far, far_left=LEFT):
    """The record of two tables, by which kernels see them."""
    table = new_record(tt.TABLE)
    set_fields(table, l1=address(near), l1_mask=len(near) // 2 - 1)
    set_fields(table, shared=address(far), shared_from=far_left, bucket_words=len(far))
    tt.set_buckets(table, len(far) // 8, len(far) // 8)
    return table


@compiled
def data_of(h, version):
    """Data that belongs to hash h and to no other; any number of versions (up to 65,535) are right."""
    x = (h ^ version * np.uint64(0xD1B54A32D192ED03)) * np.uint64(0x9E3779B97F4A7C15)
    return (x ^ x >> np.uint64(32)) & ~np.uint64(0xFFFF) | version


@compiled
def store_unprotected(t, h, data, left):
    """As ``table.store``, but the hash is written as it is."""
    far = uint64s(t.shared)
    k = tt.bucket_place(t, h) + 2 * np.int64(data >> np.uint64(40) & np.uint64(tt.BUCKET - 1))
    far[k] = h
    far[k + 1] = data


@compiled
def probe_unprotected(t, h):
    """As ``table.probe_shared``, for such entries."""
    far = uint64s(t.shared)
    i = tt.bucket_place(t, h)
    for k in range(i, i + 2 * tt.BUCKET, 2):
        data = far[k + 1]
        if far[k] == h:
            return data
    return np.uint64(0)


def write_and_read(t, hashes, x, rounds, counts):
    """Keep and look up random ones of ``hashes`` by turns, add up what comes of it, and return the next x (uint64)."""
    n = np.uint64(len(hashes))
    for _ in range(rounds):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        h = hashes[np.int64((x >> np.uint64(8)) % n)]
        store(t, h, data_of(h, x >> np.uint64(48)), LEFT)
        h = hashes[np.int64((x >> np.uint64(24)) % n)]
        for data in (tt.probe_l1(t, h), probe_shared(t, h)):
            counts[LOOKS] += 1
            counts[FOUND] += data != 0
            counts[WRONG] += data != 0 and data != data_of(h, data & np.uint64(0xFFFF))
    return x


TABLES = {
    "table": {"store": tt.store, "probe_shared": tt.probe_shared},
    "unprotected": {"store": store_unprotected, "probe_shared": probe_unprotected},
}


def kernel(kind):
    """The kernel ``write_and_read`` for a kind of table."""
    return jit.specialise(write_and_read, f"write_and_read_{kind}", TABLES[kind])


class Course:
    """What all processes see of a race: a file with the shared table, and a line for each process."""

    SIZE = 64 * (BUCKETS + PROCESSES)

    def __init__(self, path):
        words = np.memmap(path, np.uint64, "r+", shape=(self.SIZE // 8,))
        self.far, lines = words[: 8 * BUCKETS], words[8 * BUCKETS :].view(np.int64).reshape(PROCESSES, 8)
        self.counts, self.ready = lines[:, :3], lines[:, 3]


def race(paths, rank, seconds, seed):
    """What one process does: in each race (kind → path) wait for the others, then write and read.

    A race ends with the first wrong answer, that of the protected table after some seconds at the latest.
    """
    rng = np.random.default_rng(seed)
    hashes = rng.integers(0, 2**64, HASHES, np.uint64)
    x = rng.integers(1, 2**64, PROCESSES, np.uint64)[rank]
    for kind, path in paths.items():
        course, near, run, counts = Course(path), tt.new_l1_table(NEAR_BITS), kernel(kind), np.zeros(3, np.int64)
        table = table_of(near, course.far)
        run(table, hashes, x, 0, counts)
        course.ready[rank] = 1
        while not course.ready.all():
            time.sleep(0.001)
        began = time.monotonic()
        while time.monotonic() - began < (seconds if kind == "table" else LONGEST):
            x = np.uint64(run(table, hashes, x, ROUNDS, counts))
            course.counts[rank] = counts
            if course.counts[:, WRONG].any():
                break


def run_nothing(kind):
    table = table_of(np.zeros(2, np.uint64), np.zeros(8, np.uint64))
    kernel(kind)(table, np.ones(1, np.uint64), np.uint64(1), 0, np.zeros(3, np.int64))


def counts_of_races(folder, seconds, seed):
    """Let processes race on each kind of table; return kind → how often they (looked, found, found what was wrong)."""
    paths = {kind: folder / kind for kind in TABLES}
    for kind, path in paths.items():
        path.write_bytes(bytes(Course.SIZE))
        run_nothing(kind)  # compiled here once, loaded by all
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    racers = [context.Process(target=race, args=(paths, rank, seconds, seed)) for rank in range(PROCESSES)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert not any(racer.exitcode for racer in racers)
    return {kind: Course(path).counts.sum(axis=0).tolist() for kind, path in paths.items()}
