"""How the command line is parsed: the commands there are, and the flags made of declared options.

A command is a row of ``COMMANDS`` and the module of its name here, which has ``add_arguments(parser)`` and
``run(args, argv)``, called on every rank; it returns the exit status. Modules are loaded when they are asked for.
"""

import argparse
import importlib
import re

from .. import __version__
from ..core.errors import UserError
from ..formats import stdout

COMMANDS = {
    "search": "best move and score of one position",
    "solve": "the same for every line of a file; exact without a limit",
    "play": "whole games: two players, against chance, against you; recorded, drawn",
    "match": "games between two players: points, Elo, a sequential test",
    "replay": "recorded games, shown move by move",
    "book": "makes, checks and reads an opening book",
    "train": "n-tuple networks by temporal differences; othello: patterns",
    "tune": "weights of an evaluation that play well, by CMA-ES",
    "sample": "boards out of recorded games, by how far these are",
    "perft": "count leaf positions by depth",
    "simulate": "the same search on virtual workers in virtual time",
    "study": "sweeps over ranks and policies, and the tables of reports",
    "bench": "fixed searches with a signature, node rates, message rates",
    "serve": "keep the ranks warm and answer requests",
    "nboard": "Othello for programs that speak NBoard's protocol",
    "gtp": "Othello for programs that speak the Go Text Protocol, version 2",
    "compile": "make the kernels of games beforehand, for images and clusters",
    "info": "ranks, hosts, MPI, GPUs, versions; fails if something is wrong",
    "help": "what a game takes, what a command does, the options' schema",
}


def command_of(name):
    """Return the module of a command."""
    return importlib.import_module(f".{name}", __package__)


class Parser(argparse.ArgumentParser):
    """Says what is wrong by a UserError, in one line."""

    def error(self, message):
        raise UserError(f"{message} (see {self.prog} --help)")

    def _print_message(self, message, file=None):
        """Print help or a version: argparse says nothing where stdout is full."""
        if message:
            stdout.write(message.encode())


def parse(argv):
    """Return the parsed arguments; options and positions may stand in any order after the command."""
    known, rest = _chosen(program(), "command", argv)
    if known.command == "study":
        known, rest = _chosen(studies(), "study", rest, known)
    parser = parser_of(known.command, getattr(known, "study", None))
    args = parser.parse_intermixed_args(_spelled(parser, rest), known)
    if "rule" in args:  # a game's own options: texts by name, from several flags
        from .flags import rules_of

        args.rules = rules_of(args)
    return args


def program():
    """Return the Parser of a command's name, which lists them all."""
    parser = Parser(prog="distsearch", description="Search game trees with every core of a cluster.")
    parser.add_argument("--version", action="version", version=f"distsearch {__version__}")
    return _listing(parser, "command", "commands", COMMANDS)


def studies():
    """Return the Parser of a study's name, which lists them all."""
    table = {name: row.help for name, row in command_of("study").STUDIES.items()}
    return _listing(Parser(prog="distsearch study", description=COMMANDS["study"]), "study", "studies", table)


def parser_of(command, study=None):
    """Return the Parser of a command's arguments; of ``study`` those of the study of that name, None: its name."""
    from .flags import add_rules_by_name

    if command == "study":
        if study is None:
            return studies()
        row = command_of(command).STUDIES[study]
        parser = Parser(prog=f"distsearch study {study}", description=row.help)
        row.add_arguments(parser)
    else:
        parser = Parser(prog=f"distsearch {command}", description=COMMANDS[command])
        command_of(command).add_arguments(parser)
    add_rules_by_name(parser)
    return parser


def _listing(parser, what, several, table):
    listed = "\n".join(f"  {name:<11} {text}" for name, text in table.items())
    parser.epilog = f"{several} (each has its own --help):\n{listed}"
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(what, metavar=what.upper(), choices=table)
    parser.add_argument("arguments", metavar="...", nargs=argparse.REMAINDER)
    return parser


def _chosen(parser, what, argv, known=None):
    """Return (the namespace with the name that arguments begin with, the arguments behind it)."""
    chosen = parser.parse_args(argv, known)
    rest = chosen.arguments
    del chosen.arguments
    return chosen, rest


def _spelled(parser, arguments):
    """Return arguments as argparse understands them: it takes the -1,1 that follows --window for an option."""
    found = []
    for i, argument in enumerate(arguments):
        if argument == "--":
            return found + list(arguments[i:])
        if re.fullmatch("--[a-z-]+=--", argument):  # it drops this value, and passes a list on
            parser.error(f"argument {argument[:-3]}: '--' is no value")
        if found and found[-1] == "--window" and re.match("[-+](?!-)", argument):
            found[-1] += f"={argument}"
        else:
            found.append(argument)
    return found
