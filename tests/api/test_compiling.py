"""Kernels that other processes compile: which, that they are found, and how waiting for them ends."""

import io
import signal
import subprocess
import sys
import time

import pytest

from distsearch import games
from distsearch.api import compiling
from distsearch.api.compiling import Compilation, CompileMode, NotCompiledError, Recipe, compile_with_notice, deferred
from distsearch.api.progress import Progress, Silent
from distsearch.core import kernel_cache
from distsearch.core.kernel_folder import KernelFolder

from .recipes import recipe


class Compiled:
    """Stands in for what compiles: it says so the first time, as a kernel does that is not on disk."""

    def __init__(self, kernels=("a", "b")):
        self.missing, self.done = list(kernels), 0

    def __call__(self):
        while self.missing:
            kernel_cache.about_to_compile(self.missing[0])
            del self.missing[0]
        self.done += 1


@pytest.fixture
def processes(monkeypatch, tmp_path):
    """Other processes may compile, and find this module."""
    monkeypatch.setattr(CompileMode, "processes", True)
    monkeypatch.setattr(CompileMode, "failed", False)
    monkeypatch.setattr(kernel_cache, "FOLDER", KernelFolder(tmp_path, None))
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))


@pytest.fixture
def started(monkeypatch):
    """The processes that are started."""
    found, start = [], subprocess.Popen

    def popen(*arguments, **options):
        found.append(start(*arguments, **options))
        return found[-1]

    monkeypatch.setattr(compiling.subprocess, "Popen", popen)
    return found


def notes(compile_all, *how):
    stream = io.StringIO()
    compile_with_notice("chess", compile_all, Progress(stream), *how)
    return stream.getvalue().splitlines()


def test_nothing_is_told_where_nothing_is_compiled():
    compiled = Compiled(kernels=())
    assert notes(compiled) == []
    assert compiled.done == 1


def test_compiling_is_told_once():
    first, last = notes(Compiled())
    assert first == "compiling for chess, once on this machine ..."
    assert last.startswith("compiled in 0.")


def test_a_folder_that_cannot_keep_kernels_is_told(monkeypatch):
    monkeypatch.setattr(kernel_cache.KernelCache, "problem", "cannot keep kernels")
    monkeypatch.setattr(CompileMode, "told", None)
    assert notes(Compiled())[-1] == "distsearch: cannot keep kernels"
    assert "cannot keep" not in notes(Compiled())[-1]  # once is enough
    assert notes(Compiled(())) == []


def test_other_processes_compile_every_part(processes, tmp_path):
    compiled = Compiled()
    first, *_, last = notes(compiled, recipe(tmp_path, count=3))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1", "2"]
    assert compiled.done == 1  # what they did not compile is compiled here
    assert first.startswith("compiling for chess")
    assert last.startswith("compiled in")


def test_processes_that_fail_are_made_up_for(processes):
    compiled = Compiled()
    assert notes(compiled, Recipe(f"{__name__}:no_such_function", {}))[-1].startswith("compiled in")
    assert (compiled.missing, compiled.done) == ([], 1)


def test_no_process_is_started_for_what_is_there_or_by_a_library(processes, tmp_path, monkeypatch):
    assert notes(Compiled(()), recipe(tmp_path)) == []
    monkeypatch.setattr(CompileMode, "processes", False)
    notes(Compiled(), recipe(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_ends_the_processes_soon(processes, tmp_path, started):
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        late = time.monotonic() + 0.5
        compile_with_notice(
            "chess", Compiled(), Silent(), recipe(tmp_path, seconds=60.0), lambda: time.monotonic() > late
        )
    assert time.monotonic() < began + 10
    assert [process.returncode for process in started] == [-signal.SIGKILL]
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_ends_what_this_process_compiles_before_the_next_kernel(processes):
    compiled, interrupts = Compiled(("a", "b", "c")), iter((False, True))
    with pytest.raises(KeyboardInterrupt):
        compile_with_notice("chess", compiled, Silent(), None, lambda: next(interrupts))
    assert (compiled.missing, compiled.done) == (["b", "c"], 0)


def test_processes_that_cannot_keep_kernels_are_not_started_again(processes, tmp_path, started):
    notes(Compiled(), Recipe(f"{recipe.__module__}:parts_that_are_not_kept", {}))
    notes(Compiled(), recipe(tmp_path))
    assert [process.returncode for process in started] == [1]


def test_where_it_is_deferred_the_recipe_is_told(processes, tmp_path):
    asked = recipe(tmp_path)
    with deferred(), pytest.raises(NotCompiledError) as missing:
        compile_with_notice("chess", Compiled(), Silent(), asked)
    assert missing.value.recipe == asked
    with deferred():
        compile_with_notice("chess", Compiled(()), Silent(), asked)


def test_a_recipe_is_at_work_until_all_its_parts_are_done(processes, tmp_path):
    asked, other = recipe(tmp_path, count=2), recipe(tmp_path / "other")
    with Compilation(asked) as compilation:
        compilation.add(asked)
        assert compilation.at_work(asked)
        assert not compilation.at_work(other)
        while not compilation.poll():
            time.sleep(0.01)
        assert not compilation.at_work(asked)
        assert (compilation.kernels, compilation.parts, compilation.done) == (2, 2, 2)


def test_who_waits_sees_how_much_is_done(processes, tmp_path):
    shown = []
    progress = Silent()
    progress.due, progress.show = lambda: True, shown.append
    with Compilation(recipe(tmp_path, count=3)) as compilation:
        assert compiling.wait(compilation, progress, lambda: False)
    assert {text.partition(" parts compiled, ")[0] for text in shown} <= {f"{done} of 3" for done in range(4)}
    assert shown[0].startswith("0 of 3 parts compiled, 0 kernels, ")


@pytest.mark.parametrize("name", games.names())
def test_the_recipes_of_a_game_can_be_followed(name):
    recipes = compiling.recipes_of(name)
    assert len(recipes) == len({repr(each) for each in recipes}) > 1
    for each in recipes:
        module, function = each.function.split(":")
        assert module == compiling.__name__
        assert len(getattr(compiling, function)(**each.arguments)) == each.parts
