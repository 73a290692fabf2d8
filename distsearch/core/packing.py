"""A paused search as bytes, so that an engine of the same kind, game and board in another process can go on with it.

Tables are left out: they cost time, not answers. Of frames, and of what they hold one after another, the part in use.
"""

import io

import numpy as np


def packed(*arrays: np.ndarray) -> bytes:
    """Return numpy arrays as bytes."""
    out = io.BytesIO()
    np.savez(out, *arrays)
    return out.getvalue()


def unpack(content: bytes, *places: np.ndarray) -> None:
    """Copy what ``packed`` made into the beginnings of arrays, in the same order."""
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        for i, place in enumerate(places):
            part = archive[f"arr_{i}"]
            place[: len(part)] = part
