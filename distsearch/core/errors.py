"""What is wrong, told to people: the one exception for what a user got wrong, and stderr."""

import contextlib
import os
import sys
import traceback


class UserError(Exception):
    """Bad input. Its text is one line that names what is wrong and what would be right; exit status 2.

    The text may quote what the user gave: line breaks in it become spaces, other unprintable characters "?".
    """

    def __init__(self, text: object):
        super().__init__("".join(c if c.isprintable() else "?" for c in " ".join(str(text).split())))


class RanksLostError(RuntimeError):
    """Ranks have died without which there is no going on. Its text is one line; exit status 1."""


class MasterLostError(RanksLostError):
    """A worker has not heard from rank 0 for too long. Rank 0 may be there, and the worker's network down."""


def print_error(text: str) -> None:
    """Write a line or several to stderr. If stderr cannot be written, it stays silent, and the answers still count."""
    try:
        print(text, file=sys.stderr, flush=True)
    except (OSError, ValueError):  # a pipe without a reader, a full disk; closed
        # what stderr still holds would fail again as the interpreter ends
        with contextlib.suppress(AttributeError, OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stderr.fileno())
            os.close(nowhere)


def print_traceback(error: BaseException) -> None:
    """Write a mistake of ours to stderr in the same way, with its traceback."""
    print_error("".join(traceback.format_exception(error)).rstrip())


def line_of(error: Exception) -> str:
    """Return an exception as one line; that of a mistake of ours is written to stderr first, see above."""
    if isinstance(error, UserError):
        return str(error)
    print_traceback(error)
    return " ".join(f"{type(error).__name__}: {error}".split())
