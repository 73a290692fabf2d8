"""A file that holds how far a search has come, so that another run can go on from there; see ``core.archive``.

Its header has all that tells one search from another, and the state, in which ``{"array": n}`` stands for the archive's
n-th array.
"""

import hashlib
import json
import math
import os
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import __version__, games
from ..core import archive
from ..core.appended_file import Lock
from ..core.errors import UserError
from ..core.files import open_file
from ..core.saved import Saved

INTERVAL = 60.0  # seconds
INTERVAL_VARIABLE = "DISTSEARCH_CHECKPOINT_SECONDS"  # in the environment: another interval, for tests

_KIND, _FORMAT = "checkpoints", 9
_BEFORE_5 = b"distsearch checkpoint "  # what files of earlier formats begin with
_ARRAY = "array"


def usual_interval() -> float:
    """Return the seconds between two states; raises UserError where the environment has none that makes sense."""
    text = os.environ.get(INTERVAL_VARIABLE, str(INTERVAL))
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < math.inf:
        raise UserError(f"{INTERVAL_VARIABLE} '{text[:40]}' is not a number of seconds above 0")
    return seconds


class CheckpointHandle(NamedTuple):
    """What a search or a part of one needs of its checkpoint: see there. By default nothing is kept."""

    state: dict | None = None
    maybe_save: Callable[[Callable[[], Any]], None] = lambda make: None
    save: Callable[[Callable[[], Any]], None] = lambda make: None
    path: str | None = None


NO_CHECKPOINT = CheckpointHandle()


class Checkpoint:
    """The checkpoint of one search.

    path: of the file; search: what is searched, as ``fingerprint`` has it; resume: go on where the file says, from the
    beginning if there is none; wanted: an ``interrupt.Interrupts``, whose ``save`` says that a state is wanted
    now; print_error(text): told if a state cannot be written, and if there is no file to resume; suffixes: of other
    files next to it; interval: seconds between two states; exclusive: no other run may have the file until ``close``.

    ``state`` is what an earlier run saved last, or None. Raises UserError if the file is not of this search, damaged,
    or not to be resumed, and if no file can be written in its place.
    """

    def __init__(self, path, search, resume, wanted, print_error, suffixes=(), interval=None, exclusive=False):
        if not path:
            raise UserError("the checkpoint's name is empty")
        try:
            self.path = os.path.realpath(path)
        except (OSError, ValueError) as error:  # the working directory is gone; a name with a NUL
            raise UserError(f"cannot write {path[:200]}: {getattr(error, 'strerror', None) or error}") from error
        self._name = path
        self._search = json.loads(json.dumps(search))  # as the file will give it back
        self._wanted, self._print_error = wanted, print_error
        self._interval = interval or usual_interval()
        self._warned = False
        self._saved = time.monotonic()
        self._lock = Lock(self.path) if exclusive else None
        try:
            self._begin(resume, suffixes)
        except BaseException:
            self.close()
            raise

    def _begin(self, resume, suffixes):
        path, print_error = self._name, self._print_error
        self.state = self._load() if resume else None
        if resume and self.state is None:
            print_error(f"there is no {path} to resume: this search begins")
        for existing in [path + suffix for suffix in ("", *suffixes) if os.path.lexists(path + suffix)]:
            if not resume:
                raise UserError(f"{existing} exists: --resume goes on with it; or remove it, or name another file")
        self._try_out()

    def _load(self) -> dict | None:
        if not os.path.lexists(self.path):
            return None
        saved = Saved(_load(self._name), self._name[:200])
        version, saved_search = saved.text("version"), saved.entries("search")
        if version != __version__:
            raise UserError(f"{self._name} was written by distsearch {version[:40]}, this is {__version__}")
        for name, value in self._search.items():
            if saved_search.get(name) != value:
                there, here = (_shown(search.get(name)) for search in (saved_search, self._search))
                raise UserError(f"{self._name} is of another search: {name} is {there} there and {here} here")
        return dict(saved.entries("state"))

    def _try_out(self):
        """Raise UserError now, and not after a minute, if nothing can be written there."""
        try:
            with open(f"{self.path}.new", "wb"):
                pass
            os.unlink(f"{self.path}.new")
        except OSError as error:
            raise UserError(f"cannot write {self._name}: {error.strerror}") from error

    def close(self) -> None:
        """Let other runs have the file."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def maybe_save(self, make: Callable[[], dict]) -> None:
        """Save what ``make()`` returns if the interval is over or a state is wanted now."""
        if self._wanted.save or time.monotonic() - self._saved >= self._interval:
            self.save(make)

    def save(self, make: Callable[[], dict]) -> None:
        """Save what ``make()`` returns: dictionaries by text, lists, plain values and numpy arrays.

        Complains once if it cannot be written, or ``make`` raises OSError; the state before then stays.
        """
        self._wanted.save = False
        try:
            _save(self.path, {"version": __version__, "search": self._search, "state": make()})
        except OSError as error:
            if not self._warned:
                self._print_error(f"cannot write {self._name}: {error.strerror}; the search goes on")
            self._warned = True
        self._saved = time.monotonic()


def source_and_seconds(state: dict | None) -> tuple[Any, float]:
    """Return the snapshot of a source and the seconds so far of a state, (None, 0.0) if there is none."""
    return (None, 0.0) if state is None else (Saved(state).entries("source"), Saved(state).number("seconds"))


def policy_in(path: str) -> str | None:
    """Return the policy of the search that a checkpoint file is of, or None if nothing can be read there."""
    try:
        return Saved(_load(path)).entries("search").get("policy")
    except UserError:
        return None


def fingerprint(options: Any, positions: Sequence = (), **asked: Any) -> dict[str, Any]:
    """Return all that decides a search's output as plain values by name.

    options: the Options; positions: those it is about, where they are known before it begins; asked: what else was
    asked of it, by name.
    """
    game = games.find(options.game)
    rules = game.rules(options.board, **options.rules)
    found = options.deciding()
    texts = [game.text(position, rules) for position in positions]
    many = hashlib.sha256("\n".join(texts).encode()).hexdigest()
    return {**asked, **found, "game": games.tag(game), "position": texts[0] if len(texts) == 1 else many}


def _save(path, saved):
    arrays = {}

    def stand_in(value):
        arrays[str(len(arrays))] = np.asarray(value)
        return {_ARRAY: len(arrays) - 1}

    header = json.loads(json.dumps({"format": _FORMAT, **saved}, default=stand_in))
    archive.save(path, _KIND, header, arrays)


def _load(path):
    """Return what was saved; raises UserError for anything else."""
    try:
        with open_file(path) as file:
            before = file.read(len(_BEFORE_5)) == _BEFORE_5
    except OSError as error:
        raise UserError(f"cannot read {path[:200]}: {error.strerror}") from error
    saved, arrays = (None, {}) if before else archive.load(path, _KIND)
    if saved is None or saved.get("format") != _FORMAT:
        raise UserError(
            f"{path[:200]} is a checkpoint of another version of distsearch: end that search with the version that "
            "began it, or begin anew under another name"
        )

    def put_back(entry):
        # each array is in one place: many that shared a large one would fill the memory with copies
        return np.array(arrays.pop(str(entry[_ARRAY]))) if entry.keys() == {_ARRAY} else entry

    try:
        state = json.loads(json.dumps(saved.get("state")), object_hook=put_back)
        return {**saved, "state": state}
    except (KeyError, RecursionError) as error:
        raise UserError(f"{path[:200]} is damaged: it names an array that it does not have") from error


def _shown(value):
    """Return a value of a search's description as a short text."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    return "not given" if value is None else str(value)[:40]
