"""Progress lines of training, the file of JSON lines that records them, and the final summary."""

import json
import os
from dataclasses import dataclass

from .. import __version__
from ..api.facts import compact
from ..core.archive import replace
from ..core.errors import UserError

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
class TrainingResult:
    """What training came to: see ``Training``; complete: whether all games were played."""

    options: dict
    games: int
    learnt: int  # games of this run
    moves: int
    seconds: float
    cpu_seconds: float
    merging: float  # seconds that merges took of rank 0
    collisions: tuple  # of rank 0: weights written, and those that another rank had changed in between
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


class LearningCurve:
    """Lines of JSON in a file.

    path: None for no file; games: that were learnt from before, None: the file is a new one. Of a file that is gone on
    with, lines about more games go: they will come again. Where no game was kept all of it is kept, as FILE.old. Raises
    UserError if it cannot be read or written, or a new one is there already.
    """

    def __init__(self, path, games):
        self._path, self._file = path, None
        if path is None:
            return
        self._do(lambda: self._open(games))

    def _open(self, games):
        if games is not None and os.path.exists(self._path):
            with open(self._path, encoding="utf-8") as file:
                kept = [line for line in file if line.endswith("\n") and self._games(line) <= games]
            if games == 0 and os.path.getsize(self._path):
                os.replace(self._path, f"{self._path}.old")
            else:
                replace(self._path, lambda file: file.write("".join(kept).encode()))
        self._file = open(self._path, "x" if games is None else "a", encoding="utf-8")  # noqa: SIM115, ``close`` does

    def _games(self, line):
        try:
            return int(json.loads(line)["games"])
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise UserError(f"{self._path[:200]} is not a record of training") from error

    def add(self, line):
        """Write a dictionary as a line, for others to read at once."""
        if self._file is not None:
            self._do(lambda: print(json.dumps(line), file=self._file, flush=True))

    def close(self):
        """Write what is left."""
        if self._file is not None:
            self._do(self._file.close)

    def _do(self, write):
        try:
            write()
        except (OSError, ValueError) as error:  # ValueError: a name with a NUL, bytes that are no text
            reason = getattr(error, "strerror", None) or error
            raise UserError(f"cannot write {self._path[:200]}: {reason}") from error
