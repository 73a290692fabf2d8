"""``distsearch compile``: kernels made beforehand, for images and clusters."""

import time

from .. import games
from ..api.compiling import Compilation, recipes_of, wait
from ..api.interrupts import Interrupts, ignore
from ..api.progress import Progress
from ..cluster import mpi_runtime
from ..core.errors import UserError
from ..core.kernel_cache import FOLDER, can_keep
from ..formats import stdout


def add_arguments(parser):
    parser.add_argument("games", metavar="GAME", nargs="*", help="a game (default: all there are)")


def run(args, argv):
    """Compile on the first rank of every host; the first of all tells what it compiled."""
    comm, progress = mpi_runtime.world(), Progress()
    names = args.games or games.names()
    recipes = [recipe for name in names for recipe in recipes_of(name)]
    if not can_keep():
        raise UserError(f"cannot write to {FOLDER.path}: set DISTSEARCH_CACHE to a folder where kernels can be kept")
    if not mpi_runtime.is_first_of_host(comm):
        ignore()
        return 0
    began, interrupts = time.perf_counter(), Interrupts()
    with interrupts, Compilation(*recipes) as compilation:
        wait(compilation, progress, lambda: interrupts.signal is not None)
        kernels = compilation.kernels
    if interrupts.exit_status == 0 and (comm is None or comm.Get_rank() == 0):
        took = f"{time.perf_counter() - began:.1f} s"
        stdout.write(f"{kernels} kernels for {', '.join(names)} compiled in {took}, kept in {FOLDER.path}\n".encode())
    return interrupts.exit_status
