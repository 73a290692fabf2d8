"""Weights packed and unpacked: how near they come, what dropped ones become, and what is refused."""

import lzma
import tracemalloc

import numpy as np
import pytest

from distsearch.core import archive, array_cache
from distsearch.core.errors import UserError
from distsearch.core.kernel_folder import KernelFolder
from distsearch.evaluation import tuple_network, weight_packing
from distsearch.evaluation.tuple_network import Network

TUPLES = (0, 1, 2), (5, 6)
SIZE = 16**3 + 16**2


@pytest.fixture
def learnt(rng):
    """Return (weights, errors) of which about half were never met."""
    numbers = np.random.default_rng(rng.getrandbits(64))
    errors = 2 ** numbers.uniform(0, 16, SIZE) * (numbers.random(SIZE) < 0.5)
    return numbers.normal(1000, 500, SIZE).astype(np.float32), errors.astype(np.float32)


def test_the_more_a_weight_has_learnt_the_nearer_it_comes_back(learnt):
    weights, errors = learnt
    classes = weight_packing.classes_of(errors)
    assert set(np.flatnonzero(classes)) == set(np.flatnonzero(errors))
    packed = weight_packing.pack(weights, classes, TUPLES, 16)
    found, same = weight_packing.unpack(*packed.values(), TUPLES, 16)
    assert np.array_equal(same, classes)
    step = weights[classes > 0].std() / 8
    for c in range(1, classes.max() + 1):
        assert np.abs(found - weights)[classes == c].max() <= step / 2**c * 1.01 + 1e-3


def test_a_dropped_weight_is_the_mean_of_its_neighbours():
    weights, classes = np.full(SIZE, 7, np.float32), np.zeros(SIZE, np.uint8)
    weights[[0x011, 0x101, 0x110]], classes[[0x011, 0x101, 0x110]] = (0, 300, 600), 1
    found, _ = weight_packing.unpack(*weight_packing.pack(weights, classes, TUPLES, 16).values(), TUPLES, 16)
    assert found[0x111] == pytest.approx(300, abs=20)


def test_tiles_beyond_the_largest_that_was_met_take_no_bytes(rng):
    numbers, codes = np.random.default_rng(rng.getrandbits(64)), 32
    digits = np.arange(codes**3)[:, None] >> np.array([0, 5, 10]) & codes - 1
    weights, met = np.full(codes**3, 7, np.float32), digits.max(axis=1) <= 5
    weights[met] = numbers.normal(1000, 500, met.sum())
    packed = weight_packing.pack(weights, met.astype(np.uint8), [(0, 1, 2)], codes)
    assert packed["known"] == 7
    assert packed["counts"][:16].sum() == 7**3
    found, classes = weight_packing.unpack(*packed.values(), [(0, 1, 2)], codes)
    assert np.array_equal(classes, met)
    assert np.abs(found - weights)[met].max() <= weights[met].std() / 16 * 1.01
    assert found[digits.max(axis=1) == 6].all()  # of the next tile, predicted
    assert not found[digits.max(axis=1) > 6].any()


def test_a_packed_file_is_a_network(learnt, tmp_path):
    weights, errors = learnt
    net = Network("2048", (4, 4), {}, TUPLES, True, (), weights[None], {"games": 3})
    tuple_network.save_packed(tmp_path / "file", net, weight_packing.classes_of(errors), 16)
    found, others = tuple_network.load_all(tmp_path / "file", "2048", 16)
    assert (found[:-2], found.record, others) == (net[:-2], net.record, {})
    assert found.weights.shape == net.weights.shape
    assert tuple_network.load(tmp_path / "file", "2048", 16).weights.tobytes() == found.weights.tobytes()


@pytest.mark.parametrize("free", [0, 1 << 30])  # 0: unknown
def test_weights_are_unpacked_where_there_is_memory(free, learnt, tmp_path, monkeypatch):
    monkeypatch.setattr(array_cache, "FOLDER", KernelFolder(tmp_path / "kernels", None))
    weights, errors = learnt
    net = Network("2048", (4, 4), {}, TUPLES, True, (), weights[None], {})
    tuple_network.save_packed(tmp_path / "file", net, weight_packing.classes_of(errors), 16)
    monkeypatch.setattr(tuple_network, "available", lambda: 4 * SIZE)
    with pytest.raises(UserError, match="do not fit in the memory"):
        tuple_network.load(tmp_path / "file", "2048", 16)
    monkeypatch.setattr(tuple_network, "available", lambda: free)
    tuple_network.load(tmp_path / "file", "2048", 16)
    monkeypatch.setattr(tuple_network, "available", lambda: 4 * SIZE)
    tuple_network.load(tmp_path / "file", "2048", 16)  # from what is kept


def test_a_stream_that_would_fill_the_memory_is_refused(learnt):
    weights, errors = learnt
    packed = weight_packing.pack(weights, weight_packing.classes_of(errors), TUPLES, 16)
    large = lzma.compress(bytes(1 << 27))
    assert len(large) < 1 << 16
    packed["packed"] = np.frombuffer(large, np.uint8)
    packed["counts"][0] += (1 << 27) - packed["counts"].sum()
    tracemalloc.start()
    with pytest.raises(ValueError, match="unpacks to more"):
        weight_packing.unpack(*packed.values(), TUPLES, 16)
    assert tracemalloc.get_traced_memory()[1] < 1 << 24
    tracemalloc.stop()


def test_what_does_not_fit_is_refused(learnt, tmp_path):
    weights, errors = learnt
    net = Network("2048", (4, 4), {}, TUPLES, True, (), weights[None], {})
    tuple_network.save_packed(tmp_path / "file", net, weight_packing.classes_of(errors), 16)
    with pytest.raises(UserError, match="2048"):
        tuple_network.load(tmp_path / "file", "2584", 32)
    packed = weight_packing.pack(weights, weight_packing.classes_of(errors), TUPLES, 16)
    for name, wrong in (
        ("packed", packed["packed"][:50]),
        ("counts", packed["counts"][1:]),
        ("counts", packed["counts"] + np.eye(1, packed["counts"].size, 1, np.int64)[0] * (1 << 40)),
        ("counts", -packed["counts"]),
        ("counts", packed["counts"].astype(np.int32)),
        ("scale", packed["scale"][1:]),
        ("counts", packed["counts"] + (np.arange(packed["counts"].size) < 4) * (1 << 62)),
        ("known", packed["known"] + 1),
        ("known", packed["known"] - 1),
        ("known", packed["known"][:0]),
        ("known", packed["known"] * 0),
        ("known", packed["known"].astype(np.int32)),
    ):
        with pytest.raises(ValueError):
            weight_packing.unpack(*{**packed, name: wrong}.values(), TUPLES, 16)
        header = {**net._asdict(), "version": "0"}
        del header["weights"]
        archive.save(tmp_path / "damaged", tuple_network.KIND, header, {**packed, name: wrong})
        with pytest.raises(UserError, match="not a file of weights"):
            tuple_network.load(tmp_path / "damaged", "2048", 16)
