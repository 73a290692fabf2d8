"""The command line: it loads the command that is asked for, runs it, and says in one line what is wrong."""

import gc
import os
import signal
import sys
import traceback

from ..api import interrupts
from ..cluster import mpi_runtime
from ..core.errors import MasterLostError, RanksLostError, UserError, print_error
from ..formats import stdout
from .arguments import command_of, parse


def main(argv=None):
    """Run the command line on this rank; return its exit status."""
    status = _main(argv)
    if argv is None:
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # the interpreter, as it ends, would let the signal end it
    mpi_runtime.leave(status)
    return status


def _main(argv):
    if sys.stderr is None:  # closed by the program that started this
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    try:
        if sys.stdout is None:
            raise UserError("stdout is closed: there is nowhere to print the result")
        try:
            return _run(argv)
        except SystemExit:  # of --help and --version, whose text may still be on its way
            sys.stdout.flush()
            raise
    except KeyboardInterrupt as interrupt:
        return _leave(128 + (interrupt.args[0] if interrupt.args else signal.SIGINT))
    except UserError as error:
        if is_first():
            print_error(f"distsearch: {error}")
        return 2 if is_first() else 0  # the first rank speaks for all
    except MasterLostError as error:
        print_error(f"distsearch: {error}")
        mpi_runtime.forgo_finalize()  # only this rank ends: rank 0 may go on without it, or have ended
        return 0
    except RanksLostError as error:
        print_error(f"distsearch: {error}")
        return _leave(1)
    except BrokenPipeError:
        stdout.silence()  # the reader of stdout has enough
        return 0
    except Exception as error:
        # a rank died and the job cannot go on without it; only ULFM has an error of its own for that
        if mpi_runtime.tells_of_failures() and mpi_runtime.tells_of_a_lost_rank(error):
            print_error("distsearch: a rank was lost")
            return _leave(1)
        _abort(error)
        return 1


def _run(argv):
    own = argv is None  # nothing else runs in this process
    if own:
        argv = sys.argv[1:]
        for library in ("OPENBLAS", "MKL"):  # ranks take the cores; numpy would start a thread for each one
            os.environ.setdefault(f"{library}_NUM_THREADS", "1")
        gc.disable()
        interrupts.note_early()
    args = parse(argv)
    command = command_of(args.command)
    if own:
        gc.freeze()  # what was imported stays: the collector need not look at it, neither now nor at the end
        gc.enable()
    return command.run(args, argv)


def is_first():
    """Whether this is rank 0, or the only one."""
    return mpi_runtime.place()[1] == 0


def _leave(status):
    """End every rank, without a word; return the exit status of a single one."""
    if mpi_runtime.place()[0] > 1:
        mpi_runtime.abort(status)
    return status


def _abort(error):
    """Show this rank's traceback, unless another rank has done so, and end the whole job."""
    ranks, rank = mpi_runtime.place()
    where = f"distsearch: rank {rank} of {ranks} failed\n" if ranks > 1 else ""
    if not mpi_runtime.echoes_an_abort(error):
        print_error(f"{where}{traceback.format_exc().rstrip()}")
    if ranks > 1:
        mpi_runtime.abort(1)
