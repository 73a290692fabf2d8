"""Compiling: where compiled kernels are kept, and how one template becomes a kernel for one game.

numba keeps a compiled function on disk, but notices an edit only in the function's own file. Kernels here are made
from functions of several files, so the cache directory is named after a hash of the whole package's sources: an edit
anywhere starts a new directory, and old answers cannot come back.
"""

import hashlib
import os
import tempfile
import types
from pathlib import Path

import numba


def source_hash(*roots: Path) -> str:
    """Return 16 hex digits that change whenever a ``.py`` file under ``roots`` (files or folders) changes."""
    digest = hashlib.sha256()
    for root in roots:
        for path in sorted(root.rglob("*.py")) if root.is_dir() else [root]:
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_directory() -> Path:
    """The folder for this version's kernels: $DISTSEARCH_CACHE, $NUMBA_CACHE_DIR, or the user's cache folder."""
    name = f"distsearch-{source_hash(Path(__file__).parent)}"
    chosen = os.environ.get("DISTSEARCH_CACHE") or os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen) / name
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    try:
        home.mkdir(parents=True, exist_ok=True)
        if os.access(home, os.W_OK):
            return home / "distsearch" / name
    except OSError:
        pass
    return Path(tempfile.gettempdir()) / f"distsearch-{os.getuid()}" / name


CACHE = _cache_directory()
numba.config.CACHE_DIR = str(CACHE)


def compiled(function):
    """Compile ``function`` with numba, kept on disk; the decorator for every function that engines may call.

    Reference counting is off: a kernel gets its arrays from its caller and makes none, and counting cost more than half of
    the time of a leaf (two atomic additions an array and call).
    """
    return numba.njit(cache=True, _nrt=False, error_model="numpy")(function)


def specialise(template: types.FunctionType, name: str, **functions) -> numba.core.dispatcher.Dispatcher:
    """Return ``template`` compiled with ``functions`` as its globals of those names.

    The template's code is rebound to a new function called ``name``, jitted and cached. Unlike a closure over jitted
    functions or jitted functions as arguments, this is found in the disk cache by a new process and costs nothing per
    call. ``name`` must be unique to ``functions``: numba's cache tells kernels apart by name and bytecode only.
    """
    bound = types.FunctionType(template.__code__, {**template.__globals__, **functions}, name)
    bound.__qualname__ = name
    bound.__module__ = template.__module__
    bound.__defaults__ = template.__defaults__
    kernel = compiled(bound)
    bound.__globals__[template.__name__] = kernel  # a template that calls itself calls its own specialisation
    return kernel
