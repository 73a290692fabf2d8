"""The record of training: a file of JSON lines, which a resumed training goes on with."""

import json
import os

from ..core.archive import replace
from ..core.errors import UserError


class LearningCurve:
    """Lines of JSON in a file.

    path: None for no file; games: that were learnt from before, None: the file is a new one. Of a file that is gone on
    with, lines about more games go: they will come again. Where no game was kept all of it is kept, as FILE.old. Raises
    UserError if it cannot be read or written, or a new one is there already.
    """

    def __init__(self, path, games):
        self._path, self._file = path, None
        if path is None:
            return
        self._do(lambda: self._open(games))

    def _open(self, games):
        if games is not None and os.path.exists(self._path):
            with open(self._path, encoding="utf-8") as file:
                kept = [line for line in file if line.endswith("\n") and self._games(line) <= games]
            if games == 0 and os.path.getsize(self._path):
                os.replace(self._path, f"{self._path}.old")
            else:
                replace(self._path, lambda file: file.write("".join(kept).encode()))
        self._file = open(self._path, "x" if games is None else "a", encoding="utf-8")  # noqa: SIM115, ``close`` does

    def _games(self, line):
        try:
            return int(json.loads(line)["games"])
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{self._path[:200]} is not a record of training") from error

    def add(self, line):
        """Write a dictionary as a line, for others to read at once."""
        if self._file is not None:
            self._do(lambda: print(json.dumps(line), file=self._file, flush=True))

    def close(self):
        """Write what is left."""
        if self._file is not None:
            self._do(self._file.close)

    def _do(self, write):
        try:
            write()
        except (OSError, ValueError) as error:  # ValueError: a name with a NUL, bytes that are no text
            reason = getattr(error, "strerror", None) or error
            raise UserError(f"cannot write {self._path[:200]}: {reason}") from error
