"""Answers as text: a table, lines of JSON, CSV, with all fields or with some; many rows at a time, or one Outcome."""

import json
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from ..core.errors import UserError
from ..formats.answer_rows import Texts, chosen, escaped, joined, lists, numbers
from .answer_columns import COUNTED, TIMED, Columns
from .declarations import suggestion
from .result import NOT_ALWAYS, Outcome

DEFAULT_FIELDS = ("line", "move", "score", "bound", "nodes", "seconds")
_LAST = "boards_per_second", "table_near_hits", "version"
FIELDS = ("line", *(each.name for each in fields(Outcome) if each.name != "drawing"), *_LAST)
_TABLE_MOVES = 8  # of the principal variation


def checked_fields(text: str) -> tuple[str, ...]:
    """Return the names in a text with commas between, ``default`` for DEFAULT_FIELDS; raises UserError."""
    if text == "default":
        return DEFAULT_FIELDS
    names = tuple(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in FIELDS:
            raise UserError(f"'{name[:40]}' is no field of an answer{suggestion(name, FIELDS)}")
    return names


def values_of(outcome: Outcome, line: int) -> dict[str, Any]:
    """Return the fields of an answer by name."""
    return {"line": line, **outcome.to_dict()}


class _Cells:
    """The fields of Columns, each as the columns of text that make it up."""

    def __init__(self, columns: Columns, write: Callable[[Any], str], quote: str):
        self._columns, self._write, self._quote = columns, write, quote
        self._rows = np.zeros(len(columns.numbers), np.int64)
        self._common = columns.sample.to_dict()

    def always(self, name: str) -> bool:
        """Return whether every row has a field."""
        return name not in NOT_ALWAYS or name in self._common and name not in ("asked", "meaning")

    def shown(self, name: str) -> np.ndarray | None:
        """Return which rows have a field that is not always there, bool; None: no row has."""
        if name == "asked":
            return self._columns.is_asked
        if name == "meaning":
            known = np.array([said.fields["meaning"] is not None for said in self._columns.said])
            return known[self._columns.kinds]
        return None

    def constant(self, text: str) -> Texts:
        """Return a column of one text."""
        return chosen([text], self._rows)

    def of(self, name: str) -> list[Any]:
        """Return what makes up a field: columns (Texts), or a str that all rows have."""
        columns, records = self._columns, self._columns.records
        if name == "line":
            return [numbers(columns.numbers)]
        if name in COUNTED:
            return [numbers(records[name])]
        if name in TIMED:
            return [numbers(records[TIMED[name]].astype(np.float64), 6)]
        if name == "table_near_hits":
            return [numbers(records["table_hits"] - records["table_far_hits"])]
        if name == "boards_per_second":
            seconds = records["seconds"].astype(np.float64)
            rates = np.divide(records["nodes"], seconds, out=np.zeros(len(seconds)), where=seconds > 0)
            return [numbers(rates)]
        if name in columns.said[0].fields:
            return [chosen([self._write(said.fields[name]) for said in columns.said], columns.kinds)]
        return self._of_text(name)

    def _of_text(self, name):
        columns, write = self._columns, self._write
        if name == "position":
            return self._quoted(columns.positions)
        if name == "asked":
            missing = self.constant(write(None)).where(~columns.is_asked)
            return [each.where(columns.is_asked) for each in self._quoted(columns.asked)] + [missing]
        if name == "move":
            words = [*map(write, columns.moves), write(None)]
            first = columns.codes[:, 0] if columns.codes.shape[1] else self._rows
            return [chosen(words, np.where(columns.lengths > 0, first, len(columns.moves)))]
        if name == "pv" and self._quote:
            line = lists(columns.codes, columns.lengths, [write(move) for move in columns.moves], ", ")
            return ["[", line, "]"]
        if name == "pv":
            return [lists(columns.codes, columns.lengths, columns.moves, " ")]
        return [write(self._common.get(name))]

    def _quoted(self, texts):
        if not self._quote:
            return [escaped(texts, self._write)]
        quote = self.constant(self._quote)
        return [quote, escaped(texts, lambda text: self._write(text)[1:-1]), quote]


class _Row:
    """Literals and columns of so many rows, one after another."""

    def __init__(self, rows: int):
        self._rows, self._literals, self._columns = rows, [""], []

    def __bool__(self) -> bool:
        return bool(self._columns or self._literals[0])

    def add(self, *parts: str | Texts) -> None:
        for part in parts:
            if isinstance(part, str):
                self._literals[-1] += part
            else:
                self._columns.append(part)
                self._literals.append("")

    def bytes(self) -> bytes:
        return joined(self._rows, self._literals, self._columns)


class Json:
    """A JSON object a line, of these fields, None: of all that ``--json`` has."""

    head = b""

    def __init__(self, names: Sequence[str] | None = None):
        self._names = names

    def one(self, outcome: Outcome, line: int) -> bytes:
        """Return the answer to a line."""
        every = values_of(outcome, line)
        found = every if self._names is None else {name: every.get(name) for name in self._names}
        return self.row(found)

    def row(self, found: dict[str, Any]) -> bytes:
        """Return a line of JSON."""
        return f"{json.dumps(found)}\n".encode()

    def many(self, columns: Columns) -> bytes:
        """Return the answers to many lines."""
        cells, row = _Cells(columns, json.dumps, '"'), _Row(len(columns.numbers))
        every = self._names is None
        for name in self._names or ["line", *columns.sample.names()]:
            key = f"{', ' if row else '{'}{json.dumps(name)}: "
            if not every or cells.always(name):
                row.add(key, *cells.of(name))
            elif (shown := cells.shown(name)) is not None:
                row.add(*(each.where(shown) for each in (cells.constant(key), *cells.of(name))))
        row.add("}\n")
        return row.bytes()


class Csv:
    """A table of these fields with commas between, whose first line is ``head``."""

    def __init__(self, names: Sequence[str] = DEFAULT_FIELDS):
        self.names, self.head = names, f"{','.join(names)}\n".encode()

    def one(self, outcome: Outcome, line: int) -> bytes:
        """Return the answer to a line."""
        every = values_of(outcome, line)
        return (",".join(csv_cell(every.get(name)) for name in self.names) + "\n").encode()

    def many(self, columns: Columns) -> bytes:
        """Return the answers to many lines."""
        cells, row, before = _Cells(columns, csv_cell, ""), _Row(len(columns.numbers)), ""
        for name in self.names:
            row.add(before, *cells.of(name))
            before = ","
        row.add("\n")
        return row.bytes()


def csv_cell(value: Any) -> str:
    """Return a value as a cell of CSV: nothing for None, a list of texts with spaces between, else JSON's for these."""
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        value = " ".join(value)
    elif isinstance(value, (list, dict)):
        value = json.dumps(value)
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if any(each in text for each in ',"\r\n') else text


class Table:
    """Lines for people."""

    head = b""

    def one(self, outcome: Outcome, line: int) -> bytes:
        """Return the answer to a line."""
        return f"{outcome.to_line(line)}\n".encode()

    def many(self, columns: Columns) -> bytes:
        """Return the answers to many lines, as ``Outcome.to_line`` has them."""
        row, records = _Row(len(columns.numbers)), columns.records
        words = [f"{move:<5}" for move in (*columns.moves, "-")]
        first = columns.codes[:, 0] if columns.codes.shape[1] else columns.lengths
        row.add(numbers(columns.numbers, width=6), "  ")
        row.add(chosen(words, np.where(columns.lengths > 0, first, len(columns.moves))), " ")
        row.add(chosen([f"{said.text:<24}" for said in columns.said], columns.kinds), " ")
        row.add(numbers(records["nodes"], grouped=True, width=14), " nodes ")
        row.add(numbers(records["seconds"].astype(np.float64), 3, width=9), " s  ")
        row.add(lists(columns.codes, np.minimum(columns.lengths, _TABLE_MOVES), columns.moves, " "), "\n")
        return row.bytes()
