"""The examples of the tutorial for Python that need neither a launcher nor a service: they run as they stand."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "tutorials" / "python.md"
ELSEWHERE = "MPI", "LocalCluster", "/tmp/search"  # what other tests start
BLOCKS = [
    block
    for block in re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    if not any(word in block for word in ELSEWHERE)
]


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_an_example_runs(block, capsys):
    for package in ("tqdm", "rich"):
        if f"from {package}" in block:
            pytest.importorskip(package)
    exec(compile(f"import distsearch\n{block}", str(PAGE), "exec"), {})
    said = capsys.readouterr()
    assert said.out or said.err
    assert "Traceback" not in said.err


def test_the_adapters_are_among_them():
    assert {"tqdm", "rich"} <= {word for block in BLOCKS for word in re.findall(r"from (\w+)", block)}
