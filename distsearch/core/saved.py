"""What a file held, read entry by entry: nothing of it is used that does not have the type and range it must have."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .errors import UserError

LARGEST = 1 << 60  # of a whole number, unless a smaller one is given


class Saved:
    """The entries of a saved state by name; each method returns one, and raises UserError if it is not as it must be.

    entries: what the file held, of any type; whole: what the error's text calls all of it.
    """

    def __init__(self, entries: Any, whole: str = "the checkpoint"):
        self._whole = whole
        if not isinstance(entries, Mapping):
            raise self.damaged("its state")
        self._entries = entries

    def damaged(self, name: str) -> UserError:
        """Return the error of an entry that does not fit."""
        return UserError(f"{self._whole} is damaged: {name[:80]} in it cannot be right")

    def names(self) -> list[str]:
        """Return the names of all entries."""
        return list(self._entries)

    def is_none(self, name: str) -> bool:
        """Whether an entry is missing or None."""
        return self._entries.get(name) is None

    def integer(self, name: str, least: int = 0, most: int = LARGEST) -> int:
        """Return a whole number from ``least`` to ``most``."""
        value = self._entries.get(name)
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
            raise self.damaged(name)
        return int(value)

    def integers(self, name: str, count: int, least: int = 0, most: int = LARGEST) -> tuple[int, ...]:
        """Return a list of ``count`` whole numbers as a tuple."""
        values = self._entries.get(name)
        if not isinstance(values, Sequence) or len(values) != count:
            raise self.damaged(name)
        return tuple(Saved({name: value}, self._whole).integer(name, least, most) for value in values)

    def number(self, name: str) -> float:
        """Return a number that is finite and not negative."""
        value = self._entries.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float | np.floating):
            raise self.damaged(name)
        if not (value >= 0 and math.isfinite(value)):
            raise self.damaged(name)
        return float(value)

    def numbers(self, name: str, count: int) -> list[float]:
        """Return a list of ``count`` such numbers, those that are whole as int."""
        values = self._entries.get(name)
        if not isinstance(values, Sequence) or len(values) != count:
            raise self.damaged(name)
        found = [Saved({name: value}, self._whole).number(name) for value in values]
        return [value if isinstance(value, int) else each for value, each in zip(values, found, strict=True)]

    def flag(self, name: str) -> bool:
        """Return a truth value."""
        value = self._entries.get(name)
        if not isinstance(value, bool | np.bool_):
            raise self.damaged(name)
        return bool(value)

    def text(self, name: str) -> str:
        """Return a text."""
        value = self._entries.get(name)
        if not isinstance(value, str):
            raise self.damaged(name)
        return value

    def array(self, name: str, dtype: Any, shape: tuple[int | None, ...]) -> np.ndarray:
        """Return a contiguous array of a dtype and shape, in which None stands for any length."""
        value = self._entries.get(name)
        if not isinstance(value, np.ndarray) or value.dtype != np.dtype(dtype) or value.ndim != len(shape):
            raise self.damaged(name)
        if any(want not in (None, have) for want, have in zip(shape, value.shape, strict=True)):
            raise self.damaged(name)
        return np.ascontiguousarray(value)

    def entries(self, name: str) -> dict[str, Any]:
        """Return the entries of an entry that has some itself, unread."""
        value = self._entries.get(name)
        if not isinstance(value, Mapping):
            raise self.damaged(name)
        return dict(value)

    def part(self, name: str) -> "Saved":
        """Return the entries of an entry that has some itself."""
        return Saved(self.entries(name), self._whole)
