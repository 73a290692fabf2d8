"""The folder of compiled kernels is named after the sources that kernels are made of."""

import re
from pathlib import Path

import distsearch
from distsearch.core import jit

PACKAGE = Path(distsearch.__file__).parent


def test_kernels_outside_the_packages_that_are_hashed_use_nothing_of_another_file():
    hashed = {path for package in jit.WITH_KERNELS for path in (PACKAGE / package).rglob("*.py")}
    files = set(PACKAGE.rglob("*.py")) - hashed
    assert len(hashed) > 100 and len(files) > 50
    for path in files:
        source = path.read_text()
        if re.search(r"^@compiled|cache=True", source, re.MULTILINE):  # which are kept
            ours = re.findall(r"^from (\.\S*) import (.*)$", source, re.MULTILINE)
            assert ours == [("..core.jit", "compiled")], f"{path}: a kernel that is made of more than its own file"
