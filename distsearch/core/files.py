"""Files that are read to their end.

Devices are refused, and pipes unless the caller allows them: they may never end.
"""

import errno
import os
import stat
from collections.abc import Iterator
from typing import IO

LONGEST_LINE = 1 << 20  # bytes


def open_file(path: str | os.PathLike[str], pipes: bool = False) -> IO[bytes]:
    """Open a file to be read; raises OSError for a folder, a device or a pipe, and ValueError for a name with a NUL.

    pipes: a pipe will do, as a shell's ``<(command)`` is one.
    """
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode) and not (pipes and stat.S_ISFIFO(mode)):
        raise OSError(errno.EINVAL, "it is not a file, but a device or a pipe, which may have no end")
    return open(path, "rb")  # which refuses a folder


def lines_of(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """Yield the lines of a file or a pipe; raises OSError, also for a line of more than LONGEST_LINE."""
    with open_file(path, pipes=True) as file:
        while line := file.readline(LONGEST_LINE + 1):
            if len(line) > LONGEST_LINE:
                raise OSError(errno.EFBIG, f"a line has more than {LONGEST_LINE:,} bytes")
            yield line
