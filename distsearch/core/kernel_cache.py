"""Compiled kernels on disk: a file for each kernel and types of arguments, which any process may find or replace.

numba's own cache finds a function by the path of its source and keeps an index for each, which processes that write at
the same time take from each other; a damaged file ends the program. And before it loads anything, it fetches all that
the compiler may need. Here a file is found by what it was made of (see ``kernel_folder``), is checked before it is
believed, and is compiled anew where it is not whole.
"""

import contextlib
import functools
import hashlib
import os
import pickle
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import config
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.registry import cpu_target
from numba.core.serialize import dumps

from . import kernel_folder
from .kernel_folder import PACKAGE, WITH_KERNELS, source_hash

_DIGEST = 16  # bytes, before the rest of a file

_OPTIONS = "OPT", "BOUNDSCHECK", "LOOP_VECTORIZE", "SLP_VECTORIZE", "ENABLE_AVX", "DEBUGINFO_DEFAULT"  # of numba
_compiler: Any = cpu_target.target_context
FOLDER = kernel_folder.choose(
    *(getattr(config, option) for option in _OPTIONS),
    numba.__version__,
    llvmlite.__version__,
    *_compiler.codegen().magic_tuple(),
)


class KernelCache(_Cache):
    """The compiled versions of a function, as numba's dispatchers ask for them."""

    problem: str | None = FOLDER.problem  # why kernels are not kept as the user may expect, a line

    def __init__(self, function: Any) -> None:
        self._name = function.__qualname__
        self._made_of = _made_of(function)

    @property
    def cache_path(self) -> str:
        """The folder."""
        return str(FOLDER.path)

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        """Return what was compiled for types of arguments, or None."""
        found = self._read(self._path(sig)) if self._made_of else None
        if found is not None:
            # a file that is whole may have been made by a numba that says it is the same version
            with contextlib.suppress(Exception):
                return CompileResult._rebuild(target_context, *pickle.loads(found))
        about_to_compile(self._name)
        return None

    def _read(self, path):
        try:
            with open(path, "rb") as file:
                if not kernel_folder.is_own(os.fstat(file.fileno())):
                    return None
                data = file.read()
        except OSError:
            return None
        return data[_DIGEST:] if data[:_DIGEST] == _digest(path, data[_DIGEST:]) else None

    def save_overload(self, sig: Any, data: CompileResult) -> None:
        """Keep what was compiled, if that is possible."""
        if not self._made_of or data.lifted or data.library.has_dynamic_globals:
            return
        packed, path = dumps(data._replace(type_annotation="")._reduce()), self._path(sig)
        temporary = path.with_suffix(f".{uuid.uuid4().hex}")
        try:
            with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:
                file.write(_digest(path, packed) + packed)
            os.replace(temporary, path)
        except OSError as error:  # a full disk
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            why = f"cannot keep kernels in {path.parent}: {error.strerror}; they are compiled again at each start"
            KernelCache.problem = KernelCache.problem or why

    def _path(self, sig):
        digest = hashlib.sha256(repr((self._made_of, sig)).encode()).hexdigest()
        return FOLDER.path / f"{self._name[:80].replace('/', '_')}-{digest[:24]}.kernel"

    def enable(self) -> None:
        """Part of numba's interface: it is always on."""

    def disable(self) -> None:
        """Part of numba's interface: it is always on."""

    def flush(self) -> None:
        """Part of numba's interface: there is no index."""


_told: list[Callable[[str], None]] = []  # of kernels that must be compiled
busy: list[Callable[[], None]] = []  # called before each of them, and while other processes compile


def about_to_compile(name: str) -> None:
    """Tell the innermost ``told_of_compiling`` that the kernel, or array, of this name is not kept."""
    if _told:
        _told[-1](name)
    still_compiling()


def still_compiling() -> None:
    """Call each of ``busy``; for a process that compiles, or waits for others that do, and does nothing else."""
    for each in busy:
        each()


def can_keep() -> bool:
    """Whether what is compiled can be kept."""
    return os.access(FOLDER.path, os.W_OK)


@contextlib.contextmanager
def told_of_compiling(tell: Callable[[str], None]) -> Iterator[None]:
    """While the context lasts, have ``tell`` called with the name of every kernel or array before it is made."""
    _told.append(tell)
    try:
        yield
    finally:
        _told.pop()


def _made_of(function):
    """Return what tells a function's kernels from others in the folder, None if that cannot be known."""
    if function.__closure__:  # functions of the same text that differ by what they enclose
        return None
    file = Path(function.__code__.co_filename)
    name = f"{function.__module__}.{function.__qualname__}"
    source = _source(file)
    return source and (name, source, function.__code__.co_code)


@functools.cache
def _source(file):
    """Return what stands for a function's file, None if it is none."""
    with contextlib.suppress(ValueError):
        if file.relative_to(PACKAGE).parts[0] in WITH_KERNELS:
            return "distsearch"  # the name of the folder stands for all of them
    return source_hash(file) if file.is_file() else None


def _digest(path, data):
    return hashlib.blake2b(path.name.encode() + data, digest_size=_DIGEST).digest()
