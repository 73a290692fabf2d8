"""Every kernel compiles for the GPUs that the program is for, without one of them."""

import shutil

import pytest

from distsearch.gpu import build

from .variants import VARIANTS


@pytest.mark.skipif(not shutil.which("nvcc"), reason="there is no nvcc here")
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize("source", build.sources())
def test_every_source_compiles_for_gpus(source, architecture, full):
    for defines in VARIANTS.get(source, [{}])[: None if full else 1]:
        path = build.cubin(source, architecture, sorted(defines.items()))
        assert path.stat().st_size > 1000
        assert build.cubin(source, architecture, sorted(defines.items())) == path
