"""Files of positions, or stdin: opened, and read as a whole where a command takes all of them."""

import contextlib
import sys

from ..core.errors import UserError


@contextlib.contextmanager
def opened(path):
    """Give the descriptor of a file, or of stdin for ``-``; raises UserError."""
    if path == "-":
        if sys.stdin is None:
            raise UserError("stdin is closed: there are no positions to read")
        yield sys.stdin.fileno()
        return
    try:
        file = open(path, "rb", buffering=0)  # noqa: SIM115, closed below; unlike os.open it refuses a folder
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    with file:
        yield file.fileno()


def name_of(path):
    """What to call an input in a message."""
    return "stdin" if path == "-" else path


def read(path, game, rules, interrupts, complain):
    """Return (a list of Positions, the number of bad lines) of a file; complain(text) is told of every bad line.

    Raises UserError for a file that cannot be read, or holds no position.
    """
    from .positions import Lines

    positions, bad = [], 0
    with opened(path) as descriptor:
        lines = Lines(game, rules, descriptor)
        while not lines.ended and interrupts.signal is None:
            chunk = lines.read(1 << 12, wait=0.1)
            if chunk is None:
                continue
            for index, text in chunk.errors:
                complain(f"line {chunk.first + index}: {text}")
            bad += len(chunk.errors)
            positions += [chunk.position(index) for index in range(chunk.size) if chunk.good[index]]
    if not positions and not bad and interrupts.signal is None:
        raise UserError(f"{name_of(path)} holds no position")
    return positions, bad
