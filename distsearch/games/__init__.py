"""The rules of games, a module each; see ``interface`` for what such a module offers."""

import functools
import importlib
import importlib.util
import re
from pathlib import Path

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


def names(players: int | None = None) -> list[str]:
    """The games there are, sorted: this package's and those of other packages; players: only those of so many."""
    every = sorted({*_GAMES, *_others()})
    return every if players is None else [name for name in every if players == find(name).PLAYERS]


@functools.cache  # even an import of what is there takes a hundredth of what a small request does
def find(name: str) -> Game:
    """Return the module of the game called ``name``; raises UserError if there is none."""
    if name in _GAMES:
        return importlib.import_module(_GAMES[name])
    others = _others()
    if name not in others:
        raise UserError(f"no game '{name[:40]}'; there is {', '.join(names())}")
    return others[name].load()


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
