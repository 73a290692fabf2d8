"""What many games of one player came to, in the figures that players of such games report."""

import json
import statistics
from dataclasses import dataclass

from .. import __version__
from .facts import compact
from .intervals import mean_interval, share_interval
from .metrics import RunFigures
from .options import CHANCES


def reached(largest):
    """Return for each tile that was some game's largest, the largest one first, how many games had it or a larger one.

    As dictionaries: tile, games, share, and low and high, the 95% interval of the share.
    """
    found = []
    for tile in sorted(set(largest), reverse=True):
        count = sum(each >= tile for each in largest)
        low, high = share_interval(count, len(largest))
        found.append({"tile": tile, "games": count, "share": count / len(largest), "low": low, "high": high})
    return found


@dataclass
class Summary(RunFigures):
    """What games came to. scores, largest (tile): of those that are over, in the order of their numbers.

    depth, depth_by_empty, node_limit, time: of the search of a move. moves (the player's), nodes, expanded (of these,
    those in which the player's moves were tried), seconds and cpu_seconds (of workers) are of all, of those too that
    were stopped. slowest: seconds of the move that took longest, of games with a limit of time.
    """

    game: str
    board: str
    evaluation: str
    depth: int | None
    min_probability: float
    chance: str
    seed: int
    asked: int
    scores: list
    largest: list
    moves: int
    nodes: int
    expanded: int
    depth_by_empty: tuple = ()
    node_limit: int | None = None
    time: float | None = None
    slowest: float = 0.0

    def figures(self) -> dict:
        """Return the figures by name; what cannot be told from so few games is None."""
        scores = self.scores
        low, high = mean_interval(scores) if len(scores) > 1 else (None, None)
        return {
            "games": len(scores),
            "average": statistics.fmean(scores) if scores else None,
            "average_low": low,
            "average_high": high,
            "median": statistics.median(scores) if scores else None,
            "maximum": max(scores, default=None),
            "reached": reached(self.largest),
            "moves_per_second": round(self.moves / max(self.seconds, 1e-9)),
            "moves_per_cpu_second": round(self.moves / max(self.cpu_seconds, 1e-9)),
        }

    def to_json(self) -> str:
        """Return all of it as one line of JSON."""
        return json.dumps({**self._shown("scores", "largest"), **self.figures(), "version": __version__})

    def to_text(self) -> str:
        """Return the figures for people."""
        figures = self.figures()
        rate, cpu_rate = compact(figures["moves_per_second"]), compact(figures["moves_per_cpu_second"])
        nodes = compact(self.nodes / max(self.seconds, 1e-9))
        stopped = "" if self.complete else f" (stopped early: {self.asked} games were asked for)"
        return "\n".join(
            [
                f"{self.game} {self.board}  {figures['games']} games, {self._how()}",
                *score_lines(figures),
                *tile_lines(figures),
                f"  moves      {self.moves:,}: {rate} moves/s, {cpu_rate} a worker's CPU second; {nodes} nodes/s",
                *([f"  slowest    {1000 * self.slowest:.1f} ms a move"] if self.time else []),
                f"{self.seconds:.2f} s, {self.ranks} rank{'s' * (self.ranks > 1)}, {self.jobs} jobs{stopped}",
            ]
        )

    def _how(self):
        limits = {
            "depth": depth_text(self.depth, self.depth_by_empty) if self.depth else None,
            "nodes": self.node_limit,
            "time": self.time,
            "min-probability": self.min_probability or None,
            "chance": None if self.chance == CHANCES[0] else self.chance,
            "seed": self.seed,
        }
        return ", ".join([self.evaluation, *(f"{name} {value}" for name, value in limits.items() if value is not None)])


def depth_text(depth, depth_by_empty):
    """Return a depth, and other ones for boards with few empty cells before it, for people."""
    return ", ".join([*(f"{plies} at {most} empty" for most, plies in depth_by_empty), str(depth)])


def score_lines(figures):
    """Return lines for people: the scores of games against chance."""
    if not figures["games"]:
        return []
    low, high = figures["average_low"], figures["average_high"]
    interval = "" if low is None else f" (95%: {low:,.0f} to {high:,.0f})"
    return [
        f"  score      average {figures['average']:,.0f}{interval}, median {figures['median']:,.0f}, "
        f"maximum {figures['maximum']:,}"
    ]


def tile_lines(figures):
    """Return lines for people: a line for each tile, with when it was made where that is known."""
    return [
        f"  reached    {each['tile']:>7}  {each['games']:>7,} of {figures['games']:,}  {each['share']:>6.1%}  "
        f"(95%: {each['low']:.1%} to {each['high']:.1%}){_made(each)}"
        for each in figures["reached"]
    ]


def _made(row):
    if row.get("moves") is None:
        return ""
    return f", after {row['moves']:,g} moves and {row['seconds']:.3g} s"
