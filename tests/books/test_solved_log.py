"""The file of what is solved so far, which a killed run leaves."""

import resource

import numpy as np
import pytest

from distsearch.books.solved_log import SolvedLog
from distsearch.core.errors import UserError

OF = {"game": "connect4", "board": [6, 7], "rules": {}}
KEYS = np.array([3, 2**64 - 1], np.uint64)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "log"
    with SolvedLog(str(path), OF) as log:
        log.append(KEYS, [-18, 1], [6, -1])
    return path


def known(path, of=OF):
    with SolvedLog(str(path), of) as log:
        return log.known


def test_what_was_appended_is_there_again(path):
    assert known(path) == {3: (-18, 6), 2**64 - 1: (1, -1)}
    with SolvedLog(str(path), OF) as log:
        log.append(np.array([5], np.uint64), np.array([2.0]), np.array([0], np.int16))
    assert known(path) == {3: (-18, 6), 2**64 - 1: (1, -1), 5: (2, 0)}


@pytest.mark.parametrize("cut", range(1, 40))
def test_a_line_that_was_cut_is_dropped_and_the_rest_can_be_gone_on_with(path, cut):
    content = path.read_bytes()
    path.write_bytes(content[:-cut])
    whole = content[:-cut].count(b"\n") - 1
    assert len(known(path)) == max(whole, 0)
    with SolvedLog(str(path), OF) as log:
        log.append(KEYS, [1, 2], [3, 4])
    assert known(path) == {3: (1, 3), 2**64 - 1: (2, 4)}


def test_a_log_cut_within_its_first_line_begins_anew(path):
    path.write_bytes(path.read_bytes()[:5])
    assert known(path) == {}


@pytest.mark.parametrize(
    ("content", "words"), [(b"{}\n", "another book"), (None, "line 2 is not a key"), (b"\xff\n", "another book")]
)
def test_what_is_no_log_of_the_book_is_refused(path, content, words):
    path.write_bytes(content or path.read_bytes().replace(b" -18 ", b" x "))
    with pytest.raises(UserError, match=words):
        known(path)


@pytest.mark.parametrize("line", [b"3 1 2", b"-000000000000003 1 2", b"0" * 17 + b" 1 2", b"0" * 16 + b" 32768 2"])
def test_a_position_that_no_book_has_room_for_is_refused(path, line):
    path.write_bytes(path.read_bytes() + line + b"\n")
    with pytest.raises(UserError, match="line 4 is not a key"):
        known(path)


def test_another_board_is_another_book(path):
    with pytest.raises(UserError, match="another book"):
        known(path, {**OF, "board": [5, 7]})


def test_a_log_has_one_writer(path):
    with SolvedLog(str(path), OF), pytest.raises(UserError, match="another run"):
        known(path)


@pytest.mark.parametrize("name", ["missing/log", "", "a\0b"])
def test_a_place_without_files_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="cannot write"):
        known(name)


def test_a_full_disk_is_told(path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with SolvedLog(str(path), OF) as log:
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, before[1]))
        try:
            with pytest.raises(UserError, match="cannot write"):
                log.append(KEYS, [1, 1], [1, 1])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
