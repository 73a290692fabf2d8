"""What a host has of what it takes to search on its GPUs, for ``info``; GPUs are optional, so nothing is an error."""

import importlib.metadata
import importlib.util
import re
import shutil
import subprocess

_QUERY = "--query-gpu=name,driver_version,compute_cap"
_SECONDS = 60  # for a compiler that starts from a slow disk


def gpu_facts(host):
    """Return a dictionary: the ``host``'s name, its ``gpus``, and what there is of what they need.

    ``driver``, ``cuda`` (the newest CUDA that it serves), ``pycuda`` and ``nvcc``: versions, None where there is none;
    ``architectures``: of the cards; ``compiles``: whether nvcc makes kernels for all of them; ``missing``: one line
    that says what must be done before this host searches on its GPUs, None if nothing is.
    """
    gpus = _gpus()
    nvcc = shutil.which("nvcc")
    found = {
        "host": host,
        "gpus": [gpu[0] for gpu in gpus],
        "architectures": sorted({f"sm_{gpu[2].replace('.', '')}" for gpu in gpus if gpu[2]}),
        "driver": gpus[0][1] if gpus else None,
        "cuda": _told(r"CUDA Version: *(\d+\.\d+)", "nvidia-smi") if gpus else None,
        "pycuda": _pycuda(),
        "nvcc": _told(r"release (\d+\.\d+)", nvcc, "--version") if nvcc else None,
        "compiles": False,
    }
    refused = [(each, why) for each in found["architectures"] if (why := _refusal(nvcc, each))] if nvcc else []
    found["compiles"] = bool(nvcc and gpus) and not refused
    found["missing"] = _missing(found, refused)
    return found


def _missing(found, refused):
    if not found["gpus"]:
        return "nvidia-smi lists no NVIDIA GPU" if shutil.which("nvidia-smi") else "no nvidia-smi, so no NVIDIA driver"
    if not found["pycuda"]:
        return "no PyCUDA: pip install distsearch[gpu]"
    if not found["nvcc"]:
        return "no nvcc on PATH: install the CUDA toolkit"
    if found["cuda"] and int(found["nvcc"].split(".")[0]) > int(found["cuda"].split(".")[0]):
        return (
            f"the driver {found['driver']} serves CUDA {found['cuda']}, nvcc is of {found['nvcc']}: "
            "update the driver, or use an older nvcc"
        )
    if refused:
        architecture, why = refused[0]
        return f"nvcc {found['nvcc']} makes no kernels for {architecture}: {why}"
    return None


def _gpus():
    """Return [name, driver, compute capability] of each GPU that nvidia-smi lists, "" for what it does not tell."""
    listed = _run("nvidia-smi", _QUERY, "--format=csv,noheader") if shutil.which("nvidia-smi") else None
    if listed is None or listed.returncode:
        return []
    rows = [[field.strip() for field in line.split(",")] for line in listed.stdout.splitlines() if line.strip()]
    return [(row + ["", ""])[:3] for row in rows]


def _pycuda():
    """Return the version of PyCUDA, or "unknown"; None if it is not there."""
    if importlib.util.find_spec("pycuda") is None:
        return None
    try:
        return importlib.metadata.version("pycuda")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def _refusal(nvcc, architecture):
    """Return why nvcc makes nothing for an architecture, in a line, None if it does."""
    done = _run(nvcc, "-cubin", f"-arch={architecture}", "-x", "cu", "-o", "/dev/null", "/dev/null")
    if done is not None and done.returncode == 0:
        return None
    said = (done.stderr or done.stdout).strip().splitlines() if done else []
    return said[0].strip()[:200] if said else "it says nothing"


def _told(pattern, *command):
    done = _run(*command)
    found = re.search(pattern, done.stdout) if done else None
    return found.group(1) if found else None


def _run(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None


def gpu_text(found):
    """Return what ``gpu_facts`` found in a line."""
    if not found["gpus"]:
        return f"none: {found['missing']}"
    names = ", ".join(f"{found['gpus'].count(name)} × {name}" for name in dict.fromkeys(found["gpus"]))
    versions = ", ".join(
        f"{title} {found[name] or '-'}"
        for name, title in (("driver", "driver"), ("cuda", "CUDA"), ("pycuda", "PyCUDA"), ("nvcc", "nvcc"))
    )
    return f"{names}; {versions}; " + (found["missing"] or f"kernels can be made ({', '.join(found['architectures'])})")
