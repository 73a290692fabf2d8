"""``distsearch solve``: the positions of a file."""

import contextlib

from ..api.answer_text import DEFAULT_FIELDS as DEFAULT
from ..api.answer_text import Csv, Json, Table, checked_fields
from ..api.applicability import check
from ..api.declarations import given
from ..api.options import Options, solve_limits
from ..api.parquet import ParquetRows
from ..api.report import Report
from ..core.errors import UserError, print_error
from ..formats import positions as position_file
from ..formats import stdout
from ..formats.answer_log import SUFFIX
from .flags import add_game, add_search, checked, options_of, resources_of
from .launch import Launch
from .search import check_book_of, has_table


def add_arguments(parser):
    add_game(parser, position=False)
    parser.add_argument(
        "--positions",
        metavar="FILE",
        help="a position a line, - is stdin; blank lines are skipped, %% begins a comment; without this option: stdin, "
        "plain scores as output, and a blank line is the first position",
    )
    parser.add_argument("--plain", action="store_true", help="plain scores, a line each, with --positions as well")
    parser.add_argument(
        "--obf",
        action="store_true",
        help="of othello: print Othello Board Files, a position a line with its best move, with -a all of them",
    )
    parser.add_argument(
        "--csv", action="store_true", help="print a table with commas, whose first line names the fields"
    )
    parser.add_argument(
        "--fields",
        type=checked(checked_fields),
        metavar="NAME,...",
        help="the fields to print, by their names in --json. Alone it implies --csv. `default` stands for "
        f"{','.join(DEFAULT)}. Without --fields, --csv and --parquet have these, and --json has all",
    )
    parser.add_argument(
        "--parquet", metavar="FILE", help="write the fields to a file of Apache Parquet instead (extra parquet)"
    )
    parser.add_argument("--check", action="store_true", help="compare with the score that ends each line")
    add_search(parser, "solve")


def run(args, argv):
    launch = Launch(resources_of(args), table=has_table(args))
    return launch.lead(lambda session: _solve(args, launch, session), (args.trace, args.game, args.board))


def _solve(args, launch, session):
    more = solve_limits(args.game, given(args, Options))
    options, game, rules = options_of(args, (), args.checkpoint if args.resume else None, **more)
    check(options, {"solve": True, "check": args.check, "obf": args.obf})
    check_book_of(args, options, session)
    form, finish = _form(args)
    path = "-" if args.positions is None else args.positions
    with position_file.opened(path) as descriptor:
        output = {
            "output": form if isinstance(form, str) else type(form).__name__,
            "fields": ",".join(args.fields or ()),
        }
        checkpoint = launch.checkpoint(args, options, (), [SUFFIX], **output, check=args.check)
        # a program that sends positions by the way of Pons's solver counts on an answer to each line
        asked = descriptor, form, args.check, launch.print_error, checkpoint, args.positions is None
        report = Report(session, options, game, rules, *asked)
        with finish:
            report.run(stdout.write)
            if report.empty and launch.interrupts.signal is None:
                raise UserError(f"{position_file.name_of(path)} holds no position")
    if report.summary and not args.json:
        print_error(report.summary)
    return report.status


def _form(args):
    """Return (how answers are written, a context in which they are); raises UserError."""
    asked = [name for name in ("obf", "csv", "parquet", "json", "plain") if vars(args)[name]]
    if len(asked) > 1 and asked != ["json", "plain"]:  # which was JSON before there were others
        raise UserError(f"{asked[0]} is a form of output, and goes without {' and '.join(asked[1:])}")
    if args.fields and asked and asked[0] in ("obf", "plain"):
        raise UserError(f"fields goes with json, csv and parquet, not with {asked[0]}")
    if args.parquet:
        if args.checkpoint:
            raise UserError("parquet goes without checkpoint: its file is written anew")
        written = ParquetRows(args.parquet, args.fields or DEFAULT)
        return written, written
    if args.obf:
        return "obf", contextlib.nullcontext()
    if args.csv or args.fields and not args.json:
        return Csv(args.fields or DEFAULT), contextlib.nullcontext()
    if args.json:
        return Json(args.fields), contextlib.nullcontext()
    plain = args.plain or args.positions is None
    return "lines" if plain else Table(), contextlib.nullcontext()
