"""Arrays of zeros whose pages are made huge one after another."""

import os
from pathlib import Path

import numpy as np
import pytest

from distsearch.search import memory
from distsearch.search.memory import HUGE_PAGE, HugePages, lazy_zeros

WORDS = HUGE_PAGE // 8  # of a huge page


def finish(pages):
    """Make all pages that are left; return how many were left before each."""
    left = []
    while pages.left:
        left.append(pages.left)
        pages.make_one()
    return left


def resident():
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# --- zeros ---


@pytest.mark.parametrize("size", [0, 1, 511, 512, 513, WORDS, 3 * WORDS + 5])
def test_lazy_zeros_are_zeros_that_can_be_written_to(size):
    array = lazy_zeros(size)
    assert (array.dtype, array.shape) == (np.uint64, (size,))
    assert not array.any()
    array[:] = np.arange(size)
    assert (array == np.arange(size)).all()


def test_zeros_take_memory_when_they_are_written_to():
    before = resident()
    array = lazy_zeros(128 * WORDS)
    assert resident() - before < HUGE_PAGE
    array[::WORDS] = 1  # a small page of each huge one
    assert resident() - before < 2 * HUGE_PAGE
    array[:] = 1
    assert resident() - before > 100 * HUGE_PAGE


# --- huge pages ---


@pytest.mark.parametrize("words", [2 * WORDS, 4 * WORDS + 5])
def test_contents_stay_while_pages_are_made_huge(words):
    array = lazy_zeros(words)
    array[: words // 2] = np.arange(words // 2) + 1  # the other half has no memory yet
    pages = HugePages(array)
    inside = words // WORDS
    assert inside - 1 <= pages.left <= inside
    left = finish(pages)
    assert left == sorted(set(left), reverse=True)
    assert pages.left == 0
    assert (array[: words // 2] == np.arange(words // 2) + 1).all()
    assert not array[words // 2 :].any()
    array[:] = 7
    assert (array == 7).all()


@pytest.mark.parametrize("words", [0, 1, 512, WORDS - 1])
def test_an_array_smaller_than_a_huge_page_has_none(words):
    assert HugePages(lazy_zeros(words)).left == 0


@pytest.mark.parametrize("pattern", [0, 7])
def test_a_file_in_memory_stays_as_it_is(pattern, tmp_path):
    """Most systems make no huge pages of files."""
    (tmp_path / "words").write_bytes(bytes([pattern]) * 3 * HUGE_PAGE)
    array = np.memmap(tmp_path / "words", np.uint64, "r+")
    finish(HugePages(array))
    assert (array.view(np.uint8) == pattern).all()


def test_the_first_refusal_of_the_system_is_the_last(monkeypatch):
    monkeypatch.setattr(memory, "_COLLAPSE", 9999)  # which no system knows, as those before Linux 6.1 do not know 25
    array = lazy_zeros(5 * WORDS)
    pages = HugePages(array)
    assert len(finish(pages)) == 1
    assert not array.any()


def test_a_system_without_such_choices_has_plain_arrays(monkeypatch):
    monkeypatch.setattr(memory, "_CAN_CHOOSE", False)
    array = lazy_zeros(3 * WORDS)
    assert (array.shape, HugePages(array).left) == ((3 * WORDS,), 0)
    assert not array.any()
