"""What the command line understands after ``study``: the studies, and the options of each.

A study is a row of ``STUDIES``, a function that adds its options, and a module of ``distsearch.studies`` whose
``run(args, stage)`` returns the exit status. Lists are checked here as far as one option tells; what goes with what is
for the library to say.
"""

import argparse
import re
from collections.abc import Callable
from typing import NamedTuple

_MOST = 1000  # entries of a list


class Study(NamedTuple):
    """help: a line; add_arguments(parser); module: in ``distsearch.studies``."""

    help: str
    add_arguments: Callable
    module: str


def numbers(what, least=0, kind=int, meaning=""):
    """Return a type of argparse: ``1,2,4`` as a list of numbers from ``least`` on, each once, in the order given.

    meaning: what the least one means, for who gives less.
    """
    pattern = "[0-9]{1,9}" if kind is int else r"[0-9]{1,9}(\.[0-9]{1,9})?"

    def parse(text):
        found = []
        for part in text.split(",")[:_MOST]:
            if not re.fullmatch(pattern, part):
                raise argparse.ArgumentTypeError(f"{what} '{text[:40]}' is not numbers with commas between")
            if kind(part) < least:
                raise argparse.ArgumentTypeError(f"{what} {part} is out of range ({least} or more{meaning})")
            found.append(kind(part))
        return list(dict.fromkeys(found))

    return parse


def texts(what):
    """Return a type of argparse: ``pool,split`` as a list of texts, each once."""

    def parse(text):
        found = text.split(",")[:_MOST]
        if not all(found):
            raise argparse.ArgumentTypeError(f"{what} '{text[:40]}' is not names with commas between")
        return list(dict.fromkeys(found))

    return parse


def number(what, least=0):
    """Return a type of argparse: a whole number from ``least`` on."""

    def parse(text):
        found = numbers(what, least)(text)
        if len(found) != 1:
            raise argparse.ArgumentTypeError(f"{what} '{text[:40]}' is not a number")
        return found[0]

    return parse


def _scaling_arguments(parser):
    parser.add_argument("game", metavar="GAME")
    parser.add_argument("position", metavar="POSITION", nargs="?", help="default: one that suits the game")
    parser.add_argument("--positions", metavar="FILE", help="instead: all of a file, a line each, as solve does them")
    grid = parser.add_argument_group("what is varied: lists with commas")
    grid.add_argument(
        "--ranks",
        type=numbers("ranks", 1),
        metavar="N,...",
        help="numbers of ranks; 2 are a master and a worker (default: up to 8 all, then doubling)",
    )
    grid.add_argument("--policy", type=texts("policy"), metavar="NAME,...", help="(default: split,pool)")
    grid.add_argument(
        "--load-factor",
        type=numbers("load factor", 0, float),
        metavar="F,...",
        help="of pool and window: subtrees a worker (default 4)",
    )
    grid.add_argument(
        "--prefetch",
        type=numbers("prefetch", 1, meaning=": the one at work"),
        metavar="N,...",
        help="batches of jobs at each worker: 1 is the one at work, and none ahead (default 2)",
    )
    grid.add_argument("--board", type=texts("board"), metavar="RxC,...", help="rows x columns")
    work = parser.add_argument_group("the work of a run")
    work.add_argument("--depth", type=int, metavar="N", help="plies (default: ten seconds and more on one rank)")
    work.add_argument("--layers", type=int, metavar="X", help="against chance: X moves with what follows, and one")
    work.add_argument("--exact", action="store_true", default=None, help="to the end of the game")
    work.add_argument(
        "--weak",
        choices=("depth", "positions"),
        metavar="HOW",
        help="weak scaling: work grows with the workers, by depth, a ply a doubling, or by positions of the file",
    )
    work.add_argument(
        "--per-worker",
        type=number("per-worker", 1),
        metavar="N",
        help="of --weak positions: how many a worker gets (default: as many as the most workers of this call can have)",
    )
    work.add_argument("--algorithm", metavar="NAME", help="as of search")
    work.add_argument("--evaluation", metavar="NAME", help="as of search")
    work.add_argument("--ordering", metavar="NAME", help="as of search: plain alpha-beta, without a table")
    work.add_argument("--empties", metavar="RULE", help="othello: who gets empty squares, winner (default) or none")
    work.add_argument("--min-probability", type=float, metavar="P", help="games against chance, as of search")
    work.add_argument("--table", type=number("table", 1), metavar="MIB", help="of a host's table (default 64)")
    parser.add_argument("--repeats", type=number("repeats", 1), default=3, metavar="N", help="of each run (default 3)")
    parser.add_argument(
        "--seed",
        type=number("seed"),
        default=0,
        metavar="N",
        help="of the runs' order, and of what chance deals (default 0)",
    )
    parser.add_argument(
        "--output", metavar="FILE", help="JSON Lines, a row a run; what it has already is not done again"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="measure nothing: how many runs there are to do, and about how long"
    )
    parser.add_argument("--json", action="store_true", help="print rows as they come, a JSON object a line, no table")


def _table_arguments(parser):
    parser.add_argument("files", nargs="+", metavar="FILE", help="of study scaling; several are taken as one study")


def _report_arguments(parser):
    """What every report's study takes."""
    parser.add_argument("--full", action="store_true", help="as much as a cluster has time for (default: minutes)")
    parser.add_argument("--repeats", type=number("repeats", 1), metavar="N", help="of each measurement")
    parser.add_argument("--seed", type=number("seed"), default=1, metavar="N", help="of all that is random (default 1)")
    parser.add_argument(
        "--output", metavar="DIR", help="a folder for results, which are not measured again, Markdown and figures"
    )


def _connect4_arguments(parser):
    _report_arguments(parser)
    parser.add_argument(
        "--positions", metavar="FILE", help="instead of random ones: a line each, columns and the score if it is known"
    )


def _plot_arguments(parser):
    parser.add_argument("files", nargs="*", metavar="FILE", help="of studies, together; records of training, likewise")
    parser.add_argument(
        "--timeline", action="append", metavar="FILE", help="what --trace wrote, as a figure; may be given again"
    )
    parser.add_argument("--output", metavar="DIR", default=".", help="folder of the figures (default: this one)")
    parser.add_argument(
        "--formats",
        type=texts("formats"),
        metavar="NAME,...",
        default=["png", "svg"],
        help="png, svg, pdf (default: png,svg)",
    )


STUDIES = {
    "scaling": Study(
        "the same searches at several numbers of ranks, policies, load factors", _scaling_arguments, "scaling.sweep"
    ),
    "table": Study("the table of a scaling study again, from its files", _table_arguments, "scaling.summary"),
    "othellox": Study("the figures of the report on OthelloX with MPI", _report_arguments, "reports.othellox"),
    "brothers": Study("the tables of the report on 2048 in parallel Haskell", _report_arguments, "reports.haskell2048"),
    "gpu2048": Study("the figures of the report on a 2048 solver on GPUs", _report_arguments, "reports.gpu2048"),
    "td2584": Study("the figures of the report on 2584 on GPUs", _report_arguments, "reports.td2584"),
    "connect4": Study("the table of the report on Connect 4 with CUDA", _connect4_arguments, "reports.connect4"),
    "plot": Study("figures of studies, of training, and of timelines", _plot_arguments, "figures.plot"),
}
