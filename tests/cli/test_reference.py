"""docs/command-line.md is what the parsers say."""

from pathlib import Path

from distsearch.cli.arguments import COMMANDS, command_of, parser_of
from distsearch.cli.reference import reference

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"


def test_the_page_is_made_from_the_parsers():
    assert PAGE.read_text(encoding="utf-8") == f"{reference()}\n"


def test_every_flag_is_explained():
    parsers = [parser_of(name) for name in COMMANDS if name != "study"]
    parsers += [parser_of("study", name) for name in command_of("study").STUDIES]
    unexplained = [
        f"{parser.prog} {action.dest}" for parser in parsers for action in parser._actions if not action.help
    ]
    assert unexplained == []
