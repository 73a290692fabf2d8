"""What is known of the processor that kernels are made for."""

import platform

import llvmlite.binding
import pytest

from distsearch.core import processor

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="names of x86 processors")


@pytest.fixture(autouse=True)
def asked_anew():
    processor.has.cache_clear()
    yield
    processor.has.cache_clear()


@pytest.mark.parametrize(
    ("name", "features", "expected"),
    [
        ("generic", "", []),
        ("x86-64-v2", "", []),
        ("sandybridge", "", []),
        ("x86-64-v3", "", ["AVX2", "BMI2"]),
        ("znver3", "-bmi2", ["AVX2"]),
        ("x86-64-v4", "", ["AVX2", "BMI2", "AVX-512"]),
    ],
)
def test_a_named_processor_has_the_instructions_that_its_name_stands_for(monkeypatch, name, features, expected):
    monkeypatch.setattr(processor._config, "CPU_NAME", name)
    monkeypatch.setattr(processor._config, "CPU_FEATURES", features)
    assert (processor.name(), processor.instructions()) == (name, expected)


def test_a_name_alone_takes_the_instructions_of_this_machine(monkeypatch):
    monkeypatch.setattr(processor._config, "CPU_NAME", "znver3")
    monkeypatch.setattr(processor._config, "CPU_FEATURES", None)
    features = llvmlite.binding.get_host_cpu_features()
    kinds = {"AVX2": "avx2", "BMI2": "bmi2", "AVX-512": "avx512cd"}
    assert processor.instructions() == [kind for kind, feature in kinds.items() if features.get(feature, False)]
