"""Answers as a file of Apache Parquet, written in groups of rows as they come."""

import contextlib
import json
import os
import uuid
from collections.abc import Sequence
from importlib.util import find_spec
from types import UnionType
from typing import Self, get_args, get_origin, get_type_hints

from ..core.errors import UserError
from .answer_columns import Columns
from .answer_text import values_of
from .result import Outcome

_GROUP = 1 << 16  # rows that are written at a time
_OTHER_TYPES = {"line": int, "boards_per_second": int, "table_near_hits": int, "version": str}


class ParquetRows:
    """Writes answers to a file with these fields as its columns; a context, whose end completes the file.

    A file is there under its name once it is complete; an error within the context leaves the one that was there. What
    JSON has as lists or objects is text of JSON. Raises UserError if the file cannot be written, or pyarrow is missing.
    """

    head = b""

    def __init__(self, path: str, names: Sequence[str]):
        if find_spec("pyarrow") is None:
            raise UserError("--parquet needs the package pyarrow: pip install 'distsearch[parquet]'")
        import pyarrow
        import pyarrow.parquet

        self._path, self._names, self._arrow = path, names, pyarrow
        self._rows: dict[str, list] = {name: [] for name in names}
        types = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_()}
        self._kinds = {name: _type_of(name) for name in names}
        self._schema = pyarrow.schema([(name, types[kind]) for name, kind in self._kinds.items()])

    def __enter__(self) -> Self:
        path = os.path.realpath(self._path)
        self._real = path
        # a pipe or a device has no other next to it to be replaced by
        self._new = path if os.path.exists(path) and not os.path.isfile(path) else f"{path}.{uuid.uuid4().hex[:8]}"
        with self._told():
            self._writer = self._arrow.parquet.ParquetWriter(self._new, self._schema)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            with self._told():
                if kind is None:
                    self._write()
                self._writer.close()
                if kind is None and self._new != self._real:
                    os.replace(self._new, self._real)
        finally:
            if self._new != self._real:
                with contextlib.suppress(FileNotFoundError):  # it has the other name now
                    os.unlink(self._new)

    @contextlib.contextmanager
    def _told(self):
        """Errors of the file are UserErrors."""
        try:
            yield
        except OSError as error:
            raise UserError(f"cannot write {self._path}: {error.strerror or error}") from error

    def one(self, outcome: Outcome, line: int) -> bytes:
        """Take the answer to a line in; nothing goes to stdout."""
        every = values_of(outcome, line)
        for name, column in self._rows.items():
            column.append(self._value(name, every.get(name)))
        self._write_group()
        return b""

    def many(self, columns: Columns) -> bytes:
        """Take the answers to many lines in."""
        for line, outcome in zip(columns.numbers.tolist(), columns.outcomes(), strict=True):
            self.one(outcome, line)
        return b""

    def _value(self, name, value):
        kind = self._kinds[name]
        if value is None:
            return None
        if kind is str and not isinstance(value, str):
            return json.dumps(value)
        return kind(value)

    def _write_group(self):
        if len(self._rows[self._names[0]]) >= _GROUP:
            self._write()

    def _write(self):
        with self._told():
            self._writer.write_table(self._arrow.table(self._rows, schema=self._schema))
        for column in self._rows.values():
            column.clear()


def _type_of(name):
    """Return str, int, float or bool: what the column of a field holds."""
    hints = {**get_type_hints(Outcome), **_OTHER_TYPES}
    hint = hints[name]
    parts = [part for part in get_args(hint) if part is not type(None)] if isinstance(hint, UnionType) else [hint]
    kind = get_origin(parts[0]) or parts[0]
    return kind if kind in (int, float, bool) else str
