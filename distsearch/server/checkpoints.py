"""Searches that outlive the service: a folder with a file for each long one that was cut off."""

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from .. import games
from ..core.errors import UserError, print_error
from ..formats.checkpoint import Checkpoint, fingerprint, usual_interval
from .request import Request

_ENDING = ".checkpoint"


class Checkpoints:
    """The folder, which is made if it is not there. Raises UserError if it cannot be made or written."""

    def __init__(self, folder: str):
        self._folder = folder
        self.interval = usual_interval()
        if not folder:
            raise UserError("the name of the folder for checkpoints is empty")
        doing = "make"
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            doing = "write"
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            raise UserError(f"cannot {doing} {folder[:200]}: {error.strerror}") from error

    def of(self, request: Request) -> "CutOffSearch | None":
        """Return what is kept of a request's search, if anything may be: of one position, in a game of two players."""
        if len(request.positions) > 1 or request.options.against_chance:
            return None
        options, (position,) = request.options, request.positions
        asked = json.dumps([options.deciding(), games.tag(games.find(options.game)), position], default=str)
        name = hashlib.sha256(asked.encode()).hexdigest()[:24]
        return CutOffSearch(os.path.join(self._folder, name + _ENDING), request)


class CutOffSearch:
    """A request's search as far as an earlier request of the same has come; ``state`` is that, or None.

    What keeps a file from being read or written is told on stderr, and costs no request its answer.
    """

    def __init__(self, path: str, request: Request):
        self._path, self._request = path, request
        self._file: Checkpoint | None = self._open() if os.path.lexists(path) else None

    @property
    def state(self) -> dict[str, Any] | None:
        return self._file.state if self._file else None

    def save(self, make: Callable[[], dict[str, Any]]) -> None:
        """Keep what ``make()`` returns, for the next request of this search."""
        if self._file is None:
            self._file = self._open()
        if self._file is not None:
            self._file.save(make)

    def remove(self) -> None:
        """Forget the search: it has its answer."""
        with contextlib.suppress(OSError):
            os.unlink(self._path)

    def give_up(self) -> None:
        """Forget the state that this search began from, if any: it has failed, and would fail so again."""
        if self.state is not None:
            print_error(f"distsearch: {self._path} is removed: the search that went on from it failed")
            self.remove()

    def _open(self):
        """Return the file, which is removed first where it is of no use: damaged, or of another version."""
        search, wanted = fingerprint(self._request.options, self._request.positions), SimpleNamespace(save=False)
        for resume in (os.path.lexists(self._path), False):
            try:
                return Checkpoint(self._path, search, resume, wanted, print_error)
            except UserError as error:
                print_error(f"distsearch: {error}")
                self.remove()
        return None
