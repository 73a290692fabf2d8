"""GPUs that tests run on: one that g++ makes, and the first real one if there is any."""

import pytest

from distsearch.errors import UserError
from distsearch.gpu import device
from distsearch.testing.emulated_gpu import EmulatedGpu


@pytest.fixture(params=["emulated", "card"])
def gpus(request, seed):
    """``gpus(n)``: a GPU; emulated ones go on with their threads in another order for every n."""
    if request.param == "emulated":
        return lambda n=0: EmulatedGpu(seed + n)
    try:
        count, why = device.count(), "this host has no GPU"
    except UserError as error:
        count, why = 0, str(error)
    if not count:
        pytest.skip(why)
    card = device.Gpu()
    return lambda n=0: card
