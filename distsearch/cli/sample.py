"""``distsearch sample``: boards out of recorded games."""

from ..api.options import Resources
from ..api.sample import CLASSES, sample
from ..formats import stdout
from ..formats.game_records import RecordFile
from .flags import add_seed, number
from .launch import Launch


def add_arguments(parser):
    parser.add_argument("game", metavar="GAME", help="its name: `distsearch help`")
    parser.add_argument("--record", required=True, metavar="FILE", help="games, as play --record writes them")
    parser.add_argument(
        "--class",
        dest="stage",
        required=True,
        choices=tuple(CLASSES),
        metavar="NAME",
        help="starter, normal or late: after 0-5%%, 40-60%% or 95-100%% of a game's moves",
    )
    parser.add_argument("--count", type=number("count"), default=100, metavar="N", help="boards to draw (default 100)")
    add_seed(parser, "seed of the choice")
    parser.add_argument("--output", metavar="FILE", help="a new file for them, instead of stdout")


def run(args, argv):
    return Launch(Resources(), table=False).lead(lambda session: _sample(args, session))


def _sample(args, session):
    texts = sample(
        args.game, args.record, args.stage, args.count, args.seed, session.progress, interrupted=session.interrupted
    )
    if texts and args.output is not None:
        with RecordFile(args.output) as file:
            file.write("\n".join(texts))
    elif texts:
        stdout.print_result("\n".join(texts))
    return 0
