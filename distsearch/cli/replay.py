"""``distsearch replay``: recorded games, shown move by move."""

import json

from ..cluster import mpi_runtime
from ..core.errors import UserError
from ..formats.game_records import read_games
from ..games.interface import CHANCE
from .board_view import BoardView
from .flags import number


def add_arguments(parser):
    parser.add_argument("record", metavar="FILE", help="games, as --record of play and match writes them")
    parser.add_argument(
        "--game", type=number("game", 1), metavar="N", help="only that of line N of the file, from 1 on"
    )
    parser.add_argument(
        "--move", type=number("move"), metavar="N", help="only the position after N moves, moves of chance included"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object a position")


def run(args, argv):
    if mpi_runtime.place()[1] > 0:
        return 0
    shown = 0
    for line, recorded in enumerate(read_games(args.record), 1):
        if args.game in (None, line):
            shown += 1
            _show(args, line, recorded)
    if not shown:
        raise UserError(f"game {args.game}: {args.record[:200]} has {line} games")
    return 0


def _show(args, line, recorded):
    """Show a game, all of which is legal."""
    game, rules = recorded.rules()
    positions = list(recorded.positions(game, rules))
    if args.move is not None and args.move >= len(positions):
        raise UserError(f"move {args.move}: the game of {recorded.where} has {len(positions) - 1} moves")
    view = BoardView(game, rules)
    if not args.json:
        view.say(f"{recorded.where}: {recorded.name} {recorded.board}, {recorded.result()}")
    moves = [None, *recorded.moves]
    for at, (position, _) in enumerate(positions):
        if args.move not in (None, at):
            continue
        if args.json:
            text = game.text(position, rules)
            view.say(json.dumps({"game": line, "move": at, "played": moves[at], "position": text}))
        elif args.move == at:
            view.show(position)
        else:
            view.made(moves[at], position, by_chance=at > 0 and game.kind(positions[at - 1][0].state, rules) == CHANCE)
