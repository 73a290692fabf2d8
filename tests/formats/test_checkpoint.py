"""The file of a checkpoint: what it holds comes back, it is never half written, and what is not it is refused."""

import os
import resource
from types import SimpleNamespace

import numpy as np
import pytest

from distsearch.core import archive
from distsearch.core.errors import UserError
from distsearch.formats import checkpoint as module
from distsearch.formats.checkpoint import NO_CHECKPOINT, Checkpoint

SEARCH = {"command": "search", "game": "othello", "board": (8, 8), "depth": 12, "time": None}
RECORD = np.dtype([("node", np.int32), ("line", np.int16, 3)])
STATE = {
    "seconds": 1.5,
    "best": float("-inf"),
    "text": "ä\n",
    "list": [1, None, True, (2, 3)],
    "depth_by_empty": {"nodes": np.arange(6, dtype=np.int16).reshape(2, 3), "none": np.zeros((0, 2), np.uint64)},
    "records": np.array([(7, [1, 2, 3]), (8, [4, 5, 6])], RECORD),
}


class Talk(list):
    """What was complained about."""

    __call__ = list.append


@pytest.fixture
def talk():
    return Talk()


@pytest.fixture
def opened(tmp_path, talk):
    """Opens the checkpoint of a search, as a command line would."""

    def make(resume=False, name="file", wanted=None, interval=1e9, suffixes=(), **changes):
        wanted = wanted or SimpleNamespace(save=False)
        return Checkpoint(str(tmp_path / name), {**SEARCH, **changes}, resume, wanted, talk, suffixes, interval)

    return make


def saved(opened, state=STATE):
    opened().save(lambda: state)


def refusal(opened, **options):
    """Return why a checkpoint is refused."""
    with pytest.raises(UserError) as error:
        opened(**options)
    assert str(error.value).isprintable()
    return str(error.value)


# --- what is saved comes back ---


def test_a_state_comes_back(opened, talk):
    saved(opened)
    found = opened(resume=True).state
    deeper, records = found.pop("depth_by_empty"), found.pop("records")
    assert found == {"seconds": 1.5, "best": -np.inf, "text": "ä\n", "list": [1, None, True, [2, 3]]}
    for name, values in STATE["depth_by_empty"].items():
        assert (deeper[name].dtype, deeper[name].tolist()) == (values.dtype, values.tolist())
    assert records.dtype == RECORD
    assert records.tobytes() == STATE["records"].tobytes()
    assert talk == []


def test_the_latest_state_counts(opened, tmp_path):
    kept = opened()
    for i in range(3):
        kept.save(lambda i=i: {"i": i})
    assert opened(resume=True).state == {"i": 2}
    assert os.listdir(tmp_path) == ["file"]


def test_there_need_not_be_a_file_to_resume(opened, talk):
    assert opened(resume=True).state is None
    assert len(talk) == 1
    assert "this search begins" in talk[0]


def test_nothing_is_kept_unless_asked_for():
    NO_CHECKPOINT.maybe_save(lambda: pytest.fail("it must not be made"))
    NO_CHECKPOINT.save(lambda: pytest.fail("it must not be made"))
    assert NO_CHECKPOINT.state is None


# --- when ---


def test_a_state_is_saved_once_an_interval(opened, monkeypatch):
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))
    kept, made = opened(interval=60.0), []
    for second in range(200):
        clock.now = 100.0 + second
        kept.maybe_save(lambda second=second: made.append(second) or {"at": second})
    assert made == [60, 120, 180]
    assert opened(resume=True).state == {"at": 180}


def test_a_state_is_saved_at_once_if_somebody_wants_it(opened):
    wanted, made = SimpleNamespace(save=False), []
    kept = opened(wanted=wanted)
    kept.maybe_save(lambda: made.append(1) or {})
    wanted.save = True
    for _ in range(3):
        kept.maybe_save(lambda: made.append(2) or {})
    assert made == [2]


# --- a file is never half written ---


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_crash_leaves_the_state_before(step, opened, monkeypatch, tmp_path):
    saved(opened, {"i": 1})

    class Crash(BaseException):
        pass

    def crash(*_):
        raise Crash

    kept = opened(resume=True)
    if step == "write":  # half of it has come to the disk
        (tmp_path / "file.new").write_bytes((tmp_path / "file").read_bytes()[:50])
        monkeypatch.setattr(archive, "save", crash)
    else:
        monkeypatch.setattr(os, step, crash)
    with pytest.raises(Crash):
        kept.save(lambda: {"i": 2})
    monkeypatch.undo()
    assert opened(resume=True).state == {"i": 1}


def test_a_full_disk_is_told_once_and_leaves_the_state_before(opened, talk, tmp_path):
    saved(opened, {"i": 1})
    kept = opened(resume=True)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))  # Python ignores the signal, and sees an error
    try:
        for i in range(3):
            kept.save(lambda i=i: {"i": i, "large": np.zeros(10_000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert len(talk) == 1
    assert "cannot write" in talk[0]
    assert "the search goes on" in talk[0]
    assert os.listdir(tmp_path) == ["file"]
    assert opened(resume=True).state == {"i": 1}
    kept.save(lambda: {"i": 3})
    assert opened(resume=True).state == {"i": 3}


# --- what is refused ---


@pytest.mark.parametrize("suffix", ["", ".answers"])
def test_a_file_that_is_there_is_not_written_over(suffix, opened, tmp_path):
    (tmp_path / f"file{suffix}").write_text("mine")
    text = refusal(opened, suffixes=[".answers"])
    assert f"file{suffix} exists" in text
    assert "--resume" in text
    assert (tmp_path / f"file{suffix}").read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "value", "there", "here"),
    [("depth", 14, "12", "14"), ("time", 3.0, "not given", "3.0"), ("board", (6, 6), "8,8", "6,6")],
)
def test_a_file_of_another_search_is_refused(name, value, there, here, opened):
    saved(opened)
    text = refusal(opened, resume=True, **{name: value})
    assert text.endswith(f"is of another search: {name} is {there} there and {here} here")
    assert opened(resume=True).state["seconds"] == 1.5


def test_a_file_of_another_version_is_refused(opened, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "__version__", "99.1")
    saved(opened)
    monkeypatch.undo()
    assert "distsearch 99.1" in refusal(opened, resume=True)
    (tmp_path / "file").unlink()
    monkeypatch.setattr(module, "_FORMAT", module._FORMAT + 1)
    saved(opened)
    monkeypatch.undo()
    assert "another version of distsearch: end that search with" in refusal(opened, resume=True)


def test_a_file_of_the_format_before_archives_is_refused(opened, tmp_path):
    (tmp_path / "file").write_bytes(b"distsearch checkpoint 4\n" + bytes(100))
    assert "another version of distsearch: end that search with" in refusal(opened, resume=True)


@pytest.mark.parametrize("content", [b"", b"startpos\n", b"\x00" * 500, b"PK\x03\x04", b"distsearch checkpoin"])
def test_what_is_no_checkpoint_is_refused(content, opened, tmp_path):
    (tmp_path / "file").write_bytes(content)
    assert "is not a file of checkpoints" in refusal(opened, resume=True)


def test_a_damaged_byte_is_refused_or_changes_nothing(opened, tmp_path, rng):
    saved(opened)
    path, whole, refused = tmp_path / "file", opened(resume=True).state, 0
    content = path.read_bytes()
    for _ in range(200):
        at = rng.randrange(len(content))
        damaged = bytearray(content)
        damaged[at] ^= rng.randrange(1, 256)
        path.write_bytes(damaged)
        try:  # bytes between arrays, which only take room, are not looked at
            assert repr(opened(resume=True).state) == repr(whole)
        except UserError:
            refused += 1
        path.write_bytes(content[:at])
        refusal(opened, resume=True)
    assert refused > 50


def test_a_folder_is_no_file(opened, tmp_path):
    (tmp_path / "file").mkdir()
    assert "Is a directory" in refusal(opened, resume=True)


@pytest.mark.parametrize("name", ["no/file", "plain/file"])
def test_a_place_where_nothing_can_be_written_is_refused_at_once(name, opened, tmp_path):
    (tmp_path / "plain").touch()
    assert "cannot write" in refusal(opened, name=name)


@pytest.mark.parametrize("text", ["x", "0", "-1", "nan", "inf", ""])
def test_an_interval_that_is_none_is_refused(text, tmp_path, monkeypatch):
    monkeypatch.setenv(module.INTERVAL_VARIABLE, text)
    with pytest.raises(UserError, match=f"{module.INTERVAL_VARIABLE} '{text}' is not a number of seconds"):
        Checkpoint(str(tmp_path / "file"), SEARCH, False, SimpleNamespace(save=False), print)
