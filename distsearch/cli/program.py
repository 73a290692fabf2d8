"""What the commands have in common by which other programs play: options of a search, and lines on stdin."""

import sys
from collections.abc import Callable

from ..api.declarations import of_command
from ..api.options import Options
from ..core.errors import UserError
from ..programs.engine import GAME, Engine
from ..programs.input import CommandInput
from .flags import add_options, add_resources, asked_of, options_of, resources_of
from .launch import Launch
from .search import check_book_of, has_table


def add_program(parser, command):
    """Add the flags of a command."""
    add_options(parser, of_command(Options, command))
    add_resources(parser, command)
    parser.set_defaults(game=GAME, board=None, rules={}, trace=None)


def lead(args, stops: Callable[[CommandInput], bool], converse: Callable[[Engine, CommandInput], None]) -> int:
    """Have ``converse(engine, lines)`` on rank 0; return the exit status.

    stops(lines): whether lines that have come, or a reader that has gone, are to end a search.
    """

    def talk(session):
        options, _, _ = options_of(args)
        check_book_of(args, options, session)
        if sys.stdin is None:
            raise UserError("stdin is closed: there are no commands to read")
        lines = CommandInput(sys.stdin.fileno(), _descriptor(sys.stdout))
        converse(Engine(session, asked_of(args), lambda: stops(lines)), lines)
        return 0

    return Launch(resources_of(args), table=has_table(args)).lead(talk)


def _descriptor(stream):
    """Return a stream's descriptor, or None where it has none."""
    try:
        return stream.fileno()
    except (OSError, ValueError):
        return None
