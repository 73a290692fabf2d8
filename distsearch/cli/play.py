"""``distsearch play``: whole games against chance."""

from ..api.declarations import of_command
from ..api.options import Options
from ..api.play import DEFAULT_GAMES
from .flags import add_game, add_options, add_resources, add_seed, add_trace, number, options_of, resources_of
from .launch import Launch, print_found


def add_arguments(parser):
    add_game(parser, position=False)
    parser.add_argument("--games", type=number("games"), metavar="N", help="how many (default 100)")
    add_seed(parser, "seed of all that chance does")
    parser.add_argument("--record", metavar="FILE", help="write a line of JSON a game, with its moves, to a new file")
    add_options(parser, of_command(Options, "play"))
    add_resources(parser, "play")
    add_trace(parser)


def run(args, argv):
    return Launch(resources_of(args), table=False).lead(
        lambda session: _play(args, session), (args.trace, args.game, args.board)
    )


def _play(args, session):
    options, _, _ = options_of(args)
    count = DEFAULT_GAMES if args.games is None else args.games
    print_found(session.played(options, count, args.seed, args.record), args.json)
    return 0
