"""What commands that fit something to many positions have in common: positions, seed, a file, and several ranks."""

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

from mpi4py import MPI

from ..cluster import mpi_runtime
from ..core.errors import UserError, print_traceback

_FEWEST, _MOST = 100, 10**6  # positions of a stage


def parser(name: str, text: str, positions: int) -> argparse.ArgumentParser:
    """Return the parser of a command of this package; text: its module's; positions: of a stage, by default."""
    found = argparse.ArgumentParser(
        prog=f"python -m distsearch.learning.{name}",
        description=text,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    found.add_argument(
        "--positions", type=int, default=positions, metavar="N", help=f"of each stage (default {positions})"
    )
    found.add_argument("--seed", type=int, default=1, metavar="N", help="of the games (default 1)")
    found.add_argument("--output", required=True, metavar="FILE")
    return found


def write_fit(name: str, args: argparse.Namespace, make: Callable[..., Any]) -> int:
    """Write as JSON what ``make(count, seed, comm, tell)`` returns on the first rank; return the exit status.

    Every rank calls this, and then ``make`` with the communicator of all.
    """

    def text():
        if not _FEWEST <= args.positions <= _MOST:
            raise UserError(f"positions {args.positions} are not from {_FEWEST} to {_MOST}")
        found = make(args.positions, args.seed, MPI.COMM_WORLD, tell)
        return json.dumps(found) + "\n"

    return write(name, args.output, text)


def write(name: str, output: str, text: Callable[[], str]) -> int:
    """Write what ``text()`` returns on the first rank to a file; return the exit status.

    name: of the command, for messages. A rank that fails otherwise than by a UserError, which all have, ends the job.
    """
    comm = MPI.COMM_WORLD
    try:
        made = text()
        if comm.rank == 0:
            with open(output, "w", encoding="utf-8") as file:
                file.write(made)
    except UserError as error:
        if comm.rank == 0:
            print(f"{name}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{name}: cannot write {output}: {error.strerror}", file=sys.stderr)
        return 2
    except Exception as error:
        if comm.size == 1:
            raise
        print_traceback(error)
        mpi_runtime.abort(1)  # others wait for this rank
    return 0


def tell(text: str) -> None:
    """Print how a fit goes to stderr."""
    print(text, file=sys.stderr, flush=True)
