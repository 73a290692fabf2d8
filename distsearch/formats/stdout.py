"""Where results go: stdout, which may be full, or closed by its reader."""

import os
import sys

from ..core.errors import UserError


def print_result(text: str) -> None:
    """Write a line, or several; as ``write`` does."""
    write(f"{text}\n".encode())


def write(content: bytes) -> None:
    """Write bytes, at once; raises UserError if they cannot be, and BrokenPipeError where its reader has gone."""
    try:
        if hasattr(sys.stdout, "buffer"):
            sys.stdout.buffer.write(content)
        else:
            sys.stdout.write(content.decode())
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        silence()
        raise UserError(f"cannot write the result: {error.strerror}") from error


def silence() -> None:
    """Have stdout say nothing more, not even what the interpreter still holds as it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
