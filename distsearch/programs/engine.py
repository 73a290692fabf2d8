"""A game of Othello that another program leads: its moves so far, and searches of its positions under their limits."""

import math
from collections.abc import Callable, Iterable
from typing import Any

from .. import evaluation, games
from ..api.clock import Clock, moves_expected
from ..api.options import Options, resolve
from ..api.result import Outcome
from ..api.session import Session
from ..core.errors import UserError
from ..games.interface import END, PASS, Position, legal_moves, step

GAME = "othello"
_SOLVED_AHEAD = 6  # moves left beyond a depth from which a search to the end takes about as long as one to the depth
_LIMITS = "depth", "time", "nodes", "exact"
_NOT_TO_THE_END = "selective", "probcut_params", "rank_cut"
_LEAST_SECONDS = 1e-3  # of a search where a clock has none left
_PASSES = "pa", "ps"  # as other programs write it


class _Stop(Exception):  # noqa: N818
    """The search has to end."""


class Engine:
    """A game, and what searches it.

    given: options of searches by name, as ``resolve`` takes them; stops(): whether a search has to end now.
    ``position``: the one after the moves so far; ``earlier``: those before the commands that moved. Raises UserError
    for options that make no sense.
    """

    def __init__(self, session: Session, given: dict[str, Any], stops: Callable[[], bool]):
        self._session, self._given = session, given
        self._searchers: list[Any] = []
        self._searching, self._ends, self._stops = False, session.interrupted, stops
        session.interrupted = self._look
        self.game = games.find(GAME)
        self.begin()
        self._searcher(self._options())  # so that it is compiled before a clock runs

    def begin(self, board: tuple[int, int] | None = None) -> None:
        """Begin a new game on a board of (rows, columns), None for the usual one; raises UserError."""
        _, _, self.rules = resolve(GAME, board, **self._given)
        self._board = board
        self.position: Position = self.game.start(self.rules)
        self.earlier: list[Position] = []

    def restart(self) -> None:
        """Begin a new game on the same board."""
        self.begin(self._board)

    def replay(self, size: int, start: str, moves: Iterable[tuple[int, str]]) -> None:
        """Begin a game on a board of size × size squares at a position, with moves, each its side and text.

        Passes may be left out. Raises UserError, and then the game is the one before.
        """
        before = self._board, self.rules, self.position, self.earlier
        try:
            self.begin(games.checked_board(self.game, (size, size)))
            self.position = self.game.parse(start, self.rules)
            for number, (side, text) in enumerate(moves, 1):
                if side != self.position.side and self.must_pass():
                    self.play(PASS)
                if side != self.position.side:
                    raise UserError(f"move {number}, {text[:20]}: the other side is to move")
                self.play(self.code(text))
        except UserError:
            self._board, self.rules, self.position, self.earlier = before
            raise

    @property
    def interrupted(self) -> bool:
        """Whether the user wants an end; a worker that got a signal may tell so while nothing is searched."""
        self._session.cluster.turn()
        return self._ends()

    def legal(self, position: Position | None = None) -> list[int]:
        """Return the codes of the legal moves, of the game's position or another one."""
        return legal_moves(self.game, position or self.position, self.rules)

    def is_over(self, position: Position | None = None) -> bool:
        """Whether neither side can move."""
        return int(self.game.kind((position or self.position).state, self.rules)) == END

    def must_pass(self) -> bool:
        """Whether the side to move can only pass, in a game that goes on."""
        return self.legal() == [PASS]

    def code(self, text: str, position: Position | None = None) -> int:
        """Return the code of a legal move; raises UserError."""
        code = self.game.parse_move("pass" if text.lower() in _PASSES else text, self.rules)
        if code not in self.legal(position):
            raise UserError(f"move {text[:20]} is not legal")
        return code

    def text(self, code: int) -> str:
        """Return a move as text."""
        return self.game.move_text(code, self.rules)

    def after_pass(self) -> Position:
        """Return the position after a pass."""
        return step(self.game, self.position, self.rules, PASS)

    def play(self, code: int, position: Position | None = None) -> None:
        """Make a move, in the game's position or the one after a pass; ``undo`` takes both back together."""
        self.earlier.append(self.position)
        self.position = step(self.game, position or self.position, self.rules, code)

    def undo(self) -> None:
        """Take the latest moves back; raises UserError where there are none."""
        if not self.earlier:
            raise UserError("cannot undo")
        self.position = self.earlier.pop()

    @property
    def limited(self) -> bool:
        """Whether the options themselves say by time, nodes or ``exact`` where searches end."""
        return bool(self._given.keys() & {"time", "nodes", "exact"})

    def search(
        self,
        position: Position | None = None,
        depth: int | None = None,
        seconds: float | None = None,
        all_moves: bool = False,
    ) -> Outcome | None:
        """Return the Outcome of a search of the game's position or another one, None if it had to stop.

        depth: plies, seconds: for this search; None for what the options say. Where the end of the game is not much
        further than the depth, the search goes there. Raises UserError for what makes no sense on the game's board.
        """
        position = position or self.position
        options = self._options(position, depth, seconds, all_moves)
        found = self._session.book(options).outcome(position)
        if found is None:
            searcher = self._searcher(options)
            self._searching = True
            try:
                found = next(searcher.search([position]))
            except _Stop:
                cluster = self._session.cluster
                cluster.finish(cluster.current)
                return None
            finally:
                self._searching = False
            return None if self._ends() else found
        return found

    def _look(self):
        """Whether the user wants an end; raises _Stop where a search has to end at once, without an answer."""
        if self._searching and self._stops():
            raise _Stop
        return self._ends()

    def choose(
        self, position: Position, depth: int | None = None, clock: Clock | None = None
    ) -> tuple[int, Outcome | None] | None:
        """Return (a best move's code, the Outcome of its search or None for a forced move), None if it had to stop.

        clock: of the side to move, which the caller winds on; None: there is no limit but those of ``search``.
        """
        legal = self.legal(position)
        if len(legal) == 1:
            return legal[0], None
        seconds = None
        if clock is not None:
            seconds = max(clock.give(moves_expected(self.game, self.rules, position, clock.moves)), _LEAST_SECONDS)
        found = self.search(position, depth, seconds)
        if found is None:
            return None
        return (legal[0] if found.move is None else self.game.parse_move(found.move, self.rules)), found

    def discs(self, outcome: Outcome) -> float:
        """Return the score of an Outcome in discs, as far as its evaluation counts them."""
        return self.in_discs(outcome, float(outcome.score or 0))

    def in_discs(self, outcome: Outcome, score: float) -> float:
        """Return one of the scores of an Outcome in discs."""
        if outcome.unit == self.game.UNIT:
            return score
        by = evaluation.find(self.game, self._options().evaluation, self.rules)
        if abs(score) > by.bound > 0:  # of a finished game
            return score - math.copysign(by.bound, score)
        return score / by.unit

    def _options(self, position=None, depth=None, seconds=None, all_moves=False):
        """Return the Options of a search."""
        given = dict(self._given)
        if "exact" not in given:
            if depth is not None:
                given["depth"] = depth
            if seconds is not None:
                given["time"] = min(seconds, given.get("time", math.inf))
            if position is not None and self._ends_in_reach(position, given):
                given = self._to_the_end(given)
        return self._checked({**given, "all_moves": True} if all_moves else given)

    def _ends_in_reach(self, position, given):
        left = int(self.game.moves_left(position.state, self.rules))
        return "nodes" not in given and left <= given.get("depth", -math.inf) + _SOLVED_AHEAD

    def _to_the_end(self, given):
        """Return options like others, but without a depth; a limit of time alone ends with an exact search."""
        if "time" in given:
            return {name: value for name, value in given.items() if name != "depth"}
        kept = {name: value for name, value in given.items() if name not in (*_LIMITS, *_NOT_TO_THE_END)}
        return {**kept, "exact": True}

    def _checked(self, given) -> Options:
        return resolve(GAME, self._board, **given)[0]

    def _searcher(self, options):
        """Return a searcher under some options, compiled: nothing compiles while a search may have to stop."""
        same = next((each for each in self._searchers if each.serves(options)), None)
        if same is None:
            same = self._session.searcher(options)
            same.compile_all()
            self._searchers.append(same)
        return same.under(options)
