"""What games between players came to: wins, or points and tiles against chance; and what their moves took."""

import json
import statistics
from dataclasses import dataclass, field
from typing import Any

from .. import __version__
from .facts import compact
from .game_loop import GamePlay, Tally
from .intervals import mean_interval
from .metrics import RunFigures
from .play_summary import reached, score_lines, tile_lines


@dataclass
class GamesSummary(RunFigures):
    """What games came to. Scores are those of the first of the labels.

    labels: what the players are called, such as ("X", "O"); players: how each chooses moves; share: "games", a rank
    for each, or "tree", all ranks for each move; plays: the games that are over, in the order of their numbers.
    """

    game: str
    board: str
    unit: str  # of scores
    labels: tuple[str, ...]
    players: tuple[str, ...]
    seed: int
    share: str
    asked: int
    against_chance: bool
    scores: list[int] = field(default_factory=list)
    largest: list[int] = field(default_factory=list)  # tiles, where there are such
    tiles: list[dict[int, tuple[int, float]]] = field(default_factory=list)  # see ``GamePlay``
    different_openings: int | None = None  # of random plies, where the games are more and so begin as earlier ones
    tallies: tuple[Tally, Tally] = field(default_factory=lambda: (Tally(), Tally()))

    def add(self, play: GamePlay, score: int, largest: int | None) -> None:
        """Take in a game that is over; score: of side 0."""
        self.scores.append(-score if play.players[0] and not self.against_chance else score)
        if largest is not None:
            self.largest.append(largest)
            self.tiles.append(play.tiles)
        for tally, more in zip(self.tallies, play.tallies, strict=True):
            tally.join(more)

    @property
    def so_far(self) -> str:
        """What the games that are over came to, in a few words; nothing before the first one is."""
        if not self.scores:
            return ""
        if self.against_chance:
            return f"average {statistics.fmean(self.scores):,.0f}"
        signs = [(score > 0) - (score < 0) for score in self.scores]
        return f"{self.labels[0]} won {signs.count(1)}, drew {signs.count(0)}, lost {signs.count(-1)}"

    def figures(self) -> dict[str, Any]:
        """Return the figures by name; what cannot be told from so few games is None."""
        scores, found = self.scores, {}
        if not self.against_chance:
            signs = [(score > 0) - (score < 0) for score in scores]
            found = {"wins": signs.count(1), "draws": signs.count(0), "losses": signs.count(-1)}
        low, high = mean_interval(scores) if len(scores) > 1 else (None, None)
        found |= {
            "average": statistics.fmean(scores) if scores else None,
            "average_low": low,
            "average_high": high,
            "median": statistics.median(scores) if scores else None,
            "minimum": min(scores, default=None),
            "maximum": max(scores, default=None),
        }
        return found | ({"reached": self._reached()} if self.largest else {})

    def _reached(self):
        """Return rows of ``reached``, each with the median moves and seconds until its tile was made."""
        rows = reached(self.largest)
        for row in rows:
            made = [tiles[row["tile"]] for tiles in self.tiles if row["tile"] in tiles]
            moves, seconds = ([each[i] for each in made] for i in (0, 1))
            row["moves"] = statistics.median(moves) if made else None
            row["seconds"] = round(statistics.median(seconds), 6) if made else None
        return rows

    def to_json(self) -> str:
        """Return all of it as one line of JSON."""
        plain = self._shown("largest", "tiles", "tallies", "against_chance", "labels", "players")
        players = [
            {"label": label, "player": name, **_rounded(tally)}
            for label, name, tally in zip(self.labels, self.players, self.tallies, strict=False)
        ]
        return json.dumps(
            {**plain, "games": len(self.scores), "players": players, **self.figures(), "version": __version__}
        )

    def to_text(self) -> str:
        """Return the figures for people."""
        figures, games = self.figures(), len(self.scores)
        stopped = "" if self.complete else f" (stopped early: {self.asked} games were asked for)"
        shared = "each game on one rank" if self.share == "games" else "all ranks on every move"
        return "\n".join(
            [
                f"{self.game} {self.board}  {games} game{'s' * (games != 1)}, seed {self.seed}",
                *self._player_lines(),
                *self._result_lines(figures),
                *self._repeated_lines(),
                f"{self.seconds:.2f} s, {self.ranks} rank{'s' * (self.ranks > 1)}, {shared}{stopped}",
            ]
        )

    def _repeated_lines(self):
        if self.different_openings is None:
            return []
        return [f"  repeated   random plies lead to {self.different_openings:,} openings, fewer than were played"]

    def _player_lines(self):
        lines = []
        for label, name, tally in zip(self.labels, self.players, self.tallies, strict=False):
            took = f"{1000 * tally.seconds / max(tally.moves, 1):.3g} ms a move, {1000 * tally.slowest:.3g} at most"
            searched = ""
            if tally.searched:
                nodes, plies = compact(tally.nodes / tally.searched), tally.plies / tally.searched
                searched = f"; {nodes} nodes and {plies:.1f} plies a search"
            games = f"{tally.lost_on_time:,} game{'s' * (tally.lost_on_time != 1)}"
            late = f"; {games} lost on time" if tally.lost_on_time else ""
            lines.append(f"  {label:<10} {name}: {tally.moves:,} moves, {took}{searched}{late}")
        return lines

    def _result_lines(self, figures):
        games = {**figures, "games": len(self.scores)}
        if not self.scores:
            return []
        if self.against_chance:
            return [*score_lines(games), *(tile_lines(games) if self.largest else [])]
        first = self.labels[0]
        return [
            f"  results    {first} won {figures['wins']:,}, drew {figures['draws']:,}, lost {figures['losses']:,}",
            f"  score      average {figures['average']:+.4g} {self.unit} for {first}, "
            f"from {figures['minimum']:+} to {figures['maximum']:+}",
        ]


def _rounded(tally):
    return {name: round(value, 6) for name, value in vars(tally).items()}
