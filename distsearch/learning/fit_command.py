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


def write(name: str, args: argparse.Namespace, make: Callable[..., Any]) -> int:
    """Write as JSON what ``make(count, seed, comm, tell)`` returns on the first rank; return the exit status.

    Each rank calls this, and then ``make`` with the communicator of all. What any of them cannot do ends all.
    """
    comm = MPI.COMM_WORLD
    try:
        if not _FEWEST <= args.positions <= _MOST:
            raise UserError(f"positions {args.positions} are not from {_FEWEST} to {_MOST}")
        found = make(args.positions, args.seed, comm, lambda text: print(text, file=sys.stderr, flush=True))
        if comm.rank == 0:
            with open(args.output, "w", encoding="utf-8") as file:
                file.write(json.dumps(found) + "\n")
    except UserError as error:  # which every rank has
        if comm.rank == 0:
            print(f"{name}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{name}: cannot write {args.output}: {error.strerror}", file=sys.stderr)
        return 2
    except Exception as error:
        if comm.size == 1:
            raise
        print_traceback(error)
        mpi_runtime.abort(1)  # others wait for this rank
    return 0
