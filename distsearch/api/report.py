"""Answers to a stream of positions as people and programs read them: plain, OBF, and forms with fields; what it took.

Plain scores follow the protocol of Pascal Pons's Connect 4 solver: the position as it was given, a space, its score;
with the scores of all moves, those of every column, or -1000 where there is no room.
"""

import itertools
import time

import numpy as np

from ..core.saved import Saved
from ..formats.answer_log import AnswerLog
from ..formats.checkpoint import NO_CHECKPOINT, CheckpointHandle
from ..formats.obf import obf_line
from ..formats.positions import Lines, format_scores
from ..games.interface import FixedMoves
from ..tree.search_tree import ANY
from .progress import Part
from .result import Batch, tidy
from .solve import Answers, StreamSolver

_NO_MOVE = -1000
_TOLD_DIFFERENCES = 20


class Report:
    """Has the positions of an input solved and writes the answers, in order, as soon as they can be.

    descriptor: of the input; style: "lines" (plain scores), "obf", or one of the forms of ``answer_text``; check:
    compare with the score that ends each line; print_error(text): told of bad lines and differences; checkpoint: where
    to keep how far this is, and from where to go on; blank_is_start: see ``Lines``. Afterwards ``status`` is the exit
    status, 1 if a line was bad or a score differed, and ``summary`` the averages and totals as text, None for less than
    two positions.
    """

    def __init__(
        self,
        session,
        options,
        game,
        rules,
        descriptor,
        style,
        check,
        print_error,
        checkpoint=NO_CHECKPOINT,
        blank_is_start=False,
    ):
        self._session, self._options, self._game, self._rules = session, options, game, rules
        self._lines = Lines(game, rules, descriptor, check, blank_is_start)
        self._style, self._check, self._print_error = style, check, print_error
        self._batch = Batch()
        self._differences = 0
        self._bad = 0
        self._halted = False  # the user ended it before it was done
        self._checkpoint, self._answers, self._resumed = checkpoint, None, False
        self._book = session.book(options)
        if checkpoint.path:
            self._answers = AnswerLog(checkpoint.path, fresh=checkpoint.state is None)

    def run(self, write):
        """Solve everything; ``write(bytes)`` is called with whole lines."""
        try:
            self._run(write)
        finally:
            if self._answers:
                self._answers.close()

    def _run(self, write):
        searcher = self._session.searcher(self._options)
        self._resume(searcher, write)
        self._began = time.perf_counter(), time.process_time()
        answer = self._search_one_by_one if searcher.deepening else self._stream
        for text in itertools.chain(self._head, answer(searcher)):
            write(text)
            if self._answers:
                self._answers.append(text)
        if not self._halted and not self.empty:
            self._checkpoint.save(lambda: self._state(searcher, None))
        self._clock()

    @property
    def _head(self):
        """What stands before the answers, unless an earlier run has written it."""
        head = b"" if isinstance(self._style, str) else self._style.head
        return [head] if head and not self._resumed else []

    def _clock(self):
        """Count the time since the last call."""
        (wall, cpu), self._began = self._began, (time.perf_counter(), time.process_time())
        self._batch.took(self._began[0] - wall, self._began[1] - cpu, self._session.ranks)

    def _resume(self, searcher, write):
        """Go on where an earlier run was, if it left a state."""
        state = self._checkpoint.state
        if state and self._answers:
            saved = Saved(state)
            self._differences, self._batch = saved.integer("differences"), Batch.restored(saved.part("batch"))
            self._answers.resume(saved.part("answers"), self._lines, write, self._interrupted)
            self._resumed, self._bad = True, self._answers.bad
            searcher.adopt(state)
        elif self._answers:
            self._answers.begin()

    def _state(self, searcher, at_work):
        self._clock()
        return {
            "answers": self._answers and self._answers.state(),
            "differences": self._differences,
            "batch": self._batch.state(),
            "wanted_subtrees": searcher.wanted_subtrees,
            "at_work": at_work,
        }

    def _of_searcher(self, searcher):
        """Return what is kept of the positions at work, a CheckpointHandle within this one's checkpoint."""
        if self._checkpoint is NO_CHECKPOINT:
            return NO_CHECKPOINT
        state = self._checkpoint.state
        earlier = None if state is None or state.get("at_work") is None else Saved(state).entries("at_work")
        return CheckpointHandle(
            earlier, lambda make: self._checkpoint.maybe_save(lambda: self._state(searcher, make()))
        )

    def _passed(self, chunk, begin, end):
        """Lines of a chunk were answered, and the answers written."""
        if self._answers:
            self._answers.passed(chunk, begin, end)

    @property
    def empty(self):
        """Whether there was no line, good or bad, but blank ones and comments."""
        return self._lines.place == self._lines.skipped

    @property
    def status(self):
        return 1 if self._bad or self._differences else 0

    @property
    def summary(self):
        return self._batch.to_text() if self._batch.positions > 1 else None

    def _refused(self, number, text):
        self._bad += 1
        self._print_error(f"line {number}: {text}")

    def _stream(self, searcher):
        plain = self._style == "lines" and not self._options.all_moves
        solving = StreamSolver(
            self._session, searcher, self._lines, self._refused, plain, self._of_searcher(searcher), self._book
        )
        answers = None if plain else Answers.of(searcher, solving)
        for part in solving:
            if isinstance(self._style, str) and not part.records["complete"].all():
                # an interrupt left it unanswered: programs count on an answer for every line before the last
                self._print_error(f"stopped before line {part.chunk.first + part.begin} was answered")
                break
            if self._check:
                self._compare(part)
            self._batch.add_records(part.records)
            yield from self._texts(part, answers)
            self._passed(part.chunk, part.begin, part.end)
        self._halted = solving.halted

    def _texts(self, part, answers):
        """Yield a part's answers as text."""
        if answers is None:
            yield format_scores(part.chunk, part.begin, part.end, part.scores)
        elif isinstance(self._style, str):
            for line, outcome in zip(part.lines.tolist(), answers.outcomes(part), strict=True):
                yield self._text(part.chunk, line, outcome)
        else:
            yield from answers.texts(part, self._style)

    def _search_one_by_one(self, searcher):
        checkpoint = self._of_searcher(searcher)
        searcher.progress = Part(searcher.progress, lambda: f"line {self._lines.place}")
        while not self._lines.ended and not self._halted:
            self._halted = self._interrupted()
            state = checkpoint.state
            checkpoint.maybe_save(lambda state=state: state)
            chunk = None if self._halted else self._lines.read(1, wait=0.1)
            if chunk is not None:
                yield from self._search_one(searcher, chunk, checkpoint)
                checkpoint = checkpoint._replace(state=None)  # which was of the first position

    def _interrupted(self):
        """Whether the user wants an end; a worker that got a signal may tell so while nothing is searched."""
        self._session.cluster.turn()
        return self._session.interrupted()

    def _search_one(self, searcher, chunk, checkpoint):
        """Yield the answer to a chunk of one line, unless it is a bad one."""
        for index, text in chunk.errors:
            self._refused(chunk.first + index, text)
        if chunk.good[0]:
            position = chunk.position(0)
            outcome = self._book.outcome(position) or next(searcher.search([position], checkpoint))
            if self._check and outcome.complete:
                self._expect(chunk.first, int(chunk.scores[0]), outcome.score)
            self._batch.add(outcome)
            yield self._text(chunk, 0, outcome)
            self._halted = self._session.interrupted() and not outcome.complete
        self._passed(chunk, 0, 1)

    def _text(self, chunk, line, outcome):
        if not isinstance(self._style, str):
            return self._style.one(outcome.as_asked(chunk.text(line)), chunk.first + line)
        if not outcome.complete:
            return b""
        if self._style == "obf":
            best = [{"move": outcome.move, "score": outcome.score}] if outcome.move else []
            moves = [(each["move"], each["score"]) for each in outcome.moves or best]
            text = obf_line(outcome.position, moves, outcome.score)
        else:
            text = " ".join([chunk.text(line), f"{outcome.score:g}", *self._move_scores(outcome)])
        return f"{text}\n".encode()

    def _move_scores(self, outcome):
        if outcome.moves is None:
            return []
        scores = {entry["move"]: f"{entry['score']:g}" for entry in outcome.moves}
        game = self._game
        if not isinstance(game, FixedMoves):
            return [f"{move}:{score}" for move, score in scores.items()]
        return [scores.get(game.move_text(m, self._rules), str(_NO_MOVE)) for m in game.every_move(self._rules)]

    def _compare(self, part):
        """Tell where scores differ from those that the lines end with."""
        lines, complete = part.lines, part.records["complete"] != 0
        expected, found = part.chunk.scores[lines], part.told
        low, high = self._options.window or ANY
        bound = np.clip(expected, low, high)  # beyond the window its end is all that is asked for
        for at in np.flatnonzero(complete & (expected != found) & (bound != found)):
            self._expect(part.chunk.first + int(lines[at]), int(expected[at]), float(found[at]))

    def _expect(self, number, expected, found):
        if expected == found:
            return
        self._differences += 1
        if self._differences <= _TOLD_DIFFERENCES:
            self._print_error(f"line {number}: score {tidy(found)} where the line says {expected}")
        elif self._differences == _TOLD_DIFFERENCES + 1:
            self._print_error("more lines differ")
