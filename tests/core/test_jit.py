"""What kernels are made of and compiled into, and that what is on disk is what was compiled."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import distsearch
from distsearch.core import jit, kernel_cache
from distsearch.core.kernel_folder import WITH_KERNELS, KernelFolder

PACKAGE = Path(distsearch.__file__).parent


def test_kernels_outside_the_packages_that_are_hashed_use_nothing_of_another_file():
    hashed = {path for package in WITH_KERNELS for path in (PACKAGE / package).rglob("*.py")}
    files = set(PACKAGE.rglob("*.py")) - hashed
    assert len(hashed) > 100 and len(files) > 50
    for path in files:
        source = path.read_text()
        if re.search(r"^@compiled|cache=True", source, re.MULTILINE):  # which are kept
            ours = re.findall(r"^from (\.\S*) import (.*)$", source, re.MULTILINE)
            assert ours == [("..core.jit", "compiled")], f"{path}: a kernel that is made of more than its own file"


# run in a process of its own: prints what its kernels return, and what it compiled
SCRIPT = """
import json
import sys
from numba.core import event
from distsearch.core import jit, kernel_cache
from distsearch.core.kernel_cache import KernelCache
from distsearch.core.kernel_folder import WITH_KERNELS, KernelFolder

step = None


@jit.compiled
def shared(x):
    return x + 1


@jit.outlined
def power(x, n):
    return shared(x) - 1 if n == 1 else x * power(x, n - 1)


def between(x, n):
    return power(x, n) * step


def top(x, n):
    return between(x, n) + between(x + x, n)


with event.install_recorder("numba:compile") as seen:
    kernels = jit.specialise_all((power, between, top), "here", {"step": 10})
    asked = [("top", 2, 3), ("top", 1.5, 2), ("power", 3, 2), ("shared", 1)]
    order = sorted(range(4), reverse=sys.argv[1] == "backwards")
    found = {i: {**kernels, "shared": shared}[asked[i][0]](*asked[i][1:]) for i in order}
answers = [found[i] for i in range(4)]
print(json.dumps([answers, sorted(each.data["dispatcher"].__name__ for _, each in seen.buffer if each.is_start)]))
"""


@pytest.fixture
def start(tmp_path):
    """Starts a process that runs SCRIPT with kernels of its own."""
    (tmp_path / "kernels.py").write_text(SCRIPT)
    path = os.pathsep.join(sys.path)
    environment = {**os.environ, "DISTSEARCH_CACHE": str(tmp_path / "cache"), "PYTHONPATH": path}
    command = [sys.executable, "kernels.py"]

    def begin(number=0):
        order = "backwards" if number % 2 else "forwards"
        return subprocess.Popen([*command, order], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)

    return begin


def ended(process):
    """Return what a process compiled, whose answers are right."""
    answers, compiled = json.loads(process.communicate(timeout=120)[0])
    assert answers == [80 + 640, 22.5 + 90, 9, 2]
    return compiled


def test_what_several_processes_compile_at_once_is_found_by_a_later_one(start):
    for process in [start(number) for number in range(4)]:  # one may overwrite another's, with what lacks something
        ended(process)
    ended(start())
    assert ended(start()) == []


def test_a_caller_of_what_came_from_disk_is_itself_found_there(start, tmp_path):
    ended(start())
    for path in (tmp_path / "cache").rglob("*top*"):
        path.unlink()
    assert ended(start()) == ["top_here"] * 2
    assert ended(start()) == []


def inner(x):
    return x * x + 1


def outer(x):
    return inner(x)


def test_an_outlined_kernel_is_compiled_into_no_other(tmp_path, monkeypatch):
    monkeypatch.setattr(
        kernel_cache, "FOLDER", KernelFolder(tmp_path, None)
    )  # what comes from disk cannot be inspected
    for number, mark in enumerate((lambda function: function, jit.outlined)):
        kernels = jit.specialise_all((mark(inner), outer), f"of_test_jit_{number}", {})
        assert kernels["outer"](3) == 10
        (code,) = kernels["outer"].inspect_llvm().values()
        assert ('declare i32 @"tests.core.test_jit.inner' in code) == bool(number)
        assert (" mul " in code) != bool(number)
