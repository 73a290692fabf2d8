"""Which functions count their branches. numba reads bytecode, so what it compiles must not be instrumented."""

import functools
import importlib
import inspect
import types
from collections.abc import Iterator
from typing import Any

from distsearch.core import jit


def functions(name: str) -> Iterator[types.FunctionType]:
    """Yield the Python functions of a module, or of what ``module:name`` names in one."""
    module, _, part = name.partition(":")
    found = importlib.import_module(module)
    templates = {kernel.py_func.__code__ for kernel in jit._kernels.values()}
    for function in _functions(getattr(found, part) if part else found, module):
        if function.__code__ not in templates:
            yield function


def _functions(found: Any, module: str) -> Iterator[types.FunctionType]:
    if isinstance(found, types.ModuleType):
        for each in vars(found).values():
            if getattr(each, "__module__", None) == module:
                yield from _functions(each, module)
    elif isinstance(found, type):
        for each in vars(found).values():
            yield from _functions(each, module)
    elif isinstance(found, types.FunctionType):
        function = inspect.unwrap(found)
        if function.__module__ == module:
            yield function
    elif isinstance(found, property | functools.cached_property):
        yield from _functions(getattr(found, "fget", None) or getattr(found, "func", None), module)
    elif isinstance(found, staticmethod | classmethod | functools._lru_cache_wrapper):
        yield from _functions(found.__wrapped__, module)
