"""Files of measured runs: what is appended is read, whatever a killed job left behind it."""

import errno
import fcntl
import json
import os
import random
import subprocess
import sys
import threading

import pytest

from distsearch.core.errors import UserError
from distsearch.studies import results
from distsearch.studies.results import Sharing, append, begin, done, identity, read


def row(point=None, repeat=0, study="scaling", **result):
    return {"study": study, "point": point or {"ranks": 2}, "repeat": repeat, "result": result, "meta": {}}


def test_what_is_appended_is_read(tmp_path):
    rows = [row({"ranks": ranks, "policy": None}, repeat, seconds=1.5) for ranks in (1, 2) for repeat in range(3)]
    for each in rows:
        append(tmp_path / "runs", each)
    assert read([tmp_path / "runs"]) == rows
    assert len(done(rows)) == len(rows)


def test_the_order_of_a_points_fields_does_not_matter():
    assert identity(row({"a": 1, "b": 2})) == identity(row({"b": 2, "a": 1}))
    assert identity(row({"a": 1, "b": 2})) != identity(row({"a": 2, "b": 1}))


def test_files_of_several_jobs_are_one_and_the_first_row_of_a_run_counts(tmp_path):
    append(tmp_path / "one", row(repeat=0, seconds=1))
    append(tmp_path / "two", row(repeat=0, seconds=2))
    append(tmp_path / "two", row(repeat=1, seconds=3))
    append(tmp_path / "two", row(repeat=0, study="another", seconds=4))
    assert [each["result"]["seconds"] for each in read([tmp_path / "one", tmp_path / "two"])] == [1, 3, 4]
    assert [each["result"]["seconds"] for each in read([tmp_path / "two", tmp_path / "one"])] == [2, 3, 4]


def test_a_row_torn_anywhere_is_skipped_told_of_and_mended(tmp_path, capsys):
    path, rows = tmp_path / "runs", [row(repeat=repeat, seconds=1.25) for repeat in range(3)]
    append(path, rows[0])
    append(path, rows[1])
    content = path.read_bytes()
    begin = content.index(b"\n") + 1
    for end in range(begin + 1, len(content)):
        path.write_bytes(content[:end])
        whole = end == len(content) - 1  # but for the end of its line
        assert read([path]) == rows[: 1 + whole]
        assert ("torn" in capsys.readouterr().err) == (not whole)
        append(path, rows[2])
        assert read([path]) == [*rows[: 1 + whole], rows[2]]
        assert capsys.readouterr().err == ""


def test_a_file_is_locked_while_a_row_is_added(tmp_path):
    """Another job's lock is waited for: nothing is mended or written before it is given back."""
    path = tmp_path / "runs"
    path.write_bytes(b'{"half')
    other = os.open(path, os.O_RDWR)
    fcntl.fcntl(other, fcntl.F_OFD_SETLKW, results._lock_of(0, 100))
    adding = threading.Thread(target=append, args=(path, row()))
    adding.start()
    adding.join(0.2)
    assert (adding.is_alive(), path.read_bytes()) == (True, b'{"half')
    os.close(other)
    adding.join(60)
    assert read([path]) == [row()]


def test_a_file_system_without_locks_will_do(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(fcntl, "fcntl", refuse)
    append(tmp_path / "runs", row())
    assert read([tmp_path / "runs"]) == [row()]


@pytest.mark.parametrize(
    "content", [b"1\n", b"{}\n", b'{"study": 1}\n', b"words\n{}\n", b"\xff\xfe\n", b"[" * 9999 + b"\n"]
)
def test_what_is_no_file_of_rows_is_refused_with_its_line(content, tmp_path):
    (tmp_path / "wrong").write_bytes(json.dumps(row()).encode() + b"\n" + content)
    with pytest.raises(UserError, match="line 2 is no row"):
        read([tmp_path / "wrong"])


@pytest.mark.parametrize("use", [begin, lambda path: read([path])], ids=["written", "read"])
def test_a_row_of_a_version_that_counted_boards_is_refused(use, tmp_path):
    old = {"study": "scaling", "point": {"ranks": 1}, "repeat": 0, "result": {"boards": 5}, "meta": {}}
    (tmp_path / "old.jsonl").write_text(f"{json.dumps(old)}\n")
    with pytest.raises(UserError, match="line 1 is of an earlier version, which counted boards: begin another"):
        use(tmp_path / "old.jsonl")


def test_files_that_cannot_be_used_are_named(tmp_path):
    for act in (lambda path: read([path]), lambda path: append(path, row())):
        for path in (tmp_path, tmp_path / "none" / "runs", f"{tmp_path}/a\0b"):
            with pytest.raises(UserError, match="cannot"):
                act(path)


@pytest.mark.parametrize("use", [begin, lambda path: read([path])], ids=["written", "read"])
def test_a_device_is_no_file(use):
    with pytest.raises(UserError, match="/dev/zero: it is not a file"):
        use("/dev/zero")


def test_no_number_is_written_that_is_not_json(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        append(tmp_path / "runs", row(seconds=float("nan")))
    assert not (tmp_path / "runs").exists()


def test_rows_of_any_content_come_back(tmp_path, seed):
    draws = random.Random(seed)
    rows = [
        row({"text": "".join(chr(draws.choice([10, 34, 92, 228, 0x4E00])) for _ in range(5)), "n": number}, number)
        for number in range(50)
    ]
    for each in rows:
        append(tmp_path / "runs", each)
    assert read([tmp_path / "runs"]) == rows, seed


def test_a_run_is_measured_by_one_job_of_those_that_share_a_file(tmp_path):
    path, run, other = tmp_path / "runs", identity(row()), identity(row(repeat=1))
    begin(path)
    one, two = Sharing(path), Sharing(path)
    with one.claimed(run) as first, two.claimed(run) as second, two.claimed(other) as third:
        assert (first, second, third) == (True, False, True)
    with two.claimed(run) as mine:  # the job that had it has given it up
        assert mine
        append(path, row())
    with one.claimed(run) as mine:
        assert not mine
    with Sharing(path, done(read([path]))).claimed(run) as mine:
        assert not mine


def test_a_job_that_is_killed_gives_its_run_up(tmp_path):
    path, run = tmp_path / "runs", identity(row())
    begin(path)
    claim = (
        "import sys, time\nfrom distsearch.studies.results import Sharing\n"
        "with Sharing(sys.argv[1]).claimed(sys.argv[2]) as mine:\n    print(mine, flush=True)\n    time.sleep(100)"
    )
    with subprocess.Popen([sys.executable, "-c", claim, path, run], stdout=subprocess.PIPE, text=True) as job:
        assert job.stdout.readline() == "True\n"
        with Sharing(path).claimed(run) as mine:
            assert not mine
        job.kill()
        job.wait()
        with Sharing(path).claimed(run) as mine:
            assert mine


def test_what_is_not_shared_is_ones_own():
    with Sharing(None).claimed("a") as one, Sharing(None).claimed("a") as other:
        assert (one, other) == (True, True)


def test_a_file_system_without_such_locks_will_do(tmp_path, monkeypatch):
    def refused(*_):
        raise OSError(errno.ENOLCK, "no locks")

    begin(tmp_path / "runs")
    monkeypatch.setattr(fcntl, "fcntl", refused)
    with Sharing(tmp_path / "runs").claimed("a") as one, Sharing(tmp_path / "runs").claimed("a") as other:
        assert (one, other) == (True, True)
