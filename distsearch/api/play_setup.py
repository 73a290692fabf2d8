"""What ``play`` is asked for, as games between players."""

from dataclasses import dataclass
from typing import Any

from .. import games
from ..core.errors import UserError
from ..formats.drawing import SIDES
from .applicability import check
from .declarations import among
from .game_plan import GamePlan, usual_plies
from .options import Options, checked_seed, resolve
from .play import DEFAULT_GAMES
from .play_games import SHARES, Games
from .player_settings import parse_settings, player_options
from .players import Player

_SIDES = {"x": 0, "1": 0, "o": 1, "2": 1}


@dataclass
class PlayRequest:
    """Games of one program, with itself, another player, a person or chance; ``games_of`` makes them.

    games: how many, None for the usual number; given: the program's options by name; opponent: settings of what plays
    the other side, the sides in turn, or None; you: the side of a person, such as "X", or None; shown: whether a
    person watches or plays; share: see ``Games``, None for the usual; random_plies: with how many games of two players
    begin.
    """

    game: str
    board: str | None
    rules: dict[str, str]
    seed: int
    given: dict[str, Any]
    games: int | None = None
    record: str | None = None
    opponent: str | None = None
    you: str | None = None
    shown: bool = False
    share: str | None = None
    random_plies: int | None = None

    @property
    def in_parts(self) -> bool:
        """Whether workers play whole parts of games, see ``play``: expectimax against chance, not shown."""
        one_by_one = self.shown or self.share == "tree"
        if one_by_one or self.opponent is not None or self.random_plies is not None or self.given.get("clock"):
            return False
        if self.game not in games.names():
            return False
        return hasattr(games.find(self.game), "largest") and self.given.get("algorithm") in (None, "expectimax")

    def options(self, given: dict[str, Any]) -> Options | None:
        """Return the Options of a player of these games, None for the random one; raises UserError."""
        return player_options(self.game, self.board, self.rules, checked_seed(self.seed), given)


def games_of(session: Any, asked: PlayRequest, person: Player | None = None) -> Games:
    """Return the Games of a request; raises UserError. person: plays the side ``you``."""
    usual, game, rules = resolve(asked.game, asked.board, asked.rules)
    check(usual, {"opponent": asked.opponent, "random_plies": asked.random_plies})
    options = asked.options(asked.given)
    players: list[Options | Player | None] = [options, options] if game.PLAYERS == 2 else [options]
    labels, first = SIDES if game.PLAYERS == 2 else ("player",), (0, 1)
    if asked.opponent is not None:
        players[1], labels = asked.options(parse_settings(asked.opponent)), ("program", "opponent")
    if asked.you is not None:
        side = _side(asked, game.PLAYERS)
        players[-1], labels = person, ("program", "you")[-len(players) :]
        first = (1, 0) if game.PLAYERS == 2 and side == 0 else (0, 1)
    count = (1 if game.PLAYERS == 2 or asked.shown else DEFAULT_GAMES) if asked.games is None else asked.games
    plies = asked.random_plies
    if plies is None:
        plies = usual_plies(usual.board) if game.PLAYERS == 2 and count > 1 else 0
    alternate = asked.opponent is not None
    plan = GamePlan(game, rules, usual.rules, count, asked.seed, first, alternate, random_plies=plies)
    return Games(session, plan, usual.board, players, labels, _share(asked, count, players), asked.record)


def _side(asked, sides):
    """Return the side of a person, 0 or 1, in a game of so many."""
    side = _SIDES.get(asked.you.lower(), sides)
    if side >= sides:
        among = "X or 1, which moves first, or O or 2" if sides > 1 else "1, the player against chance"
        raise UserError(f"you '{asked.you[:20]}' is not a side: {among}")
    if asked.opponent is not None:
        raise UserError("opponent goes without you: a person plays that side")
    return side


def _share(asked, count, players):
    """Return how the games share the ranks: each has one rank where there are several, or a limit of nodes."""
    if asked.share is not None:
        among("share", asked.share, SHARES)
    if asked.shown and asked.share == "games":
        raise UserError("share games goes without watch and you: one game at a time can be shown")
    by_nodes = any(isinstance(player, Options) and player.nodes is not None for player in players)
    return asked.share or ("games" if not asked.shown and (count > 1 or by_nodes) else "tree")
