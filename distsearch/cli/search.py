"""``distsearch search``: one position."""

from ..api import parallel_evaluation
from ..api.applicability import SAMPLED, check
from ..api.book import WITHOUT, opened
from ..api.chance import begun
from ..api.declarations import given, of_command
from ..api.options import Options, Resources
from ..cluster import beginning
from ..core.errors import UserError
from ..formats.drawing import drawn
from .flags import add_game, add_options, add_run, options_of, resources_of
from .launch import Launch, print_found


def add_arguments(parser):
    add_game(parser)
    add_options(parser, of_command(Options, "search"))
    parser.add_argument(
        "--parallel",
        metavar="NAME",
        choices=("search", "evaluation"),
        help="search: ranks share the tree (default); evaluation, of othello: they share the squares of each board, "
        "which is slower than one rank alone",
    )
    add_run(parser, "search")


def run(args, argv):
    launch = Launch(resources_of(args), table=has_table(args))
    if args.parallel == "evaluation":  # on every rank
        beginning.all_have_met()  # MPI's start has returned, so all ranks are there
        return _evaluated_in_parallel(args, launch)
    return launch.lead(lambda session: _search(args, launch, session), (args.trace, args.game, args.board))


def has_table(args):
    """Return whether the search has a transposition table; raises UserError if one is asked for where it has none."""
    try:
        check(args, {"table": args.table or "default"})
    except UserError:
        if args.table is not None:
            raise
        return False
    return True


def _search(args, launch, session):
    own_seed = () if args.algorithm in SAMPLED else ("seed",)
    options, game, rules = options_of(args, own_seed, args.checkpoint if args.resume else None)
    text = args.position or "startpos"
    check(options, {"seed_of_start": args.seed, "position": text})
    position = begun(game, text, game.parse(text, rules), rules, args.seed or 0)
    check_book_of(args, options, session)
    checkpoint = launch.checkpoint(args, options, [position])

    def answers():
        for found in _answers(session, options, position, checkpoint):
            found.drawing = drawn(game, position, rules)
            yield found.as_asked(args.position)

    return launch.answer(args, checkpoint, answers)


def _answers(session, options, position, checkpoint):
    """Return the answer of the book, or those of a search, as an iterable of one."""
    found = session.book(options).outcome(position)
    return [found] if found else session.searcher(options).search([position], checkpoint)


def check_book_of(args, options, session):
    """Raise UserError where a book is named that cannot answer what is asked."""
    if args.book not in (None, WITHOUT):
        check(options, {"book": args.book, "trace": args.trace})
        if not session.book(options):
            searched = opened(args.book, options).searched or {}
            by, pruned = searched.get("evaluation"), searched.get("selective") or 1
            raise UserError(
                f"{args.book[:200]} has scores by {by}, selective {pruned}: it answers searches by {by} that are not "
                "exact, and prune as much or more"
            )


def _evaluated_in_parallel(args, launch):
    """Search with every board evaluated by all ranks together."""
    asked = {**given(args, Options), **given(args, Resources)}
    asked |= {name: vars(args)[name] for name in ("trace", "checkpoint", "resume") if vars(args)[name]}
    asked.pop("log_level", None)
    if args.book == WITHOUT:
        del asked["book"]
    options, game, rules = parallel_evaluation.checked(args.game, args.board, args.rules, **asked)
    position = game.parse(args.position or "startpos", rules)
    with launch.interrupts:
        found = parallel_evaluation.search(launch.comm, options, position, launch.interrupted, launch.progress)
    if found is not None:
        print_found(found, args.json)
    return launch.interrupts.exit_status
