"""What this installation is and where it runs, and whether its parts fit together."""

import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil

from .. import __version__, games
from ..cluster import mpi_runtime
from ..cluster.launchers import family, version_of
from ..core import kernel_cache, processor
from ..core.errors import UserError
from ..core.kernel_folder import PACKAGE, source_hash
from ..formats import stdout
from .gpu_facts import gpu_facts, gpu_text


def add_arguments(parser):
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args, argv):
    return info(mpi_runtime.communicator(), args.json)


def info(comm, as_json):
    """Print what there is (on the first rank; ``comm`` may be None); return 0, or 1 if something is wrong."""
    place = _place()
    hosts = [place["host"]] if comm is None else comm.allgather(place["host"])
    first = comm is None or hosts.index(place["host"]) == comm.Get_rank()  # one of each host looks at its GPUs
    gathered = [(place, gpu_facts(place["host"]) if first else None)]
    if comm is not None:
        gathered = comm.gather(gathered[0], root=0)
    if mpi_runtime.place()[1] > 0:
        return 0
    places, gpus = [each[0] for each in gathered], [each[1] for each in gathered if each[1]]
    facts, problems = _facts(hosts, gpus), []
    try:
        facts["mpi_library"] = mpi_runtime.library()
    except UserError as error:
        problems.append(str(error))
    problems += _problems(facts) + _differences(places)
    facts["problems"] = problems
    stdout.print_result(json.dumps(facts) if as_json else _table(facts))
    return 1 if problems else 0


def _facts(hosts, gpus):
    ranks, _, name = mpi_runtime.launcher()
    mpirun = shutil.which("mpirun")
    return {
        "version": __version__,
        "python": platform.python_version(),
        "ranks": len(hosts),
        "hosts": {host: hosts.count(host) for host in dict.fromkeys(hosts)},
        "launcher": name or "none",
        "launched_ranks": ranks,
        "mpirun": mpirun,
        "mpirun_version": version_of(mpirun) if mpirun else None,
        "mpi_library": None,
        "packages": {name: _version(name) for name in ("mpi4py", "numpy", "numba", "llvmlite", "pycuda")},
        "cores": len(os.sched_getaffinity(0)),
        "processor": processor.name(),
        "instructions": processor.instructions(),
        "gpus": gpus[0]["gpus"],
        "gpu_hosts": gpus,
        "games": list(games.usable()),
        "cache": str(kernel_cache.FOLDER.path),
        "left_in_shared_memory": {str(path): size for path, size in mpi_runtime.left_behind()},
    }


def _problems(facts):
    found = []
    if facts["launched_ranks"] > facts["ranks"]:
        found.append(f"{facts['launcher']} started {facts['launched_ranks']} ranks, the library sees {facts['ranks']}")
    families = {family(facts["mpirun_version"]), family(facts["mpi_library"])} - {None}
    if len(families) > 1:
        found.append("mpirun and the MPI library are of different MPIs: the first mpirun on PATH is not the library's")
    return found


def _place():
    """What may be otherwise on another rank's host."""
    return {
        "host": platform.node(),
        "installed": f"distsearch {__version__} ({source_hash(PACKAGE)})",
        "python": f"Python {platform.python_version()}",
        "problems": [*filter(None, [kernel_cache.FOLDER.problem]), *games.problems()],
    }


def _differences(places):
    """What is wrong on some host, or is not there what it is here; each host is named once."""
    here, hosts, found = places[0], {}, []
    for place in places:
        hosts.setdefault(place["host"], place)
    for host, there in hosts.items():
        name = "" if there is here else f"{host}: "
        found += [name + problem for problem in there["problems"]]
        for what in ("installed", "python"):
            if there[what] != here[what]:
                found.append(f"{name}{there[what]}, not {here[what]}")
    return found


def _version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _table(facts):
    hosts = ", ".join(f"{host} ({ranks})" for host, ranks in facts["hosts"].items())
    packages = ", ".join(f"{name} {version or '-'}" for name, version in facts["packages"].items())
    rows = [
        ("distsearch", f"{facts['version']}, Python {facts['python']}"),
        ("ranks", f"{facts['ranks']} on {hosts}; {facts['cores']} cores here"),
        ("MPI library", facts["mpi_library"] or "none"),
        ("mpirun", f"{facts['mpirun'] or 'none on PATH'}: {facts['mpirun_version'] or '-'}"),
        ("started by", facts["launcher"]),
        ("packages", packages),
        ("processor", f"{facts['processor']}: {', '.join(facts['instructions']) or 'no AVX2'}"),
        *_gpu_rows(facts["gpu_hosts"]),
        ("games", ", ".join(facts["games"])),
        ("kernels in", facts["cache"]),
        *_left_row(facts["left_in_shared_memory"]),
        ("verdict", "all right" if not facts["problems"] else "; ".join(facts["problems"])),
    ]
    return "\n".join(f"{name:<12} {value}" for name, value in rows)


def _left_row(left):
    """Return a row where killed ranks have left something in shared memory."""
    if not left:
        return []
    files = "1 file" if len(left) == 1 else f"{len(left)} files"
    size = f"{sum(left.values()) >> 20} MiB"
    return [("left behind", f"{files} of {size} by killed ranks, which the next job removes: {next(iter(left))}")]


def _gpu_rows(hosts):
    """Return a row for each host, or one where all have the same."""
    texts = {each["host"]: gpu_text(each) for each in hosts}
    if len(set(texts.values())) == 1:
        return [("GPUs", next(iter(texts.values())) + (" on each host" if len(texts) > 1 else ""))]
    return [("GPUs", f"{host}: {text}") for host, text in texts.items()]
