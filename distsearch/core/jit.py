"""Compiling: where compiled kernels are kept, and how one template becomes a kernel for one game.

numba keeps a compiled function on disk, but notices an edit only in the function's own file. Kernels here are made
from functions of several files, so the cache directory is named after a hash of the package's sources: an edit of any
that kernels are made of starts a new directory, and old answers cannot come back.
"""

import contextlib
import hashlib
import os
import sys
import tempfile
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numba

# Packages whose files kernels are made of. The few kernels of other packages use nothing of another file, so that numba
# notices an edit itself.
WITH_KERNELS = ("core", "games", "evaluation", "engines", "gpu", "jobs", "tree", "learning", "testing")


def source_hash(*roots: Path) -> str:
    """Return 16 hex digits that change whenever a ``.py`` file under ``roots`` (files or folders) changes."""
    digest = hashlib.sha256()
    for root in roots:
        for path in sorted(root.rglob("*.py")) if root.is_dir() else [root]:
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_directory() -> Path:
    """The folder for kernels: in $DISTSEARCH_CACHE, $NUMBA_CACHE_DIR, the user's cache, or else a temporary one."""
    package = Path(__file__).parents[1]
    name = f"distsearch-{source_hash(*(package / room for room in WITH_KERNELS))}"
    chosen = os.environ.get("DISTSEARCH_CACHE") or os.environ.get("NUMBA_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = Path(chosen or Path(home) / "distsearch") / name
    if can_write(folder):
        return folder
    # kernels are programs: none but this user's own may be loaded from a folder that all users share
    shared = Path(tempfile.gettempdir()) / f"distsearch-{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        shared.mkdir(mode=0o700)
    state = shared.lstat()
    own = state.st_uid == os.getuid() and not state.st_mode & 0o022
    return (shared if own else Path(tempfile.mkdtemp(prefix="distsearch-"))) / name


def can_write(folder: Path) -> bool:
    """Whether files can be made in ``folder``, which is made if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


# numba uses colorama if that is there, which on a terminal ends every process by writing a colour reset to stdout;
# Open MPI's mpirun gives every rank a terminal, so a line of them would follow the results
if "colorama.initialise" in sys.modules:
    sys.modules["colorama.initialise"].atexit_done = True  # pyright: ignore[reportAttributeAccessIssue]

CACHE = _cache_directory()
numba.config.CACHE_DIR = str(CACHE)  # pyright: ignore[reportPrivateImportUsage, reportAttributeAccessIssue]


# kernels are not called from C: without wrappers for that they compile in 3 to 10% less time
_CHOICES = {"cache": True, "_nrt": False, "error_model": "numpy", "no_cfunc_wrapper": True}


def compiled(function: Callable) -> Any:
    """Compile ``function`` with numba and keep it on disk: the decorator for every function that engines call.

    Reference counting is off (a kernel gets its arrays from its caller and makes none): counting took 30% of the time
    of an alpha-beta search, two atomic additions for each array and call.
    """
    return numba.njit(**_CHOICES)(function)


def inlined(template: Any) -> Any:
    """Mark a template as one to be compiled into its callers: for large functions on the path of every node."""
    template.inlined = True
    return template


_kernels = {}  # by name: a thousand virtual workers share one


def specialise(template: types.FunctionType, name: str, functions: dict) -> Any:
    """Return ``template`` compiled with ``functions`` in place of the globals of those names.

    The template's code is rebound to a new function called ``name``. Unlike a closure over compiled functions, or
    compiled functions as arguments, this is found in the disk cache by a new process and costs nothing per call.
    ``name`` must stand for ``functions``: the cache tells kernels apart by name and bytecode only. A template that
    calls itself by its own name calls its own specialisation, if its arguments keep their types exactly. Asked again
    for a name, this returns the same kernel.
    """
    if name in _kernels:
        return _kernels[name]
    bound = types.FunctionType(template.__code__, {**template.__globals__, **functions}, name)
    bound.__qualname__ = name
    bound.__module__ = template.__module__
    kernel = numba.njit(inline="always", **_CHOICES)(bound) if hasattr(template, "inlined") else compiled(bound)
    bound.__globals__[template.__name__] = kernel
    _kernels[name] = kernel
    return kernel


def specialise_all(templates: Iterable[types.FunctionType], name: str, functions: dict) -> dict:
    """Specialise ``templates`` in order, each seeing those before it; return ``functions`` with the kernels added."""
    functions = dict(functions)
    for template in templates:
        functions[template.__name__] = specialise(template, f"{template.__name__}_{name}", functions)
    return functions


def seen(name: str) -> bool:
    """Whether the kernels called ``name`` were compiled on this machine before (see ``mark_seen``)."""
    return (CACHE / f"{name}.seen").exists()


def mark_seen(name: str) -> None:
    """Keep a note in the kernels' folder that those called ``name`` are compiled."""
    CACHE.mkdir(parents=True, exist_ok=True)
    (CACHE / f"{name}.seen").touch()
