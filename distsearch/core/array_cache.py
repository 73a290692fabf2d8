"""Arrays that take a while to make: made once, kept in the kernels' folder, and mapped: a host shares one copy."""

import hashlib
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np

from . import archive
from .kernel_cache import FOLDER


def kept(
    kind: str, source: Any, shape: tuple[int | None, ...], dtype: Any, make: Callable[[], np.ndarray]
) -> np.ndarray:
    """Return the array that ``make()`` makes of ``source``, mapped from a file that is made if it is not there.

    kind: what sort of array it is; source: bytes, or a contiguous array, that the content follows from; shape, dtype:
    the array's expected dtype and shape, with None for any length. A file that is cut short, or says it is of another
    shape or dtype, is made again; what is in the others is believed, as kernels are. What is written to the array stays
    in this process. Where no file can be made, it is an array of this process alone.
    """
    path = FOLDER.path / f"{kind}-{hashlib.sha256(source).hexdigest()[:16]}.npy"
    found = _mapped(path, shape, dtype)
    if found is not None:
        return found
    made = make()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # other ranks may be making it as well
        archive.replace(path, lambda file: np.save(file, made), path.with_suffix(f".{uuid.uuid4().hex}"))
    except OSError:  # no room, or nowhere to write
        return made
    found = _mapped(path, shape, dtype)
    return made if found is None else found


def _mapped(path, shape, dtype):
    """Return a file's array, or None if it is not whole or is another one."""
    try:
        # mapping more than the file has is refused; "c", for compiled code takes a read-only array for another type
        found = np.asarray(np.lib.format.open_memmap(path, mode="c"))
    except Exception:  # what numpy raises for a few wrong bytes is of a dozen kinds
        return None
    fits = len(found.shape) == len(shape) and all(n in (None, has) for n, has in zip(shape, found.shape, strict=True))
    return found if fits and found.dtype == dtype and found.flags.c_contiguous else None
