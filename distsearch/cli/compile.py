"""``distsearch compile``: kernels made beforehand, for images and clusters."""

import time

from .. import games
from ..api.compiling import Compilation, recipes_of, wait
from ..api.interrupts import Interrupts, ignore
from ..api.progress import Progress, Silent
from ..cluster import mpi_runtime
from ..core.errors import UserError
from ..core.kernel_cache import FOLDER
from ..formats import stdout


def add_arguments(parser):
    parser.add_argument("games", metavar="GAME", nargs="*", help="a game (default: all there are)")


def run(args, argv):
    """Compile on the first rank of every host; the first of all tells what it compiled. Raises UserError."""
    comm, interrupts = mpi_runtime.world(), Interrupts()
    is_first = comm is None or comm.Get_rank() == 0
    names = args.games or list(games.usable())
    recipes = [recipe for name in names for recipe in recipes_of(name)]
    first_of_host = mpi_runtime.is_first_of_host(comm)
    _refuse(comm, FOLDER.problem)
    began, found, failed = time.perf_counter(), 0, False
    if not is_first:
        ignore()
    with interrupts, Compilation(*recipes if first_of_host else ()) as compilation:
        wait(compilation, Progress() if is_first else Silent(), lambda: interrupts.signal is not None)
        found, failed = compilation.kernels, compilation.failed
    if interrupts.exit_status:
        raise KeyboardInterrupt(interrupts.signal)
    _refuse(comm, f"some kernels cannot be compiled, or kept in {FOLDER.path}" if failed else None)
    if is_first:
        took = f"{time.perf_counter() - began:.1f} s"
        stdout.write(f"{found} kernels for {', '.join(names)} compiled in {took}, kept in {FOLDER.path}\n".encode())
    return 0


def _refuse(comm, fault):
    """Raise UserError on every rank if there is a fault on one; fault: this rank's, or None."""
    faults = [fault] if comm is None else comm.allgather(fault)
    if any(faults):
        raise UserError(next(filter(None, faults)))
