"""What a client is told of a position without a search: its board, its moves, and what a move leads to."""

from typing import Any

import numpy as np

from ..api.chance import apply_initial_chance, begun
from ..api.meaning import of_value
from ..api.options import check_rules, checked_seed
from ..core.errors import UserError
from ..formats.drawing import SIDES, cells, drawn
from ..games import checked_board, find, parse_board
from ..games.interface import CHANCE, END, Position, legal_moves, read_position, step
from .limits import Limits
from .request import Refused


def look(message: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """Return the fields of the reply to a checked message of op ``look``; raises Refused or UserError.

    ``move``, if there is one, is played first, and then chance draws by ``seed`` until a player is to move.
    """
    text = message.get("position", "startpos")
    if len(text) > limits.position:
        raise Refused("bad_field", f"position has more than {limits.position} characters")
    game: Any = find(message["game"])
    board = checked_board(game, parse_board(message["board"]) if "board" in message else None)
    given = message.get("rules", {})
    check_rules(game, given)
    rules, seed = game.rules(board, **given), checked_seed(message.get("seed", 0))
    position, points = begun(game, text, read_position(game, text, rules), rules, seed), 0
    if "move" in message:
        position, points = _moved(game, position, message["move"], rules)
        if game.PLAYERS == 1:
            position = apply_initial_chance(game, position, rules, seed)
    return {"game": game.NAME, "board": f"{board[0]}x{board[1]}", "points": points, **_seen(game, position, rules)}


def _moved(game, position, text, rules):
    """Return (the Position after a move's text, the points it brought)."""
    move = game.parse_move(text, rules)
    if move not in legal_moves(game, position, rules):
        raise UserError(f"move {text[:40]} is not legal here")
    _, points = game.play(position.state, rules, np.int64(move))
    return step(game, position, rules, move), int(points)


def _seen(game, position: Position, rules):
    kind = int(game.kind(position.state, rules))
    moves = [] if kind in (END, CHANCE) else legal_moves(game, position, rules)
    return {
        "position": game.text(position, rules),
        "cells": cells(game, position, rules),
        "drawing": drawn(game, position, rules),
        "side": SIDES[position.side] if game.PLAYERS == 2 and kind != END else None,
        "moves": [game.move_text(move, rules) for move in moves],
        "over": kind == END,
        "result": _result(game, position, rules) if kind == END and game.PLAYERS == 2 else None,
    }


def _result(game, position, rules):
    score = int(game.final(position.state, rules))
    said = of_value(game, position, rules, score)
    return f"{SIDES[position.side]} {said}" if score else said
