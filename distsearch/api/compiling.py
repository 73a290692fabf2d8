"""Kernels that are not kept yet are compiled by processes of their own, several at a time.

So they take less time where there is more than one core, and the process that waits for them can be ended, or serve
clients meanwhile. It loads what they have compiled. What they do not compile it compiles itself, so they are never
needed: a library in the user's own program, which would not expect them, does without.
"""

import contextlib
import gc
import importlib
import json
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np

from .. import evaluation, games
from ..books.book import shipped
from ..books.expansion import Expansion
from ..core.kernel_cache import FOLDER, KernelCache, can_keep, still_compiling, told_of_compiling
from ..engines.pvs.table_search import TableSearch
from ..games.interface import board_size
from ..jobs.two_player import KINDS
from ..tree.expansion import Grower
from ..tree.search_tree import SearchTree, warm_up_search_tree
from .options import Options
from .progress import Progress

_GLANCE = 0.02  # seconds between two looks at processes
Part = Callable[[], object]


class Recipe(NamedTuple):
    """What another process must do to compile something.

    function: ``module:name`` of a function that returns a list of functions, which each compile something on their own;
    arguments: its keyword arguments, plain values; parts: how many functions it returns.
    """

    function: str
    arguments: dict[str, Any]
    parts: int = 1

    @classmethod
    def of_setup(cls, setup: dict[str, Any]) -> Self:
        """Return the Recipe of a setup of the workers' runners, and of what the master needs to grow trees for them."""
        return cls(f"{__name__}:parts_of_setup", {"setup": setup}, 3)


def parts_of_setup(setup: dict[str, Any]) -> list[Part]:
    """Return functions that compile what a setup needs, the longest first: runner, tree, grower and the rest."""
    runner = KINDS[setup["kind"]](setup)
    game: Any = games.find(setup["game"])
    rules = game.rules(tuple(setup["board"]), **setup["options"])
    start = game.parse("startpos", rules)
    if game.PLAYERS != 2:
        return [
            runner.compile,
            lambda: game.text(start, rules),
            lambda: getattr(game, "largest", game.kind)(start.state, rules),
        ]
    grower = Grower(game, rules, runner.engine)

    def compile_others():
        grower.compile()
        game.text(start, rules)
        if isinstance(runner.engine, TableSearch):
            runner.engine.compile_sharing()  # the runner needs these last, and finds them on disk by then

    return [runner.compile, lambda: warm_up(runner, grower, start.state, setup["kind"]), compile_others]


def recipes_of(name: str) -> list[Recipe]:
    """Return the Recipes of all that usual commands need of a game on its usual board; raises UserError."""
    game = games.find(name)
    searches = [Options(name, depth=1, evaluation=each) for each in evaluation.names(game)]
    if game.PLAYERS == 2:
        exact, by_time = Options(name, exact=True), Options(name)
        usual = [exact, *searches, *([by_time] if by_time.selective else [])]
        setups = [each.setup() for each in usual] + [exact.setup("perft")]
    else:
        setups = [each.setup(kind) for each in searches for kind in (None, "game")]
    recipes = [Recipe.of_setup(setup) for setup in setups]
    if shipped(game, board_size(game.rules())):
        recipes.append(Recipe(f"{__name__}:parts_of_book", {"name": name}))
    return recipes


def parts_of_book(name: str) -> list[Part]:
    """Return a function that compiles what the book of a game takes, on its usual board."""
    game = games.find(name)
    rules = game.rules()
    start = np.array([game.start(rules).state], np.uint64)

    def compile_all():
        expansion = Expansion(game, rules)
        expansion.keys(start)
        expansion.children(start)

    return [compile_all]


def warm_up(runner: Any, grower: Grower, state: tuple, kind: str) -> None:
    """Compile what a search tree needs, where the runner's jobs are of one."""
    if runner.result_dtype == SearchTree.result_dtype:
        warm_up_search_tree(grower, state, kind == "solve")


class MissingKernel(BaseException):
    """A kernel would have to be compiled; not an Exception, which numba would take for one of its own."""


def load(compile_all: Part) -> bool:
    """Do what ``compile_all()`` does if that compiles nothing; return whether it does not."""

    def miss(_):
        raise MissingKernel

    try:
        with told_of_compiling(miss):
            compile_all()
    except MissingKernel:
        return False
    return True


class Compilation:
    """Recipes that are followed by other processes, one for each core at a time; a context, which ends with them.

    parts: how many the recipes have; done: how many of them have ended; kernels: how many were compiled so far;
    failed: whether a process could not compile its part, or not keep it.
    """

    def __init__(self, *recipes: Recipe):
        self._waiting: deque[tuple[Recipe, int]] = deque()
        self._running: list[tuple[Recipe, subprocess.Popen]] = []
        self._cores = len(os.sched_getaffinity(0))
        self.parts = self.done = self.kernels = 0
        self.failed = False
        for recipe in recipes:
            self.add(recipe)

    def add(self, recipe: Recipe) -> None:
        """Have another recipe followed, unless it already is."""
        if not self.at_work(recipe):
            self._waiting.extend((recipe, part) for part in range(recipe.parts))
            self.parts += recipe.parts

    def at_work(self, recipe: Recipe) -> bool:
        """Whether a part of a recipe waits or is being compiled."""
        return any(recipe == other for other, _ in (*self._waiting, *self._running))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End the processes."""
        self._waiting.clear()
        for _, process in self._running:
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()
        self._running.clear()

    @property
    def busy(self) -> bool:
        """Whether anything waits or is being compiled."""
        return bool(self._waiting or self._running)

    def poll(self) -> bool:
        """See to the processes; return whether all that they can compile is compiled."""
        for recipe, process in list(self._running):
            assert process.stdout is not None
            status = process.poll()  # before the last lines are read
            while line := process.stdout.readline():
                self.kernels += line.endswith(b"\n")
            if status is not None:
                self.failed = self.failed or status != 0
                self.done += 1
                process.stdout.close()
                self._running.remove((recipe, process))
        while self._waiting and len(self._running) < self._cores:
            self._start(*self._waiting.popleft())
        return not self.busy

    def _start(self, recipe, part):
        command = [sys.executable, "-m", __name__, json.dumps([recipe.function, recipe.arguments, part])]
        environment = {**os.environ, "DISTSEARCH_CACHE": str(FOLDER.path.parent)}
        try:
            process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError:  # there is no room for another process
            self.failed = True
            return
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        self._running.append((recipe, process))


def wait(compilation: Compilation, progress: Progress, interrupted: Callable[[], bool]) -> bool:
    """Return whether all is compiled; False once ``interrupted()``."""
    began, ended = time.perf_counter(), False
    progress.begin()
    while not compilation.poll() and not (ended := interrupted()):
        if progress.due():
            parts = f"{compilation.done} of {compilation.parts} parts"
            progress.show(f"{parts} compiled, {compilation.kernels} kernels, {time.perf_counter() - began:.0f} s")
        still_compiling()
        time.sleep(_GLANCE)
    progress.clear()
    return not ended


class CompileMode:
    """How this program compiles.

    processes: whether others may be started for it, as the command line does; deferring: see ``deferred``; failed:
    whether such a process could not compile, or not keep, its part; told: the problem of ``KernelCache`` that the user
    knows of.
    """

    processes = deferring = failed = False
    told: str | None = None

    @classmethod
    def may_start_processes(cls) -> bool:
        """Whether other processes may compile, and keep it where this one finds it."""
        return cls.processes and not cls.failed and can_keep()


class NotCompiledError(Exception):
    """Kernels must be compiled, by the recipe."""

    def __init__(self, recipe: Recipe):
        super().__init__(recipe)
        self.recipe = recipe


@contextlib.contextmanager
def deferred() -> Iterator[None]:
    """While the context lasts, ``compile_with_notice`` raises NotCompiledError rather than wait for other processes."""
    CompileMode.deferring = True
    try:
        yield
    finally:
        CompileMode.deferring = False


@contextlib.contextmanager
def in_this_process() -> Iterator[None]:
    """While the context lasts, no other processes compile."""
    before, CompileMode.processes = CompileMode.processes, False
    try:
        yield
    finally:
        CompileMode.processes = before


def compile_with_notice(
    what: str,
    compile_all: Part,
    progress: Progress,
    recipe: Recipe | None = None,
    interrupted: Callable[[], bool] = lambda: False,
) -> None:
    """Compile what ``compile_all()`` does, or load it; tells ``progress`` if something must be compiled.

    what: a text, such as a game's name; recipe: how other processes compile most of it, None if they do not. Raises
    NotCompiledError as ``deferred`` says. On the command line it raises KeyboardInterrupt if the user wants an end
    before all is compiled: at once while other processes compile, else before the next kernel.
    """
    began, told = time.perf_counter(), False
    ends = interrupted if CompileMode.processes else lambda: False

    def tell(_=None):
        nonlocal told
        if ends():
            raise KeyboardInterrupt
        if not told:
            progress.note(f"compiling for {what}, once on this machine ...")
            progress.begin()
        told = True
        if progress.due():
            progress.show(f"still compiling, {time.perf_counter() - began:.0f} s")

    if recipe is not None and CompileMode.may_start_processes():
        if load(compile_all):
            return
        if CompileMode.deferring:
            raise NotCompiledError(recipe)
        tell()
        with Compilation(recipe) as compilation:
            if not wait(compilation, progress, interrupted):
                raise KeyboardInterrupt
            CompileMode.failed = compilation.failed  # the next ones would fail as well
    with told_of_compiling(tell):
        compile_all()
    progress.clear()
    if told:
        if ends():
            raise KeyboardInterrupt
        progress.note(f"compiled in {time.perf_counter() - began:.1f} s")
        if KernelCache.problem not in (None, CompileMode.told):
            progress.note(f"distsearch: {KernelCache.problem}")
            CompileMode.told = KernelCache.problem


def main() -> None:
    """Compile a part of a recipe, the argument as JSON; print the name of each kernel before it is compiled."""
    gc.disable()  # this process is short, and the compiler's memory small
    function, arguments, part = json.loads(sys.argv[1])
    module, _, name = function.partition(":")
    parts = getattr(importlib.import_module(module), name)(**arguments)
    with told_of_compiling(lambda kernel: print(kernel, flush=True)):
        parts[part]()
    gc.freeze()  # or the collector would look through all of it at the end
    if KernelCache.problem:  # the disk is full
        sys.exit(1)


if __name__ == "__main__":
    main()
