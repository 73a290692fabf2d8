"""The rules of games, a module each; see ``interface`` for what such a module offers."""

import importlib

from ..errors import UserError

_GAMES = {"othello": "distsearch.games.othello"}


def names():
    """The games there are, sorted."""
    return sorted(_GAMES)


def find(name):
    """Return the module of the game called ``name``; raises UserError if there is none."""
    if name not in _GAMES:
        raise UserError(f"no game '{name[:40]}'; there is {', '.join(names())}")
    return importlib.import_module(_GAMES[name])


def knowledge(game):
    """Return the knowledge module beside a game's module, or None."""
    try:
        return importlib.import_module(game.__name__ + "_knowledge")
    except ModuleNotFoundError:
        return None
