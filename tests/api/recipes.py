"""Recipes for other processes that compile nothing, but leave a file for each part."""

import time
from pathlib import Path

from distsearch.api.compiling import Recipe
from distsearch.core import kernel_cache


def recipe(path, **arguments):
    """A Recipe whose parts leave files in a folder; arguments: of ``parts``."""
    return Recipe(f"{__name__}:parts", {"path": str(path), **arguments}, arguments.get("count", 1))


def parts(path, seconds=0.0, count=1):
    """Its function: each part says that it compiles a kernel, takes some seconds and leaves a file."""

    def part(number):
        kernel_cache.about_to_compile(f"kernel_{number}")
        time.sleep(seconds)
        Path(path, str(number)).touch()

    return [lambda number=number: part(number) for number in range(count)]


def parts_that_are_not_kept():
    """A function of a recipe for a disk that is full."""

    def part():
        kernel_cache.KernelCache.problem = "no room"

    return [part]
