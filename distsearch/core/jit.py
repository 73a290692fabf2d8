"""Compiling: where compiled kernels are kept, and how one template becomes a kernel for one game.

numba keeps a compiled function on disk, but notices an edit only in the function's own file. Kernels here are made
from functions of several files, so the cache directory is named after a hash of the package's sources: an edit of any
that kernels are made of starts a new directory, and old answers cannot come back.
"""

import contextlib
import copy
import gc
import hashlib
import os
import sys
import tempfile
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding
import numba
from numba.core.caching import NullCache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher

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
_CHOICES = {"nopython": True, "_nrt": False, "error_model": "numpy", "no_cfunc_wrapper": True}
_kernels = {}  # by name: a thousand virtual workers share one
_outlined = {}  # by symbol


class _Kernel(CPUDispatcher):
    """A compiled function, kept on disk.

    It gets a wrapper for Python only once Python calls it: most kernels are only called by others.
    """

    def __init__(self, function: Callable, **choices: Any) -> None:
        super().__init__(function, targetoptions={**_CHOICES, **choices})
        self.enable_caching()
        self._symbol = f"{function.__module__}.{function.__qualname__}" if hasattr(function, "outlined") else None
        if self._symbol:
            _outlined[self._symbol] = self

    def get_call_template(self, args, kws):
        """Compile it for a caller that is compiled."""
        with self._without_wrapper():
            return super().get_call_template(args, kws)

    def load(self, arguments: tuple) -> None:
        """Compile it for these types of arguments, or load it from disk, for callers that are compiled."""
        with self._without_wrapper():
            self.compile(arguments)

    @contextlib.contextmanager
    def _without_wrapper(self):
        self.targetoptions["no_cpython_wrapper"] = True
        try:
            yield
        finally:
            self.targetoptions["no_cpython_wrapper"] = False

    def compile(self, sig):
        """Compile it, or load it from disk: without garbage collection, which takes a tenth of the time."""
        collecting = gc.isenabled()
        gc.disable()
        try:
            return super().compile(sig)
        finally:
            if collecting:
                gc.enable()

    def add_overload(self, cres):
        cres.library._reload_init.update(cres.reload_init or ())  # which numba does not do for what comes from disk
        if _has_wrapper(cres):
            super().add_overload(cres)
        else:  # Python does not find it, and calls ``_compile_for_args``
            self.overloads[tuple(cres.signature.args)] = cres
        if self._symbol:
            self._outline(cres)

    def _outline(self, cres):
        """Have compiled callers call what was compiled by a symbol, rather than link and compile it themselves."""
        arguments = tuple(cres.signature.args)
        description = copy.copy(cres.fndesc)
        description.mangled_name = f"{self._symbol}{arguments}"  # numba's own is another one in each process
        address = cres.library.get_pointer_to_function(cres.fndesc.llvm_func_name)
        llvmlite.binding.add_symbol(description.mangled_name, address)
        self.targetctx.remove_user_function(cres.entry_point)
        self.targetctx.insert_user_function(cres.entry_point, description, [_Elsewhere(self._symbol, arguments)])

    def _compile_for_args(self, *args, **kws):
        with global_compiler_lock:
            entry = super()._compile_for_args(*args, **kws)  # pyright: ignore[reportAttributeAccessIssue]
            found = next(cres for cres in self.overloads.values() if cres.entry_point is entry)
            return entry if _has_wrapper(found) else self._compile_again(tuple(found.signature.args))

    def _compile_again(self, arguments):
        """Compile with a wrapper what was compiled without, also on disk."""
        del self.overloads[arguments]
        cache, self._cache = self._cache, NullCache()
        try:
            entry = self.compile(arguments)
        finally:
            self._cache = cache
        cache.save_overload(arguments, self.overloads[arguments])
        return entry


def _has_wrapper(cres):
    return cres.library.get_pointer_to_function(cres.fndesc.llvm_cpython_wrapper_name) != 0


class _Elsewhere:
    """What numba links into callers of an outlined kernel: nothing but what they need loaded before them."""

    def __init__(self, symbol, arguments):
        self._reload_init = {_Load(symbol, arguments)}

    def _ensure_finalized(self):
        pass

    def _get_module_for_linking(self):
        return llvmlite.binding.parse_assembly("")


class _Load(NamedTuple):
    """Loads an outlined kernel: numba keeps this on disk with each caller, and calls it before it loads the caller."""

    symbol: str
    arguments: tuple

    def __call__(self):
        _outlined[self.symbol].load(self.arguments)


def compiled(function: Callable) -> Any:
    """Compile ``function`` with numba and keep it on disk: the decorator for every function that engines call.

    Reference counting is off (a kernel gets its arrays from its caller and makes none): counting took 30% of the time
    of an alpha-beta search, two atomic additions for each array and call.
    """
    return _Kernel(function)


def inlined(template: Any) -> Any:
    """Mark a template as one to be compiled into its callers: for large functions on the path of every node."""
    template.inlined = True
    return template


def outlined(function: Any) -> Any:
    """Mark a function as one to be compiled once, and not again into each of its callers as others are.

    A call costs a few nanoseconds more then: for large functions that are not on the path of every node.
    """
    function.outlined = True
    return function


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
    bound.__dict__.update(template.__dict__)
    kernel = _Kernel(bound, inline="always" if hasattr(template, "inlined") else "never")
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
    """Whether the kernels called ``name`` were compiled on this machine before (see ``mark_compiled``)."""
    return (CACHE / f"{name}.seen").exists()


def mark_compiled(name: str) -> None:
    """Keep a note in the kernels' folder that those called ``name`` are compiled."""
    CACHE.mkdir(parents=True, exist_ok=True)
    (CACHE / f"{name}.seen").touch()
