"""Files of arrays by name with a header: zip archives that ``numpy.load`` reads as well.

They are written under another name and moved to their place when they are whole, so that whatever happens leaves the
old file or the new one. A checksum over all of it is looked at before anything is believed. What is not compressed is
mapped, not read: the processes of a host then share one copy of it, in the system's own cache.
"""

import contextlib
import hashlib
import json
import os
import struct
import zipfile
from collections.abc import Callable, Mapping
from typing import IO, Any

import numpy as np

from .errors import UserError
from .files import open_file
from .pages import available

Path = str | os.PathLike[str]

_HEADER = "header"
_MAPPED = 64  # bytes that a mapped array's first element is aligned to
_LOCAL = struct.Struct("<4s22xHH")  # a member's own header: signature, …, lengths of its name and of what follows
_LONGEST_HEADER = 1 << 24  # bytes
_PADDING = 0xD935  # the kind of field in a member's header that only takes room, as other aligned archives have it
_ZIP64 = 20  # bytes of the field that says that a member may be large
_OLDEST = (1980, 1, 1, 0, 0, 0)  # for every member: the same content is the same file


def save(
    path: Path, kind: str, header: dict[str, Any], arrays: Mapping[str, np.ndarray], compress: bool = False
) -> None:
    """Write a file; raises OSError, and leaves what was there. kind: what sort of file it is; header: plain values."""
    header = {"kind": kind, **header}
    header["checksum"] = _checksum(header, arrays)
    packed = np.frombuffer(json.dumps(header).encode(), np.uint8)

    def write(file):
        with zipfile.ZipFile(file, "w") as archive:
            for name, array in {_HEADER: packed, **arrays}.items():
                _add(archive, file, f"{name}.npy", np.asarray(array, order="C"), compress)

    replace(path, write)


def replace(path: Path, write: Callable[[IO[bytes]], object], temporary: Path | None = None) -> None:
    """Make a file of what write(file) writes, in the place of any other; raises OSError, and leaves what was there.

    temporary: the name of the file until it is whole, for writers that may be several.
    """
    path = os.fspath(path)
    temporary = temporary or f"{path}.new"
    try:
        with open(temporary, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError, ValueError):
            os.unlink(temporary)
        raise
    folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def load(
    path: Path, kind: str, most: Callable[[dict[str, Any]], int] = lambda header: 0
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return (header, arrays by name) of a file that ``save`` wrote, whose arrays may be read-only.

    most(header): how many bytes compressed arrays may unpack to. Raises UserError for what cannot be read, is another
    sort of file, is not as it was written, or unpacks to more.
    """
    shown = os.fspath(path)[:200]
    try:
        with open_file(path) as file, zipfile.ZipFile(file) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            header = _header(archive, members.pop(_HEADER), kind, shown)
            unpacked = sum(info.file_size for info in members.values() if info.compress_type != zipfile.ZIP_STORED)
            if unpacked > 0 and unpacked > min(most(header), available()):
                raise UserError(f"{shown} would unpack to {unpacked:,} bytes, which is too much")
            arrays = {name: _mapped(file, archive, info) for name, info in members.items()}
            whole = header.pop("checksum", None) == _checksum(header, arrays)
    except UserError:
        raise
    except OSError as error:
        raise UserError(f"cannot read {shown}: {error.strerror or error}") from error
    except Exception as error:  # what zipfile and numpy raise for a few wrong bytes is of a dozen kinds
        raise UserError(f"{shown} is not a file of {kind}, or it is damaged") from error
    if not whole:
        raise UserError(f"{shown} is damaged: its content does not match its checksum")
    del header["kind"]
    return header, arrays


def header_of(path: Path, kind: str) -> dict[str, Any]:
    """Return the header of a file without a look at its arrays, or at its checksum; raises UserError."""
    shown = os.fspath(path)[:200]
    try:
        with open_file(path) as file, zipfile.ZipFile(file) as archive:
            return _header(archive, archive.getinfo(f"{_HEADER}.npy"), kind, shown)
    except UserError:
        raise
    except OSError as error:
        raise UserError(f"cannot read {shown}: {error.strerror or error}") from error
    except Exception as error:
        raise UserError(f"{shown} is not a file of {kind}, or it is damaged") from error


def _header(archive, info, kind, shown):
    if info.file_size > _LONGEST_HEADER:
        raise UserError(f"{shown} has a header of {info.file_size:,} bytes")
    header = json.loads(_read(archive, info).tobytes())
    if not isinstance(header, dict) or header.get("kind") != kind:
        raise UserError(f"{shown} is not a file of {kind}")
    return header


def _checksum(header, arrays):
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _add(archive, file, name, array, compress):
    """Add a member; its elements begin at a multiple of 64 bytes, as numpy's own header is a multiple of that long."""
    info = zipfile.ZipInfo(name, _OLDEST)
    info.compress_type = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    begins = file.tell() + _LOCAL.size + len(name) + _ZIP64 + 4
    room = -begins % _MAPPED
    info.extra = struct.pack("<HH", _PADDING, room) + bytes(room)
    with archive.open(info, "w", force_zip64=True) as member:
        np.lib.format.write_array(member, array, (1, 0), allow_pickle=False)


def _read(archive, info):
    with archive.open(info) as member:
        array = np.lib.format.read_array(member, allow_pickle=False)
    if array.nbytes > info.file_size:
        raise ValueError("an array larger than its member")
    return array


def _mapped(file, archive, info):
    """Return a member's array: mapped, if it is not compressed and not empty."""
    if info.compress_type != zipfile.ZIP_STORED or info.file_size < 1 << 16:
        return _read(archive, info)
    file.seek(info.header_offset)
    signature, name, extra = _LOCAL.unpack(file.read(_LOCAL.size))
    if signature != b"PK\x03\x04":
        raise ValueError("no member begins here")
    file.seek(name + extra, os.SEEK_CUR)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("an array of another version")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(file)
    if dtype.hasobject:  # numpy maps them, and takes the file's bytes for pointers
        raise ValueError("an array of objects")
    return np.memmap(file, dtype, "r", file.tell(), shape, "F" if by_columns else "C")
