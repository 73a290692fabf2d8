"""Rows of bytes: numbers, words and lists as Python writes them."""

import json

import numpy as np
import pytest

from distsearch.formats import answer_rows
from distsearch.formats.answer_rows import chosen, escaped, joined, lists, numbers, replaced, same

NUMBERS = [0, 1, -1, 9, 10, -10, 999, 1000, 1234567, -1234567, 10**18, -(10**18)]


@pytest.mark.parametrize("width", [0, 9])
def test_whole_numbers(width):
    values = np.array(NUMBERS, np.int64)
    assert numbers(values, width=width).to_list() == [f"{number:>{width}}" for number in NUMBERS]
    assert numbers(values, grouped=True, width=width).to_list() == [f"{number:>{width},}" for number in NUMBERS]


@pytest.mark.parametrize(("decimals", "width"), [(3, 9), (6, 0)])
def test_decimals(decimals, width, rng):
    values = [0.0, 1e-6, 0.5, 12.25, 1e5, *(rng.random() * 10 ** rng.randrange(-7, 5) for _ in range(100))]
    found = numbers(np.array(values), decimals, width=width).to_list()
    for text, value in zip(found, values, strict=True):
        assert len(text) == len(f"{value:>{width}.{decimals}f}")
        assert abs(float(text) - value) <= 0.50001 * 10**-decimals


def test_words_and_lists():
    words, codes = ["a", "", "long word"], np.array([[0, 2, 1], [2, 0, 0], [1, 1, 1]])
    assert chosen(words, codes[:, 0]).to_list() == ["a", "long word", ""]
    lengths = np.array([3, 1, 0])
    assert lists(codes, lengths, words, ", ").to_list() == ["a, long word, ", "long word", ""]
    assert lists(codes[:, :0], np.zeros(3, np.int64), [], " ").to_list() == ["", "", ""]


def test_only_odd_texts_are_escaped():
    asked = []
    words = ["4453", 'a"b', "ä", "a,b", "a\\b", "a\tb", ""]

    def escape(text):
        asked.append(text)
        return json.dumps(text)

    found = escaped(chosen(words, np.arange(len(words))), escape).to_list()
    assert asked == words[1:-1]
    assert found == ["4453", *map(json.dumps, words[1:-1]), ""]


def test_texts_are_compared_hidden_and_replaced():
    texts = chosen(["a", "bc", "bd"], np.array([0, 1, 2, 1]))
    assert same(texts, chosen(["a", "bd"], np.array([0, 1, 1, 0]))).tolist() == [True, False, True, False]
    assert texts.where(np.array([True, False, True, True])).to_list() == ["a", "", "bd", "bc"]
    assert replaced(texts, np.array([3, 0]), ["x", "yz"]).to_list() == ["yz", "bc", "bd", "x"]


def test_rows():
    columns = [numbers(np.array([1, 22])), chosen(["x", "yy"], np.array([1, 0]))]
    assert joined(2, ["<", ": ", ">\n"], columns) == b"<1: yy>\n<22: x>\n"


def test_rows_that_are_all_the_same():
    assert joined(3, ["<>\n"], []) == b"<>\n" * 3
    assert joined(0, ["<", ">\n"], [chosen(["x"], np.empty(0, np.int64))]) == b""


def test_an_integer_is_written_as_python_writes_it(rng):
    out = np.zeros(30, np.uint8)
    for number in [*NUMBERS, *(rng.randrange(-(10**12), 10**12) for _ in range(50))]:
        end = answer_rows.write_integer(number, out, 2)
        assert out[2:end].tobytes() == str(number).encode()
