"""``distsearch book``: opening books: made, checked and read."""

from ..api import book_maker
from ..api.book import opened
from ..api.options import resolve
from ..core.errors import UserError
from .flags import add_game, add_resources, add_seed, number, resources_of
from .launch import Launch, print_found


def add_arguments(parser):
    add_game(parser)
    parser.add_argument(
        "--make",
        metavar="FILE",
        help="make a book of every position of the first plies; what is solved is kept in FILE.solved until the book "
        "is there, and the same command goes on with it",
    )
    parser.add_argument("--plies", type=number("plies"), metavar="N", help="of --make: moves from the start, at most")
    parser.add_argument(
        "--check",
        action="store_true",
        help="check that every score and move follows from those one ply below, and solve a sample of the last ply",
    )
    parser.add_argument(
        "--sample", type=number("sample"), default=100, metavar="N", help="of --check: positions to solve (default 100)"
    )
    add_seed(parser, "of --check: seed of the sample")
    add_resources(parser, "book")


def run(args, argv):
    return Launch(resources_of(args)).lead(lambda session: _book(args, session))


def _book(args, session):
    if (args.make is None) != (args.plies is None) or args.make is not None and args.check:
        raise UserError("book takes --make FILE with --plies N, --check, or a position")
    options, game, rules = resolve(args.game, args.board, args.rules, exact=True)
    if args.make is not None:
        found = book_maker.make(session, options, args.make, args.plies)
    elif args.check:
        found = book_maker.check(session, options, args.book, args.sample, args.seed)
    else:
        position = game.parse(args.position or "startpos", rules)
        return _tell(args, session, position)
    if found is not None:
        print_found(found, args.json)
    return 1 if found is None or found.wrong else 0


def _tell(args, session, position):
    """Print what the book has of a position, with every move's score but at the last ply."""
    for all_moves in (True, False):
        options, _, _ = resolve(args.game, args.board, args.rules, exact=True, all_moves=all_moves)
        book = opened(args.book, options)
        found = session.book(options).outcome(position)
        if found is not None:
            print_found(found, args.json)
            return 0
    raise UserError(f"{book.name} has positions of up to {book.plies} plies, and not this one")
