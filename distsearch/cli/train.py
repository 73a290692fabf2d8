"""``distsearch train``: networks of tuples, and Othello's patterns."""

from ..api.declarations import declared
from ..cluster import beginning
from ..formats import stdout
from ..learning.command import ITERATIONS, trainer_of
from ..learning.options import TrainOptions
from ..learning.replay import UPDATES
from .flags import add_game, add_options, add_resources, resources_of
from .launch import Launch


def add_arguments(parser):
    add_game(parser, position=False)
    add_options(parser, declared(TrainOptions))
    add_resources(parser, "train")
    parser.add_argument(
        "--iterations",
        metavar="N:D,...",
        help=f"of othello: games and search depth of each iteration, in place of games ({ITERATIONS})",
    )
    replay = parser.add_argument_group("games that were recorded")
    replay.add_argument("--replay", metavar="FILE", help="learn once from the games of a file of play --record instead")
    replay.add_argument(
        "--update",
        metavar="NAME",
        choices=UPDATES,
        help="games: each backward, one after another on a core (default); steps, with --device gpu: all at once, "
        "errors from the weights before",
    )
    files = parser.add_argument_group("files")
    files.add_argument("--save", metavar="FILE", help="write the weights there, .npz, for --evaluation")
    files.add_argument("--resume", action="store_true", help="go on with what the file has, if it is there")
    files.add_argument(
        "--weights-only", action="store_true", help="save a small file in the end, which cannot be resumed"
    )
    files.add_argument("--record", metavar="FILE", help="write a line of JSON for each 1,000 games to a new file")


def run(args, argv):
    launch = Launch(resources_of(args))  # learning takes no jobs from rank 0: every rank trains
    beginning.all_have_met()  # MPI's start has returned, so all ranks are there
    with launch.number_of_signal():
        return trainer_of(args.game)(args, launch.comm, launch.interrupts, launch.progress, stdout.print_result)
