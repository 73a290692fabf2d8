"""Files of networks: what comes back, small files, and what is kept with the weights."""

import numpy as np
import pytest

from distsearch.core.errors import UserError
from distsearch.evaluation import tuple_network
from distsearch.evaluation.tuple_network import Network


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


def test_tuples_are_read_in_rising_order():
    assert tuple_network.parse_tuples("3,1,2/0", (2, 2)) == ((1, 2, 3), (0,))
