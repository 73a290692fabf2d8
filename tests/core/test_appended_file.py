"""Files of one run: a second one is refused, and nothing of what is written is left out."""

import os

import pytest

from distsearch.core import appended_file
from distsearch.core.errors import UserError


def test_a_second_run_is_refused_until_the_first_has_closed_the_file(tmp_path):
    with open(tmp_path / "log", "ab") as first, open(tmp_path / "log", "ab") as second:
        appended_file.lock(first.fileno(), "the log")
        with pytest.raises(UserError, match="the log is being written by another run"):
            appended_file.lock(second.fileno(), "the log")
        first.close()
        appended_file.lock(second.fileno(), "the log")


def test_all_is_written_however_little_a_call_takes(tmp_path, monkeypatch):
    path, write = tmp_path / "log", os.write
    monkeypatch.setattr(os, "write", lambda descriptor, content: write(descriptor, content[:3]))
    with open(path, "ab", buffering=0) as file:
        appended_file.write_all(file.fileno(), b"0123456789")
        appended_file.write_all(file.fileno(), b"")
    assert path.read_bytes() == b"0123456789"
