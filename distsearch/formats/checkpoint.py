"""A file that holds how far a search has come, so that another run can go on from there.

The file begins with a line that names its format and version, and the SHA-256 of the rest, which is an npz archive: a
header as JSON, in which ``{"array": n}`` stands for the archive's n-th array. A new state is written beside the old one
and renamed over it, so that a crash at any moment leaves one of the two.
"""

import contextlib
import hashlib
import io
import json
import math
import os
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .. import __version__
from ..core.errors import UserError

INTERVAL = 60.0  # seconds
INTERVAL_VARIABLE = "DISTSEARCH_CHECKPOINT_SECONDS"  # in the environment: another interval, for tests

_MAGIC = b"distsearch checkpoint "
_VERSION = 4
_HEADER, _ARRAY = "header", "array"
_DIGEST = hashlib.sha256


def _interval():
    text = os.environ.get(INTERVAL_VARIABLE, str(INTERVAL))
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < math.inf:
        raise UserError(f"{INTERVAL_VARIABLE} '{text[:40]}' is not a number of seconds above 0")
    return seconds


class Kept(NamedTuple):
    """What a search or a part of one needs of its checkpoint: see there. By default nothing is kept."""

    state: dict | None = None
    offer: Callable = lambda make: None
    save: Callable = lambda make: None
    path: str | None = None


NOT_KEPT = Kept()


class Checkpoint:
    """The checkpoint of one search.

    path: of the file; search: what is searched, as ``fingerprint`` has it; resume: go on where the file says, from the
    beginning if there is none; wanted: an ``interrupt.Interrupts``, whose ``save`` says that somebody wants a state
    now; complain(text): told if a state cannot be written, and if there is no file to resume; suffixes: of other files
    beside it; interval: seconds between two states.

    ``state`` is what an earlier run saved last, or None. Raises UserError if the file is not of this search, damaged,
    or not to be resumed, and if no file can be written in its place.
    """

    def __init__(self, path, search, resume, wanted, complain, suffixes=(), interval=None):
        if not path:
            raise UserError("the checkpoint's name is empty")
        self.path = os.path.realpath(path)
        self._name = path
        self._search = json.loads(json.dumps(search))  # as the file will give it back
        self._wanted, self._complain = wanted, complain
        self._interval = interval or _interval()
        self._complained = False
        self._saved = time.monotonic()
        self.state = self._load() if resume else None
        if resume and self.state is None:
            complain(f"there is no {path} to resume: this search begins")
        for existing in [path + suffix for suffix in ("", *suffixes) if os.path.lexists(path + suffix)]:
            if not resume:
                raise UserError(f"{existing} exists: --resume goes on with it; or remove it, or name another file")
        self._try_out()

    def _load(self):
        try:
            with open(self.path, "rb") as file:
                content = file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UserError(f"cannot read {self._name}: {error.strerror}") from error
        saved = _unpacked(content, self._name)
        if saved["version"] != __version__:
            raise UserError(f"{self._name} was written by distsearch {saved['version']}, this is {__version__}")
        for name, value in self._search.items():
            if saved["search"].get(name) != value:
                there, here = (_shown(search.get(name)) for search in (saved["search"], self._search))
                raise UserError(f"{self._name} is of another search: {name} is {there} there and {here} here")
        return saved["state"]

    def _try_out(self):
        """Raise UserError now, and not after a minute, if nothing can be written there."""
        try:
            with open(self._beside, "wb"):
                pass
            os.unlink(self._beside)
        except OSError as error:
            raise UserError(f"cannot write {self._name}: {error.strerror}") from error

    @property
    def _beside(self):
        return self.path + ".new"

    def offer(self, make):
        """Save what ``make()`` returns if the interval is over or somebody wants it saved now."""
        if self._wanted.save or time.monotonic() - self._saved >= self._interval:
            self.save(make)

    def save(self, make):
        """Save what ``make()`` returns: dictionaries by text, lists, plain values and numpy arrays.

        Complains once if it cannot be written, or ``make`` raises OSError; the state before then stays.
        """
        self._wanted.save = False
        try:
            self._replace(_packed({"version": __version__, "search": self._search, "state": make()}))
        except OSError as error:
            if not self._complained:
                self._complain(f"cannot write {self._name}: {error.strerror}; the search goes on")
            self._complained = True
            with contextlib.suppress(OSError):
                os.unlink(self._beside)
        self._saved = time.monotonic()

    def _replace(self, content):
        with open(self._beside, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(self._beside, self.path)
        folder = os.open(os.path.dirname(self.path), os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def policy_in(path):
    """Return the policy of the search that a checkpoint file is of, or None if nothing can be read there."""
    try:
        with open(path, "rb") as file:
            return _unpacked(file.read(), path)["search"].get("policy")
    except (OSError, UserError):
        return None


def _packed(saved):
    """Return the file's content as bytes."""
    arrays, out = [], io.BytesIO()

    def stand_in(value):
        arrays.append(np.asarray(value))
        return {_ARRAY: len(arrays) - 1}

    header = json.dumps(saved, default=stand_in)
    np.savez(out, *arrays, **{_HEADER: np.frombuffer(header.encode(), np.uint8)})
    content = out.getbuffer()
    return b"%s%d\n%s%s" % (_MAGIC, _VERSION, _DIGEST(content).digest(), content)


def _unpacked(content, name):
    """Return what was packed; raises UserError for anything else. name: of the file, for people."""
    title, _, rest = content.partition(b"\n")
    if not title.startswith(_MAGIC):
        raise UserError(f"{name} is not a checkpoint of distsearch")
    if title != b"%s%d" % (_MAGIC, _VERSION):
        raise UserError(f"{name} is a checkpoint of another version of distsearch")
    size = _DIGEST().digest_size
    if _DIGEST(rest[size:]).digest() != rest[:size]:
        raise UserError(f"{name} is damaged: its content does not match its checksum")
    with np.load(io.BytesIO(rest[size:]), allow_pickle=False) as archive:

        def put_back(entry):
            return archive[f"arr_{entry[_ARRAY]}"] if entry.keys() == {_ARRAY} else entry

        return json.loads(archive[_HEADER].tobytes(), object_hook=put_back)


def _shown(value):
    """Return a value of a search's description as a short text."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    return "not given" if value is None else str(value)[:40]
