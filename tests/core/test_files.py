"""Files that are read to their end: devices are refused, and no line fills the memory."""

import os
import threading

import pytest

from distsearch.core import files
from distsearch.core.files import lines_of, open_file


def test_a_file_is_read(tmp_path):
    (tmp_path / "file").write_bytes(b"one\ntwo")
    with open_file(tmp_path / "file") as file:
        assert file.read() == b"one\ntwo"
    assert list(lines_of(tmp_path / "file")) == [b"one\n", b"two"]


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/dev/tty", "fifo"])
def test_what_may_have_no_end_is_refused_at_once(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo")
    if os.path.exists(path):
        with pytest.raises(OSError, match="it is not a file, but a device or a pipe"):
            open_file(path)


def test_a_folder_and_what_is_not_there_are_refused(tmp_path):
    with pytest.raises(IsADirectoryError):
        open_file(tmp_path)
    with pytest.raises(FileNotFoundError):
        open_file(tmp_path / "none")


def test_a_pipe_is_read_where_it_will_do(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    writer = threading.Thread(target=lambda: (tmp_path / "fifo").write_bytes(b"one\ntwo\n"))
    writer.start()
    assert list(lines_of(tmp_path / "fifo")) == [b"one\n", b"two\n"]
    writer.join()


def test_a_line_that_is_too_long_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LONGEST_LINE", 10)
    (tmp_path / "file").write_bytes(b"0123456789\n0123456789a\n")
    (tmp_path / "ok").write_bytes(b"012345678\n0123456789")
    assert len(list(lines_of(tmp_path / "ok"))) == 2
    with pytest.raises(OSError, match="a line has more than 10 bytes"):
        list(lines_of(tmp_path / "file"))
