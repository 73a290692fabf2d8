"""Inputs as files, for parsers that take a path, in a folder of this process."""

import atexit
import functools
import os
import shutil
import tempfile
from pathlib import Path


@functools.cache
def folder() -> str:
    """Return the folder, which is removed as the process ends."""
    found = tempfile.mkdtemp(prefix="distsearch-fuzz-")
    atexit.register(shutil.rmtree, found, ignore_errors=True)
    return found


def kept_folder() -> Path:
    """Return a folder in it for arrays that are kept."""
    path = Path(folder()) / "kept"
    path.mkdir(exist_ok=True)
    return path


def written(data: bytes, name: str = "input") -> str:
    """Return the path of a new file with an input."""
    path = os.path.join(folder(), name)
    clear()
    with open(path, "wb") as file:
        file.write(data)
    return path


def clear() -> None:
    """Remove what earlier inputs have left."""
    for entry in os.scandir(folder()):
        shutil.rmtree(entry.path) if entry.is_dir(follow_symlinks=False) else os.unlink(entry.path)
