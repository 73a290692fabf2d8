"""Answers as rows of bytes, compiled: columns of numbers and texts, and what stands between them.

The kernels are specialised for nothing but the game whose positions are written, so every form of output (tables, JSON,
CSV, plain scores) has the same ones.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

# pyright: reportCallIssue=false
import numpy as np

from .. import games
from ..core import jit
from ..core.jit import compiled
from ..games import lanes
from ..games.interface import END, Position, as_state
from .position_writers import MOST_TEXT, writer_of

LINE_BREAK, _SPACE, _PLUS, _MINUS, _POINT, _COMMA, _ZERO = b"\n +-.,0"
_ROOM = 22  # bytes that a score takes with the space before it and the line break after it: 19 digits and a sign
_NUMBER = 32  # bytes of a number, of up to 19 digits with a sign and commas

kind: Any = None  # bound for each game
moves_left: Any = None
write: Any = None


class Texts(NamedTuple):
    """A column of texts: the text of row i is ``content[begins[i]:ends[i]]`` (uint8; int64 of shape (rows,))."""

    content: np.ndarray
    begins: np.ndarray
    ends: np.ndarray

    def where(self, shown: np.ndarray) -> "Texts":
        """Return the same texts, empty in rows that are not ``shown`` (bool)."""
        return self._replace(ends=np.where(shown, self.ends, self.begins))

    def to_list(self) -> list[str]:
        """Return the texts as Python has them."""
        content = self.content.tobytes()
        pairs = zip(self.begins.tolist(), self.ends.tolist(), strict=True)
        return [content[begin:end].decode(errors="replace") for begin, end in pairs]


def room(begins, ends):
    """Return how many bytes ``write_scores`` may need."""
    return int((ends - begins).sum()) + _ROOM * len(begins)


@compiled
def write_integer(number, out, at):
    """Write a decimal integer to out[at:]; return where it ends."""
    if number < 0:
        out[at] = _MINUS
        at += 1
    left = abs(number)
    end = at + 1
    while left > 9:
        left //= 10
        end += 1
    left = abs(number)
    for i in range(end - 1, at - 1, -1):
        out[i] = _ZERO + left % 10
        left //= 10
    return end


@compiled
def write_scores(text, begins, ends, good, scores, out):
    """Write each good line's position, a space, its score (int64) and a line break to ``out`` (uint8); return bytes."""
    at = 0
    for n in range(len(begins)):
        if not good[n]:
            continue
        for i in range(begins[n], ends[n]):
            out[at] = text[i]
            at += 1
        out[at] = _SPACE
        at = write_integer(scores[n], out, at + 1)
        out[at] = LINE_BREAK
        at += 1
    return at


@compiled
def write_numbers(values, decimals, grouped, width, out, begins, ends):
    """Write numbers (int64, in units of the last of so many decimals), right-aligned in fields of ``out`` (uint8).

    grouped: with a comma before every third digit; width: of the narrowest one.
    """
    for n in range(len(values)):
        end = (n + 1) * _NUMBER
        at, left, digits = end, abs(values[n]), 0
        while digits <= decimals or left:
            if grouped and digits > decimals and (digits - decimals) % 3 == 0:
                at -= 1
                out[at] = _COMMA
            at -= 1
            out[at] = _ZERO + left % 10
            left //= 10
            digits += 1
            if digits == decimals:
                at -= 1
                out[at] = _POINT
        if values[n] < 0:
            at -= 1
            out[at] = _MINUS
        while end - at < width:
            at -= 1
            out[at] = _SPACE
        begins[n], ends[n] = at, end


@compiled
def write_lists(codes, lengths, words, begins, ends, separator, out, row_begins, row_ends):
    """Write the words of a list of codes (int64, (rows, most)) for each row, with a separator (bytes) between them."""
    at = 0
    for n in range(len(lengths)):
        row_begins[n] = at
        for k in range(lengths[n]):
            if k:
                for i in range(len(separator)):
                    out[at] = separator[i]
                    at += 1
            for i in range(begins[codes[n, k]], ends[codes[n, k]]):
                out[at] = words[i]
                at += 1
        row_ends[n] = at


@compiled
def write_rows(literals, literal_begins, literal_ends, content, begins, ends, out):
    """Write rows to ``out``: a literal, the text of the first column, the next literal and so on, and the last literal.

    begins, ends: (columns, rows), of texts in ``content``.
    """
    at, columns = 0, len(begins)
    for n in range(begins.shape[1]):
        for k in range(columns + 1):
            for i in range(literal_begins[k], literal_ends[k]):
                out[at] = literals[i]
                at += 1
            if k < columns:
                for i in range(begins[k, n], ends[k, n]):
                    out[at] = content[i]
                    at += 1
    return at


@compiled
def find_odd(content, begins, ends, odd):
    """Tell in ``odd`` which texts are not of letters, digits and a few signs, so that they may need quotes."""
    for n in range(len(begins)):
        odd[n] = False
        for i in range(begins[n], ends[n]):
            byte = content[i]
            # quotes, commas and backslashes, and all that is not printed
            odd[n] |= byte < 32 or byte > 126 or byte == 34 or byte == 44 or byte == 92


@compiled
def find_same(content, begins, ends, others, other_begins, other_ends, same):
    """Tell in ``same`` which texts of two columns are equal."""
    for n in range(len(begins)):
        length = ends[n] - begins[n]
        same[n] = length == other_ends[n] - other_begins[n]
        if same[n]:
            for i in range(length):
                same[n] &= content[begins[n] + i] == others[other_begins[n] + i]


def describe_all(like, r, words, sides, left, over, out, begins, ends):
    """Write the text of each position, an end before its begin where there is none; its moves left; whether it is over.

    like: any state; words: uint64 of all states, one after another; over: bool.
    """
    width, at = len(like), 0
    for n in range(len(sides)):
        s = lanes.load(like, words, n * width)
        left[n], over[n] = moves_left(s, r), kind(s, r) == END
        begins[n] = at
        ends[n] = write(s, np.int64(sides[n]), r, out, at)
        at = max(at, ends[n])


class Described(NamedTuple):
    """Positions: their texts, moves left (int64), and whether the game is over (bool)."""

    texts: Texts
    left: np.ndarray
    over: np.ndarray


class PositionTexts:
    """Describes many positions of a game and board."""

    def __init__(self, game: Any, rules: np.ndarray):
        self._game, self._rules = game, rules
        functions = {"kind": game.kind, "moves_left": game.moves_left, "write": writer_of(game)}
        self._describe = jit.specialise(describe_all, f"describe_all_{games.tag(game)}", functions)

    def of(self, states: np.ndarray, sides: np.ndarray) -> Described:
        """Return what there is to say of states (uint64, (n, words)) and sides (int8)."""
        n, states = len(sides), np.ascontiguousarray(states)
        left, over = np.empty(n, np.int64), np.empty(n, np.bool_)
        out, begins, ends = np.empty(n * MOST_TEXT, np.uint8), np.empty(n, np.int64), np.empty(n, np.int64)
        like = tuple(np.zeros(self._game.words(self._rules), np.uint64))
        self._describe(like, self._rules, states.reshape(-1), sides, left, over, out, begins, ends)
        texts = Texts(out[: max(0, int(ends.max(initial=0)))], begins, ends)
        missing = np.flatnonzero(ends < 0)
        positions = (Position(as_state(states[row]), int(sides[row])) for row in missing)
        told = [self._game.text(position, self._rules) for position in positions]
        return Described(replaced(texts, missing, told), left, over)


def replaced(texts: Texts, rows: np.ndarray, by: Sequence[str]) -> Texts:
    """Return a column with other texts in some of its rows."""
    if not len(rows):
        return texts
    words, at = _end_to_end(by), len(texts.content)
    begins, ends = texts.begins.copy(), texts.ends.copy()
    begins[rows], ends[rows] = words.begins + at, words.ends + at
    return Texts(np.concatenate([texts.content, words.content]), begins, ends)


def _end_to_end(words):
    """Return a column of a list of str or bytes."""
    coded = [word if isinstance(word, bytes) else word.encode(errors="replace") for word in words]
    ends = np.cumsum([len(word) for word in coded], dtype=np.int64)
    begins = ends - [len(word) for word in coded]
    return Texts(np.frombuffer(bytearray(b"".join(coded)), np.uint8), begins, ends)


def chosen(words: Sequence[str], index: np.ndarray) -> Texts:
    """Return a column of words, each chosen by its index (int64)."""
    every = _end_to_end(words)
    return Texts(every.content, every.begins[index], every.ends[index])


def numbers(values: np.ndarray, decimals: int = 0, grouped: bool = False, width: int = 0) -> Texts:
    """Return a column of numbers; see ``write_numbers``."""
    scaled = values if values.dtype.kind in "iu" else np.rint(values * 10**decimals)
    n, out = len(values), np.empty(len(values) * _NUMBER, np.uint8)
    begins, ends = np.empty(n, np.int64), np.empty(n, np.int64)
    write_numbers(np.ascontiguousarray(scaled, np.int64), decimals, grouped, width, out, begins, ends)
    return Texts(out, begins, ends)


def lists(codes: np.ndarray, lengths: np.ndarray, words: Sequence[str], separator: str) -> Texts:
    """Return a column of lists of words, chosen by codes (int64, (rows, most)) of which each row has ``lengths``."""
    every, between = _end_to_end(words), np.frombuffer(bytearray(separator.encode()), np.uint8)
    longest = int((every.ends - every.begins).max(initial=0)) + len(between)
    out = np.empty(int(lengths.sum()) * longest, np.uint8)
    begins, ends = np.empty(len(lengths), np.int64), np.empty(len(lengths), np.int64)
    write_lists(codes, lengths, every.content, every.begins, every.ends, between, out, begins, ends)
    return Texts(out, begins, ends)


def escaped(texts: Texts, escape: Callable[[str], str]) -> Texts:
    """Return a column in which ``escape`` has seen to the texts that may need it."""
    odd = np.empty(len(texts.begins), np.bool_)
    find_odd(*texts, odd)
    rows = np.flatnonzero(odd)
    found = Texts(texts.content, texts.begins[rows], texts.ends[rows]).to_list()
    return replaced(texts, rows, list(map(escape, found)))


def same(texts: Texts, others: Texts) -> np.ndarray:
    """Return which texts of two columns are equal, bool."""
    found = np.empty(len(texts.begins), np.bool_)
    find_same(*texts, *others, found)
    return found


def joined(rows: int, literals: Sequence[str], columns: Sequence[Texts]) -> bytes:
    """Return rows as bytes: ``literals``, one more than columns, stand before, between and after the texts."""
    between, at = _end_to_end(literals), 0
    begins, ends = np.empty((len(columns), rows), np.int64), np.empty((len(columns), rows), np.int64)
    for k, column in enumerate(columns):
        begins[k], ends[k] = column.begins + at, column.ends + at
        at += len(column.content)
    content = np.concatenate([np.empty(0, np.uint8), *(column.content for column in columns)])
    out = np.empty(int((ends - begins).sum()) + len(between.content) * rows, np.uint8)
    write_rows(*between, content, begins, ends, out)
    return out.tobytes()
