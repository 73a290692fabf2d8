"""Scores of many positions as one array, without an object for each."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..core.errors import UserError
from ..formats.positions import Chunk, LineScanner, MemoryLines
from .solve import InMemoryPositions, StreamSolver, TextPositions

FORMS = np.ndarray, str, bytes, bytearray, memoryview  # of positions, besides iterables of texts
Asked = np.ndarray | str | bytes | bytearray | memoryview | Iterable[str]


def scores(session: Any, searcher: Any, asked: Asked, book: Any) -> np.ndarray:
    """Return what ``Session.scores`` does, of positions in any of its forms; book: ``BookAnswers``."""
    count, positions = _read(searcher, asked)
    found = np.full(count, np.nan)
    if searcher.deepening:
        for row, position in _one_by_one(positions):
            answer = book.outcome(position) or next(searcher.search([position]))
            if answer.complete:
                found[row] = answer.score
            if session.interrupted():
                break
        return found
    for part in StreamSolver(session, searcher, positions, _refuse, brief=True, book=book):
        done = part.records["complete"] != 0
        found[part.chunk.first - 1 + part.lines[done]] = part.told[done]
    return found


def _read(searcher, asked):
    """Return (the number of positions, what a StreamSolver reads them from)."""
    game, rules = searcher.game, searcher.rules
    asked = asked.encode(errors="replace") if isinstance(asked, str) else asked
    if isinstance(asked, np.ndarray) and asked.dtype == np.uint64:
        if asked.ndim != 2 or asked.shape[1] != game.words(rules):
            raise UserError(f"states of {game.NAME} are an array of shape (n, {game.words(rules)}), not {asked.shape}")
        return len(asked), InMemoryPositions(asked)
    if isinstance(asked, (bytes, bytearray, memoryview)) or isinstance(asked, np.ndarray) and asked.dtype == np.uint8:
        lines = MemoryLines(LineScanner(game, rules), asked)
        return lines.size, lines
    texts = asked.astype(str).ravel().tolist() if isinstance(asked, np.ndarray) else list(asked)
    return len(texts), TextPositions(game, rules, texts)


def _refuse(number, text):
    raise UserError(f"line {number}: {text}")


def _one_by_one(positions) -> Iterator[tuple[int, Any]]:
    """Yield (row, Position) of each position."""
    chunk: Chunk | None
    while (chunk := positions.read(1)) is not None:
        for _, text in chunk.errors:
            _refuse(chunk.first, text)
        if chunk.good[0]:
            yield chunk.first - 1, chunk.position(0)
