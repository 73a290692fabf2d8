"""What a game is: the names that its module must offer, as Protocols, and the constants that all games share.

A game is one module with the names of ``Game``; a game with chance has those of ``ChanceGame`` too. Its compiled
functions (``core.jit.compiled``) work on a *state*, a tuple of ``words(r)`` uint64, and on *rules* ``r``, a uint64
array that holds board size, options and the tables that the game reads. One compiled kernel so serves every board
of the same width. The module, or one next to it called ``NAME_knowledge``, may have any of the hooks of ``Knowledge``.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

END, MAX, MIN, CHANCE = 0, 1, 2, 3
PASS = -1
MAX_MOVES = 256  # no position of any game has more legal moves
MAX_DRAWS = 8  # nor does chance draw from more

State = tuple  # of words(r) uint64
Rules = np.ndarray  # uint64
Board = tuple[int, int]  # rows, columns


class Position(NamedTuple):
    """A state and what it does not hold itself: which player (0 or 1) is to move."""

    state: State
    side: int = 0


class Game(Protocol):
    """The names of a game's module. Those from ``kind`` to ``moves_left`` are compiled, the others are plain Python."""

    NAME: str  # as on the command line
    UNIT: str  # what scores count, such as "discs"
    OPTIONS: dict[str, tuple | None]  # option: its values, the default first; None: any text that ``rules`` takes
    BOARDS: tuple[Board, Board, Board]  # the smallest, the usual and the largest board
    PLAYERS: int  # 2: zero sum, states seen by the side to move, ``kind`` is MAX or END; 1: perhaps against chance
    ENDED_STAYS: bool  # whether perft counts a finished game again at every deeper depth

    def kind(self, s: State, r: Rules, /) -> int:
        """END, MAX, MIN or CHANCE."""
        ...

    def moves(self, s: State, r: Rules, out: np.ndarray, at: int, /) -> int:
        """Write the n legal moves (int16 codes, PASS for a pass) to ``out[at : at + n]``; return n, 0 at the end."""
        ...

    def play(self, s: State, r: Rules, m: int, /) -> tuple[State, int]:
        """Return the state after move m, and the points it brought (0 where only the end counts)."""
        ...

    def final(self, s: State, r: Rules, /) -> int:
        """Return the score of a finished game, for the side to move."""
        ...

    def key(self, s: State, r: Rules, /) -> int:
        """Return a hash (uint64): equal states have equal keys."""
        ...

    def moves_left(self, s: State, r: Rules, /) -> int:
        """Return a limit of the moves of any line of play from s, passes not counted.

        It falls with every move, and a pass does not raise it.
        """
        ...

    def rules(self, board: Board | None = None, **options: Any) -> Rules:
        """Return the rules array of a board (None: the usual one) and the game's own options; raises UserError."""
        ...

    def words(self, r: Rules, /) -> int:
        """Return the number of words of a state."""
        ...

    def start(self, r: Rules, /) -> Position:
        """Return the first position."""
        ...

    def parse(self, text: str, r: Rules, /) -> Position:
        """Return the position of a text, ``startpos`` being the first one; raises UserError."""
        ...

    def text(self, position: Position, r: Rules, /) -> str:
        """Return the text of a position; ``parse`` reads it back."""
        ...

    def move_text(self, m: int, r: Rules, /) -> str:
        """Return the text of a move."""
        ...

    def parse_move(self, text: str, r: Rules, /) -> int:
        """Return the code of a move's text; raises UserError."""
        ...


class ChanceGame(Game, Protocol):
    """What a game with chance offers besides. ``outcomes`` and ``draw`` are compiled."""

    def outcomes(self, s: State, r: Rules, out: np.ndarray, probability: np.ndarray, at: int, /) -> int:
        """Write the moves of chance in a CHANCE state to ``out`` and their probabilities (float64) to ``probability``.

        They come in any order, from index ``at`` on, those of one draw (see ``draw``) one after another. Returns
        their number.
        """
        ...

    def draw(self, m: int, r: Rules, /) -> int:
        """Return the draw of chance that move m belongs to, a number from 0 to MAX_DRAWS − 1.

        Only where an adversary could choose a part of what chance does: the draw is the kind of a tile, for example,
        and the adversary chooses its cell.
        """
        ...

    def largest(self, s: State, r: Rules, /) -> int:
        """Return the largest tile, by which ``play`` counts games: only of a game whose tiles grow."""
        ...

    def empties(self, s: State, r: Rules, /) -> int:
        """Return the number of empty cells, by which a search's depth may be chosen: only of such a game."""
        ...


@runtime_checkable
class FixedMoves(Game, Protocol):
    """A game with the same moves in every position, legal or not, such as a column each."""

    def every_move(self, r: Rules, /) -> Iterable[int]:
        """Return the codes of all moves in their order."""
        ...


class ScoreInWords(Protocol):
    """A function that a game of two players may have, plain Python; without it, answers say who wins."""

    def describe_score(self, score: int, position: Position, r: Rules, /) -> str:
        """Return what a proved score of a position says, such as "wins by 12 discs"."""
        ...


class PositionReader(Protocol):
    """A compiled reader that a game may have, for files of millions of positions."""

    def read(self, text: np.ndarray, at: int, end: int, r: Rules, words: np.ndarray, /) -> int:
        """Read the position in the bytes ``text[at:end]`` (uint8) as ``parse`` would.

        Writes its state to ``words`` (uint64) and returns the side to move, 0 or 1. Returns −1 for anything that is not
        plain and legal: ``parse`` is asked then, and ``words`` may hold anything.
        """
        ...


class Knowledge(Protocol):
    """Hooks of a knowledge module, all compiled, each of which may be missing: engines then do without.

    The solver's hooks get ``left``, the number of moves left, and ``beta``, the score that the search asks about.
    """

    # moves left from which on the solver uses its table, the shared table, cut-offs; up to which it recurses
    SOLVER: dict[str, int]
    SMALL: int  # moves left up to which ``small`` is asked
    SUBTREE_WORDS: int  # uint64 words of the memory of ``subtree``

    def ordered_moves(self, s: State, r: Rules, out: np.ndarray, at: int, /) -> int:
        """As ``moves``, the likeliest best move first."""
        ...

    def ordered_moves_slow(self, s: State, r: Rules, out: np.ndarray, scores: np.ndarray, at: int, /) -> int:
        """As ``ordered_moves``, in a better order that may take longer; ``scores`` is room for int64 numbers."""
        ...

    def count_moves(self, s: State, r: Rules, /) -> int:
        """Return the number of moves without writing them."""
        ...

    def turn(self, s: State, r: Rules, /) -> int:
        """As ``kind``, where an engine asks for moves next.

        A finished game may have the kind that it would have with a move.
        """
        ...

    def expand(self, s: State, r: Rules, out: np.ndarray, states: np.ndarray, gains: np.ndarray, at: int, /) -> int:
        """As ``moves`` at the player's turn, and write what each move leads to and brings.

        states: uint64, from word ``at · words`` on; gains: int64, from ``at`` on.
        """
        ...

    def canonical(self, s: State, r: Rules, /) -> State:
        """Return one state for all that are symmetric to s; evaluations are taken to be the same for all of them."""
        ...

    def book_canonical(self, s: State, r: Rules, /) -> State:
        """As ``canonical``, for opening books, where it may take longer; without it books use ``canonical``."""
        ...

    def reached(self, s: State, r: Rules, value: int, /) -> bool:
        """Return whether a tile of this value, or a larger one, is on the board: only of a game whose tiles grow."""
        ...

    def bounds(self, s: State, r: Rules, left: int, beta: int, /) -> tuple[int, int, int]:
        """Return (low, high, note): bounds on the score, as tight as the null window is worth.

        note is for ``solver_moves``.
        """
        ...

    def solver_moves(
        self, s: State, r: Rules, left: int, note: int, out: np.ndarray, scores: np.ndarray, at: int, /
    ) -> int:
        """As ``ordered_moves_slow``, but may leave out moves that are no better than one that it writes."""
        ...

    def small(self, s: State, r: Rules, left: int, beta: int, /) -> tuple[bool, int, int]:
        """Return (known, score, nodes): the score, or a bound on the right side of beta, without the general search."""
        ...

    def subtree(
        self, s: State, r: Rules, left: int, beta: int, most_nodes: int, salt: int, memory: int, /
    ) -> tuple[bool, int, int]:
        """As ``small``, by a search of at most ``most_nodes`` nodes, s among them: if it takes more, no score is known.

        memory: address of ``SUBTREE_WORDS`` words, zero at first, which only one engine uses. salt: a uint64 that goes
        into every key; entries that were written with one salt are not found with another.
        """
        ...

    def next_beta(self, s: State, r: Rules, low: int, high: int, latest: int, /) -> int:
        """Return the beta of the next null window, see ``engines.pvs.drivers``."""
        ...


def board_size(r: Rules) -> Board:
    """Return the rows and columns of a board, with which the rules of all games that have one begin."""
    rows, columns = r[:2].tolist()
    return rows, columns


def as_state(words) -> State:
    """Return a state that compiled functions accept: Python turns the words they return into plain integers."""
    return tuple(map(np.uint64, words))


def step(game: Game, position: Position, r: Rules, m: int) -> Position:
    """Return the Position after move m; for two players the other one is then to move."""
    state, _ = game.play(position.state, r, int(m))
    return Position(as_state(state), 1 - position.side if game.PLAYERS == 2 else position.side)


def read_position(game: Game, text: str, r: Rules) -> Position:
    """Return the Position of a text as ``game.parse`` does, by its compiled reader if that takes it."""
    if hasattr(game, "read"):
        content = np.frombuffer(bytearray(text.encode(errors="replace")), np.uint8)
        words = np.zeros(game.words(r), np.uint64)
        side = game.read(content, 0, len(content), r, words)
        if side >= 0:
            return Position(tuple(words), int(side))
    return game.parse(text, r)


def legal_moves(game: Game, position: Position, r: Rules) -> list[int]:
    """Return the legal moves of a position as a list of codes."""
    out = np.zeros(MAX_MOVES, np.int16)
    return out[: game.moves(position.state, r, out, 0)].tolist()
