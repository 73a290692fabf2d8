"""Rows of many answers at a time are what each answer says by itself, in every form and field."""

import copy
import csv
import io
import json
import random

import numpy as np
import pytest

from distsearch.api.answer_columns import AnswerColumns
from distsearch.api.answer_text import DEFAULT_FIELDS, FIELDS, Csv, Json, Table, checked_fields, csv_cell
from distsearch.api.options import resolve
from distsearch.api.session import Session
from distsearch.api.solve import StreamSolver
from distsearch.core.errors import UserError
from distsearch.formats.positions import LineScanner, MemoryLines
from distsearch.games import connect4, othello
from distsearch.games.random_play import random_positions

ASKED = {  # options → lines that are odd
    "connect4": (connect4, {"exact": True, "board": "4x5"}, ["", "startpos", "% none", "1 5"]),
    "connect4 to a depth": (connect4, {"depth": 3, "board": "4x5"}, ['1; my favourite, "one"', "\t1"]),
    "connect4 in a window": (connect4, {"exact": True, "window": (-1, 1), "board": "4x5"}, ["11"]),
    "othello": (othello, {"exact": True, "board": "4x4"}, ["startpos", "X" * 16 + " O", "O" * 15 + "- x"]),
}


@pytest.fixture(scope="module", params=ASKED)
def answered(request):
    """[(Columns, [(Outcome by itself, number of its line)])] of some positions, random ones among them."""
    game, options, odd = ASKED[request.param]
    asked, game, rules = resolve(game.NAME, **options)
    drawn = random_positions(game, rules, range(6, 13), 60, random.Random(request.config.option.seed))
    lines = [*odd, *(game.text(position, rules) for position in drawn)]
    found = []
    with Session(table=1, book="none") as session:
        searcher = session.searcher(asked)
        content = "".join(f"{line}\n" for line in lines).encode()
        solving = StreamSolver(session, searcher, MemoryLines(LineScanner(game, rules), content))
        columns = AnswerColumns(searcher)
        for part in solving:
            if len(part.records):
                took = solving.taken()
                alone = []
                for line, record in zip(part.lines.tolist(), part.records, strict=True):
                    outcome = searcher.answer(part.chunk.position(line), record)
                    outcome.add_run(took)
                    alone.append((outcome.as_asked(part.chunk.text(line)), part.chunk.first + line))
                every = columns.of(part.chunk, part.lines, part.records.copy(), took)
                # the next part's columns set what the run has taken in the same sample
                found.append((every._replace(sample=copy.copy(every.sample)), alone))
    assert sum(len(alone) for _, alone in found) >= 60
    return found


def rows(answered, form):
    """Yield (row of many, row of one)."""
    for columns, alone in answered:
        many = form.many(columns).decode().splitlines()
        yield from zip(many, [form.one(*each).decode().rstrip("\n") for each in alone], strict=True)


def test_outcomes(answered):
    for columns, alone in answered:
        for found, (outcome, _) in zip(columns.outcomes(), alone, strict=True):
            assert vars(found) == vars(outcome)


@pytest.mark.parametrize("names", [None, DEFAULT_FIELDS, FIELDS], ids=["all", "default", "each"])
def test_json(answered, names):
    for many, one in rows(answered, Json(names)):
        assert list(json.loads(many).items()) == list(json.loads(one).items())


@pytest.mark.parametrize("names", [DEFAULT_FIELDS, FIELDS], ids=["default", "each"])
def test_csv(answered, names):
    for many, one in rows(answered, Csv(names)):
        found, wanted = (next(csv.reader(io.StringIO(text))) for text in (many, one))
        for name, cell, expected in zip(names, found, wanted, strict=True):
            assert cell == expected or name.endswith("seconds") and float(cell) == float(expected), name
    assert Csv(names).head == f"{','.join(names)}\n".encode()


@pytest.mark.parametrize("form", [Json, Csv])
@pytest.mark.parametrize("name", FIELDS)
def test_one_field_alone(answered, form, name):
    for many, one in rows(answered, form([name])):
        assert many == one or name.endswith("seconds")


def test_a_table(answered):
    for many, one in rows(answered, Table()):
        assert many == one


def test_a_row_of_default_fields_is_short(answered):
    for form in (Json(DEFAULT_FIELDS), Csv()):
        for columns, _ in answered:
            assert max(map(len, form.many(columns).splitlines(keepends=True))) <= 120


def test_names_of_fields_are_checked():
    assert checked_fields("move,score,move") == ("move", "score")
    assert checked_fields("default") == DEFAULT_FIELDS
    with pytest.raises(UserError, match="did you mean score"):
        checked_fields("move,scores")
    with pytest.raises(UserError):
        checked_fields("")


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (None, ""),
        (["a", "b"], "a b"),
        ({"a": 1}, '"{""a"": 1}"'),
        ('x,"y"', '"x,""y"""'),
        ([], ""),
        ("a\rb", '"a\rb"'),
        ("a\nb", '"a\nb"'),
        (-3, "-3"),
        (True, "True"),
    ],
)
def test_cells(value, cell):
    assert csv_cell(value) == cell
    assert np.isclose(float(csv_cell(1.5e-6)), 1.5e-6)
