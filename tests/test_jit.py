"""The folder of compiled kernels is named after the sources that kernels are made of."""

import re
from pathlib import Path

import distsearch
from distsearch import jit

PACKAGE = Path(distsearch.__file__).parent


def test_sources_left_out_of_the_folders_name_hold_no_kernel_of_several_files():
    left_out = [PACKAGE / name for name in jit.WITHOUT_KERNELS if (PACKAGE / name).exists()]
    files = [path for root in left_out for path in (root.rglob("*.py") if root.is_dir() else [root])]
    assert len(files) > 50
    for path in files:
        source = path.read_text()
        if re.search(r"^@compiled|cache=True", source, re.MULTILINE):  # which are kept
            ours = re.findall(r"^from (\.\S*) import (.*)$", source, re.MULTILINE)
            assert ours == [("..jit", "compiled")], f"{path}: a kernel that is made of more than its own file"


def test_rooms_with_kernels_import_nothing_from_those_left_out():
    kept = [path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] not in jit.WITHOUT_KERNELS]
    names = "|".join(name.removesuffix(".py") for name in jit.WITHOUT_KERNELS)
    importing = re.compile(rf"^(from \.\.+({names})\b|from \.\. import .*\b({names})\b)", re.MULTILINE)
    found = {str(path.relative_to(PACKAGE)) for path in kept if importing.search(path.read_text())}
    assert not found
