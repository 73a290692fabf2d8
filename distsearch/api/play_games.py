"""Games between players: one after another with all ranks on every move, or each on a rank of its own."""

import math
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

from ..formats.drawing import SIDES
from ..formats.game_records import LOST_ON_TIME, GameRecords
from .facts import Facts
from .game_loop import GamePlay, Watch, play_on, score_of
from .game_plan import GamePlan
from .games_summary import GamesSummary
from .options import Options
from .players import Player, RandomPlayer, SearchPlayer, setting_name
from .progress import Part
from .rank_games import PlayerGames, setup_of
from .run import run

SHARES = "games", "tree"  # each game on one rank; all ranks on every move


class Games:
    """The games of a plan between players.

    board: its (rows, columns); players: each by its Options, None for the random player, or a Player, which no worker
    can be; labels: what to call them; share: one of SHARES; record: the name of a file to make, with a line for each
    game. ``ended(play)``: called for every game that is over, in the order of their numbers, and returns whether to
    stop there.
    """

    def __init__(
        self,
        session: Any,
        plan: GamePlan,
        board: Any,
        players: Sequence[Options | Player | None],
        labels: Sequence[str],
        share: str = "tree",
        record: str | None = None,
        summary: type[GamesSummary] = GamesSummary,
    ):
        clocks = [each.clock if isinstance(each, Options) else None for each in players]
        self._session, self._players = session, players
        self._plan = replace(plan, clocks=(*clocks, None)[:2])
        self._board, self._record = board, record
        self.ended: Callable[[GamePlay], bool] = lambda play: False
        self.summary: Any = summary(
            game=plan.game.NAME,
            board=f"{board[0]}x{board[1]}",
            unit=plan.game.UNIT,
            labels=tuple(labels),
            players=tuple(map(_name, players)),
            seed=plan.seed,
            share=share,
            asked=plan.count,
            against_chance=plan.game.PLAYERS != 2,
            ranks=session.cluster.ranks,
            workers=session.cluster.workers,
            complete=False,
        )

    def run(self, watch: Watch | None = None) -> GamesSummary:
        """Play; return the summary of the games that are over. watch: see ``play_on``. Raises UserError."""
        by_games = self.summary.share == "games"
        self.summary.complete = self._timed(self._by_games if by_games else partial(self._by_tree, watch))
        self.summary.different_openings = self._plan.different_openings
        self._session.progress.clear()
        return self.summary

    def _by_tree(self, watch, take_in):
        """Play one game after another, all ranks on every move; return whether that came to its end."""
        plan, play = self._plan, None

        def part():
            if play is None:
                return f"game 1/{plan.count}"
            moves = play.earlier + len(play.codes) - play.chance_steps
            so_far = f" ({self.summary.so_far})" if self.summary.scores else ""
            return f"game {play.number + 1}/{plan.count}{so_far}, move {moves + 1}"

        progress = Part(self._session.progress, part)
        players = [self._made(player, progress) for player in self._players]
        for number in range(plan.count):
            play = plan.begin(number)
            play_on(plan.game, plan.rules, play, players, watch=watch)
            if not play.over or take_in(play):
                return play.over
            if progress.due():
                progress.show("")
        return True

    def _by_games(self, take_in):
        """Play each game on one rank; return whether that came to its end."""
        plan, session = self._plan, self._session
        session.check_no_gpu("games that have a rank each")
        for player in self._players:  # this compiles what workers then find
            self._made(player, session.progress)
        source = PlayerGames(plan, take_in)
        options = [each for each in self._players if each is None or isinstance(each, Options)]
        setup = setup_of(plan.game, self._board, plan.options, options, session.book_file)

        def describe(_, seconds):
            nodes, more = sum(tally.nodes for tally in self.summary.tallies), self.summary.so_far
            return Facts(seconds, nodes, counted="games", done=source.over, total=plan.count, more=more)

        run(session.cluster, setup, source, session.progress, session.interrupted, describe, prefetch=1)
        return source.done

    def _made(self, player, progress):
        """Return the Player, whose searches all ranks share."""
        session = self._session
        if player is None:
            return RandomPlayer(self._plan.game, self._plan.rules)
        if not isinstance(player, Options):
            return player
        session.check_gpu(player.setup(), player.depth)
        return SearchPlayer(player, session.cluster, progress, session.interrupted, session.book_file)

    def _timed(self, play_all):
        """Return what ``play_all(take_in)`` does, which is to hand games that are over to ``take_in(play)``."""
        began = time.perf_counter()
        with nullcontext() if self._record is None else self._records(self._record) as records:
            found = play_all(lambda play: self._take_in(play, records))
        self.summary.seconds = time.perf_counter() - began
        self.summary.cpu_seconds = sum(tally.cpu for tally in self.summary.tallies)
        return found

    def _records(self, path):
        plan = self._plan
        heading = {"game": plan.game.NAME, "board": self.summary.board, "seed": plan.seed, **plan.options}
        return GameRecords(path, plan.game, plan.rules, heading)

    def _take_in(self, play, records):
        """Add a game to summary and record; return whether it is the last one."""
        game, rules, summary = self._plan.game, self._plan.rules, self.summary
        score = score_of(game, rules, play)
        largest = game.largest(play.position.state, rules) if hasattr(game, "largest") else None
        summary.add(play, score, largest)
        if records is not None:
            names = [summary.players[number] for number in play.players]
            fields = dict(zip(SIDES, names, strict=True)) if game.PLAYERS == 2 else {"player": names[0]}
            fields |= {"score": score, **({} if largest is None else {"largest": largest}), **_times(play)}
            records.write_game(play.number, play.start, play.codes, fields)
        return self.ended(play)


def _times(play):
    """Return the fields of a record that tell the clocks of a game, if there were any."""
    if not any(play.clocks):
        return {}
    left = [None if math.isnan(seconds) else round(seconds, 3) for seconds in play.seconds_left]
    lost = {} if play.lost_on_time is None else {LOST_ON_TIME: SIDES[play.lost_on_time]}
    return {"seconds_left": left, **lost}


def _name(player):
    return setting_name(player) if player is None or isinstance(player, Options) else player.name
