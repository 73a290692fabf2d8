"""A paused search as bytes, so that an engine of the same kind, game and board in another process can go on with it.

Tables are left out: they cost time, not answers. Only the part in use of the frames and of their arrays
is packed.
The bytes are the lengths of the arrays (int64), then their elements.
"""

import numpy as np


def packed(*arrays: np.ndarray) -> bytes:
    """Return one-dimensional numpy arrays as bytes."""
    lengths = np.array([len(array) for array in arrays], np.int64)
    return lengths.tobytes() + b"".join(array.tobytes() for array in arrays)


def unpacked(content: bytes, *places: np.ndarray) -> list[np.ndarray]:
    """Return the arrays that ``packed`` made into bytes; places: arrays that have their dtypes and room for them.

    Raises ValueError for bytes that are not such arrays, or where one of them has no room in its place.
    """
    head = 8 * len(places)
    if len(content) < head:
        raise ValueError("no packed arrays")
    lengths = np.frombuffer(content, np.int64, len(places)).tolist()
    if not all(0 <= length <= len(place) for length, place in zip(lengths, places, strict=True)):
        raise ValueError("arrays that do not fit")
    sizes = [length * place.itemsize for length, place in zip(lengths, places, strict=True)]
    if head + sum(sizes) != len(content):
        raise ValueError("arrays of another length in all")
    found, at = [], head
    for place, length, size in zip(places, lengths, sizes, strict=True):
        found.append(np.frombuffer(content, place.dtype, length, at))
        at += size
    return found
