"""``distsearch help``: what a game takes, what a command does, and the JSON Schema of a search's options."""

import json

from .. import evaluation, games
from ..api.declarations import among, json_schema
from ..api.options import Options, algorithms_of
from ..core.errors import UserError
from ..formats import stdout
from .arguments import COMMANDS, command_of, parser_of, program
from .flags import values_of


def add_arguments(parser):
    parser.add_argument(
        "topic",
        metavar="TOPIC",
        nargs="*",
        help="a game, a command, `study` with the name of one, or schema: the JSON Schema of a search's options",
    )


def run(args, argv):
    stdout.print_result(_text(args.topic))
    return 0


def _text(topic):
    if not topic:
        return f"{program().format_help()}\ngames: {', '.join(games.names())} (see distsearch help GAME)"
    name = topic[0]
    if name == "schema":
        return json.dumps(json_schema(Options), indent=2)
    if name in COMMANDS:
        study = topic[1] if name == "study" and len(topic) > 1 else None
        if study is not None:
            among("study", study, command_of(name).STUDIES)
        return parser_of(name, study).format_help().rstrip()
    if name in games.names():
        return _game(games.find(name))
    known = [*games.names(), *COMMANDS, "schema"]
    raise UserError(f"'{name[:40]}' is no game, command or schema; there is {', '.join(known)}")


def _game(game):
    """Return what a game takes, as a table."""
    least, usual, most = (f"{rows}x{columns}" for rows, columns in game.BOARDS)
    strongest, by_hand = evaluation.default(game, game.rules(game.BOARDS[1])), evaluation.hand_made(game)
    rules = [f"{name}={values_of(game, name)}" for name in game.OPTIONS]
    rows = {
        "players": "two" if game.PLAYERS == 2 else "one, against chance",
        "--board": f"{least} to {most}, default {usual}",
        "--rule": "; ".join(rules) or "none",
        "--algorithm": ", ".join(algorithms_of(game)),
        "--evaluation": f"{', '.join(evaluation.names(game))}; default {strongest}"
        + (f" ({by_hand} where no weights fit the board or rules)" if strongest != by_hand else ""),
    }
    return "\n".join([f"{game.NAME}", *(f"  {name:<14} {text}" for name, text in rows.items())])
