"""What is fuzzed: a parser of bytes, and what it may do with any of them."""

import contextlib
import gc
import os
import random
import resource
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from distsearch.core.errors import UserError

from . import mutation

MOST_SECONDS = 2.0  # of CPU time, for one input
MOST_BYTES = 512 << 20  # of memory, on top of what there was
MOST_INPUT = 1 << 16  # bytes of an input
CORPUS = Path(__file__).parent / "corpus"
_MOST_ADDRESSES = 4 << 30  # bytes, on top of what there was, that a parser may allocate before it gets a MemoryError
_ROOT = Path(__file__).parents[2]
_PROC = Path("/proc/self")


class Target(NamedTuple):
    """A parser.

    read: parses bytes; raises one of ``refusals`` for what it refuses, and AssertionError where what it has read
    makes no sense. seeds: makes inputs that it accepts, by the project's own writers. covers: modules, or names of
    functions in them as ``module:name``, whose branches count. mutate: changes an input in a way that suits its form.
    refusals: empty for a parser that must accept any bytes.
    """

    read: Callable[[bytes], object]
    seeds: Callable[[], list[bytes]]
    covers: tuple[str, ...]
    mutate: Callable[[bytes, random.Random], bytes] = mutation.of_bytes
    refusals: tuple[type[Exception], ...] = (UserError,)


class Finding(NamedTuple):
    """What a parser must not do. kind: the same for inputs with the same cause, as far as that is known."""

    kind: str
    text: str


def kept_inputs(name: str) -> list[bytes]:
    """Return the inputs of a target's folder in the corpus: inputs that have caused a failure."""
    return [path.read_bytes() for path in sorted((CORPUS / name).glob("*"))]


def is_accepted(target: Target, data: bytes) -> bool:
    """Whether a parser accepts an input; raises what it must not raise."""
    try:
        target.read(data)
    except target.refusals:
        return False
    return True


def finding(target: Target, data: bytes) -> Finding | None:
    """Return what is wrong with what a parser does with an input, None if nothing is."""
    began, found, text = time.process_time(), "", ""
    with _without_garbage_collection(), _peak() as grown:
        try:
            is_accepted(target, data)
        except Exception as error:
            found, text = _kind(error), traceback.format_exc()
    seconds = time.process_time() - began
    if seconds > MOST_SECONDS:
        return Finding("slow", f"{seconds:.1f} s of CPU time\n{text}")
    if grown() > MOST_BYTES:
        return Finding("memory", f"{grown() >> 20} MiB more than before\n{text}")
    return Finding(found, text) if found else None


def _kind(error):
    """Return an exception's type and the place in the project that it comes from."""
    places = [
        frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).is_relative_to(_ROOT)
    ]
    where = f" in {Path(places[-1].filename).relative_to(_ROOT)}:{places[-1].lineno}" if places else ""
    return f"{type(error).__name__}{where}"


@contextlib.contextmanager
def bounded() -> Iterator[None]:
    """A context in which a parser that asks for much too much gets a MemoryError, instead of ending other processes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = int((_PROC / "statm").read_text().split()[0]) * resource.getpagesize() + _MOST_ADDRESSES
    resource.setrlimit(resource.RLIMIT_AS, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@contextlib.contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """A context without it: in a process that has run thousands of tests, one collection takes seconds."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextlib.contextmanager
def _peak() -> Iterator[Callable[[], int]]:
    """A context that gives how many bytes its peak of memory was above what there was before; 0 if none can tell."""
    if not _begin_peak():
        yield lambda: 0
        return
    before = int((_PROC / "statm").read_text().split()[1]) * resource.getpagesize()
    yield lambda: 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before


def _begin_peak():
    """Have Linux forget the peak so far; return whether it did."""
    try:
        descriptor = os.open(_PROC / "clear_refs", os.O_WRONLY)
    except OSError:
        return False
    try:
        return os.write(descriptor, b"5") == 1
    except OSError:
        return False
    finally:
        os.close(descriptor)
