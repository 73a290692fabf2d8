"""Every parser that is fuzzed accepts its seeds, and does nothing that it must not with inputs like them."""

import gc
import random
import time
import types

import numpy as np
import pytest

from distsearch.core import archive, jit
from distsearch.core.errors import UserError

from . import files, instrument, mutation
from .target import CORPUS, MOST_BYTES, MOST_SECONDS, Target, bounded, finding, is_accepted, kept_inputs
from .targets import TARGETS

RUNS = 100
_MOST_CORPUS = 200_000  # bytes


@pytest.mark.parametrize("name", TARGETS)
def test_changed_seeds_are_accepted_or_refused(name, rng, full):
    target = TARGETS[name]
    seeds = target.seeds()
    assert all(is_accepted(target, data) for data in seeds)
    refused = 0
    with bounded():
        for data in kept_inputs(name):
            assert finding(target, data) is None
        for _ in range(20 * RUNS if full else RUNS):
            data = target.mutate(rng.choice(seeds), rng)
            if rng.random() < 0.3:
                data = target.mutate(data, rng)
            found = finding(target, data)
            assert found is None, (found.kind, data, found.text)
            refused += not is_accepted(target, data)
    assert bool(refused) == bool(target.refusals)


def test_the_corpus_is_small_and_each_folder_a_targets():
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) < _MOST_CORPUS
    assert {path.name for path in CORPUS.iterdir()} <= TARGETS.keys()


def test_no_branches_of_kernels_are_counted():
    for target in TARGETS.values():
        target.seeds()
    templates = {kernel.py_func.__code__ for kernel in jit._kernels.values()}
    for target in TARGETS.values():
        for cover in target.covers:
            found = list(instrument.functions(cover))
            assert found, cover
            assert not {function.__code__ for function in found} & templates
            assert all(type(function) is types.FunctionType for function in found)


# --- what judges ---


def _slow(data):
    began = time.process_time()
    while time.process_time() < began + MOST_SECONDS:
        pass


def _large(data):
    np.ones(MOST_BYTES // 8 + (8 << 20))


def _odd(data):
    raise KeyError(data)


def test_the_time_of_a_garbage_collection_is_not_the_parsers():
    def collected(phase, info):
        _slow(b"")

    def read(data):
        return [[] for _ in range(5000)]  # enough for several

    gc.callbacks.append(collected)
    try:
        assert finding(Target(read, list, ()), b"1") is None
    finally:
        gc.callbacks.remove(collected)


@pytest.mark.parametrize(
    ("read", "kind"),
    [(_slow, "slow"), (_large, "memory"), (_odd, "KeyError in tests/fuzz/test_targets.py"), (len, None)],
)
def test_what_a_parser_must_not_do_is_found(read, kind):
    found = finding(Target(read, list, ()), b"1")
    assert found is None if kind is None else found.kind.startswith(kind)


def test_a_refusal_is_no_finding():
    def read(data):
        raise UserError("no")

    target = Target(read, list, ())
    assert finding(target, b"") is None
    assert not is_accepted(target, b"")


def test_a_changed_archive_has_a_right_checksum(rng):
    data = mutation.archived({"kind": "notes", "n": 3}, {"a": np.arange(9), "b": np.linspace(-3, 3, 4)})
    read = 0
    for _ in range(500):
        try:
            archive.load(files.written(mutation.of_archive(data, rng)), "notes", lambda header: 1 << 20)
            read += 1
        except UserError:
            continue
    assert read > 250


def test_a_change_that_numpy_refuses_is_another_change(rng):
    data = mutation.archived({"kind": "notes"}, {"text": np.array(["-1"])})  # which is no unsigned number
    assert all(mutation.of_archive(data, rng) for _ in range(2000))


def test_a_seed_gives_the_same_changes(seed):
    for target in TARGETS.values():
        data = target.seeds()[0]
        assert target.mutate(data, random.Random(seed)) == target.mutate(data, random.Random(seed))
