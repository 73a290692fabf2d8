"""Arrays of zeros whose pages are made huge one after another."""

import os
from pathlib import Path

import numpy as np
import pytest

from distsearch.core import pages as core_pages
from distsearch.core.pages import HUGE_PAGE, HugePages, available, begin_huge, lazy_zeros

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
    monkeypatch.setattr(
        core_pages, "_COLLAPSE", 9999
    )  # which no system knows, as those before Linux 6.1 do not know 25
    array = lazy_zeros(5 * WORDS)
    pages = HugePages(array)
    assert len(finish(pages)) == 1
    assert not array.any()


def test_a_system_without_such_choices_has_plain_arrays(monkeypatch):
    monkeypatch.setattr(core_pages, "_CAN_CHOOSE", False)
    array = lazy_zeros(3 * WORDS)
    assert (array.shape, HugePages(array).left) == ((3 * WORDS,), 0)
    assert not array.any()


def test_memory_that_begins_huge_is_zero_and_can_be_written_to():
    array = lazy_zeros(4 * WORDS + 5)
    array[: WORDS // 2] = 7
    for begin, end in [(HUGE_PAGE, 3 * HUGE_PAGE), (3 * HUGE_PAGE, array.nbytes), (0, 0)]:
        begin_huge(array, begin, end)
    assert (array[: WORDS // 2] == 7).all()
    assert not array[WORDS // 2 :].any()
    array[:] = 1
    assert array.sum() == len(array)


# --- how much there is ---

MEMINFO = "MemTotal: 9000 kB\nMemAvailable: 8000 kB\nCommitLimit: 5000 kB\nCommitted_AS: 2000 kB\nHugePages_Total: 0\n"


@pytest.fixture
def system(tmp_path):
    """``system(name, text)`` writes a file; ``system.left()`` is what ``available`` makes of them."""

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    write.left = lambda: available(tmp_path / "proc", tmp_path / "cgroup")
    write("proc/meminfo", MEMINFO)
    return write


def test_what_the_system_has_available_is_left(system):
    assert system.left() == 8000 * 1024


def test_a_system_that_promises_no_more_than_it_has_is_asked_what_it_has_promised(system):
    system("proc/sys/vm/overcommit_memory", "1\n")
    assert system.left() == 8000 * 1024
    system("proc/sys/vm/overcommit_memory", "2\n")
    assert system.left() == 3000 * 1024


@pytest.mark.parametrize("group", ["", "/a", "/a/b"])
def test_the_limit_of_a_group_counts_for_those_in_it(group, system):
    system("proc/self/cgroup", "0::/a/b\n")
    system("cgroup/memory.max", "max\n")
    system(f"cgroup{group}/memory.max", "5000000\n")
    system(f"cgroup{group}/memory.current", "3000000\n")
    assert system.left() == 2000000
    system(f"cgroup{group}/memory.stat", "anon 5\ninactive_file 400000\n")
    assert system.left() == 2400000


def test_groups_of_version_1_are_asked_as_well(system):
    system("proc/self/cgroup", "5:cpu:/x\n4:cpuset,memory:/a\n0::/\n")
    system("cgroup/memory/a/memory.limit_in_bytes", "3000\n")
    system("cgroup/memory/a/memory.usage_in_bytes", "3500\n")
    assert system.left() == 0
    system("cgroup/memory/a/memory.stat", "inactive_file 1\ntotal_inactive_file 700\n")
    assert system.left() == 200


def test_a_system_that_tells_nothing_has_nothing(tmp_path):
    assert available(tmp_path, tmp_path) == 0


def test_there_is_some_here():
    assert 0 < available() < 1 << 50
