"""``distsearch match``: games between two players, and how much stronger the first one is."""

from ..api.match import MatchRequest, match_of
from .flags import add_game, add_resources, add_seed, add_trace, number, resources_of
from .launch import Launch, print_found
from .play import refuse_trace_of_moves, refuse_unfit_book

_ASKED = "board", "rules", "seed", "games", "record", "openings", "random_plies", "sprt", "share"


def add_arguments(parser):
    add_game(parser, position=False)
    settings = "its options with commas between, as in depth=4,evaluation=patterns; or random"
    parser.add_argument("first", metavar="A", help=f"a player: {settings}")
    parser.add_argument("second", metavar="B", help="the other player")
    parser.add_argument(
        "--games",
        type=number("games"),
        metavar="N",
        help="how many, rounded up to an even number (default 100; with --sprt up to 20000)",
    )
    add_seed(parser, "seed of all that is random: openings, chance, the random player")
    parser.add_argument(
        "--openings", metavar="FILE", help="a position a line; each is played twice, the second time with sides changed"
    )
    parser.add_argument(
        "--random-plies",
        type=number("random-plies"),
        metavar="N",
        help="random plies of an opening, where there is no file of them (default: squares / 8, at most 8)",
    )
    parser.add_argument(
        "--sprt",
        metavar="ELO0,ELO1",
        help="stop once it is decided, with error rates of 5%%, whether A is stronger by ELO1 or only by ELO0",
    )
    parser.add_argument(
        "--share", metavar="NAME", help="games: each game on one rank (default); tree: all ranks on every move"
    )
    parser.add_argument("--record", metavar="FILE", help="write a line of JSON a game, with its moves, to a new file")
    add_resources(parser, "match")
    add_trace(parser)


def run(args, argv):
    return Launch(resources_of(args)).lead(lambda session: _match(args, session), (args.trace, args.game, args.board))


def _match(args, session):
    refuse_unfit_book(args)
    asked = {name: vars(args)[name] for name in _ASKED}
    games = match_of(session, MatchRequest(args.game, args.first, args.second, **asked))
    refuse_trace_of_moves(args, games)
    print_found(games.run(), args.json)
    return 0
