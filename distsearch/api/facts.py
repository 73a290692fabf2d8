"""How far work is: what is known of it, and a line of that for people, as long as there is room for."""

import unicodedata
from dataclasses import dataclass


@dataclass(frozen=True)
class Facts:
    """How far a session's work is. What is not known, or not there, is None.

    seconds: since it began, in which ``nodes`` were searched; done, total: how many of what is ``counted``,
    "subtrees", "positions" or "games", are done, and how many are known of; part: of what longer work this is one,
    such as "game 3/10"; more: what else a line should say;
    move, score, unit, bound, meaning: the answer so far of a search of one position, as in ``Outcome``, by a search of
    ``depth`` plies; depth_at_work: plies of the search at work, None to the end; ranks; busy_ranks: those that have
    work, not counting a master; seconds_left: of a limit of time; complete: this is the last one, and the
    work came to its end.
    """

    seconds: float
    nodes: int = 0
    counted: str = "subtrees"
    done: int = 0
    total: int | None = None
    part: str = ""
    more: str = ""
    move: str | None = None
    score: float | None = None
    unit: str | None = None
    bound: str = "exact"
    meaning: str | None = None
    depth: int | None = None
    depth_at_work: int | None = None
    ranks: int = 1
    busy_ranks: int | None = None
    seconds_left: float | None = None
    complete: bool = False

    @property
    def nodes_per_second(self) -> int:
        return round(self.nodes / self.seconds) if self.seconds > 0 else 0

    @property
    def line(self) -> str:
        """All of it as a line for people."""
        return self.within(None)

    def within(self, columns: int | None) -> str:
        """Return the line, without what matters least if it is longer than so many columns of a terminal."""
        parts = [(worth, text) for worth, text in self._parts() if text]
        while True:
            line = ", ".join(text for _, text in parts)
            if columns is None or width(line) <= columns or len(parts) < 2:
                return line
            parts.remove(min(parts))

    def _parts(self):
        """Return (what it is worth, text) of all that there is to tell, in order."""
        return [
            (5, self.part),
            (9, self._answer()),
            (5.5, "" if self.depth is None else f"depth {self.depth}"),
            (6, self._done()),
            (3, self.more),
            (2, f"{compact(self.nodes)} nodes" if self.nodes else ""),
            (4, f"{compact(self.nodes_per_second)} nodes/s" if self.nodes else ""),
            (1, self._busy()),
            (7, duration(self.seconds)),
            (8, self._left()),
        ]

    def _answer(self):
        if self.move is None:
            return ""
        if self.meaning is not None:
            words = self.meaning.partition(":")[0]
        elif self.score is not None:
            bound = {"lower": "at least ", "upper": "at most "}.get(self.bound, "")
            words = f"{bound}{self.score:+,.6g} {self.unit or ''}".rstrip()
        else:
            return f"best {self.move}"
        return f"best {self.move}: {words}"

    def _done(self):
        depth = "" if self.depth_at_work is None else f" of depth {self.depth_at_work}"
        if self.counted == "subtrees" and (self.total or 0) < 2:
            return f"at work{depth.replace(' of', ' on')}" if depth else ""
        of = "" if self.total is None else f"/{self.total:,}"
        rate = (
            f", {compact(self.done / self.seconds)} positions/s" if self.counted == "positions" and self.seconds else ""
        )
        return f"{self.done:,}{of} {self.counted}{depth}{rate}"

    def _busy(self):
        workers = max(1, self.ranks - 1)
        return "" if self.busy_ranks is None or self.ranks == 1 else f"{self.busy_ranks} of {workers} workers busy"

    def _left(self):
        """Subtrees are not alike: how long the others take, those that are done do not tell."""
        if self.seconds_left is not None:
            return f"{duration(self.seconds_left)} left"
        if self.counted == "subtrees" or not self.total or not self.done:
            return ""
        return f"about {duration(self.seconds / self.done * (self.total - self.done))} left"


def duration(seconds: float) -> str:
    """Return seconds as 7 s, 12:34 or 1:23:45."""
    return f"{seconds:.0f} s" if seconds < 99.5 else clock_time(seconds)


def clock_time(seconds: float) -> str:
    """Return seconds as 0:07, 12:34 or 1:23:45."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def compact(number: float) -> str:
    """Return a count in three or four digits and a unit: 999, 1.23 k, 45.6 M, 7.89 G."""
    units = ["", " k", " M", " G", " T"]
    while number >= 999.5 and len(units) > 1:
        number /= 1000
        del units[0]
    return f"{number:.0f}" if not units[0] else f"{number:.3g}{units[0]}"


def width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(map(_columns, text))


def clipped(text: str, columns: int) -> str:
    """Return the beginning of a text that takes so many columns at most, with "?" for what cannot be printed."""
    found, taken = [], 0
    for character in text:
        taken += _columns(character)
        if taken > columns:
            break
        found.append(character if character.isprintable() else "?")
    return "".join(found)


def _columns(character):
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
