"""``distsearch play``: whole games, of one player against chance or between two."""

from ..api.book import WITHOUT, opened
from ..api.declarations import given, of_command
from ..api.options import Options, resolve
from ..api.play_setup import PlayRequest, games_of
from ..core.errors import UserError
from .board_view import BoardView
from .flags import add_game, add_options, add_resources, add_seed, add_trace, number, resources_of
from .launch import Launch, print_found
from .person import Person


def add_arguments(parser):
    add_game(parser, position=False)
    parser.add_argument(
        "--games", type=number("games"), metavar="N", help="how many (default 1; against chance 100, unless shown)"
    )
    add_seed(parser, "seed of all that is random: chance, openings, the random player")
    parser.add_argument("--record", metavar="FILE", help="write a line of JSON a game, with its moves, to a new file")
    parser.add_argument(
        "--opponent",
        metavar="SETTINGS",
        help="what plays the other side of a game of two players, the sides in turn: random, or options such as "
        "depth=4,evaluation=static (default: the same as the program)",
    )
    parser.add_argument(
        "--you", metavar="SIDE", help="play this side in the terminal: X or 1 moves first, O or 2; against chance 1"
    )
    parser.add_argument("--watch", action="store_true", help="draw the board after each move")
    add_sharing(parser)
    add_options(parser, of_command(Options, "play"))
    add_resources(parser, "play")
    add_trace(parser)


def add_sharing(parser):
    """Add the flags of how games begin, and how they share the ranks."""
    parser.add_argument(
        "--share",
        metavar="NAME",
        help="games: each game on one rank (default of several games, and with nodes); tree: all ranks on every move",
    )
    parser.add_argument(
        "--random-plies",
        type=number("random-plies"),
        metavar="N",
        help="random plies that each game of two players begins with (default of a single game 0; of several 8, or "
        "one for 8 squares if that is less)",
    )


def run(args, argv):
    asked = PlayRequest(
        args.game,
        args.board,
        args.rules,
        args.seed,
        {name: vars(args)[name] for name in given(args, Options).keys() & of_command(Options, "play")},
        **{name: vars(args)[name] for name in ("games", "record", "opponent", "you", "share", "random_plies")},
        shown=args.watch or args.you is not None,
    )
    launch = Launch(resources_of(args), table=not asked.in_parts)
    return launch.lead(lambda session: _play(args, asked, launch, session), (args.trace, args.game, args.board))


def _play(args, asked, launch, session):
    refuse_unfit_book(args)
    if asked.in_parts:
        print_found(session.played(asked), args.json)
        return 0
    _, game, rules = resolve(args.game, args.board, args.rules)
    view = BoardView(game, rules, to_stderr=args.json)
    games = games_of(session, asked, Person(game, rules, view, launch.interrupts.suspended))
    refuse_trace_of_moves(args, games)
    print_found(games.run(view.watch if asked.shown else None), args.json)
    return 0


def refuse_unfit_book(args):
    """Raise UserError if the file that is named is no book of this game, board and rules."""
    if args.book not in (None, WITHOUT):
        opened(args.book, resolve(args.game, args.board, args.rules)[0])


def refuse_trace_of_moves(args, games):
    """Raise UserError if a timeline is asked for where every move is a run of its own."""
    if args.trace is not None and games.summary.share == "tree":
        raise UserError("trace goes with share games: by tree every move is a run of its own")
