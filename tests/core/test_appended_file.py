"""Files of one run: a second one is refused, and nothing of what is written is left out."""

import os

import pytest

from distsearch.core import appended_file
from distsearch.core.appended_file import Lock
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


def test_a_file_that_is_replaced_is_one_runs_until_it_is_released(tmp_path):
    path = str(tmp_path / "state")
    first = Lock(path)
    with pytest.raises(UserError, match="state is being written by another run"):
        Lock(path)
    assert os.listdir(tmp_path) == ["state.lock"]
    first.release()
    assert os.listdir(tmp_path) == []
    Lock(path).release()


def test_what_a_killed_run_has_left_is_no_lock(tmp_path):
    (tmp_path / "state.lock").touch()
    Lock(str(tmp_path / "state")).release()
    assert os.listdir(tmp_path) == []


def test_a_lock_that_was_removed_meanwhile_is_no_lock(tmp_path, monkeypatch):
    path, taken, real = str(tmp_path / "state"), [], appended_file.lock

    def lock(descriptor, shown):
        real(descriptor, shown)
        if not taken:
            os.unlink(f"{path}.lock")  # as the run that had it does, between our opening and locking it
        taken.append(descriptor)

    monkeypatch.setattr(appended_file, "lock", lock)
    mine = Lock(path)
    assert len(taken) == 2
    assert os.path.exists(f"{path}.lock")
    mine.release()


def test_a_folder_that_is_not_there_has_no_lock(tmp_path):
    with pytest.raises(UserError, match="cannot write .*none/state.lock: No such file"):
        Lock(str(tmp_path / "none" / "state"))
