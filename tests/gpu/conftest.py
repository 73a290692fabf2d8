"""Where kernels run in tests: on a CPU, and on a GPU if this host has one."""

import pytest

from distsearch.core.errors import UserError
from distsearch.gpu import device
from distsearch.testing.emulated_gpu import EmulatedGpu


def _gpu():
    try:
        if device.count():
            return device.Gpu(0)
        reason = "this host has no GPU"
    except UserError as error:
        reason = str(error)
    pytest.skip(reason)


@pytest.fixture(params=["emulated", "gpu"])
def gpus(request):
    """A function from a seed (of the order of threads, where that can be chosen) to a GPU."""
    if request.param == "emulated":
        return EmulatedGpu
    gpu = _gpu()
    return lambda seed=0: gpu
