"""Kernels on disk: found again, and compiled anew wherever a file is not what was written."""

import errno
import os
from pathlib import Path

import pytest

from distsearch.core import jit, kernel_cache
from distsearch.core.kernel_cache import KernelCache, told_of_compiling
from distsearch.core.kernel_folder import KernelFolder


def square(x):
    return x * x


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_cache, "FOLDER", KernelFolder(tmp_path, None))
    monkeypatch.setattr(KernelCache, "problem", None)
    return tmp_path


def compiled(function=square, argument=3):
    """Return the names of what a new dispatcher compiles for a call, whose answer is right."""
    names = []
    with told_of_compiling(names.append):
        assert jit.compiled(function)(argument) == argument * argument
    return names


def the_file(folder):
    (path,) = folder.glob("square-*.kernel")
    return path


def test_a_kernel_is_compiled_once_for_each_type(folder):
    assert compiled() == ["square"]
    assert compiled() == []
    assert compiled(argument=1.5) == ["square"]
    assert compiled(argument=1.5) == compiled() == []
    assert len(list(folder.iterdir())) == 2


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)


def replace_by_a_folder(path):
    path.unlink()
    path.mkdir()


def keep_another_content(path):
    content = b"a whole file of something else"
    path.write_bytes(kernel_cache._digest(path, content) + content)


DAMAGES = {
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "flipped": flip,
    "garbage": lambda path: path.write_bytes(os.urandom(5000)),
    "short": lambda path: path.write_bytes(b"x"),
    "of another program": keep_another_content,
    "gone": Path.unlink,
    "of another name": lambda path: path.rename(path.with_name("cube-0.kernel")),
    "writable by others": lambda path: path.chmod(0o666),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_made_again(damage, folder):
    compiled()
    DAMAGES[damage](the_file(folder))
    assert compiled() == ["square"]
    assert compiled() == []
    assert len(list(folder.glob("square-*"))) == 1


def test_a_kernel_that_cannot_be_kept_still_answers(folder, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", fail)
    assert compiled() == compiled() == ["square"]
    assert list(folder.iterdir()) == []
    assert KernelCache.problem == (
        f"cannot keep kernels in {folder}: No space left on device; they are compiled again at each start"
    )


def test_a_folder_in_a_kernels_place_is_left_alone(folder):
    compiled()
    replace_by_a_folder(the_file(folder))
    assert compiled() == ["square"]
    assert "Is a directory" in KernelCache.problem


def test_an_edit_of_a_function_or_of_its_file_is_noticed(folder, tmp_path_factory):
    source = tmp_path_factory.mktemp("sources") / "source.py"

    def function(text):
        source.write_text(text)
        kernel_cache._source.cache_clear()
        names = {"__name__": __name__}
        exec(compile(text, source, "exec"), names)
        return names["square"]

    texts = ["def square(x):\n    return x * x\n", "ONE = 1\n\n\ndef square(x):\n    return x * x * ONE\n"]
    for text in texts + ["# edited\n" + texts[1]]:
        assert compiled(function(text)) == ["square"]
        assert compiled(function(text)) == []


def test_functions_that_enclose_something_are_told_apart(folder):
    def times(factor):
        def product(x):
            return x * factor

        return product

    assert [jit.compiled(times(factor))(10) for factor in (2, 3)] == [20, 30]
    assert list(folder.iterdir()) == []


def test_what_has_no_file_is_not_kept(folder):
    names = {"__name__": __name__}
    exec("def square(x):\n    return x * x\n", names)
    assert compiled(names["square"]) == compiled(names["square"]) == ["square"]
    assert list(folder.iterdir()) == []
