"""``distsearch study``: sweeps over ranks and policies, and the tables of the reports.

A study is a row of ``STUDIES``: a function that adds its flags, and a module of ``distsearch.studies`` with either a
function ``run(args, stage)`` that returns the exit status, or a report's ``STUDY``.
"""

import importlib
from collections.abc import Callable
from typing import NamedTuple

from ..api.declarations import declared
from ..api.options import Options, Resources
from ..api.session import Session
from ..formats import stdout
from ..studies.rank_pool import Stage
from ..studies.reports import report
from .flags import add_options, add_resources, add_rules, add_seed, names, number, numbers, resources_of
from .launch import Launch

_VARIED = "policy", "load_factor", "prefetch"
_OF_THE_WORK = "depth", "layers", "exact", "algorithm", "evaluation", "ordering", "min_probability"


class Study(NamedTuple):
    """A row of ``STUDIES``."""

    help: str  # a line
    add_arguments: Callable  # (parser)
    module: str  # in ``distsearch.studies``
    is_report: bool = False  # the module has a report's ``STUDY``, not a function ``run``


def run(args, argv):
    launch = Launch(resources_of(args))
    study = STUDIES[args.study]
    module = importlib.import_module(f"distsearch.studies.{study.module}")
    stage = Stage(
        comm=launch.comm,
        interrupts=launch.interrupts,
        progress=launch.progress,
        write=stdout.print_result,
        print_error=launch.print_error,
        open_session=Session,
        arguments=argv,
    )
    return report.run(module.STUDY, args, stage) if study.is_report else module.run(args, stage)


def _scaling_arguments(parser):
    parser.add_argument("game", metavar="GAME", help="its name: `distsearch help`")
    parser.add_argument("position", metavar="POSITION", nargs="?", help="as text (default: one that suits the game)")
    parser.add_argument("--positions", metavar="FILE", help="instead: all of a file, a line each, as solve does them")
    grid = parser.add_argument_group("what is varied: lists with commas")
    grid.add_argument(
        "--ranks",
        type=numbers("ranks", 1),
        metavar="N,...",
        help="numbers of ranks; 2 are a master and a worker (default: up to 8 all, then doubling)",
    )
    options = declared(Options)
    add_options(grid, {name: options[name] for name in _VARIED}, as_lists=True)
    grid.add_argument("--board", type=names("board"), metavar="RxC,...", help="rows x columns")
    work = parser.add_argument_group("the work of a run")
    add_options(work, {name: options[name] for name in _OF_THE_WORK})
    add_options(work, {"table": declared(Resources)["table"]})
    add_rules(work)
    work.add_argument(
        "--weak-scaling",
        choices=("depth", "positions"),
        metavar="HOW",
        help="let work grow with the workers: by depth, a ply a doubling, or by positions of the file",
    )
    work.add_argument(
        "--per-worker",
        type=number("per-worker", 1),
        metavar="N",
        help="positions per worker under --weak-scaling positions (default: length of the file by the most workers)",
    )
    parser.add_argument(
        "--repeats", type=number("repeats", 1), default=3, metavar="N", help="times that each run is done (default 3)"
    )
    add_seed(parser, "seed of the runs' order, and of what chance deals")
    parser.add_argument(
        "--output", metavar="FILE", help="JSON Lines, a row a run; what it has already is not done again"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="measure nothing: how many runs there are to do, and about how long"
    )
    parser.add_argument("--json", action="store_true", help="print rows as they come, a JSON object a line, no table")
    add_resources(parser, "study")


def _table_arguments(parser):
    parser.add_argument("files", nargs="+", metavar="FILE", help="of study scaling; several are taken as one study")


def _report_arguments(parser):
    """What every report's study takes."""
    parser.add_argument("--full", action="store_true", help="as much as a cluster has time for (default: minutes)")
    parser.add_argument("--repeats", type=number("repeats", 1), metavar="N", help="times that each measurement is done")
    add_seed(parser, "seed of all that is random", default=1)
    parser.add_argument(
        "--output",
        metavar="DIR",
        help="a folder for results, which are not measured again, and for tables (Markdown, CSV, LaTeX) and figures",
    )
    parser.add_argument(
        "--only", type=names("only"), metavar="NAME,...", help="some of the report's tables and figures: see --list"
    )
    parser.add_argument(
        "--list", action="store_true", help="measure nothing: what there is, where the report has it, and how long"
    )
    add_resources(parser, "study")


def _connect4_arguments(parser):
    _report_arguments(parser)
    parser.add_argument(
        "--positions", metavar="FILE", help="instead of random ones: a line each, columns and the score if it is known"
    )


def _td2584_arguments(parser):
    _report_arguments(parser)
    parser.add_argument(
        "--value-dead-boards",
        action="store_true",
        help="searches give a board without a legal move what the network says of it, as the report's do, not 0",
    )


def _records_arguments(parser):
    _report_arguments(parser)
    parser.add_argument(
        "--tables", metavar="DIR", help="a folder for the values of all positions of the small boards, a file a game"
    )


def _plot_arguments(parser):
    parser.add_argument("files", nargs="*", metavar="FILE", help="of studies, together; records of training, likewise")
    parser.add_argument(
        "--timeline", action="append", metavar="FILE", help="what --trace wrote, as a figure; may be given again"
    )
    parser.add_argument("--output", metavar="DIR", default=".", help="folder of the figures (default: this one)")
    parser.add_argument(
        "--formats",
        type=names("formats"),
        metavar="NAME,...",
        default=["png", "svg"],
        help="png, svg, pdf (default: png,svg)",
    )


def _report(text, module, add_arguments=_report_arguments):
    return Study(text, add_arguments, f"reports.{module}", is_report=True)


STUDIES = {
    "scaling": Study(
        "the same searches at several numbers of ranks, policies, load factors", _scaling_arguments, "scaling.sweep"
    ),
    "table": Study("the table of a scaling study again, from its files", _table_arguments, "scaling.summary"),
    "othellox": _report("the figures of the report on OthelloX with MPI", "othellox"),
    "haskell2048": _report("the tables of the report on 2048 in parallel Haskell", "haskell2048"),
    "haskell2048-games": _report("the five searches of haskell2048, as games", "haskell2048_games"),
    "gpu2048": _report("the figures of the report on a 2048 solver on GPUs", "gpu2048"),
    "gpu2048-games": _report("depths, averaged search, minimax, IDA* and MCTS of gpu2048, as games", "gpu2048_games"),
    "td2584": _report("the figures of the report on 2584 on GPUs", "td2584", _td2584_arguments),
    "connect4": _report("the table of the report on Connect 4 with CUDA", "connect4", _connect4_arguments),
    "records": Study("games that are solved, from the first position", _records_arguments, "records.study", True),
    "plot": Study("figures of studies, of training, and of timelines", _plot_arguments, "figures.plot"),
}
