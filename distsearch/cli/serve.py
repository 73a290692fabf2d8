"""``distsearch serve``: warm ranks that answer requests."""

import sys

from .. import games
from ..core.errors import UserError
from ..server.request_queue import RequestQueue
from ..server.server import Server
from .flags import add_resources, resources_of
from .launch import Launch


def add_arguments(parser):
    parser.add_argument("--socket", metavar="PATH", help="a Unix socket to serve at, instead of stdin and stdout")
    add_resources(parser, "serve")


def run(args, argv):
    launch = Launch(resources_of(args))
    return launch.lead(lambda session: _serve(args, launch, session))


def _serve(args, launch, session):
    if args.socket is None and (sys.stdin is None or sys.stdout is None):
        raise UserError("stdin or stdout is closed: give --socket, or both")
    queue = RequestQueue(session)
    where = "stdin" if args.socket is None else args.socket
    told = f"serving {where} with {session.ranks} rank{'s' * (session.ranks > 1)}"

    def warm():
        session.progress.note(told)
        queue.warm(games.names(players=2))

    try:
        status = Server(queue, args.socket).serve(session.interrupted, warm)
    finally:
        queue.close()
    launch.interrupts.forgive()
    return status
