"""``distsearch nboard``: the engine for NBoard, and other programs that speak its protocol."""

from ..formats import stdout
from ..programs.nboard import NBoard, ends_search
from .program import add_program, lead


def add_arguments(parser):
    add_program(parser, "nboard")


def run(args, argv):
    return lead(args, _stops, _converse)


def _stops(lines):
    lines.look()
    return lines.unread or any(map(ends_search, lines.waiting))


def _converse(engine, lines):
    nboard = NBoard(engine, stdout.print_result)
    while not nboard.ended and (line := lines.take(lambda: engine.interrupted)) is not None:
        nboard.take(line)
