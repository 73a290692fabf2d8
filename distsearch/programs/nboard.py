"""NBoard's protocol, version 2, by which the NBoard program shows and plays games of Othello: commands in, lines out.

A ``ping`` ends a search, and programs send one before the game changes. ``go`` heeds the clock of the game, and no
search goes deeper than ``set depth`` says but at the end of the game. The contempt changes nothing, for books hold no
values of draws by it; ``learn`` changes no book either.
"""

import re
from collections.abc import Callable, Iterator

from ..api.clock import Clock
from ..api.result import Outcome
from ..core.errors import UserError
from ..formats import ggf
from ..games.interface import Position
from .engine import Engine

NAME = "distsearch"
_DEEPEST = 60
_ENDING = re.compile(r"\s*(ping|quit)\b")


def ends_search(line: str) -> bool:
    """Whether a command ends the search that goes on."""
    return _ENDING.match(line) is not None


class NBoard:
    """The engine's side of the protocol; ``send(text)`` is called with each line for the program.

    ``ended``: it was told to quit.
    """

    def __init__(self, engine: Engine, send: Callable[[str], None]):
        self._engine, self._send, self.ended = engine, send, False
        self._depth: int | None = None
        self._clocks: list[Clock | None] = [None, None]  # by side
        self._commands: dict[str, Callable[[str], None]] = {
            "nboard": lambda rest: send(f"set myname {NAME}"),
            "set": self._set,
            "move": self._move,
            "hint": self._hint,
            "go": self._go,
            "ping": lambda rest: send(f"pong {rest}"),
            "learn": lambda rest: send("learned"),
            "analyze": self._analyze,
            "quit": self._quit,
        }

    def take(self, line: str) -> None:
        """Do what a line asks; one that is not understood is ignored, and one that makes no sense told as a status."""
        name, _, rest = line.strip().partition(" ")
        if name not in self._commands:
            return
        try:
            self._commands[name](rest.strip())
        except UserError as error:
            self._send(f"status {error}")

    def _quit(self, _):
        self.ended = True

    def _set(self, rest):
        what, _, value = rest.partition(" ")
        if what == "depth":
            self._depth = min(max(_whole(what, value), 1), _DEEPEST)
        elif what == "contempt":
            _whole(what, value)
        elif what == "game":
            self._set_game(ggf.parse(value))

    def _set_game(self, game):
        self._engine.replay(game.size, game.start, [(move.side, move.text) for move in game.moves])
        self._clocks = [None if seconds is None else Clock(seconds) for seconds in game.seconds]
        for move in game.moves:
            self._spend(move.side, move.seconds)

    def _spend(self, side, seconds):
        if (clock := self._clocks[side]) is not None:
            clock.given = seconds  # whatever the move was to take: it may have been a person's
            clock.spend(seconds)

    def _move(self, rest):
        engine, (text, seconds) = self._engine, ggf.parse_move(rest)
        side = engine.position.side
        engine.play(engine.code(text))
        self._spend(side, seconds)

    def _hint(self, rest):
        count = _whole("hint", rest) if rest else 1
        self._think(lambda: self._hints(count))

    def _go(self, _):
        self._think(self._choose)

    def _analyze(self, _):
        self._think(self._analyses)

    def _think(self, search):
        """Say that the program is thinking while ``search()`` does."""
        self._send(f"status {NAME} is thinking")
        search()
        self._send("status")

    def _choose(self):
        engine, position = self._engine, self._engine.position
        self._require_move()
        found = engine.choose(position, self._depth, self._clocks[position.side])
        if found is None:
            return
        code, outcome = found
        if outcome is None:
            self._send(f"=== {_move_text(engine.text(code))}")
            return
        self._send_nodes(outcome.nodes, outcome.seconds)
        self._send(f"=== {_move_text(engine.text(code))}/{engine.discs(outcome):.2f}/{outcome.seconds:.2f}")

    def _hints(self, count):
        """Tell of the best moves, after each depth."""
        engine, nodes, seconds = self._engine, 0, 0.0
        self._require_move()
        for depth in self._depths():
            found = engine.search(None, depth, all_moves=count > 1)
            if found is None:
                return
            nodes, seconds = nodes + found.nodes, seconds + found.seconds
            for line in self._lines(found, count):
                self._send(line)
            self._send_nodes(nodes, seconds)
            if found.proved or found.book:
                return

    def _require_move(self):
        if self._engine.is_over():
            raise UserError("the game is over")

    def _depths(self) -> Iterator[int | None]:
        """Yield the depths of a search that is told of as it deepens; None: what the options say."""
        if self._depth is None or self._engine.limited:
            yield self._depth
        else:
            yield from range(2 - self._depth % 2, self._depth + 1, 2)

    def _lines(self, found: Outcome, count: int):
        """Yield a line for each of the best moves."""
        kind = "book" if found.book else "search"
        depth = "100%" if found.proved else f"{found.depth}@{found.selective:.0%}" if found.selective else found.depth
        ranked = sorted(found.moves or [], key=lambda each: (each["move"] != found.move, -each["score"]))
        best = {"move": found.move, "score": found.score}
        for each in (ranked or [best])[:count]:
            line = found.pv if each["move"] == found.move and found.pv else [each["move"]]
            value = self._engine.in_discs(found, float(each["score"]))
            yield f"{kind} {'-'.join(map(_move_text, line))} {value:.2f} 0 {depth}"

    def _analyses(self):
        """Tell of the value of each position of the game, the last one first, for the side to move."""
        engine = self._engine
        positions: list[Position] = [*engine.earlier, engine.position]
        for moves in reversed(range(len(positions))):
            found = engine.search(positions[moves], self._depth)
            if found is None:
                return
            self._send(f"analysis {moves} {engine.discs(found):.2f}")

    def _send_nodes(self, nodes, seconds):
        self._send(f"nodestats {nodes} {seconds:.2f}")


def _whole(name, text):
    if not re.fullmatch("[+-]?[0-9]{1,9}", text):
        raise UserError(f"{name} '{text[:20]}' is not a whole number")
    return int(text)


def _move_text(move):
    return "PA" if move == "pass" else move.upper()
