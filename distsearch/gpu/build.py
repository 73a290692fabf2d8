"""Compiling CUDA sources of this package: for a GPU by nvcc, kept on disk by source, options and architecture."""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import uuid
from pathlib import Path

from ..core.errors import UserError
from ..core.kernel_cache import FOLDER, about_to_compile
from . import structs

SOURCES = Path(__file__).parent / "cuda"
_OPTIONS = "-O3", "-std=c++17", "-lineinfo", "-Xcudafe", "--diag_suppress=declared_but_not_referenced"
_KEPT = 12  # last lines of what a compiler says that an error shows


def sources():
    """Return the names of the files that hold kernels, sorted."""
    return sorted(path.name for path in SOURCES.glob("*.cu"))


def compiler():
    """Return the path of nvcc; raises UserError if there is none."""
    nvcc = shutil.which("nvcc")
    if not nvcc:
        raise UserError("no nvcc on PATH, which compiles for a GPU: install the CUDA toolkit, or use --device cpu")
    return nvcc


def cubin(source, architecture, defines=()):
    """Return the path of machine code for a GPU; raises UserError if nvcc is missing or fails.

    source: a file name of ``sources()``; architecture: such as "sm_90"; defines: pairs of a macro's name and value.
    """
    command = [compiler(), "-cubin", f"-arch={architecture}", *_OPTIONS]
    return built(source, command, defines, "cubin")


def built(source, command, defines, ending):
    """Return the path of what ``command`` makes of a source, made if it is not kept yet; raises UserError.

    The command gets the options -D for the defines, -I for the sources, -o and the source behind its own.
    """
    command = [*command, *(f"-D{name}={value}" for name, value in defines), f"-I{SOURCES}"]
    texts = {}
    _include(str(source), texts)
    digest = hashlib.sha256(repr((_version(command[0]), command, sorted(texts.items()))).encode())
    folder = FOLDER.path / "cuda"
    path = folder / f"{Path(source).stem}-{digest.hexdigest()[:24]}.{ending}"
    if not path.exists():
        about_to_compile(path.stem)
        made = path.with_suffix(f".{uuid.uuid4().hex}")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory() as headers:
                (Path(headers) / "dtypes").mkdir()
                for name in filter(structs.is_header, texts):
                    (Path(headers) / name).write_text(texts[name])
                _run([*command, f"-I{headers}", "-o", str(made), str(SOURCES / source)], source)
            os.replace(made, path)
        except OSError as error:
            raise UserError(f"cannot keep kernels in {folder}: {error.strerror}") from error
        finally:
            made.unlink(missing_ok=True)
    return path


def _include(name, texts):
    """Add the text of a source, and of all that it includes, to ``texts`` by name."""
    if name not in texts:
        texts[name] = structs.header(name) if structs.is_header(name) else (SOURCES / name).read_text()
        for each in re.findall(r'^#include "(.+)"', texts[name], re.MULTILINE):
            _include(each, texts)


def _run(command, source):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = "\n".join((done.stderr + done.stdout).splitlines()[-_KEPT:])
        raise UserError(f"{Path(command[0]).name} cannot compile {source}:\n{said}")


def _version(compiler):
    return subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False).stdout
