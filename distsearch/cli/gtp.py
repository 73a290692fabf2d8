"""``distsearch gtp``: the engine for programs that speak the Go Text Protocol."""

from ..formats import stdout
from ..programs.gtp import Gtp, Stopped
from .program import add_program, lead


def add_arguments(parser):
    add_program(parser, "gtp")


def run(args, argv):
    return lead(args, lambda lines: lines.unread, _converse)


def _converse(engine, lines):
    gtp = Gtp(engine)
    while not gtp.ended and (line := lines.take(lambda: engine.interrupted)) is not None:
        try:
            response = gtp.answer(line)
        except Stopped:
            return
        if response is not None:
            stdout.write(response.encode())
