"""Files of measured runs, JSON Lines: one object a run, appended as soon as it is over.

A row is ``{"study", "point", "repeat", "result", "meta"}``: the study's name; what defines the run, a flat object of
texts, numbers, booleans and nulls; which of the runs of that point it is, from 0; what was measured (see ``measure``);
under what circumstances (see ``metadata``). Study, point and repeat tell a run from all others, so a job that is begun
again does what is not in its file, and files of several jobs can be read as one.
"""

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import struct

from ..core.errors import UserError, print_error

_CLAIMS = 1 << 40  # the first byte of those that stand for runs, behind any file's end
_FIELDS = {"study": str, "point": dict, "repeat": int, "result": dict, "meta": dict}


def identity(row):
    """Return what tells a row's run from all others, as a text."""
    return json.dumps([row["study"], row["point"], row["repeat"]], sort_keys=True)


def done(rows):
    """Return the identities of rows, a set."""
    return {identity(row) for row in rows}


def begin(path):
    """Return the rows of a file to which others will be added, and which need not be there; raises UserError."""
    _check_place(path, "write")
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666))
    except (OSError, ValueError) as error:
        raise _cannot("write", path, error) from error
    return read([path])


def _check_place(path, do):
    """Raise UserError for what is there and no file: a device has no end."""
    try:
        no_file = os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))
    except ValueError as error:
        raise _cannot(do, path, error) from error
    if no_file:
        raise UserError(f"cannot {do} {str(path)[:200]}: it is not a file")


def append(path, row):
    """Add a row to a file, which is made if it is not there; raises UserError if it cannot be written.

    What a killed job left of its last row is taken away. Jobs may share a file where its file system has locks; where
    it has none, one may take what another has half written for such a rest.
    """
    line = json.dumps(row, allow_nan=False).encode() + b"\n"
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.fcntl(file, fcntl.F_OFD_SETLKW, _lock_of(0, _CLAIMS))  # until the file is closed
            _mend(file)
            _write(file, line)
        finally:
            os.close(file)
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        raise _cannot("write", path, error) from error


class Sharing:
    """What jobs that share a file have measured, and are measuring: each run is made by one of them.

    path: of the file, None where nothing is shared; known: identities of the rows that were read from it. Where the
    file system has no locks, jobs that work at the same time may measure a run twice; the first row counts then.
    """

    def __init__(self, path, known=()):
        self._path, self._known = path, set(known)

    @contextlib.contextmanager
    def claimed(self, key):
        """Context manager: yields whether this job must measure the run. The claim ends with the context."""
        if self._path is None:
            yield True
            return
        file = os.open(self._path, os.O_RDWR)
        try:
            yield self._claim(file, key) and not self._is_done(key)
        finally:
            os.close(file)  # which ends the claim

    def _claim(self, file, key):
        """Lock a byte far behind the file's end that stands for a run; return whether no other job had it."""
        place = _CLAIMS + int.from_bytes(hashlib.sha256(key.encode()).digest()[:5], "little")
        try:
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, _lock_of(place, 1))
        except OSError as error:
            return error.errno not in (errno.EAGAIN, errno.EACCES)
        return True

    def _is_done(self, key):
        """Whether a job has measured a run since the file was read."""
        if key not in self._known:
            with open(self._path, "rb") as file:
                rows = (_parsed(line) for line in file.read().split(b"\n"))
                self._known.update(identity(row) for row in rows if row is not None)
        return key in self._known


def _lock_of(begin, size):
    """Return the C structure that asks for an exclusive lock on bytes of a file.

    Claims and added rows must not lock one another out, so both lock bytes: on NFS, flock locks all bytes.
    """
    return struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, begin, size, 0)


def _mend(file):
    """Have a file end with a whole line: a row that lacks its end gets it, anything else behind the last line goes."""
    size = os.fstat(file).st_size
    if size == 0 or os.pread(file, 1, size - 1) == b"\n":
        return
    content = os.pread(file, size, 0)
    whole = content.rfind(b"\n") + 1
    if _parsed(content[whole:]) is None:
        os.truncate(file, whole)
    else:
        _write(file, b"\n")


def _write(file, content):
    if os.write(file, content) < len(content):
        raise OSError(0, "the disk is full")


def read(paths):
    """Return the rows of files, in their order, each run once: the first row of it counts.

    A last line that a killed job left torn is skipped, which stderr is told. Raises UserError for a file that cannot be
    read, and for lines that are no rows.
    """
    rows = {}
    for path in paths:
        for row in _rows_of(path):
            rows.setdefault(identity(row), row)
    return list(rows.values())


def _rows_of(path):
    _check_place(path, "read")
    try:
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")
    except (OSError, ValueError) as error:
        raise _cannot("read", path, error) from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        row = _parsed(line)
        if row is not None:
            if "boards" in row["result"]:
                text = "is of an earlier version, which counted boards: begin another file"
                raise UserError(f"{str(path)[:200]}: line {number} {text}")
            yield row
        elif number == len(lines):
            print_error(f"distsearch: {path}: the last line is torn, as a killed job leaves it: skipped")
        else:
            raise UserError(f"{str(path)[:200]}: line {number} is no row of a study")


def _parsed(line):
    """Return the row of a line, None where it is none."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    whole = isinstance(row, dict) and all(isinstance(row.get(name), kind) for name, kind in _FIELDS.items())
    return row if whole else None


def _cannot(do, path, error):
    return UserError(f"cannot {do} {str(path)[:200]}: {getattr(error, 'strerror', None) or error}")
