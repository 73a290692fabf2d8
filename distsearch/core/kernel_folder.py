"""The folder that compiled kernels are kept in, and whether none but this user could have put anything there.

The folder is named after all that kernels follow from but their own names and types: the sources of the package, the
versions of Python, numba and LLVM, numba's options, and the processor. So every installation of the same program shares
it, and an edit, an update or another processor starts a new one.
"""

import contextlib
import functools
import grp
import hashlib
import os
import pwd
import stat
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

# Packages whose files kernels are made of. The few kernels of other packages use nothing of another file.
WITH_KERNELS = ("core", "games", "evaluation", "engines", "formats", "gpu", "jobs", "tree", "learning", "testing")
PACKAGE = Path(__file__).parents[1]
_VARIABLES = "DISTSEARCH_CACHE", "NUMBA_CACHE_DIR"
_NOWHERE = Path(os.devnull) / "distsearch"  # where nothing is found and nothing can be made


def source_hash(*roots: Path) -> str:
    """Return 16 hex digits that change whenever a ``.py`` file under ``roots`` (files or folders) changes."""
    digest = hashlib.sha256()
    for root in roots:
        for path in sorted(root.rglob("*.py")) if root.is_dir() else [root]:
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


class KernelFolder(NamedTuple):
    """Where kernels are kept; problem: a line about what is wrong with it or with the place that was asked for."""

    path: Path
    problem: str | None


def choose(*compiler: object) -> KernelFolder:
    """Return the folder for kernels; compiler: what tells one compiler, and the processor it is for, from others.

    It is in $DISTSEARCH_CACHE, $NUMBA_CACHE_DIR or the user's cache, or in a folder for temporary files if the first
    of these that is set cannot be made, or could be changed by another user: kernels are programs. If that folder is
    no better, nothing is kept.
    """
    sources = source_hash(*(PACKAGE / room for room in WITH_KERNELS))
    made_by = repr((sources, sys.implementation.cache_tag, compiler))
    name = f"distsearch-{hashlib.sha256(made_by.encode()).hexdigest()[:16]}"
    variable = next((each for each in _VARIABLES if os.environ.get(each)), None)
    home = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "distsearch")
    asked = os.environ[variable] if variable else home
    # from here on without links: what they lead to may change after it was looked at
    wanted = Path(os.path.realpath(asked)) / name
    fault = fault_of(wanted)
    if fault is None:
        return KernelFolder(wanted, _not_writable(wanted))
    shown = f"{variable}={asked}" if variable else asked
    with contextlib.suppress(FileNotFoundError):  # there is no folder for temporary files
        other = Path(os.path.realpath(tempfile.gettempdir())) / f"distsearch-{os.getuid()}" / name
        if fault_of(other) is None and os.access(other, os.W_OK):
            return KernelFolder(other, f"kernels are kept in {other.parent}, not in {shown}: {fault}")
    return KernelFolder(_NOWHERE, f"kernels are compiled at each start, and not kept in {shown}: {fault}")


def _not_writable(folder):
    """Return a line if what is compiled cannot be kept in a folder, whose kernels can be loaded, or None."""
    if os.access(folder, os.W_OK):
        return None
    return f"cannot write to {folder}: kernels that are not there are compiled at each start"


def fault_of(folder: Path) -> str | None:
    """Return why kernels must not be kept in a folder, which is made if it is not there; None if they may be.

    folder: absolute, and without links.
    """
    fault = _open_to_others(folder)
    if fault is None and not folder.is_dir():
        try:
            for path in (*reversed(folder.parents), folder):
                with contextlib.suppress(FileExistsError):
                    path.mkdir(mode=0o755)  # so that none but this user may write, whatever the umask is
        except OSError as error:
            return f"cannot make {folder}: {error.strerror}"
        return _open_to_others(folder)
    return fault


def _open_to_others(folder):
    """Return a line if a user but this one and root could put a file into a folder, or another one in its place."""
    for path in (folder, *folder.parents):
        try:
            state = path.lstat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            return f"cannot look at {path}: {error.strerror}"
        if stat.S_ISLNK(state.st_mode):
            return f"{path} has become a link"
        if state.st_uid not in _trusted_users(path == folder):
            return f"another user owns {path}"
        protected = path != folder and state.st_mode & stat.S_ISVTX  # none may move another user's folder
        if not protected and others_may_write(state):
            return f"other users may write to {path}"
    return None


def is_own(state: os.stat_result) -> bool:
    """Whether a file in the folder is one that no user but this one and root can have written."""
    return state.st_uid in _trusted_users(True) and not others_may_write(state)


@functools.cache
def _trusted_users(of_folder):
    """Return the users that may own the folder itself, or those above it.

    In a container without its host's users, the root of the host is shown as a user that cannot log in.
    """
    users = {0, os.getuid()}
    with contextlib.suppress(OSError, ValueError):
        everyone = int(Path("/proc/self/uid_map").read_text().split()[-1]) >= 2**32 - 1
        if not of_folder and not everyone:
            users.add(int(Path("/proc/sys/kernel/overflowuid").read_text()))
    return users


def others_may_write(state: os.stat_result) -> bool:
    """Whether the mode of a file or folder lets users but its owner write to it."""
    by_group = state.st_mode & stat.S_IWGRP and not _is_private(state.st_gid)
    return bool(state.st_mode & stat.S_IWOTH or by_group)


@functools.cache
def _is_private(group):
    """Whether a group is root's, or the one of this user alone that many systems give every user."""
    if group == 0:
        return True
    try:
        known, user = grp.getgrgid(group), pwd.getpwuid(os.getuid())
    except KeyError:
        return False
    return known.gr_name == user.pw_name and set(known.gr_mem) <= {user.pw_name}
