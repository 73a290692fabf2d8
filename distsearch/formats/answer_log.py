"""How far a stream of positions was answered: the place in its input, and the answers themselves in a file."""

import hashlib
import os

from ..core.appended_file import lock, write_all
from ..core.errors import UserError

SUFFIX = ".answers"
_PIECE = 1 << 20  # bytes copied at a time


class AnswerLog:
    """The file of answers next to a checkpoint, and what the checkpoint has to know of it and of the input.

    path: of the checkpoint; fresh: there need not be a file of answers yet. ``bad``: bad lines so far. Raises UserError
    if the file cannot be opened, or another run writes to it.
    """

    def __init__(self, path: str, fresh: bool = True):
        self._path = path + SUFFIX
        self._name = os.path.basename(self._path)
        self._place, self._length, self.bad = 0, 0, 0  # lines of the input, bytes of answers, lines
        self._input, self._answers = hashlib.sha256(), hashlib.sha256()
        self._error = None
        try:
            self._descriptor = os.open(self._path, os.O_RDWR | (os.O_CREAT if fresh else 0), 0o666)
        except OSError as error:
            raise UserError(f"cannot write {self._name}: {error.strerror}") from error
        lock(self._descriptor, self._name)

    def close(self) -> None:
        """Let others have the file."""
        os.close(self._descriptor)

    def begin(self) -> None:
        """Begin with an empty file."""
        os.ftruncate(self._descriptor, 0)

    def resume(self, state, lines, write, interrupted=lambda: False):
        """Go on from a state: pass over the lines that were answered and ``write`` their answers again (bytes).

        state: what ``state`` gave, as a ``Saved``; lines: a ``positions.Lines`` of the input. Raises UserError,
        before anything is written, if input or answers are not those of the state, and KeyboardInterrupt if
        ``interrupted()`` while it waits for lines.
        """
        self.bad, self._place = state.integer("bad"), state.integer("place")
        self._length = state.integer("length")
        lines.skip(self._place, self._input, interrupted)
        if self._input.hexdigest() != state.text("input"):
            raise UserError(f"the input's first {self._place} lines are not those that the checkpoint knows")
        with open(self._path, "rb") as file:
            left = self._length
            while piece := file.read(min(left, _PIECE)):
                self._answers.update(piece)
                left -= len(piece)
        if left or self._answers.hexdigest() != state.text("answers"):
            raise UserError(f"{self._name} does not begin with the answers that the checkpoint knows")
        os.ftruncate(self._descriptor, self._length)
        os.lseek(self._descriptor, 0, os.SEEK_END)
        with open(self._path, "rb") as file:
            while whole := file.readlines(_PIECE):
                write(b"".join(whole))

    def passed(self, chunk, begin, end):
        """Lines ``begin`` to ``end`` of a ``lines.Chunk``, the next of the input, are answered, bad or skipped."""
        chunk.digest(self._input, begin, end)
        self._place += end - begin
        self.bad += sum(begin <= index < end for index, _ in chunk.errors)

    def append(self, answers: bytes) -> None:
        """Put answers (bytes) into the file. After an error nothing more is, and ``state`` raises it."""
        if self._error:
            return
        try:
            write_all(self._descriptor, answers)
        except OSError as error:
            self._error = error
        self._answers.update(answers)
        self._length += len(answers)

    def state(self):
        """Return what ``resume`` takes, plain values by name; by then the answers are on disk. Raises OSError."""
        if self._error:
            raise self._error
        os.fsync(self._descriptor)
        digests = {"input": self._input.hexdigest(), "answers": self._answers.hexdigest()}
        return {"place": self._place, "bad": self.bad, "length": self._length, **digests}
