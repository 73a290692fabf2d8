"""Positions of an input, solved as they come and answered in their order."""

import itertools
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np

from ..core.errors import UserError
from ..formats.answer_rows import chosen
from ..formats.checkpoint import NO_CHECKPOINT
from ..formats.positions import NO_SCORE, Chunk, LineScanner
from ..games.interface import Position, as_state
from .answer_columns import AnswerColumns, Columns, in_columns
from .facts import Facts
from .metrics import per_worker
from .progress import Part
from .result import Outcome
from .run import RunStats

_CHUNK = 8192  # lines read at a time: 2 ms
# Reading and writing keep the master for milliseconds, and a message with many jobs travels in pieces: so batches are
# of more work (seconds), and workers have so many times as many ahead as usual.
_BATCH, _AHEAD = 4e-3, 12
_MOST_LINES = 1 << 17  # that wait for an answer, bad ones among them
_TURNS = 0.002  # seconds of the cluster's turns between two looks at input and output
_LONG_TURNS = 0.01  # the same where answers have more than scores, of which many at a time cost little more than few
_DOZE = 0.01  # seconds between two looks at all else while nothing comes: a look takes as long as ten at the mail
_REFRESH = 1.0  # seconds between two questions to the workers where their time goes


class AnswerBatch(NamedTuple):
    """Answers to lines ``begin`` to ``end`` of a chunk of the input.

    records: one for each good line among them, in order (see ``tree.jobs.SUBTREE_RESULT``); grown: index of a line →
    the pool that it was grown into; searcher: which found them.
    """

    chunk: Any
    begin: int
    end: int
    records: np.ndarray
    grown: dict
    searcher: Any

    @property
    def lines(self):
        """Indices of the good lines, one for each record."""
        return self.begin + np.flatnonzero(self.chunk.good[self.begin : self.end])

    @property
    def scores(self):
        """Scores of all lines, int64, NO_SCORE for bad ones and for those that an interrupt left unanswered."""
        scores, complete = np.full(self.end - self.begin, NO_SCORE), self.records["complete"] != 0
        scores[self.lines[complete] - self.begin] = self.told[complete]
        return scores

    @property
    def told(self):
        """The score that an answer tells of each record, float64."""
        lines, chunk = self.lines, self.chunk
        return self.searcher.told.of_records(chunk.states[lines], chunk.sides[lines], self.records["score"])


class InMemoryPositions:
    """States of positions as ``positions.Lines`` has those of an input; states: uint64 of shape (n, words).

    sides: int8, the side to move of each, None for 0.
    """

    class Chunk:
        """Some of them; the fields are those of ``positions.Chunk``."""

        errors = ()

        def __init__(self, first, states, sides):
            self.first, self.size, self.good = first, len(states), np.ones(len(states), bool)
            self.states, self.sides = states, sides

        def position(self, index):
            """Return a Position."""
            return Position(as_state(self.states[index]), int(self.sides[index]))

        def text(self, index):
            """Return nothing: positions were not asked for as texts."""
            return ""

        def texts(self, lines):
            """Return the same for many."""
            return chosen([""], np.zeros(len(lines), np.int64))

    def __init__(self, states: np.ndarray, sides: np.ndarray | None = None):
        self._states = states
        self._sides = np.zeros(len(states), np.int8) if sides is None else sides
        self.place = 0

    @classmethod
    def of(cls, positions: Iterable[Position], words: int) -> Self:
        """Return those of Positions, whose states have so many words."""
        every = list(positions)
        states = np.array([position.state for position in every], np.uint64).reshape(len(every), words)
        return cls(states, np.array([position.side for position in every], np.int8))

    @property
    def ended(self) -> bool:
        """Whether all were returned."""
        return self.place == len(self._states)

    def read(self, most: int, wait: float = 0.0) -> Chunk | None:
        """Return a Chunk of at most ``most`` positions, None at their end."""
        if self.ended:
            return None
        begin, self.place = self.place, min(self.place + most, len(self._states))
        here = slice(begin, self.place)
        return self.Chunk(begin + 1, self._states[here], self._sides[here])


class TextPositions:
    """Positions of an iterable of texts, read by thousands as ``positions.Lines`` reads those of an input.

    Each text is a position: raises UserError when it reads one that is none.
    """

    def __init__(self, game: Any, rules: np.ndarray, texts: Iterable[str]):
        self._scanner = LineScanner(game, rules, blank_is_start=True, whole=True)
        self._texts = iter(texts)
        self.place, self.ended = 0, False

    def read(self, most: int, wait: float = 0.0) -> Chunk | None:
        """Return a Chunk of at most ``most`` positions, None at their end."""
        texts = list(itertools.islice(self._texts, most))
        self.ended = not texts
        if self.ended:
            return None
        lines = (text.strip().replace("\n", " ") for text in texts)
        content = np.frombuffer(bytearray("".join(f"{line}\n" for line in lines).encode(errors="replace")), np.uint8)
        chunk, _ = self._scanner.scan(self.place + 1, content, 0, len(content), len(texts))
        self._scanner.parse(chunk)
        refuse_bad(chunk)
        self.place += chunk.size
        return chunk


def refuse_bad(chunk: Chunk) -> None:
    """Raise UserError if a line of a chunk holds no position."""
    for index, text in chunk.errors:
        raise UserError(f"position {chunk.first + index}: {text}")
    if not chunk.good.all():
        raise UserError(f"position {chunk.first + int(chunk.good.argmin())} is a comment")


class StreamSolver:
    """Has the positions of an input solved by a session's workers; iterate over it for the Parts, once.

    lines: a ``lines.Lines`` or like it; print_error(number, text): told of every bad line; brief: without lines of
    play. Memory is bounded: no more is read while many wait for an answer. After an interrupt what is known of the
    rest comes, incomplete. Raises UserError if the session is closed before the end. ``taken()``: a ``RunStats``, of
    what was spent so far. checkpoint: a ``CheckpointHandle``, of the lines from the first one that was not in an
    AnswerBatch. book: ``BookAnswers``, which answers what it has, or None.
    """

    def __init__(
        self,
        session,
        searcher,
        lines,
        print_error=lambda number, text: None,
        brief=False,
        checkpoint=NO_CHECKPOINT,
        book=None,
    ):
        self._session, self._cluster, self._lines, self._print_error = session, session.cluster, lines, print_error
        self._searcher, self._progress = searcher, searcher.progress
        self.bad = 0  # lines that could not be read
        self._stream, self._brief = searcher.stream(brief, snapshot=checkpoint.state), brief
        self._checkpoint, self.book = checkpoint, book
        self._chunks = deque()
        self._done = 0  # lines of the first chunk that were answered
        self._passed = lines.place  # lines of the input that were answered
        self._since = 0.0  # when the run was asked for
        self._began: float | None = None  # when it started
        self._master_before = 0.0  # the master's CPU seconds by then
        self._startup, self._records, self._asked = 0.0, {}, -_REFRESH
        self._workers = None  # what ``taken`` tells of them, None if it must be made anew
        self.halted = False

    def __iter__(self):
        self._since = time.perf_counter()
        how = {"prefetch": self._searcher.prefetch, "batch": _BATCH, "ahead": _AHEAD, "measured": True}
        self._run = self._cluster.begin(self._searcher.setup(self._brief), self._stream, **how)
        try:
            while self._cluster.is_open(self._run):
                self._started()
                if self._read(0.0):
                    self._cluster.more(self._run)
                yield from self._parts()
                self._advance()
            yield from self._parts()
            if self.halted:
                yield from self._rest()
            elif not self._stream.done:
                raise UserError("the session was closed before every position was answered")
        finally:
            self._stop()
            self._cluster.finish(self._run)
            self._progress.clear()

    def _started(self):
        """Time counts from when all workers are ready."""
        if self._began is None and self._cluster.state(self._run).started:
            self._began, self._master_before = time.perf_counter(), self._cluster.master_seconds
            self._startup = self._began - self._since
            self._progress.begin()

    @property
    def _can_read(self):
        """Whether more may come, and there is room for it."""
        stream = self._stream
        return not stream.closed and stream.free >= _CHUNK and self._lines.place - self._passed <= _MOST_LINES

    def _read(self, wait):
        """Read what there is room for; return whether something has come, the end of the input perhaps."""
        stream, lines = self._stream, self._lines
        if not self._can_read:
            return False
        chunk = lines.read(_CHUNK, wait)
        if chunk is not None:
            for index, text in chunk.errors:
                self._print_error(chunk.first + index, text)
            self.bad += len(chunk.errors)
            self._chunks.append(chunk)
            states = chunk.states[chunk.good]
            stream.add(states, self.book.records(states) if self.book else None)
        stream.closed = lines.ended
        return chunk is not None or stream.closed

    def _advance(self):
        cluster, progress = self._cluster, self._progress
        if not cluster.is_open(self._run):  # the consumer of a batch let the cluster go on, or closed it
            return
        interrupted = self._session.interrupted()
        if not self.halted:  # then jobs that were stopped would pass for done
            self._checkpoint.maybe_save(lambda: self._stream.snapshot(self._cluster.request_progress(self._run)))
        if interrupted:
            self._stop()
        if self._began is not None and progress.due() and cluster.is_open(self._run):
            progress.tell(self._facts())
        end = time.perf_counter() + (_TURNS if self._brief else _LONG_TURNS)
        while turned := cluster.turn():
            if not cluster.is_open(self._run):
                self._hear(cluster.metrics)
                return
            self._started()  # a short run would be over by the next look
            if time.perf_counter() > end:
                break
        if turned:
            return
        if not self._can_read:
            self._doze()
        elif self._read(cluster.pause):
            cluster.more(self._run)

    def _doze(self):
        """Do nothing but look at the mail, until there was some or it is time to look at all else."""
        cluster, end = self._cluster, time.perf_counter() + _DOZE
        while not self._session.interrupted():
            time.sleep(cluster.pause)
            if cluster.turn():
                if not cluster.is_open(self._run):
                    self._hear(cluster.metrics)
                else:
                    self._started()
                return
            if time.perf_counter() > end:
                return

    def _hear(self, records):
        """Take in the workers' METRICS_RECORDs by rank."""
        self._records, self._workers = records, None

    def _stop(self):
        if not self.halted and self._cluster.is_open(self._run):
            self.halted = self._stream.halted = True
            self._cluster.halt(self._run)

    def _parts(self):
        """Yield what is answered next in the order of the input."""
        while True:
            number, records = self._stream.collect()
            if len(records):
                yield from self._split(number, records)
            elif (part := self._bad_lines()) is not None:
                yield part
            else:
                return

    def _split(self, number, records):
        """Yield records, of positions from ``number`` on, as the Parts of chunks that they make."""
        while len(records):
            part = self._next_part(number, records)
            number, records = number + len(part.records), records[len(part.records) :]
            yield part

    def _bad_lines(self):
        """Return a AnswerBatch of the bad lines that come next, or None."""
        if not self._chunks:
            return None
        chunk = self._chunks[0]
        good = np.flatnonzero(chunk.good[self._done :])
        end = self._done + int(good[0]) if len(good) else chunk.size
        return self._part(end, np.empty(0, self._stream.result_dtype), {}) if end > self._done else None

    def _next_part(self, number, records):
        """Return the AnswerBatch of the first chunk that the records, of positions from ``number`` on, make."""
        chunk = self._chunks[0]
        lines = self._done + np.flatnonzero(chunk.good[self._done :])
        here = lines[: len(records)]
        end = int(here[-1]) + 1 if len(here) < len(lines) else chunk.size
        grown = {}
        if self._stream.grown:
            found = ((line, self._stream.grown.pop(number + i, None)) for i, line in enumerate(here.tolist()))
            grown = {line: pool for line, pool in found if pool}
        return self._part(end, records[: len(here)], grown)

    def _part(self, end, records, grown):
        part = AnswerBatch(self._chunks[0], self._done, end, records, grown, self._searcher)
        self._passed += end - self._done
        self._done = end
        if end == part.chunk.size:
            self._chunks.popleft()
            self._done = 0
        return part

    def _rest(self):
        """Yield what is known of the positions that a halt left behind, in order."""
        for number, record in self._stream.unanswered():
            known = record["complete"] or np.isfinite(record["score"])
            for part in self._split(number, record.reshape(1)):
                if known or number == 0 or not len(part.records):
                    yield part

    def taken(self):
        """Return a ``RunStats`` of what was spent so far; asks the workers where their time went, once a second."""
        if self._cluster.is_open(self._run) and time.perf_counter() - self._asked > _REFRESH:
            self._cluster.request_metrics(self._run)
            self._hear(self._cluster.metrics)
            self._asked = time.perf_counter()
        if self._workers is None:  # for thousands of answers a second
            self._workers = per_worker(self._records)
        seconds = 0.0 if self._began is None else time.perf_counter() - self._began
        return RunStats(
            seconds, self._cluster.master_seconds - self._master_before, self._startup, self._workers, self.halted
        )

    def _facts(self):
        stream, seconds, cluster = self._stream, time.perf_counter() - (self._began or self._since), self._cluster
        nodes = stream.nodes + cluster.state(self._run).nodes_at_work
        return Facts(
            seconds,
            nodes,
            counted="positions",
            done=stream.answered,
            total=stream.answered + stream.in_flight if stream.closed else None,
            ranks=cluster.ranks,
            busy_ranks=cluster.busy_workers(self._run),
        )


class Answers:
    """What becomes of AnswerBatches: Outcomes, or rows of text.

    taken: returns a ``RunStats`` of their run, or None; book: ``BookAnswers``, or None.
    """

    def __init__(self, searcher: Any, taken: Callable[[], RunStats | None], book: Any = None):
        self._searcher, self._taken, self._book = searcher, taken, book
        self._columns = AnswerColumns(searcher)

    @classmethod
    def of(cls, searcher: Any, solving: StreamSolver) -> Self:
        """Return those of a StreamSolver's AnswerBatches."""
        return cls(searcher, solving.taken, solving.book)

    def outcomes(self, part: AnswerBatch) -> Iterator[Outcome]:
        """Yield the Outcomes of an AnswerBatch."""
        for found in self._runs(part):
            if isinstance(found, Columns):
                yield from found.outcomes()
            else:
                yield found[0]

    def texts(self, part: AnswerBatch, form: Any) -> Iterator[bytes]:
        """Yield the rows of an AnswerBatch, several at a time; form: one of ``answer_text``."""
        for found in self._runs(part):
            yield form.many(found) if isinstance(found, Columns) else form.one(*found)

    def _runs(self, part):
        """Yield Columns of answers in a row that have them, and (Outcome, number of the line) of each other one."""
        lines, records = part.lines, part.records
        many = in_columns(part)
        if self._book:
            many &= records["nodes"] != 0
        took, ends = self._taken(), np.flatnonzero(np.diff(many)) + 1
        for run in np.split(np.arange(len(many)), ends):
            if len(run) and many[run[0]]:
                yield self._columns.of(part.chunk, lines[run], records[run], took)
            else:
                for row in run.tolist():
                    yield self._one(part, int(lines[row]), records[row], took), part.chunk.first + int(lines[row])

    def _one(self, part, line, record, took):
        position = part.chunk.position(line)
        found = self._book.outcome(position) if self._book and record["nodes"] == 0 else None
        outcome = found or self._searcher.answer(position, record, part.grown.get(line))
        if took is not None:
            outcome.add_run(took)
            outcome.gpu_seconds = None  # which is of all positions so far
        return outcome.as_asked(part.chunk.text(line))


def solve(session: Any, searcher: Any, texts: Iterable[str], book: Any) -> Iterator[Outcome]:
    """Yield an Outcome for each of an iterable of texts, in order, as ``Session.solve``; book: ``BookAnswers``."""
    positions = TextPositions(searcher.game, searcher.rules, texts)
    if searcher.deepening:
        searcher.progress = Part(searcher.progress, lambda: f"position {positions.place}")
        while (chunk := positions.read(1)) is not None:
            found = book.outcome(chunk.position(0)) or next(searcher.search([chunk.position(0)]))
            yield found.as_asked(chunk.text(0))
            if session.interrupted():
                return
        return
    solving = StreamSolver(session, searcher, positions, book=book)
    answers = Answers.of(searcher, solving)
    for part in solving:
        yield from answers.outcomes(part)
