"""Files of networks: what comes back, small files, and what is kept with the weights."""

import numpy as np
import pytest

from distsearch.core import archive
from distsearch.core.errors import UserError
from distsearch.evaluation import tuple_network, weight_packing
from distsearch.evaluation.tuple_network import KIND, Network


def made(rng, dtype=np.float32):
    weights = np.random.default_rng(rng.getrandbits(64)).normal(0, 500, (2, 2 * 16**2)).astype(dtype)
    weights[1, ::3] = np.nan
    return Network("2048", (4, 4), {"spawn": "2:1"}, ((0, 1), (5, 6)), True, (11,), weights, {"games": 3})


def test_what_is_saved_comes_back(rng, tmp_path):
    net, traces = made(rng), np.arange(6.0).reshape(3, 2)
    tuple_network.save(tmp_path / "file", net, others={"traces": traces})
    found, others = tuple_network.load_all(tmp_path / "file", "2048", 16)
    assert found[:-2] == net[:-2]
    assert found.record == net.record
    assert found.weights.tobytes() == net.weights.tobytes()
    assert others.keys() == {"traces"}
    assert np.array_equal(others["traces"], traces)
    assert tuple_network.load(tmp_path / "file", "2048", 16).weights.dtype == np.float32


def test_compact_files_are_small_and_near(rng, tmp_path):
    net = made(rng)
    tuple_network.save(tmp_path / "whole", net)
    tuple_network.save(tmp_path / "small", net, compact=True)
    found = tuple_network.load(tmp_path / "small", "2048", 16)
    assert found.weights.dtype == np.float32
    np.testing.assert_allclose(found.weights, net.weights, rtol=2**-11, atol=1e-7)
    assert np.array_equal(np.isnan(found.weights), np.isnan(net.weights))
    assert (tmp_path / "small").stat().st_size < 0.7 * (tmp_path / "whole").stat().st_size


def test_columns_first_is_as_good(rng, tmp_path):
    net = made(rng)
    tuple_network.save(tmp_path / "file", net._replace(weights=np.asfortranarray(net.weights)))
    found = tuple_network.load(tmp_path / "file", "2048", 16).weights
    assert found.flags.c_contiguous
    assert found.tobytes() == net.weights.tobytes()


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.uint8])
def test_other_numbers_are_refused(dtype, rng, tmp_path):
    from distsearch.core import archive

    net = made(rng)
    header = net._asdict()
    archive.save(
        tmp_path / "file",
        tuple_network.KIND,
        header,
        {tuple_network.KIND: np.zeros(header.pop("weights").shape, dtype)},
    )
    with pytest.raises(UserError, match="do not fit"):
        tuple_network.load(tmp_path / "file", "2048", 16)


@pytest.mark.parametrize(
    "changed",
    [
        {"board": [10**5, 10**5]},
        {"board": [4.0, 4]},
        {"board": [-4, -4]},
        {"tuples": [[1e999]]},
        {"tuples": [list(range(9))], "board": [3, 3]},
        {"tuples": [list(range(4096))], "board": [64, 64]},
    ],
    ids=lambda changed: str(changed)[:40],
)
@pytest.mark.parametrize("packed", [False, True])
def test_networks_that_no_game_has_are_refused(changed, packed, tmp_path):
    path, tuples = tmp_path / "file", [[0, 1]]
    weights = np.ones(16**2, np.float32)
    arrays = weight_packing.pack(weights, np.ones(16**2, np.uint8), tuples, 16) if packed else {KIND: weights[None]}
    header = {"game": "2048", "board": [4, 4], "options": {}, "tuples": tuples, "symmetric": True, "stages": []}
    archive.save(path, KIND, {**header, "record": {}}, arrays)
    tuple_network.load(path, "2048", 16)
    archive.save(path, KIND, {**header, "record": {}, **changed}, arrays)
    with pytest.raises(UserError, match="file"):
        tuple_network.load(path, "2048", 16)


@pytest.mark.parametrize("name", weight_packing.ARRAYS)
def test_a_number_in_the_place_of_packed_arrays_is_refused(name, tmp_path):
    path, tuples = tmp_path / "file", [[0, 1]]
    arrays = weight_packing.pack(np.ones(16**2, np.float32), np.ones(16**2, np.uint8), tuples, 16)
    arrays[name] = np.array(1 << 50)  # which bytes() would take for a length
    header = {"game": "2048", "board": [4, 4], "options": {}, "tuples": tuples, "symmetric": True, "stages": []}
    archive.save(path, KIND, {**header, "record": {}}, arrays)
    with pytest.raises(UserError, match="not a file of weights"):
        tuple_network.load(path, "2048", 16)


def test_tuples_are_read_in_rising_order():
    assert tuple_network.parse_tuples("3,1,2/0", (2, 2)) == ((1, 2, 3), (0,))
