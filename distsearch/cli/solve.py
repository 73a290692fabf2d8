"""``distsearch solve``: the positions of a file."""

from ..api.applicability import check
from ..api.declarations import given
from ..api.options import Options, solve_limits
from ..api.report import Report
from ..core.errors import UserError, print_error
from ..formats import positions as position_file
from ..formats import stdout
from ..formats.answer_log import SUFFIX
from .flags import add_game, add_search, options_of, resources_of
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
    if args.obf and (args.json or args.plain):
        raise UserError("obf is a form of output, and goes without json and plain")
    plain = args.plain or args.positions is None
    style = "json" if args.json else "obf" if args.obf else "lines" if plain else "table"
    path = "-" if args.positions is None else args.positions
    with position_file.opened(path) as descriptor:
        checkpoint = launch.checkpoint(args, options, (), [SUFFIX], output=style, check=args.check)
        # a program that sends positions by the way of Pons's solver counts on an answer to each line
        asked = descriptor, style, args.check, launch.print_error, checkpoint, args.positions is None
        report = Report(session, options, game, rules, *asked)
        report.run(stdout.write)
    if report.empty and launch.interrupts.signal is None:
        raise UserError(f"{position_file.name_of(path)} holds no position")
    if report.summary and not args.json:
        print_error(report.summary)
    return report.status
