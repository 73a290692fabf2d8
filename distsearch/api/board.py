"""A board of any game that a program moves on: moves made and taken back, what is legal, how it stands."""

import copy
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from ..core.errors import UserError
from ..formats.drawing import SIDES, cells, drawn
from ..games import checked_board, find, parse_board
from ..games.interface import CHANCE, END, Position, legal_moves, read_position, step
from . import meaning
from .chance import begun, outcomes_of
from .declarations import declared
from .notebook import board_html
from .options import Options, check_rules, checked_seed, resolve


class Board:
    """A position of a game, and the moves that led there. Searches take it in the place of a position's text.

        board = Board("othello", board="6x6")
        board.push("c2")
        session.search("othello", board, depth=8)

    position: text, as on the command line; board: rows x columns; rules: the game's own options, which may also be
    given by their names; seed: of what chance does in ``spawn``, and first where the position is ``startpos``.
    Methods raise UserError for what makes no sense. Equal boards are of the same game, size and rules, and have the
    same position, whatever led there.

    points: that the moves have brought, 0 where only the end of a game counts; moves: texts of what was pushed.
    """

    def __init__(
        self,
        game: str,
        position: str = "startpos",
        board: str | None = None,
        rules: dict[str, str] | None = None,
        seed: int = 0,
        **by_name: str,
    ):
        self._module: Any = find(game)
        shape = checked_board(self._module, None if board is None else parse_board(board))
        self.game, self.size = game, f"{shape[0]}x{shape[1]}"
        self.rules: dict[str, str] = {**(rules or {}), **by_name}
        check_rules(self._module, self.rules)
        self._rules = self._module.rules(shape, **self.rules)
        read = read_position(self._module, position, self._rules)
        self._rng = np.random.default_rng(checked_seed(seed))
        self._at: Position = begun(self._module, position, read, self._rules, seed)
        self.points, self.moves = 0, list[str]()
        self._before: list[tuple[Position, int]] = []  # by move, what it was made on, and points by then

    @property
    def _kind(self):
        return int(self._module.kind(self._at.state, self._rules))

    @property
    def position(self) -> str:
        """The text that searches and ``Board`` take."""
        return self._module.text(self._at, self._rules)

    @property
    def text(self) -> str:
        """The board as lines of text, for people."""
        return drawn(self._module, self._at, self._rules)

    @property
    def cells(self) -> list[list[str]] | None:
        """What each cell shows, rows from the top, as in ``drawing.cells``; None for a game that is not drawn so."""
        return cells(self._module, self._at, self._rules)

    @property
    def side(self) -> str | None:
        """``X`` or ``O``, the side to move; None at the end, and in a game against chance."""
        return SIDES[self._at.side] if self._module.PLAYERS == 2 and not self.over else None

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return self._kind == END

    @property
    def chance_to_move(self) -> bool:
        """Whether chance moves next: ``spawn`` draws, and ``push`` takes one of ``outcomes``."""
        return self._kind == CHANCE

    @property
    def legal_moves(self) -> list[str]:
        """The moves that the player to move may make, as texts; none at the end, and where chance is to move."""
        if self._kind in (END, CHANCE):
            return []
        return [self._module.move_text(move, self._rules) for move in self._codes()]

    @property
    def outcomes(self) -> dict[str, float]:
        """What chance may do and its probabilities, by text; empty where chance is not to move."""
        if not self.chance_to_move:
            return {}
        codes, chances = outcomes_of(self._module, self._at, self._rules)
        texts = (self._module.move_text(code, self._rules) for code in codes)
        return dict(zip(texts, chances.tolist(), strict=True))

    @property
    def result(self) -> str | None:
        """At the end of a game of two players, what it came to in words, such as ``X wins by 12 discs``; else None."""
        if self._module.PLAYERS != 2 or not self.over:
            return None
        score = int(self._module.final(self._at.state, self._rules))
        said = meaning.of_value(self._module, self._at, self._rules, score)
        return f"{SIDES[self._at.side]} {said}" if score else said

    def push(self, move: str) -> None:
        """Make a move, given as a text; where chance is to move, one of ``outcomes``."""
        code = self._module.parse_move(move, self._rules)
        if code not in self._codes():
            raise UserError(f"move {move[:40]} is not legal here")
        self._make(code)

    def spawn(self) -> list[str]:
        """Have chance do all that is its turn, by the seed; return that as texts, none where it is not its turn."""
        done = len(self.moves)
        while self.chance_to_move:
            codes, chances = outcomes_of(self._module, self._at, self._rules)
            self._make(self._rng.choice(codes, p=chances / chances.sum()))
        return self.moves[done:]

    def pop(self) -> str:
        """Take back what was pushed or spawned last, one outcome of chance at a time; return its text."""
        if not self.moves:
            raise UserError("there is no move to take back")
        self._at, self.points = self._before.pop()
        return self.moves.pop()

    def copy(self) -> Self:
        """Return a Board that is as this one, and goes its own way from here on."""
        other = copy.copy(self)
        other.moves, other._before, other._rng = self.moves.copy(), self._before.copy(), copy.deepcopy(self._rng)
        return other

    def check_asked(self, game: str, given: Mapping[str, Any]) -> None:
        """Raise UserError where a search asks for another game, or its other fields for another size or rules.

        given: its fields, such as ``board`` and ``rules``, or rules by their names. What they mean is compared, so
        "8X8" is 8x8, and a rule may be left out or be given as what it is by itself.
        """
        if game != self.game:
            raise UserError(f"game {game!s:.40} is not that of the Board, {self.game}")
        board = self.size if given.get("board") is None else given["board"]
        rules = self.rules if given.get("rules") is None else given["rules"]
        named = self._module.OPTIONS.keys() & given.keys()
        by_name = {name: given[name] for name in named - declared(Options).keys() if given[name] is not None}
        if not by_name and (board, rules) == (self.size, self.rules):
            return
        options, module, known = resolve(game, board, rules, **by_name)
        shape = "{}x{}".format(*checked_board(module, options.board))
        if shape != self.size:
            raise UserError(f"board {shape} is not that of the Board, {self.size}")
        if known.tobytes() != self._rules.tobytes():
            raise UserError(f"rules {options.rules!s:.40} are not those of the Board, {self.rules or 'the usual ones'}")

    def _codes(self):
        kind = self._kind
        if kind == CHANCE:
            return outcomes_of(self._module, self._at, self._rules)[0].tolist()
        return [] if kind == END else legal_moves(self._module, self._at, self._rules)

    def _make(self, code):
        _, brought = self._module.play(self._at.state, self._rules, np.int64(code))
        self._before.append((self._at, self.points))
        self.moves.append(self._module.move_text(code, self._rules))
        self._at = step(self._module, self._at, self._rules, code)
        self.points += int(brought)

    def _identity(self):
        return self.game, self._rules.tobytes(), tuple(map(int, self._at.state)), self._at.side

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Board) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        rules = f", rules={self.rules}" if self.rules else ""
        return f"Board({self.game!r}, {self.position!r}, board={self.size!r}{rules})"

    def _repr_html_(self) -> str:
        return board_html(self._module, self._at, self._rules)
