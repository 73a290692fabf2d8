"""The rules of games, a module each; see ``interface`` for what such a module offers."""

import functools
import importlib
import importlib.util
import inspect
import re
from itertools import starmap
from pathlib import Path
from typing import Any

from ..core.errors import UserError
from ..core.kernel_folder import source_hash
from .interface import Board, Game

_GAMES = {
    "2048": "distsearch.games.g2048",
    "2584": "distsearch.games.g2584",
    "connect4": "distsearch.games.connect4",
    "othello": "distsearch.games.othello",
}
ENTRY_POINTS = "distsearch.games"  # the group in which other packages offer theirs: name = module


@functools.cache  # reading what every installed package offers takes 2 ms
def _others():
    import importlib.metadata  # which takes longer than the rest of this module

    return {point.name: point for point in importlib.metadata.entry_points(group=ENTRY_POINTS)}


def names() -> list[str]:
    """Return the names of the games there are, sorted: this package's and those of other packages, broken ones too."""
    return sorted({*_GAMES, *_others()})


def find(name: str) -> Game:
    """Return the module of the game called ``name``; raises UserError if there is none, or it cannot be used."""
    if name not in _GAMES and name not in _others():
        raise UserError(f"no game '{name[:40]}'; there is {', '.join(names())}")
    found = _loaded(name)
    if isinstance(found, str):
        raise UserError(found)
    return found


def usable() -> dict[str, Game]:
    """Return the modules of the games there are by name, sorted, without those that cannot be used."""
    return {name: found for name in names() if not isinstance(found := _loaded(name), str)}


def problems() -> list[str]:
    """Return a line for each game that cannot be used."""
    return [found for name in names() if isinstance(found := _loaded(name), str)]


def give_up(name: str, problem: str) -> None:
    """Have a game of another package count as one that cannot be used, for this reason."""
    _MODULES[name] = f"game {name} ({_others()[name].value}) cannot be used: {problem}"


_MODULES: dict[str, Any] = {}  # by name; even an import of what is there takes a hundredth of what a small request does


def _loaded(name):
    """Return the module of a game there is, or a line that says why it cannot be used."""
    if name not in _MODULES and name in _GAMES:
        _MODULES[name] = importlib.import_module(_GAMES[name])
    elif name not in _MODULES:
        try:
            module = _MODULES[name] = _others()[name].load()
            problem = _problem(module)
        except (Exception, SystemExit) as error:  # whatever the code of another package raises costs that game alone
            problem = f"{type(error).__name__}: {error}"
        if problem:
            give_up(name, problem)
    return _MODULES[name]


def _problem(module):
    """Return what a module lacks of a game, None if nothing."""
    needed = *Game.__annotations__, *(name for name in vars(Game) if not name.startswith("_"))
    if missing := [name for name in needed if not hasattr(module, name)]:
        return f"it has no {', '.join(missing)}"
    if module.PLAYERS not in (1, 2):
        return f"PLAYERS is {module.PLAYERS!r:.40}, not 1 or 2"
    if not isinstance(module.OPTIONS, dict) or not all(starmap(_is_option, module.OPTIONS.items())):
        return f"OPTIONS is {module.OPTIONS!r:.40}, not tuples of texts (or None) by name"
    taken = inspect.signature(module.rules).parameters
    if unknown := [name for name, values in module.OPTIONS.items() if values is None and name not in taken]:
        return f"rules() has no parameter {', '.join(unknown)}"
    knowledge(module)  # raises what the loading of a module may raise
    return None


def _is_option(name, values):
    """Whether this may be one of a game's OPTIONS: its name, and its values, None for any text."""
    texts = isinstance(values, tuple) and values and all(isinstance(value, str) for value in values)
    return isinstance(name, str) and name.isidentifier() and bool(values is None or texts)


def knowledge(game: Game):
    """Return the module that has a game's hooks: its knowledge module, or else the game's own module."""
    name = game.__name__ + "_knowledge"
    return importlib.import_module(name) if importlib.util.find_spec(name) else game


def functions(game: Game) -> dict:
    """Return the compiled functions of a game that engines are specialised with, by name.

    The hooks of ``knowledge`` replace plain ones: without ``ordered_moves``, ``moves`` stands in for it.
    """
    found = {name: getattr(game, name) for name in ("kind", "moves", "play", "final", "key", "moves_left")}
    hooks = knowledge(game)
    found["ordered_moves"] = getattr(hooks, "ordered_moves", game.moves)
    found["count_moves"] = getattr(hooks, "count_moves", None)
    return found


def tag(game: Game) -> str:
    """Return a name for kernels made from this game; a game of another package takes its sources' hash along."""
    if game.__name__.startswith(__name__):
        return game.NAME
    hooks = knowledge(game)
    return f"{game.NAME}_{source_hash(*(Path(m.__file__) for m in {game: 0, hooks: 0}))}"


def parse_board(text: str) -> Board:
    """Return (rows, columns) of ``6x8``; raises UserError."""
    match = re.fullmatch(r"([0-9]{1,3})[xX]([0-9]{1,3})", text)
    if not match:
        raise UserError(f"board '{text[:40]}' is not rows x columns, such as 8x8")
    return int(match[1]), int(match[2])


def checked_board(game: Game, board: Board | None) -> Board:
    """Return (rows, columns), the game's usual board for None; raises UserError if the game has no such board."""
    if board is None:
        return game.BOARDS[1]
    (least_rows, least_columns), _, (most_rows, most_columns) = game.BOARDS
    rows, columns = board
    if not (least_rows <= rows <= most_rows and least_columns <= columns <= most_columns):
        raise UserError(
            f"board {rows}x{columns} is not from {least_rows}x{least_columns} to {most_rows}x{most_columns}, "
            f"as {game.NAME} needs"
        )
    return rows, columns
