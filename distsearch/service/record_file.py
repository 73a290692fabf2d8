"""A new file that is written a line at a time."""

from ..errors import UserError


class RecordFile:
    """A context in which lines are written. Raises UserError if the file is there, or cannot be written."""

    def __init__(self, path):
        self._path = path

    def __enter__(self):
        self._file = self._do(lambda: open(self._path, "x"))  # noqa: SIM115, closed as the context ends
        return self

    def __exit__(self, *_):
        self._do(self._file.close)

    def write(self, line):
        """Write a line, for others to read at once."""
        self._do(lambda: print(line, file=self._file, flush=True))

    def _do(self, write):
        try:
            return write()
        except (OSError, ValueError) as error:  # ValueError: a name with a NUL
            reason = getattr(error, "strerror", None) or error
            raise UserError(f"cannot write {str(self._path)[:200]}: {reason}") from error
