"""``distsearch serve``: warm ranks that answer requests."""

import contextlib
import sys
import tempfile

from .. import games
from ..core.errors import UserError
from ..formats.stdout import print_result
from ..server.checkpoints import Checkpoints
from ..server.http.gateway import Address, Gateway, check_needed
from ..server.request_log import RequestLog
from ..server.request_queue import RequestQueue
from ..server.server import Server
from .flags import add_resources, checked, resources_of
from .launch import Launch


def add_arguments(parser):
    parser.add_argument("--socket", metavar="PATH", help="a Unix socket to serve at, instead of stdin and stdout")
    parser.add_argument(
        "--checkpoints",
        metavar="FOLDER",
        help="save there once a minute, and at the end, how far long searches of one position of a game of two players "
        "are; a request of the same search goes on from there",
    )
    parser.add_argument(
        "--http",
        metavar="HOST:PORT",
        type=checked(Address.parse),
        help="serve HTTP as well, or instead of stdin and stdout, and print the URL with the token; PORT alone is of "
        "this machine only, 0 one that is free",
    )
    parser.add_argument(
        "--log-requests",
        action="store_true",
        help="write a line to stderr for each search, each HTTP request and each refused message",
    )
    add_resources(parser, "serve")


def run(args, argv):
    launch = Launch(resources_of(args))
    if args.http is not None:
        check_needed()
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
    if args.socket is None and args.http is None and (sys.stdin is None or sys.stdout is None):
        raise UserError("stdin or stdout is closed: give --socket, or both")
    checkpoints = None if args.checkpoints is None else Checkpoints(args.checkpoints)
    queue = RequestQueue(session, checkpoints=checkpoints)
    log = contextlib.closing(RequestLog()) if args.log_requests else contextlib.nullcontext()
    with contextlib.closing(queue), _places(args) as (path, gateway), log as requests:

        def begin():
            _tell(args.socket, gateway, session)
            for problem in games.problems():
                session.progress.note(f"distsearch: {problem}")
            queue.warm(games.usable())

        def interrupted():
            if gateway is not None:
                gateway.tend()
            return session.interrupted()

        status = Server(queue, path, log=requests).serve(interrupted, begin)
    launch.interrupts.forgive()
    return status


@contextlib.contextmanager
def _places(args):
    """Yield the path of the socket, None for stdin and stdout, and the Gateway, None without HTTP."""
    if args.http is None:
        yield args.socket, None
        return
    with tempfile.TemporaryDirectory() as folder:
        path = args.socket or f"{folder}/socket"
        with Gateway(args.http, path, logs=args.log_requests) as gateway:
            yield path, gateway


def _tell(path, gateway, session):
    """Say on stderr where the service is, and on stdout the URL that a browser is to open."""
    where = " and ".join(filter(None, (path, gateway and gateway.url))) or "stdin"
    session.progress.note(f"serving {where} with {session.ranks} rank{'s' * (session.ranks > 1)}")
    if gateway is None:
        return
    if not gateway.loopback:
        session.progress.note("HTTP is not encrypted: others on the way can read the token; a tunnel is safe")
    print_result(gateway.url_with_token)
