"""What is solved so far of a book that is being made: a text file that is only appended to.

Its first line is JSON and says what game it is of. Each other line is a position: its key, score and best move, and the
depth of the search in a book that is grown. A run that was ended, by whatever means, loses the line that it was
writing.
"""

import json
import os
import re
from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from ..core.appended_file import lock, write_all
from ..core.errors import UserError

_MOST = np.iinfo(np.int16).max  # largest value of a field: books store int16


class SolvedLog:
    """A context in which positions are appended. ``known``: the fields by key, of those that are there.

    heading: what the positions are of, plain values; fields: what numbers each has. Raises UserError if the file is of
    something else, damaged, cannot be written, or is being written by another run.
    """

    def __init__(self, path: str, heading: dict[str, Any], fields: tuple[str, ...] = ("score", "move")):
        self.path, self._heading, self._fields = path, json.dumps(heading), fields
        self.known: dict[int, tuple[int, ...]] = {}

    def __enter__(self) -> Self:
        try:
            self._file = open(self.path, "a+b", buffering=0)  # noqa: SIM115, closed as the context ends
        except (OSError, ValueError) as error:  # ValueError: a name with a NUL
            raise UserError(f"cannot write {self.path[:200]}: {getattr(error, 'strerror', None) or error}") from error
        try:
            self._begin()
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _begin(self):
        lock(self._file.fileno(), self.path[:200])
        self._file.seek(0)
        whole, _, rest = self._file.read().rpartition(b"\n")
        if rest:
            os.ftruncate(self._file.fileno(), len(whole) + bool(whole))
        heading, *lines = whole.split(b"\n")
        if not whole:
            self._write(f"{self._heading}\n")
        elif heading != self._heading.encode():
            raise UserError(f"{self.path[:200]} is of another book: remove it, or name another file")
        for number, line in enumerate(lines, 2):
            self._read(line, number)

    def _read(self, line, number):
        try:
            key, *values = line.split()
            known = tuple(int(value) for _, value in zip(self._fields, values, strict=True))
            if not re.fullmatch(b"[0-9a-f]{16}", key) or any(abs(value) > _MOST for value in known):
                raise ValueError
            self.known[int(key, 16)] = known
        except ValueError as error:
            words = " and a ".join(self._fields)
            raise UserError(f"{self.path[:200]} line {number} is not a key and a {words}") from error

    def append(self, keys: np.ndarray, *columns: Iterable[int]) -> None:
        """Add positions, a column for each of the fields; raises UserError if they cannot be written."""
        rows = zip(*(map(int, column) for column in columns), strict=True)
        found = dict(zip(keys.tolist(), rows, strict=True))
        self._write("".join(f"{key:016x} {' '.join(map(str, row))}\n" for key, row in found.items()))
        self.known.update(found)

    def _write(self, text):
        try:
            write_all(self._file.fileno(), text.encode())
        except OSError as error:
            raise UserError(f"cannot write {self.path[:200]}: {error.strerror}") from error
