"""``distsearch book``: opening books: made, checked and read."""

from ..api import book_growth, book_maker
from ..api.book import BookAnswers, opened
from ..api.declarations import given, of_command
from ..api.options import Options, resolve
from ..core.errors import UserError
from .flags import add_game, add_options, add_resources, add_seed, number, options_of, resources_of
from .launch import Launch, print_found


def add_arguments(parser):
    add_game(parser)
    parser.add_argument(
        "--make",
        metavar="FILE",
        help="make a book: with --plies every position of the first plies, solved; with --positions those that good "
        "play is likeliest to reach, searched. What is solved or searched is kept in FILE.solved until the book is "
        "there, and the same command goes on with it",
    )
    parser.add_argument("--plies", type=number("plies"), metavar="N", help="of --make: moves from the start, at most")
    parser.add_argument(
        "--positions",
        type=number("positions"),
        metavar="N",
        help="of --make: grow a book to about N positions, the likeliest first, each searched by one rank under the "
        "limits below",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="check that every score and move follows from those one ply below; then solve a sample of the last ply, "
        "or, in a grown book with a limit of depth or nodes, search a sample of the leaves again",
    )
    parser.add_argument(
        "--sample", type=number("sample"), default=100, metavar="N", help="of --check: positions to solve (default 100)"
    )
    add_seed(parser, "of --check: seed of the sample")
    add_options(parser, of_command(Options, "book"))
    add_resources(parser, "book")


def run(args, argv):
    return Launch(resources_of(args)).lead(lambda session: _book(args, session))


def _book(args, session):
    _check_asked(args)
    if args.positions is not None:
        found = book_growth.grow(session, options_of(args)[0], args.make, args.positions)
    elif args.make is not None:
        found = book_maker.make(session, _exact(args), args.make, args.plies)
    elif args.check:
        found = _checked(args, session)
    else:
        return _tell(args, session)
    if found is not None:
        print_found(found, args.json)
    return 1 if found is None or found.wrong else 0


def _check_asked(args):
    ways = [args.plies, args.positions].count(None)
    if ways != (2 if args.make is None else 1) or args.make is not None and args.check:
        raise UserError("book takes --make FILE with --plies N or --positions N, --check, or a position")
    if args.positions is None and given(args, Options).keys() & of_command(Options, "book"):
        raise UserError("depth, time, nodes and selective go with --positions")
    if args.positions is not None and args.table is not None:
        raise UserError("table goes without --positions, for which each worker has a small table of its own")


def _exact(args, **more):
    return resolve(args.game, args.board, args.rules, exact=True, **more)[0]


def _checked(args, session):
    book = opened(args.book, _exact(args))
    if book.searched is None:
        return book_maker.check(session, _exact(args), args.book, args.sample, args.seed)
    options, _, _ = resolve(args.game, args.board, args.rules, **book.searched)
    return book_growth.check_grown(session, options, book, args.sample, args.seed)


def _tell(args, session):
    """Print what the book has of a position, with every move's score but of a leaf."""
    book = opened(args.book, _exact(args))
    how = {"exact": True} if book.searched is None else {"evaluation": book.searched["evaluation"]}
    for all_moves in (True, False):
        options, game, rules = resolve(args.game, args.board, args.rules, all_moves=all_moves, **how)
        position = game.parse(args.position or "startpos", rules)
        found = BookAnswers(book, options, session.cluster, every=True).outcome(position)
        if found is not None:
            print_found(found, args.json)
            return 0
    raise UserError(f"{book.name} has positions of up to {book.plies} plies, and not this one")
