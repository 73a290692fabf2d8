"""A bot for OpenSpiel's games of Othello, Connect Four and 2048: it makes the move that a search finds.

python examples/openspiel_bot.py connect_four

plays a game between it and a bot that moves at random. It takes ``open_spiel``.
"""

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

import pyspiel

import distsearch

_MOVES_2048 = "up", "right", "down", "left"  # by OpenSpiel's numbers
_PASS = 64


class _Game(NamedTuple):
    """name: of the game here; position(state): its text; action(move): OpenSpiel's number of a move."""

    name: str
    position: Callable[[Any], str]
    action: Callable[[str], int]


def _squares(state):
    played = ("pass" if a == _PASS else f"{'abcdefgh'[a % 8]}{a // 8 + 1}" for a in state.history())
    return "".join(played) or "startpos"


def _columns(state):
    return "".join(str(a + 1) for a in state.history()) or "startpos"


def _square(move):
    return _PASS if move == "pass" else 8 * (int(move[1]) - 1) + "abcdefgh".index(move[0])


GAMES = {
    "othello": _Game("othello", _squares, _square),
    "connect_four": _Game("connect4", _columns, lambda move: int(move) - 1),
    "2048": _Game("2048", lambda state: ",".join(str(state).split()), _MOVES_2048.index),
}


class SearchBot(pyspiel.Bot):
    """A player of one of GAMES. session: an open ``distsearch.Session``; limits: options of its searches."""

    def __init__(self, session: distsearch.Session, game: str, **limits: Any):
        pyspiel.Bot.__init__(self)
        self._session, self._game, self._limits = session, GAMES[game], limits

    def restart_at(self, state: Any) -> None:
        """Nothing is kept from one state to another."""

    def step(self, state: Any) -> int:
        """Return the number of the action to take."""
        found = self._session.search(self._game.name, self._game.position(state), **self._limits)
        return state.legal_actions()[0] if found.move is None else self._game.action(found.move)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", nargs="?", choices=GAMES, default="connect_four")
    parser.add_argument("--depth", type=int, default=6)
    args = parser.parse_args()
    state = pyspiel.load_game(args.game).new_initial_state()
    with distsearch.Session() as session:
        bot = SearchBot(session, args.game, depth=args.depth)
        others = [pyspiel.make_uniform_random_bot(1, 1)] if state.num_players() == 2 else []
        returns = pyspiel.evaluate_bots(state, [bot, *others], 1)
    print(f"{args.game}: {returns[0]:+g} for the search after {len(state.history())} actions")


if __name__ == "__main__":
    main()
