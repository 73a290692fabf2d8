"""Lines of commands: as they come, to their end, without waiting where a search goes on."""

import os

import pytest

from distsearch.core.errors import UserError
from distsearch.programs.input import CommandInput


@pytest.fixture
def pipe():
    """(reading end, writing end) of a pipe, closed in the end if they are not yet."""
    ends = os.pipe()
    yield ends
    for end in ends:
        try:
            os.close(end)
        except OSError:
            continue


def never():
    return False


def test_lines_come_in_order_and_the_last_needs_no_line_break(pipe):
    reading, writing = pipe
    os.write(writing, b"one\r\ntwo\n\nthree")
    os.close(writing)
    lines = CommandInput(reading, None)
    assert [lines.take(never) for _ in range(5)] == ["one\r", "two", "", "three", None]


def test_a_look_takes_in_what_is_there_and_does_not_wait(pipe):
    reading, writing = pipe
    lines = CommandInput(reading, None)
    lines.look()
    assert list(lines.waiting) == []
    os.write(writing, b"go\npi")
    lines.look()
    assert list(lines.waiting) == ["go"]
    os.write(writing, b"ng 1\n")
    lines.look()
    assert list(lines.waiting) == ["go", "ping 1"]


def test_a_line_too_long_counts_as_empty(pipe):
    reading, writing = pipe
    lines = CommandInput(reading, None)
    for _ in range(3):
        os.write(writing, b"x" * 40_000)
        lines.look()
    os.write(writing, b"\nquit\n")
    assert [lines.take(never) for _ in range(2)] == ["", "quit"]


def test_what_waits_is_bounded(tmp_path):
    (tmp_path / "many").write_bytes(b"a\n" * 1_000_000)
    with (tmp_path / "many").open("rb") as file:
        lines = CommandInput(file.fileno(), None)
        lines.look()
        lines.look()
        assert 1000 <= len(lines.waiting) < 100_000
        assert sum(1 for _ in iter(lambda: lines.take(never), None)) == 1_000_000


def test_an_interrupt_and_a_reader_that_has_gone_end_it(pipe):
    reading, writing = pipe
    os.write(writing, b"go\n")
    assert CommandInput(reading, None).take(lambda: True) is None
    lines = CommandInput(reading, writing)
    assert not lines.unread
    os.close(reading)
    assert lines.unread
    assert lines.take(never) is None


def test_what_cannot_be_read_is_refused(tmp_path):
    folder = os.open(tmp_path, os.O_RDONLY)
    with pytest.raises(UserError, match="cannot read the commands: Is a directory"):
        CommandInput(folder, None).take(never)
    os.close(folder)
