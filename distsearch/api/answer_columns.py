"""Answers of a stream as columns of arrays: what outcomes and rows of text are made of, many at a time.

What a score says (its unit, its bound, its meaning) follows from a few numbers that many positions have in common: one
position of each kind is answered by the searcher itself, and the others have what that one has.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..cluster.protocols import TABLE_COUNTS
from ..formats.answer_rows import PositionTexts, Texts, chosen, same
from ..jobs.two_player import SUBTREE_RESULT
from .result import Outcome

_FROM_SCORE = "score", "unit", "meaning", "bound", "proved", "depth"  # fields of an Outcome that ``Said`` has
COUNTED = "nodes", "ordering_nodes", *TABLE_COUNTS  # fields that records have by the same names
TIMED = {"seconds": "seconds", "cpu_seconds": "cpu"}  # field → name in records
_MOST_SAID = 1 << 16  # kinds of answers that are kept


class Said(NamedTuple):
    """What some answers have in common: fields of their Outcomes, and the score as a table shows it."""

    fields: dict[str, Any]
    text: str


class Columns(NamedTuple):
    """Answers, one a row.

    numbers: int64, of their lines, from 1; positions, asked: texts of them, and as they were asked for; is_asked: bool,
    whether that is told; said, kinds: what there is to say, and which of that (int64) a row has; records:
    SUBTREE_RESULTs; moves: texts of moves, for which the codes (int64, (rows, most)) of the principal variations stand,
    each of ``lengths``; sample: the Outcome of one of them, with what all of the run have in common.
    """

    numbers: np.ndarray
    positions: Texts
    asked: Texts
    is_asked: np.ndarray
    said: Sequence[Said]
    kinds: np.ndarray
    records: np.ndarray
    moves: Sequence[str]
    codes: np.ndarray
    lengths: np.ndarray
    sample: Outcome

    def outcomes(self) -> Iterator[Outcome]:
        """Yield each answer as an Outcome."""
        common, positions, moves = vars(self.sample), self.positions.to_list(), self.moves
        asked = self.asked.to_list() if self.is_asked.any() else []
        counts = [self.records[name].tolist() for name in (*COUNTED, *TIMED.values())]
        names = "position", "move", "pv", *COUNTED, *TIMED
        kinds, lengths, codes = self.kinds.tolist(), self.lengths.tolist(), self.codes.tolist()
        is_asked = self.is_asked.tolist()
        for row, (text, *numbers) in enumerate(zip(positions, *counts, strict=True)):
            line = [moves[code] for code in codes[row][: lengths[row]]]
            own = dict(zip(names, (text, line[0] if line else None, line, *numbers), strict=True))
            outcome = Outcome.__new__(Outcome)
            vars(outcome).update(common | self.said[kinds[row]].fields | own)
            outcome.asked = asked[row] if is_asked[row] else None
            yield outcome


class AnswerColumns:
    """Makes Columns of answers of a searcher's stream, whose records are complete and none of which was grown."""

    def __init__(self, searcher: Any):
        self._searcher, self._texts = searcher, PositionTexts(searcher.game, searcher.rules)
        self._sample: Outcome | None = None
        self._said: list[Said] = []
        self._kinds: dict[tuple, int] = {}
        self._moves: list[str] = []
        self._codes = np.full(1 << 16, -1)  # code of a move, as uint16 → where its text is

    def of(self, chunk: Any, lines: np.ndarray, records: np.ndarray, took: Any) -> Columns:
        """Return the Columns of some lines of a chunk; took: a ``RunStats``, or None."""
        if len(self._said) > _MOST_SAID:
            self._said, self._kinds = [], {}
        described = self._texts.of(chunk.states[lines], chunk.sides[lines])
        lengths = records["line_length"].astype(np.int64)
        facts = described.left * 8 + chunk.sides[lines] * 4 + described.over * 2 + (lengths > 0)
        kinds = self._kinds_of(chunk, lines, records, facts)
        asked, positions = chunk.texts(lines), described.texts
        is_asked = (asked.ends > asked.begins) & ~same(asked, positions)
        is_asked &= ~same(asked, chosen(["startpos"], np.zeros(len(lines), np.int64)))
        sample: Outcome = self._sample or self._searcher.answer(chunk.position(int(lines[0])), records[0])
        self._sample = sample
        if took is not None:
            sample.add_run(took)
        codes = self._codes_of(records["line"], lengths)
        found = positions, asked, is_asked, self._said, kinds, records, self._moves, codes, lengths, sample
        return Columns(chunk.first + lines, *found)

    def _kinds_of(self, chunk, lines, records, facts):
        """Return which of ``_said`` each row has; facts (int64): all that it depends on but the score."""
        scores, which = np.unique(records["score"], return_inverse=True)
        every, first, kinds = np.unique(which * (int(facts.max()) + 1) + facts, return_index=True, return_inverse=True)
        found = np.empty(len(every), np.int64)
        for kind, row in enumerate(first.tolist()):
            key = float(scores[which[row]]), int(facts[row])
            if key not in self._kinds:
                outcome = self._searcher.answer(chunk.position(int(lines[row])), records[row])
                fields = {name: getattr(outcome, name) for name in _FROM_SCORE}
                self._kinds[key] = len(self._said)
                self._said.append(Said(fields, outcome.score_text()))
            found[kind] = self._kinds[key]
        return found[kinds]

    def _codes_of(self, lines, lengths):
        """Return codes of the moves of lines (int16, (rows, most)) whose texts are in ``_moves``."""
        lines = np.ascontiguousarray(lines[:, : int(lengths.max(initial=0))]).view(np.uint16)
        used = lines[np.arange(lines.shape[1]) < lengths[:, None]]
        for code in np.unique(used[self._codes[used] < 0]):
            self._codes[code] = len(self._moves)
            self._moves.append(self._searcher.game.move_text(int(code.astype(np.int16)), self._searcher.rules))
        return self._codes[lines]


def in_columns(part: Any) -> np.ndarray:
    """Return which records of an AnswerBatch ``AnswerColumns`` takes, bool."""
    if part.records.dtype != SUBTREE_RESULT:
        return np.zeros(len(part.records), bool)
    found = part.records["complete"] != 0
    if part.grown:
        found &= ~np.isin(part.lines, list(part.grown))
    return found
