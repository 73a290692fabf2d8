"""Changes of inputs by their form: bytes, lines of JSON, and archives whose checksum is right again."""

import copy
import io
import json
import random
import zipfile
from typing import Any

import numpy as np

from distsearch.core import archive

from ..tree.mutants import odd

_NUMBERS = "0", "-1", "1", "9", "65", "255", "1e9", "1e999", "nan", "4294967296", "99999999999999999999", "٤", "1.5"
_BYTES = (
    b"\0",
    b"\n",
    b" ",
    b";",
    b",",
    b":",
    b"%",
    b"/",
    b"-",
    b"+",
    b"@",
    b"[",
    b"]",
    b"{",
    b'"',
    b"\xff",
    "é".encode(),
)
_DEEP = "nested"  # stands for what JSON's writer would not write
_NESTED = "[" * 3000 + "]" * 3000
_VALUES = [None, True, False, -1, 0, 1, 7, 1 << 31, 1 << 63, 10**30, -0.0, 2.5, 1e308, float("nan"), float("inf")]
_VALUES += ["", "text", "x" * 300, "1", [], {}, [[]], [1, 2], {"a": 1}, "\ud800", "\0", _DEEP]
_DTYPES = "<i4", "<i8", "<u8", "<f4", "<f8", "<f2", "|u1", "|b1", "<i2", ">i8", "<U2", "|S3", "<M8[s]", "<c16"


def of_bytes(data: bytes, rng: random.Random, tokens: tuple[bytes, ...] = ()) -> bytes:
    """Return bytes with a few of them changed, added, taken away, moved or repeated."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        begin = rng.randrange(len(found) + 1)
        end = min(len(found), begin + rng.choice((0, 1, 1, 2, 8, 64)))
        piece = bytes(found[begin:end])
        change = rng.randrange(6)
        if change == 0:
            found[begin:end] = bytes(byte ^ 1 << rng.randrange(8) for byte in piece)
        elif change == 1:
            del found[begin:end]
        elif change == 2:
            found[begin:end] = rng.choice((*_BYTES, *tokens))
        elif change == 3:
            found[begin:end] = rng.choice(_NUMBERS).encode()
        elif change == 4:
            found[begin:begin] = piece * rng.choice((1, 2, 30))
        else:
            at = rng.randrange(len(found) + 1)
            found[at:at] = piece
    return bytes(found)


def of_json(data: bytes, rng: random.Random) -> bytes:
    """Return lines of JSON in one of which a value was changed."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    try:
        value = json.loads(lines[at])
    except (ValueError, RecursionError):
        return of_bytes(data, rng)
    if rng.random() < 0.2:
        return of_bytes(data, rng)
    lines[at] = _written(of_value(value, rng))
    if rng.random() < 0.1:
        lines.insert(at, rng.choice(lines))
    return b"\n".join(lines)


def of_value(value: Any, rng: random.Random) -> Any:
    """Return a copy of a value of JSON with one or a few places in it changed."""
    found = [copy.deepcopy(value)]
    for _ in range(rng.choice((1, 1, 2))):
        places = list(_places(found))
        inside, at = rng.choice(places)
        here, change = inside[at], rng.randrange(5)
        if change == 0 and inside is not found:
            del inside[at]
        elif change == 1 and isinstance(here, int | float) and not isinstance(here, bool) and abs(here) < 1e300:
            inside[at] = here + rng.choice((-1, 1, 0.5, here))
        elif change == 2 and isinstance(here, str):
            inside[at] = of_bytes(here.encode(errors="surrogatepass"), rng).decode(errors="surrogateescape")
        elif change == 3 and isinstance(inside, dict):
            inside[rng.choice(list(inside))] = copy.deepcopy(here)
        else:
            other, key = rng.choice(places)
            try:
                inside[at] = copy.deepcopy(rng.choice((rng.choice(_VALUES), other[key])))
            except (KeyError, IndexError):
                inside[at] = None
    return found[0]


def _places(inside):
    """Yield (container, key) of every value in a list, and of those in them."""
    for at in range(len(inside)) if isinstance(inside, list) else list(inside):
        yield inside, at
        if isinstance(inside[at], list | dict):
            yield from _places(inside[at])


def _written(value):
    return json.dumps(value).replace(f'"{_DEEP}"', _NESTED).encode()


def parts_of(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return (header, arrays by name) of an archive's bytes, without any check; raises whatever it raises."""
    with zipfile.ZipFile(io.BytesIO(data)) as members:
        arrays = {}
        for name in members.namelist():
            with members.open(name) as member:
                arrays[name.removesuffix(".npy")] = np.lib.format.read_array(member)
    header = json.loads(arrays.pop("header").tobytes())
    header.pop("checksum", None)
    return header, arrays


def archived(header: Any, arrays: dict[str, np.ndarray], compress: bool = False) -> bytes:
    """Return the bytes of an archive with a right checksum, as ``archive.save`` writes it."""
    with_sum = {**header, "checksum": archive._checksum(header, arrays)} if isinstance(header, dict) else header
    packed = np.frombuffer(_written(with_sum), np.uint8)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as members:
        for name, array in {"header": packed, **arrays}.items():
            archive._add(members, file, f"{name}.npy", np.asarray(array, order="C"), compress)
    return file.getvalue()


def of_archive(data: bytes, rng: random.Random) -> bytes:
    """Return an archive whose header or arrays were changed, or a few of its bytes."""
    try:
        header, arrays = parts_of(data)
    except Exception:  # whatever an archive that is none raises
        return of_bytes(data, rng)
    change = rng.random()
    try:
        if change < 0.05:
            return of_bytes(data, rng)
        if change < 0.4 or not arrays:
            header = of_value(header, rng)
        else:
            name = rng.choice(list(arrays))
            arrays = {**arrays, **_changed(name, arrays, rng)} if rng.random() < 0.95 else _without(arrays, name)
        return archived(header, arrays, rng.random() < 0.05)
    except (ArithmeticError, RuntimeError, TypeError, ValueError):
        # numpy has no such array, or writes none; JSON has no such text
        return of_bytes(data, rng)


def _without(arrays, name):
    return {each: array for each, array in arrays.items() if each != name}


def _changed(name, arrays, rng):
    """Return {name: a changed copy of one of the arrays}."""
    array = arrays[name].copy()
    change = rng.randrange(8)
    if change < 4 and array.size:
        for _ in range(rng.choice((1, 1, 3))):
            _set_odd(array.reshape(-1), rng.randrange(array.size), rng)
    elif change == 4 and not array.dtype.names:
        with np.errstate(all="ignore"):
            return {name: array.astype(rng.choice(_DTYPES))}
    elif change == 5:
        shapes = (-1,), (1, -1), (-1, 1), (*array.shape, 1)
        array = array.reshape(rng.choice(shapes)) if rng.random() < 0.7 or not array.size else array.reshape(-1)[0]
    elif change == 6:
        flat = array.reshape(-1)
        array = rng.choice((flat[:0], flat[:-1], flat[1:], np.concatenate((flat, flat)), flat[::-1]))
    else:
        return {rng.choice([*arrays, "more"]): array}
    return {name: np.asarray(array)}


def _set_odd(flat, at, rng):
    """Put a value that is seldom right at a place of an array, or into a field of the record there."""
    if flat.dtype.names:
        name = rng.choice(flat.dtype.names)
        if flat.dtype[name].shape:
            row = flat[name].reshape(len(flat), -1)[at]
            _set_odd(row, rng.randrange(len(row)), rng)
        else:
            _set_odd(flat[name], at, rng)
    elif flat.dtype.kind in "biuf":
        with np.errstate(all="ignore"):
            flat[at] = odd(flat.dtype, rng)
