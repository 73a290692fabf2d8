"""``distsearch serve``: warm ranks that answer requests."""

import sys

from .. import games
from ..core.errors import UserError
from ..server.checkpoints import Checkpoints
from ..server.request_queue import RequestQueue
from ..server.server import Server
from .flags import add_resources, resources_of
from .launch import Launch


def add_arguments(parser):
    parser.add_argument("--socket", metavar="PATH", help="a Unix socket to serve at, instead of stdin and stdout")
    parser.add_argument(
        "--checkpoints",
        metavar="FOLDER",
        help="save there once a minute, and at the end, how far long searches of one position of a game of two players "
        "are; a request of the same search goes on from there",
    )
    add_resources(parser, "serve")


def run(args, argv):
    launch = Launch(resources_of(args))
    give_up_different_games(launch.comm)
    return launch.lead(lambda session: _serve(args, launch, session), guarded=True)


def give_up_different_games(comm):
    """Serve no game that is not the same on every rank: where it is missing, a request would end the service.

    comm: of all ranks, or None for this one alone.
    """
    own = {name: games.tag(game) for name, game in games.usable().items()}
    for rank, other in enumerate(comm.allgather(own) if comm else ()):
        for name, tag in own.items():
            if other.get(name) != tag:
                games.give_up(name, f"rank {rank} has none, or another one")


def _serve(args, launch, session):
    if args.socket is None and (sys.stdin is None or sys.stdout is None):
        raise UserError("stdin or stdout is closed: give --socket, or both")
    queue = RequestQueue(session, checkpoints=args.checkpoints and Checkpoints(args.checkpoints))
    where = "stdin" if args.socket is None else args.socket
    told = f"serving {where} with {session.ranks} rank{'s' * (session.ranks > 1)}"

    def warm():
        session.progress.note(told)
        for problem in games.problems():
            session.progress.note(f"distsearch: {problem}")
        queue.warm(games.usable())

    try:
        status = Server(queue, args.socket).serve(session.interrupted, warm)
    finally:
        queue.close()
    launch.interrupts.forgive()
    return status
