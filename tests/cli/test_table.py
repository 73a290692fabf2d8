"""``--table`` and what the table did."""

import errno
import re
from types import SimpleNamespace

import pytest

from distsearch.api import session
from distsearch.core import pages
from distsearch.engines.pvs import table

from .asking import ask, assert_refused, search

LIMITS = pytest.mark.parametrize("limit", [["--exact"], ["--depth", "6"], ["--time", "5"]], ids=" ".join)
MIDGAME = "d5e3e2e5c2b4a5c1b5d2e4f4"  # 20 empty squares on 6×6, and millions of nodes to the end
LARGE = [  # searches that fill the near table
    {"limit": ["--exact"], "position": MIDGAME, "board": "6x6"},
    {"limit": ["--depth", "11", "--evaluation", "complex"], "position": "startpos", "board": "6x6"},
    {"limit": ["--time", "1", "--book", "none"], "position": "startpos", "board": "8x8"},
]
SMALL = [  # searches that keep a few positions: no two share a place in the near table, and hashes are always the same
    {"limit": ["--exact"], "position": "--OXXOX-XXO-X--- O"},
    {"limit": ["--depth", "6"], "position": "O-OXXOX-XXOXX--O X"},
    {"limit": ["--time", "5", "--depth", "6"], "position": "O-OXXOX-XXOXX--O X"},
]
COUNTS = "table_hits", "table_near_hits", "table_far_hits", "table_stores", "table_replacements"


@pytest.fixture
def sizes(monkeypatch):
    """The sizes (MiB) of the far tables that command lines ask for, in order."""
    asked = []

    def note_and_make(mib):
        asked.append(mib)
        return table.new_shared_table(mib)

    monkeypatch.setattr(session, "new_shared_table", note_and_make)
    return asked


@LIMITS
def test_a_size_is_taken_and_changes_no_score(limit, sizes, monkeypatch):
    monkeypatch.setattr(session, "available", lambda: 1 << 30)  # what is left changes from moment to moment
    scores = {search(*limit, *size)["score"] for size in ([], ["--table", "1"], ["--table", "200"])}
    assert len(scores) == 1
    assert sizes == [256, 1, 200]


@pytest.mark.parametrize(("available", "mib"), [(0, 64), (255 << 20, 64), (1 << 30, 256), (1 << 40, 4096)])
def test_by_itself_it_takes_a_quarter_of_what_is_left_within_bounds(available, mib, sizes, monkeypatch):
    monkeypatch.setattr(session, "available", lambda: available)
    search("--exact")
    assert sizes == [mib]


def test_solve_takes_a_size(sizes):
    answer = ask("solve", "othello", "--board", "4x4", "--positions", "-", "--table", "7", stdin=b"startpos\nd3\n")
    assert answer.status == 0
    assert sizes == [7]


@pytest.mark.parametrize(
    "idle", [["--algorithm", "minimax"], ["--ordering", "static"], ["--nodes", "99"]], ids=" ".join
)
def test_a_search_that_cannot_use_it_makes_no_table(idle, sizes):
    search("--depth", "3", *idle)
    assert sizes == []


def test_a_size_that_the_system_refuses_is_refused_in_one_line(monkeypatch):
    def full(*args, **options):
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr(pages, "mmap", SimpleNamespace(**{**vars(pages.mmap), "mmap": full}))
    assert_refused(ask("search", "othello", "--board", "4x4", "--depth", "1", "--table", "4194304"), "table", "4194304")


@pytest.mark.parametrize("large", LARGE, ids=lambda large: " ".join(large["limit"]))
def test_json_counts_what_the_table_did(large):
    found = search(*large["limit"], position=large["position"], board=large["board"])
    assert all(type(found[name]) is int and found[name] > 0 for name in COUNTS), found
    assert found["table_near_hits"] + found["table_far_hits"] == found["table_hits"]
    assert 0 <= found["table_full"] < 1  # of a sample, which may miss all


@pytest.mark.parametrize("small", SMALL, ids=lambda small: " ".join(small["limit"]))
def test_small_searches_use_the_table_as_well_and_replace_nothing(small):
    found = search(*small["limit"], position=small["position"])
    assert 0 < found["table_stores"] < 10
    assert found["table_replacements"] == 0


@pytest.mark.parametrize("plain", [["--algorithm", "minimax"], ["--ordering", "static"]], ids=" ".join)
@LIMITS
def test_plain_searches_have_no_table(limit, plain):
    found = search(*limit, *plain)
    assert [found[name] for name in (*COUNTS, "table_full")] == [0] * 6


def test_text_has_a_row_for_the_table_where_there_is_one():
    command = "search", "othello", "--board", "4x4", "--exact"
    found, text = search("--exact"), ask(*command).out
    assert f"{found['table_hits']:,} hits, {found['table_stores']:,} stores, 0 replacements" in text
    assert "stores" not in ask(*command, "--ordering", "static").out


def test_text_tells_how_the_far_table_was_used_where_it_was():
    text = ask("search", "othello", MIDGAME, "--board", "6x6", "--exact").out
    hits, full = re.search(r"shared +([0-9,]+) of the hits, ([0-9.]+)% full", text).groups()
    assert int(hits.replace(",", "")) > 0
    assert 0 <= float(full) < 100
