"""The compiled readers of games, called from Python."""

import numpy as np
import pytest

from distsearch.core.errors import UserError
from distsearch.games.interface import Position


def read(game, text, r):
    """Return the Position that the game's ``read`` finds in a text, or None where it declines."""
    content = np.frombuffer(bytearray(text.encode()), np.uint8)
    words = np.full(game.words(r), 2**64 - 1, np.uint64)
    side = game.read(content, 0, len(content), r, words)
    return None if side == -1 else Position(tuple(words), side)


def parsed(game, text, r):
    """Return the Position that ``parse`` finds in a text, or None where it raises UserError."""
    try:
        return game.parse(text, r)
    except UserError:
        return None


def refusal(read, text, r):
    """Return the one line by which ``read`` refuses a text."""
    with pytest.raises(UserError) as raised:
        read(text, r)
    message = str(raised.value)
    assert len(message.splitlines()) == 1
    return message
