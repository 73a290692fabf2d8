"""What a client is told of a position without a search: its board, its moves, and what a move leads to."""

from typing import Any

from ..api.board import Board
from .limits import Limits
from .request import Refused


def look(message: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """Return the fields of the reply to a checked message of op ``look``; raises Refused or UserError.

    ``move``, if there is one, is played first, and then chance draws by ``seed`` until a player is to move.
    """
    asked = {name: value for name, value in message.items() if name not in ("op", "id", "move")}
    if len(asked.get("position", "")) > limits.position:
        raise Refused("bad_field", f"position has more than {limits.position} characters")
    board = Board(**asked)
    if "move" in message:
        board.push(message["move"])
        board.spawn()
    return {
        "game": board.game,
        "board": board.size,
        "points": board.points,
        "position": board.position,
        "cells": board.cells,
        "drawing": board.text,
        "side": board.side,
        "moves": board.legal_moves,
        "over": board.over,
        "result": board.result,
    }
