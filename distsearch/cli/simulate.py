"""``distsearch simulate``: a search on virtual workers."""

from ..api.chance import begun
from ..api.declarations import declared, given, of_command
from ..api.options import Options
from ..api.simulate import Machine, simulate
from .flags import add_game, add_options, add_resources, options_of, resources_of
from .launch import Launch, print_found


def add_arguments(parser):
    add_game(parser)
    add_options(parser, of_command(Options, "simulate"))
    add_options(parser, declared(Machine))
    parser.add_argument(
        "--explain",
        action="store_true",
        help="compare the nodes with those of one worker, by cause; with exact or depth",
    )
    add_resources(parser, "simulate")


def run(args, argv):
    return Launch(resources_of(args), table=False).lead(lambda session: _simulate(args, session))


def _simulate(args, session):
    options, game, rules = options_of(args)
    machine, text = Machine(**given(args, Machine)), args.position or "startpos"
    position = begun(game, text, game.parse(text, rules), rules, machine.seed)
    print_found(simulate(options, machine, position, session.progress, session.interrupted, args.explain), args.json)
    return 0
