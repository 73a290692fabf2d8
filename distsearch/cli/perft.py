"""``distsearch perft``: leaf positions counted by depth."""

from ..api.options import resolve
from ..api.perft import perft
from ..core.errors import UserError
from ..formats import positions as position_file
from .flags import add_game, add_search, number, resources_of
from .launch import Launch


def add_arguments(parser):
    add_game(parser)
    parser.add_argument("--depth", type=number("depth"), required=True, metavar="N", help="plies to count")
    parser.add_argument("--positions", metavar="FILE", help="count below every line of a file; - for stdin")
    add_search(parser, "perft")


def run(args, argv):
    launch = Launch(resources_of(args), table=False)
    return launch.lead(lambda session: _perft(args, launch, session), (args.trace, args.game, args.board))


def _perft(args, launch, session):
    asked = {} if args.prefetch is None else {"prefetch": args.prefetch}
    options, game, rules = resolve(args.game, args.board, args.rules, **asked)
    positions, bad = [], 0
    if args.positions is None:
        positions = [game.parse(args.position or "startpos", rules)]
    elif args.position is not None:
        raise UserError("position and --positions exclude each other")
    else:
        positions, bad = position_file.read(args.positions, game, rules, launch.interrupts, launch.print_error)
    if not positions:
        return 1
    checkpoint = launch.checkpoint(args, options, positions, plies=args.depth)
    more = session.cluster, session.progress, session.interrupted, checkpoint
    found = launch.answer(args, checkpoint, lambda: perft(options, args.depth, positions, *more))
    return found or int(bool(bad))
