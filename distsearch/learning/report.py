"""What is said of training: its lines, for people, and what it came to."""

import json
from dataclasses import dataclass

from .. import __version__
from ..api.progress import compact

_MOST = 4  # tiles of a line


def line_text(line):
    """Return a line of ``Statistics`` or an evaluation as a text."""
    shares = [f"{tile} {share:.1%}" for tile, share in line["reached"].items()][:_MOST]
    what = f"  without learning, {line['evaluated']} games" if line["kind"] == "evaluation" else ""
    rate = f", {line['moves_per_second']:,} moves/s" if "moves_per_second" in line else ""
    return (
        f"{line['games']:>9,} games{what}  average {line['average']:,.0f}, maximum {line['maximum']:,}, "
        f"won {line['win_rate']:.1%} ({', '.join(shares)}){rate}"
    )


@dataclass
class Trained:
    """What training came to: see ``Training``; complete: whether all games were played."""

    options: dict
    games: int
    learnt: int  # games of this run
    moves: int
    seconds: float
    cpu_seconds: float
    merging: float  # seconds that merges took of rank 0
    collisions: tuple  # of rank 0: weights written, and those that somebody else had changed in between
    ranks: int
    hosts: int
    copies: int  # of the weights
    complete: bool
    saved: str | None

    def to_json(self):
        """Return all of it as one line of JSON."""
        written, lost = self.collisions
        return json.dumps(
            {
                **self.options,
                "played": self.games,
                "learnt": self.learnt,
                "moves": self.moves,
                "seconds": round(self.seconds, 3),
                "cpu_seconds": round(self.cpu_seconds, 3),
                "moves_per_second": round(self.moves / max(self.seconds, 1e-9)),
                "moves_per_cpu_second": round(self.moves / max(self.cpu_seconds, 1e-9)),
                "merging": round(self.merging, 3),
                "written": written,
                "collided": lost,
                "ranks": self.ranks,
                "hosts": self.hosts,
                "copies": self.copies,
                "complete": self.complete,
                "save": self.saved,
                "version": __version__,
            }
        )

    def to_text(self):
        """Return the same for people."""
        rate, cpu_rate = self.moves / max(self.seconds, 1e-9), self.moves / max(self.cpu_seconds, 1e-9)
        written, lost = self.collisions
        collided = f"\n  collisions {lost:,} of {written:,} writes ({lost / written:.2e})" if written else ""
        merging = f"\n  merging    {self.merging:.2f} s ({self.merging / self.seconds:.1%})" if self.merging else ""
        copies = f", {self.copies} copies of the weights" if self.copies > 1 else ""
        stopped = "" if self.complete else f" (stopped early: {self.options['games']:,} games were asked for)"
        saved = "" if self.saved is None else f"\n  saved      {self.saved}"
        return (
            f"{self.options['game']} {'x'.join(map(str, self.options['board']))}  {self.games:,} games learnt from"
            f"{stopped}\n  moves      {self.moves:,}: {compact(rate)} moves/s, {compact(cpu_rate)} a CPU second"
            f"{collided}{merging}{saved}\n"
            f"{self.seconds:.2f} s, {self.ranks} rank{'s' * (self.ranks > 1)}, "
            f"{self.hosts} host{'s' * (self.hosts > 1)}{copies}"
        )
