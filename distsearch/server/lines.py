"""Lines of positions as a request, for files of millions: answered as lines of text, many in a message."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from .. import games
from ..api.answer_text import Csv, Json, checked_fields, csv_cell
from ..api.compiling import Recipe, compile_with_notice
from ..api.options import Options
from ..api.progress import Progress
from ..api.result import Outcome
from ..core.errors import UserError
from ..formats.answer_rows import PositionTexts, chosen, escaped, joined, lists, numbers, same
from ..formats.positions import Chunk, LineScanner, format_scores
from ..games.interface import Position
from .request import Request

PLAIN = "plain"
FORMATS = PLAIN, "csv", "jsonl"
_SHOWN = 200  # characters of a line that cannot be read
CSV_FIELDS = "line", "position", "move", "score", "bound", "complete", "error"


class Plain:
    """A position as it was given, a space, and its score, as ``solve --plain`` has it; what is wrong is a comment."""

    head = b""

    def one(self, outcome: Outcome, line: int, text: str) -> bytes:
        """Return the answer to a line, whose text is given."""
        if outcome.score is None:
            return self.error(line, text, "stopped before it was answered")
        return f"{text} {outcome.score:g}\n".encode()

    def error(self, line: int, text: str, why: str) -> bytes:
        """Return what stands in the place of an answer."""
        return f"% line {line}: {why}\n".encode()


class _Csv(Csv):
    def one(self, outcome: Outcome, line: int, text: str = "") -> bytes:
        return super().one(outcome, line)

    def error(self, line: int, text: str, why: str) -> bytes:
        """Return what stands in the place of an answer."""
        found = {"line": line, "position": text, "error": why}
        return (",".join(csv_cell(found.get(name)) for name in self.names) + "\n").encode()


class _Json(Json):
    def one(self, outcome: Outcome, line: int, text: str = "") -> bytes:
        return super().one(outcome, line)

    def error(self, line: int, text: str, why: str) -> bytes:
        """Return what stands in the place of an answer."""
        return self.row({"line": line, "position": text, "error": {"code": "bad_field", "message": why}})


def form_of(format: str, fields: str | None) -> Any:
    """Return what writes answers in one of FORMATS; fields: names with commas between. Raises UserError."""
    if format not in FORMATS:
        raise UserError(f"format '{format[:40]}' is not {' or '.join(FORMATS)}")
    if format == PLAIN:
        if fields is not None:
            raise UserError("fields go with csv and jsonl, not with plain")
        return Plain()
    names = None if fields is None else checked_fields(fields)
    return _Json(names) if format == "jsonl" else _Csv((*names, "error") if names else CSV_FIELDS)


class _Positions(Sequence):
    """The Positions of a chunk's good lines, made as they are looked at."""

    def __init__(self, chunk, lines):
        self._chunk, self._lines = chunk, lines

    def __len__(self):
        return len(self._lines)

    def __getitem__(self, index):
        return self._chunk.position(int(self._lines[index]))


class LinesRequest(Request):
    """The lines of a chunk to answer; ``lines``: indices (int64) of those that hold a position.

    ``on_text(text, answers)`` is called instead of ``on_answer``, with whole lines of text (bytes) in the order of the
    chunk, and how many of them are answers.
    """

    positions: Sequence[Position]

    def __init__(
        self, client: Hashable, options: Options, chunk: Chunk, form: Any, priority: int = 0, label: str | None = None
    ):
        self.chunk, self.form, self.lines = chunk, form, np.flatnonzero(chunk.good)
        super().__init__(client, options, _Positions(chunk, self.lines), priority, label=label)
        self.on_text: Callable[[bytes, int], None] = lambda text, answers: None
        self.on_answer = self._take
        self._rows: dict[int, bytes] = {}  # answers that wait for earlier ones, by index of the position
        self._next = 0  # index of the position whose answer is told next
        self._line = 0  # index of the line that is told next

    @property
    def plain(self) -> bool:
        """Whether scores alone are asked for."""
        return isinstance(self.form, Plain)

    def _take(self, index: int, outcome: Outcome) -> None:
        line = int(self.lines[index])
        text = self.chunk.text(line)
        self._rows[index] = self.form.one(outcome.as_asked(text), self.chunk.first + line, text)
        while self._next in self._rows:
            self.tell(int(self.lines[self._next]) + 1, self._rows.pop(self._next), 1)

    def tell(self, end: int, text: bytes, answers: int) -> None:
        """Tell the answers, so many rows of text, to the lines before index ``end`` that were not told yet."""
        errors = {index: why for index, why in self.chunk.errors if self._line <= index < end}
        if errors:
            text = b"".join(self._with_errors(text, end, errors))
        self._line, self._next = end, self._next + answers
        if text:
            self.on_text(text, answers)

    def tell_scores(self, end: int, scores: np.ndarray, answers: int) -> None:
        """The same for plain scores, int64, one for each line."""
        self.tell(end, format_scores(self.chunk, end - len(scores), end, scores), answers)

    def tell_rest(self) -> None:
        """Tell of the bad lines that are left."""
        self.tell(self.chunk.size, b"", 0)

    def _with_errors(self, text, end, errors):
        answers = iter(text.split(b"\n"))
        for line in range(self._line, end):
            if line in errors:
                yield self.form.error(self.chunk.first + line, self.chunk.text(line)[:_SHOWN], errors[line])
            elif self.chunk.good[line]:
                yield next(answers) + b"\n"


def compile_for(name: str, progress: Progress) -> None:
    """Compile or load what reads and writes lines of a game; raises NotCompiledError as ``compile_with_notice``."""
    recipe = Recipe(f"{__name__}:parts_of", {"name": name})
    compile_with_notice(name, parts_of(name)[0], progress, recipe)


def parts_of(name: str) -> list[Callable[[], object]]:
    """Return a function that compiles what reads and writes lines of a game."""
    game: Any = games.find(name)
    rules = game.rules()

    def compile_all():
        content = np.frombuffer(bytearray(b"startpos\n"), np.uint8)
        scanner = LineScanner(game, rules)
        chunk, _ = scanner.scan(1, content, 0, len(content), 1)
        scanner.parse(chunk)
        format_scores(chunk, 0, 1, np.zeros(1, np.int64))
        positions = PositionTexts(game, rules).of(chunk.states, chunk.sides).texts
        same(positions, escaped(chosen([""], np.zeros(1, np.int64)), str))
        line = lists(np.zeros((1, 1), np.int64), np.ones(1, np.int64), ["1"], " ")
        joined(1, ["", "", "\n"], [numbers(np.zeros(1)), line])

    return [compile_all]
