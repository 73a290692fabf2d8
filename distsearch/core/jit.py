"""Compiling: how a function becomes a kernel, and one template a kernel for one game."""

import contextlib
import copy
import gc
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import llvmlite.binding
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.types import unliteral

from .kernel_cache import KernelCache, about_to_compile

# numba uses colorama if that is there, which on a terminal ends every process by writing a colour reset to stdout;
# Open MPI's mpirun gives every rank a terminal, so a line of them would follow the results
if "colorama.initialise" in sys.modules:
    sys.modules["colorama.initialise"].atexit_done = True  # pyright: ignore[reportAttributeAccessIssue]

# kernels are not called from C: without wrappers for that they compile in 3 to 10% less time
_CHOICES = {"nopython": True, "_nrt": False, "error_model": "numpy", "no_cfunc_wrapper": True}
_ENVIRONMENT = "_ZN08NumbaEnv"  # how the names of such variables begin
_kernels = {}  # by name: a thousand virtual workers share one
_outlined = {}  # by symbol


class _Kernel(CPUDispatcher):
    """A compiled function, kept on disk.

    It gets a wrapper for Python only once Python calls it: most kernels are only called by others.
    """

    def __init__(self, function: Callable, **choices: Any) -> None:
        self._symbol = f"{function.__module__}.{function.__qualname__}" if hasattr(function, "outlined") else None
        pipeline = Compiler if self._symbol else _Pipeline
        super().__init__(function, targetoptions={**_CHOICES, **choices}, pipeline_class=pipeline)
        self._cache = KernelCache(function)
        if self._symbol:
            _outlined[self._symbol] = self

    def _compilation_chain_init_hook(self):
        """Load nothing that only compiling needs: numba does by itself if there is something to compile."""

    def get_call_template(self, args: Any, kws: dict[str, Any]):
        """Compile it for a caller that is compiled, once for all integers rather than for each constant."""
        args, kws = map(unliteral, args), {name: unliteral(each) for name, each in kws.items()}
        with self._without_wrapper():
            return super().get_call_template(tuple(args), kws)

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
        # drops hundreds of objects for each kernel, which only the garbage collector would look at
        cres = cres._replace(type_annotation="", metadata=None)
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
        about_to_compile(self.py_func.__qualname__)
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


class _Part(JITCodeLibrary):
    """A kernel that only other kernels call: its callers link and optimise it, so it needs no machine code."""

    def _optimize_final_module(self):
        """Leave it as it is."""

    def _finalize_final_module(self):
        """Make machine code of nothing but the variables in which numba looks for environments."""
        self._finalize_dynamic_globals()
        self._finalized = True
        self._get_module_for_linking()  # keeps the bitcode for the callers
        names = [each.name for each in self._final_module.global_variables if each.name.startswith(_ENVIRONMENT)]
        variables = "\n".join(f'@"{name}" = common global ptr null' for name in names)
        linked, self._final_module = self._final_module, llvmlite.binding.parse_assembly(variables)
        self._final_module.data_layout, self._final_module.triple = linked.data_layout, linked.triple
        self._final_module.name = self.name
        super()._finalize_final_module()


class _Pipeline(Compiler):
    """Compiles what is not outlined."""

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals):
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)
        if flags.no_cpython_wrapper:
            self.state.library = _Part(targetctx.codegen(), "part")
            self.state.library.enable_object_caching()


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


def compiled_for_threads(function: Callable) -> Any:
    """The same for a function that Python calls from several threads at a time: it runs without Python's lock."""
    return _Kernel(function, nogil=True)


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
