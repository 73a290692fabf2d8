"""Lines of positions at work: searched in one run, and told many at a time."""

from typing import Any

import numpy as np

from ..api.solve import AnswerBatch, Answers
from .lines import LinesRequest
from .running_request import Task

_ROWS = 2048  # answers told in a turn
_BATCH = 4e-3  # seconds of work in a message to a worker
_FROM_BOOK = 16  # where a book may answer them, which takes a millisecond each


class Lines(Task):
    """The lines of a LinesRequest, searched to the end or to a depth; book: ``BookAnswers``."""

    def __init__(self, cluster: Any, searcher: Any, request: LinesRequest, book: Any):
        super().__init__(cluster, searcher, request)
        self._lines, self._book = request, book
        self._states = request.chunk.states[request.lines]
        self._stream = searcher.stream(request.plain, capacity=1 << max(0, len(self._states) - 1).bit_length())
        self._answers = Answers(searcher, lambda: None, book)
        self._added = 0  # positions
        self._known = (0, np.empty(0, self._stream.result_dtype))  # number of the first, records that are not told yet
        self._add()
        self._begin(self._stream, searcher.setup(request.plain), batch=_BATCH)

    def _add(self):
        end = len(self._states) if not self._book else self._added + _FROM_BOOK
        states = self._states[self._added : end]
        self._stream.add(states, self._book.records(states) if self._book else None)
        self._added += len(states)
        self._stream.closed = self._added == len(self._states)

    @property
    def nodes(self):
        return self._stream.nodes + self._nodes_at_work

    @property
    def _complete(self):
        return self.answered == len(self._states)

    def _halt(self):
        self._stream.halted = True
        self._cluster.halt(self._run)

    def _advance(self, now):
        if not self._stream.closed and self._open:
            self._add()
            self._cluster.more(self._run)
        number, records = self._known
        if not len(records):
            number, records = self._stream.collect()
        if len(records):
            told = records[: _FROM_BOOK if self._book and not self._lines.plain else _ROWS]
            self._tell_some(number, told)
            number, records = number + len(told), records[len(told) :]
        self._known = number, records.copy()  # the stream needs their room
        self.more = not self._stream.closed or len(records) > 0

    def _tell_some(self, number, records):
        request, last = self._lines, number + len(records) - 1
        begin, end = int(request.lines[number]), int(request.lines[last]) + 1
        grown = {}
        if self._stream.grown:
            found = {each: self._stream.grown.pop(each, None) for each in range(number, last + 1)}
            grown = {int(request.lines[each]): pool for each, pool in found.items() if pool}
        part = AnswerBatch(request.chunk, begin, end, records, grown, self.searcher)
        self.answered += len(records)
        if request.plain:
            request.tell_scores(end, part.scores, len(records))
        else:
            request.tell(end, b"".join(self._answers.texts(part, request.form)), len(records))

    @property
    def _at_work(self):
        number = self._stream.grown_number
        first = min(self.answered, len(self._states) - 1)
        return (first, None) if number is None else (number, self._stream.pool(number))

    def _so_far(self, now):
        raise NotImplementedError  # partial answers are not asked for
