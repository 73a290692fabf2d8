"""Positions from a file, a pipe or a terminal, a line each, as they come; and their scores as lines.

What a line holds is told in ``line_format``, whose compiled code splits and reads lines of plain positions: 0.15 µs
a line of Connect 4. The game's ``parse`` is asked about the others only.
"""

import contextlib
import math
import os
import select
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import games
from ..core import jit
from ..core.errors import UserError
from ..games.interface import Position, as_state
from . import answer_rows, position_lines
from .answer_rows import Texts
from .position_lines import LINE_BREAK, LONGEST_LINE, NO_SCORE, SKIPPED, TOO_LONG

_GLANCE = 0.1  # seconds between two looks at signals
_CAPACITY = 1 << 20  # bytes of the buffer, which limits a chunk as well


class Chunk:
    """Some lines in a row.

    first: the number of the first of them, from 1; size: how many; states: uint64 of shape (size, words); sides: int8,
    the side to move, 0 or 1; good: bool, whether a line holds a position, and states and sides mean anything; scores:
    int64, of lines that hold one, else NO_SCORE; errors: a list of (index, text) of the bad lines, which are neither
    good nor skipped.
    """

    def __init__(
        self,
        first: int,
        content: np.ndarray,
        begins: np.ndarray,
        ends: np.ndarray,
        states: np.ndarray,
        sides: np.ndarray,
        scores: np.ndarray,
    ):
        self.first, self.size = first, len(sides)
        self.states, self.sides, self.scores = states, sides, scores
        self.good = sides != SKIPPED
        self.errors: list[tuple[int, str]] = []
        self.content, self.begins, self.ends = content, begins, ends  # uint8; where the lines' positions stand in it

    def text(self, index: int) -> str:
        """Return the text of a line's position, without its score."""
        return self.content[self.begins[index] : self.ends[index]].tobytes().decode(errors="replace")

    def texts(self, lines: np.ndarray) -> Texts:
        """Return the same of many lines, by their indices."""
        return Texts(self.content, self.begins[lines], self.ends[lines])

    def position(self, index: int) -> Position:
        """Return the Position of a good line."""
        return Position(as_state(self.states[index]), int(self.sides[index]))

    def digest(self, hasher: Any, begin: int, end: int) -> None:
        """Have a hashlib object take in lines ``begin`` to ``end``."""
        breaks = np.flatnonzero(self.content == LINE_BREAK)
        first = int(breaks[begin - 1]) + 1 if begin else 0
        digest_lines(hasher, self.content[first : int(breaks[end - 1]) + 1 if end > begin else first])

    def refuse(self, index: int, why: object) -> None:
        """Make a line a bad one."""
        self.good[index] = False
        self.errors.append((index, str(why)))


class LineScanner:
    """Makes Chunks of lines of a game's positions that are there; scored, blank_is_start: as ``Lines`` has them.

    whole: no score stands before a ``;``.
    """

    def __init__(
        self, game: Any, rules: np.ndarray, scored: bool = False, blank_is_start: bool = False, whole: bool = False
    ):
        self.game, self.rules = game, rules
        self._scored, self._blank_is_start, self._whole = scored, blank_is_start, whole or game.PLAYERS == 1
        self._width = game.words(rules)
        functions = {"read": getattr(game, "read", position_lines.unread)}
        self._scan = jit.specialise(position_lines.scan, f"scan_{games.tag(game)}", functions)

    def scan(self, first: int, content: np.ndarray, at: int, end: int, most: int) -> tuple[Chunk, int]:
        """Return (a Chunk of up to ``most`` of the lines content[at:end], where the next begins), not parsed yet.

        first: the number of the first line; every line has its line break.
        """
        begins, ends, scores = (np.empty(most, np.int64) for _ in range(3))
        states, sides = np.zeros((most, self._width), np.uint64), np.empty(most, np.int8)
        asked = content, at, end, most, self.rules, self._whole, self._blank_is_start
        n, stop = self._scan(*asked, begins, ends, states, sides, scores)
        content, begins, ends = content[at:stop].copy(), begins[:n] - at, ends[:n] - at
        return Chunk(first, content, begins, ends, states[:n], sides[:n], scores[:n]), stop

    def parse(self, chunk: Chunk, most: int | None = None) -> bool:
        """Read lines of a chunk that compiled code did not read; return whether those were all.

        most: so many of them, None for all.
        """
        unread = np.flatnonzero(chunk.good & (chunk.sides < 0))
        for index in unread[:most].tolist():
            self._parse(chunk, index)
        if most is not None and len(unread) > most:
            return False
        if self._scored:
            for index in np.flatnonzero(chunk.good & (chunk.scores == NO_SCORE)).tolist():
                chunk.refuse(index, "no score at its end")
        chunk.errors.sort()
        return True

    def _parse(self, chunk, index):
        if chunk.sides[index] == TOO_LONG:
            chunk.refuse(index, f"longer than {LONGEST_LINE} bytes")
            return
        try:
            position = self.game.parse(chunk.text(index), self.rules)
        except UserError as error:
            chunk.refuse(index, error)
        else:
            chunk.states[index], chunk.sides[index] = position


class MemoryLines:
    """Reads lines of positions from bytes that are there, as ``Lines`` does from a descriptor."""

    def __init__(self, scanner: LineScanner, content: bytes | bytearray | memoryview | np.ndarray):
        self._scanner, self._at = scanner, 0
        source: Any = content  # a Buffer, which arrays are not for a type checker
        view = memoryview(source)
        found = np.frombuffer(view if view.c_contiguous else view.tobytes(), np.uint8)
        whole = not len(found) or found[-1] == LINE_BREAK
        # a copy, since a kernel for what is read-only would be another one
        self._content = found.copy() if whole else np.append(found, np.uint8(LINE_BREAK))
        self.place = 0
        self.size = int(np.count_nonzero(self._content == LINE_BREAK))  # lines in all

    @property
    def ended(self) -> bool:
        """Whether every line was returned."""
        return self._at == len(self._content)

    def read(self, most: int, wait: float = 0.0) -> Chunk | None:
        """Return a Chunk of at most ``most`` lines, None at their end."""
        if self.ended:
            return None
        most = min(most, self.size - self.place)
        chunk, self._at = self._scanner.scan(self.place + 1, self._content, self._at, len(self._content), most)
        self._scanner.parse(chunk)
        self.place += chunk.size
        return chunk


class Lines:
    """Reads lines of positions from a file descriptor (int), whatever it is, without ever waiting longer than told.

    Memory is bounded. Bad lines are told in the chunks; UserError is raised where the descriptor cannot be read.
    scored: whether a line without a score is a bad one; blank_is_start: whether a blank line is the first position,
    where a program counts on an answer to each line, instead of being skipped.
    """

    def __init__(
        self, game: Any, rules: np.ndarray, descriptor: int, scored: bool = False, blank_is_start: bool = False
    ):
        self._scanner = LineScanner(game, rules, scored, blank_is_start)
        self._descriptor = descriptor
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)
        # whole lines from begin to tail, then the part of a line up to end
        self._buffer = bytearray(_CAPACITY + 1)
        self._bytes = np.frombuffer(self._buffer, np.uint8)
        self._begin = self._tail = self._end = 0
        self._whole = 0  # lines
        self._exhausted = False
        self.place = 0  # lines returned so far
        self.skipped = 0  # of them, those without a position by intention: blank ones, and comments

    @property
    def ended(self) -> bool:
        """Whether every line was returned. It may show only in a read after the last line, which returns None."""
        return self._exhausted and self._whole == 0

    def read(self, most: int, wait: float = 0.0) -> Chunk | None:
        """Return a Chunk of at most ``most`` lines that are there, or None if there is none (yet).

        Waits at most ``wait`` seconds, for the first line. Raises UserError if the descriptor cannot be read.
        """
        self._fill(most, wait)
        return self._chunk(min(most, self._whole)) if self._whole else None

    def skip(self, lines: int, hasher: Any, interrupted: Callable[[], bool] = lambda: False) -> None:
        """Pass over lines that an earlier reader returned, waiting for them; a hashlib object takes them in.

        Raises UserError if there are fewer, and KeyboardInterrupt once ``interrupted()``.
        """
        goal = self.place + lines
        while self.place < goal:
            self._fill(goal - self.place, _GLANCE)
            if interrupted():
                raise KeyboardInterrupt
            if self.ended:
                raise UserError(f"the input has {self.place} lines where {goal} were read before")
            n = min(goal - self.place, self._whole)
            if n == 0:
                continue
            breaks = np.flatnonzero(self._bytes[self._begin : self._tail] == LINE_BREAK)
            end = self._begin + int(breaks[n - 1]) + 1
            digest_lines(hasher, self._bytes[self._begin : end])
            self._advance(n, end)

    def _advance(self, lines, begin):
        self.place += lines
        self._whole -= lines
        self._begin = begin

    def _fill(self, lines, wait):
        """Have so many lines in the buffer, or those that are there; wait (seconds) for the first one only."""
        if self._whole >= lines or self._exhausted:
            return
        deadline = time.monotonic() + wait
        self._move_to_front()
        while self._whole < lines and not self._exhausted and self._end < _CAPACITY:
            if not self._ready(0 if self._whole else deadline - time.monotonic()):
                return
            self._receive()
            if not self._whole and time.monotonic() >= deadline:
                return  # an endless line does not keep the caller waiting

    def _move_to_front(self):
        begin, end = self._begin, self._end
        self._buffer[: end - begin] = self._buffer[begin:end]
        self._begin, self._tail, self._end = 0, self._tail - begin, end - begin

    def _ready(self, seconds):
        """Whether reading would not block, after at most so many seconds."""
        return bool(self._poll.poll(None if seconds == math.inf else max(0, seconds) * 1000))

    def _receive(self):
        """Read once into the buffer."""
        end = self._end
        try:
            received = os.readv(self._descriptor, [memoryview(self._buffer)[end:_CAPACITY]])
        except OSError as error:
            raise UserError(f"cannot read the positions: {error.strerror}") from error
        self._exhausted = received == 0
        if self._exhausted and end > self._tail:
            # a last line without a line break gets one, for which the buffer has room
            self._bytes[end] = LINE_BREAK
            received = 1
        self._end = end + received
        self._whole += self._buffer.count(LINE_BREAK, end, self._end)
        self._tail = max(self._tail, self._buffer.rfind(LINE_BREAK, end, self._end) + 1)
        # of a line that is too long, one byte too much is kept
        self._end = min(self._end, self._tail + LONGEST_LINE + 1)

    def _chunk(self, lines):
        """Return the next lines of the buffer as a Chunk."""
        chunk, end = self._scanner.scan(self.place + 1, self._bytes, self._begin, self._tail, lines)
        self._advance(lines, end)
        self.skipped += chunk.size - int(np.count_nonzero(chunk.good))
        self._scanner.parse(chunk)
        return chunk


def digest_lines(hasher: Any, content: np.ndarray) -> None:
    """Have a hashlib object take in whole lines (uint8), the same of them however they came.

    Of a line that is too long, what a reader has kept depends on that: its beginning alone counts.
    """
    breaks = np.flatnonzero(content == LINE_BREAK)
    lengths = np.diff(breaks, prepend=-1) - 1
    begin = 0
    for line in np.flatnonzero(lengths > LONGEST_LINE):
        hasher.update(content[begin : breaks[line] - lengths[line] + LONGEST_LINE])
        begin = breaks[line]
    hasher.update(content[begin:])


def format_scores(chunk: Chunk, begin: int, end: int, scores: np.ndarray) -> bytes:
    """Return lines ``begin`` to ``end`` of a chunk with their scores as bytes: ``4453 -2`` and a line break each.

    ``scores`` (int64) holds one for each of these lines; bad lines are left out. A position is written as it was read.
    """
    lines = slice(begin, end)
    begins, ends = chunk.begins[lines], chunk.ends[lines]
    out = np.empty(answer_rows.room(begins, ends), np.uint8)
    written = answer_rows.write_scores(
        chunk.content, begins, ends, chunk.good[lines], np.ascontiguousarray(scores, np.int64), out
    )
    return out[:written].tobytes()


@contextlib.contextmanager
def opened(path: str) -> Iterator[int]:
    """Give the descriptor of a file, or of stdin for ``-``; raises UserError.

    That of a named pipe may have no writer yet: opening it does not wait for one.
    """
    if path == "-":
        if sys.stdin is None:
            raise UserError("stdin is closed: there are no positions to read")
        yield sys.stdin.fileno()
        return
    try:
        # closed below; unlike os.open, open refuses a folder
        file = open(path, "rb", buffering=0, opener=_open_at_once)  # noqa: SIM115
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        raise UserError(f"cannot read {path[:200]}: {getattr(error, 'strerror', None) or error}") from error
    with file:
        yield file.fileno()


def _open_at_once(path, flags):
    return os.open(path, flags | os.O_NONBLOCK)


def name_of(path: str) -> str:
    """Return what to call an input in a message."""
    return "stdin" if path == "-" else path


def read(
    path: str, game: Any, rules: np.ndarray, interrupts: Any, print_error: Callable[[str], None]
) -> tuple[list[Position], int]:
    """Return (a list of Positions, the number of bad lines) of a file; print_error(text) is told of every bad line.

    Raises UserError for a file that cannot be read, or holds no position.
    """
    positions, bad = [], 0
    with opened(path) as descriptor:
        lines = Lines(game, rules, descriptor)
        while not lines.ended and interrupts.signal is None:
            chunk = lines.read(1 << 12, wait=0.1)
            if chunk is None:
                continue
            for index, text in chunk.errors:
                print_error(f"line {chunk.first + index}: {text}")
            bad += len(chunk.errors)
            positions += [chunk.position(index) for index in range(chunk.size) if chunk.good[index]]
    if not positions and not bad and interrupts.signal is None:
        raise UserError(f"{name_of(path)} holds no position")
    return positions, bad
