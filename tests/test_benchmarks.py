"""Benchmarks, which are run rarely: each says what it is, and what it imports is there."""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted(path.relative_to(ROOT) for path in (ROOT / "benchmarks").rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=str)
def test_a_benchmark_can_be_imported(path):
    assert importlib.import_module(".".join(path.with_suffix("").parts)).__doc__
