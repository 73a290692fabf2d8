"""Entries of a file's state: what has the type and range that it must have comes back, all else is one line."""

import math

import numpy as np
import pytest

from distsearch.core.errors import UserError
from distsearch.core.saved import LARGEST, Saved

ARRAY = np.arange(6, dtype=np.int64).reshape(2, 3)
STATE = {
    "count": 3,
    "by numpy": np.int64(4),
    "seconds": 1.5,
    "done": False,
    "text": "words",
    "window": [-5, 7],
    "sums": [1, 2.5],
    "rows": ARRAY,
    "deep": {"name": 1},
    "none": None,
}


def test_what_fits_comes_back():
    saved = Saved(STATE)
    assert (saved.integer("count"), saved.integer("by numpy", 4, 4), saved.integer("count", -1, 3)) == (3, 4, 3)
    assert (saved.number("seconds"), saved.number("count"), saved.flag("done")) == (1.5, 3.0, False)
    assert saved.text("text") == "words"
    assert saved.integers("window", 2, -5) == (-5, 7)
    assert [(each, type(each)) for each in saved.numbers("sums", 2)] == [(1, int), (2.5, float)]
    assert saved.array("rows", np.int64, (None, 3)) is ARRAY
    assert saved.part("deep").integer("name") == saved.entries("deep")["name"] == 1
    assert saved.names() == list(STATE)
    assert [saved.is_none(name) for name in ("none", "missing", "done")] == [True, True, False]


@pytest.mark.parametrize(
    "ask",
    [
        lambda saved: saved.integer("count", 4),
        lambda saved: saved.integer("count", 0, 2),
        lambda saved: saved.integer("done"),
        lambda saved: saved.integer("seconds"),
        lambda saved: saved.integer("missing"),
        lambda saved: saved.integers("window", 3, -5),
        lambda saved: saved.integers("window", 2),
        lambda saved: saved.integers("text", 5),
        lambda saved: saved.number("text"),
        lambda saved: saved.number("done"),
        lambda saved: saved.numbers("window", 2),
        lambda saved: saved.numbers("sums", 3),
        lambda saved: saved.flag("count"),
        lambda saved: saved.text("count"),
        lambda saved: saved.array("rows", np.int64, (3, None)),
        lambda saved: saved.array("rows", np.int64, (6,)),
        lambda saved: saved.array("rows", np.float64, (2, 3)),
        lambda saved: saved.array("window", np.int64, (2,)),
        lambda saved: saved.part("rows"),
        lambda saved: saved.entries("none"),
    ],
)
def test_what_does_not_fit_is_refused(ask):
    with pytest.raises(UserError, match=r"^the checkpoint is damaged: [a-z ]+ in it cannot be right$"):
        ask(Saved(STATE))


@pytest.mark.parametrize("number", [math.nan, math.inf, -1.0])
def test_numbers_are_finite_and_not_negative(number):
    with pytest.raises(UserError, match="it cannot be right"):
        Saved({"seconds": number}).number("seconds")


def test_whole_numbers_have_a_limit():
    with pytest.raises(UserError, match="the book is damaged: count"):
        Saved({"count": LARGEST + 1}, "the book").integer("count")


@pytest.mark.parametrize("entries", [None, [], "text", 5])
def test_what_has_no_entries_is_refused(entries):
    with pytest.raises(UserError, match="its state in it cannot be right"):
        Saved(entries)
