"""``distsearch tune``: weights of an evaluation, by CMA-ES."""

from .. import evaluation, games
from ..api.declarations import declared, given, of_command
from ..api.options import Options
from ..api.tune import TuneBudget, tune
from .flags import add_game, add_options, add_resources, add_seed, options_of, resources_of
from .launch import Launch, print_found

_DEPTH = 3  # plies of each move's search, unless asked for otherwise


def add_arguments(parser):
    add_game(parser, position=False)
    add_options(parser, declared(TuneBudget))
    add_seed(parser, "seed of candidates and of all that chance does")
    parser.add_argument("--record", metavar="FILE", help="write a line of JSON a generation to a new file")
    add_options(parser, of_command(Options, "tune"))
    add_resources(parser, "tune")


def run(args, argv):
    return Launch(resources_of(args), table=False).lead(lambda session: _tune(args, session))


def _tune(args, session):
    depth = {"depth": _DEPTH} if args.layers is None else {}
    options, _, _ = options_of(args, evaluation=evaluation.hand_made(games.find(args.game)), **depth)
    found = tune(
        options,
        TuneBudget(**given(args, TuneBudget)),
        args.seed,
        session.cluster,
        session.progress,
        session.interrupted,
        record=args.record,
    )
    print_found(found, args.json)
    return 0
