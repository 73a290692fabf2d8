"""Files of arrays: what comes back is what was written, or one clear line; and what was there stays, or is replaced."""

import errno
import os
import resource

import numpy as np
import pytest

from distsearch.core import archive
from distsearch.core.errors import UserError

KIND = "things"
HEADER = {"name": "ünïcode", "numbers": [1, 2.5, None], "deep": {"a": {"b": []}}}


def load(path, most=1 << 20):
    """Load a file whose compressed arrays may take so many bytes."""
    return archive.load(path, KIND, lambda header: most)


def some_arrays(rng):
    numbers = np.random.default_rng(rng.getrandbits(64))
    return {
        "large": numbers.random(40_000, np.float32).reshape(2, -1),  # beyond what is mapped
        "columns": np.asfortranarray(numbers.integers(0, 9, (300, 200))),
        "small": numbers.integers(-5, 5, 7),
        "empty": np.zeros((0, 3), np.int64),
        "one": np.array(3, np.uint8),
        "half": numbers.random(11).astype(np.float16),
    }


def assert_same(found, arrays):
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert np.array_equal(found[name], array)


@pytest.fixture
def arrays(rng):
    return some_arrays(rng)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.npz"


@pytest.mark.parametrize("compress", [False, True])
def test_what_is_saved_comes_back(compress, arrays, path):
    archive.save(path, KIND, HEADER, arrays, compress)
    header, found = load(path)
    assert header == HEADER
    assert_same(found, arrays)
    with np.load(path) as by_numpy:  # which others may use
        assert_same({name: by_numpy[name] for name in arrays}, arrays)
    assert os.listdir(path.parent) == [path.name]


def test_the_same_content_is_the_same_file(arrays, path, tmp_path):
    for name in path, tmp_path / "other":
        archive.save(name, KIND, HEADER, arrays)
    assert path.read_bytes() == (tmp_path / "other").read_bytes()


def test_large_arrays_are_mapped_where_processors_like_them(arrays, path):
    archive.save(path, KIND, HEADER, arrays)
    _, found = load(path)
    assert {name for name, array in found.items() if isinstance(array, np.memmap)} == {"large", "columns"}
    for name in "large", "columns":
        assert found[name].ctypes.data % 64 == 0
        assert not found[name].flags.writeable
    archive.save(path, KIND, HEADER, {"large": np.zeros(1)})
    assert found["large"].any()  # what was read stays what it is


def test_compressed_files_are_smaller(path, tmp_path):
    zeros = {"zeros": np.zeros(100_000)}
    archive.save(path, KIND, {}, zeros)
    archive.save(tmp_path / "small", KIND, {}, zeros, compress=True)
    assert (tmp_path / "small").stat().st_size * 100 < path.stat().st_size


@pytest.mark.parametrize("compress", [False, True])
def test_a_file_that_was_cut_is_refused(compress, arrays, path, rng):
    archive.save(path, KIND, HEADER, arrays, compress)
    whole = path.read_bytes()
    for length in (0, 1, 30, 64, len(whole) - 1, len(whole) - 22, *(rng.randrange(len(whole)) for _ in range(40))):
        path.write_bytes(whole[:length])
        with pytest.raises(UserError, match=r"file\.npz"):
            load(path)


@pytest.mark.parametrize("compress", [False, True])
def test_wrong_bytes_are_refused_or_change_nothing(compress, rng, path, full):
    """Bytes that nothing depends on, such as those of padding, may be any; there the content is as it was."""
    arrays = {"mapped": np.arange(20_000), "small": np.arange(9), "columns": np.asfortranarray(np.eye(3))}
    archive.save(path, KIND, HEADER, arrays, compress)
    whole, refused = path.read_bytes(), 0
    mapped = whole.index(np.arange(20_000)[:4].tobytes()) if not compress else 0
    outside = [i for i in range(len(whole)) if not mapped <= i < mapped + 160_000 or compress]
    for _ in range(20_000 if full else 400):
        damaged = bytearray(whole)
        for _ in range(rng.choice((1, 1, 2, 9))):
            at = rng.choice(outside) if rng.random() < 0.9 else rng.randrange(len(whole))
            damaged[at] ^= 1 << rng.randrange(8) if rng.random() < 0.5 else rng.randrange(1, 256)
        path.write_bytes(damaged)
        try:
            header, found = load(path)
        except UserError as error:
            refused += 1
            assert "file.npz" in str(error)
        else:
            assert header == HEADER
            assert_same(found, arrays)
    assert refused > 0


def test_a_checksum_is_looked_at(path):
    archive.save(path, KIND, {}, {"mapped": np.zeros(20_000)})
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2] ^= 1  # in the middle of what is mapped, which zipfile does not check
    path.write_bytes(whole)
    with pytest.raises(UserError, match="checksum"):
        load(path)


def test_what_is_not_such_a_file_is_refused(tmp_path, path):
    archive.save(path, "other things", {}, {})
    (tmp_path / "text").write_text("weights")
    np.savez(tmp_path / "plain.npz", a=np.zeros(3))
    np.save(tmp_path / "array.npy", np.zeros(3))
    for name, expected in (
        (path.name, "things"),
        ("text", "not a file of things"),
        ("plain.npz", "not a file of things"),
        ("array.npy", "not a file of things"),
        (".", "Is a directory"),
        ("missing", "No such file"),
        ("x" * 300, "too long"),
        ("a\0b", "things"),
    ):
        with pytest.raises(UserError, match=expected) as refused:
            load(f"{tmp_path}/{name}")
        assert len(str(refused.value)) < 300


def test_arrays_of_objects_are_refused(path):
    with pytest.raises(TypeError):
        archive.save(path, KIND, {}, {"objects": np.array([{}], object)})
    assert not path.parent.joinpath("file.npz.new").exists()


@pytest.fixture
def limited():
    """``limited(bytes)``: no file of this process may become larger, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda most: resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("there", [False, True])
def test_a_full_disk_leaves_what_was_there(there, arrays, path, limited):
    if there:
        archive.save(path, KIND, {"old": True}, {"old": np.arange(5)})
    before, names = path.read_bytes() if there else None, os.listdir(path.parent)
    for most in 0, 100, 5_000, 200_000, 640_000:
        for compress in False, True:
            limited(most)
            try:
                with pytest.raises(OSError, match="too large") as error:
                    archive.save(path, KIND, HEADER, arrays, compress and most < 100_000)
            finally:
                limited(resource.RLIM_INFINITY)
            assert error.value.errno == errno.EFBIG
            assert os.listdir(path.parent) == names
            assert not there or path.read_bytes() == before


@pytest.mark.parametrize("failing", ["fsync", "replace"])
@pytest.mark.parametrize("raised", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()], ids=repr)
def test_what_fails_last_leaves_what_was_there(failing, raised, arrays, path, monkeypatch):
    archive.save(path, KIND, {"old": True}, {"old": np.arange(5)})
    before = path.read_bytes()

    def fail(*_):
        raise raised

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(type(raised)):
        archive.save(path, KIND, HEADER, arrays)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_a_place_that_cannot_be_written_is_an_error(arrays, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "full").touch()
    for name in "missing/file", "folder":
        with pytest.raises(OSError):
            archive.save(tmp_path / name, KIND, HEADER, arrays)
    assert sorted(os.listdir(tmp_path)) == ["folder"]


def test_what_unpacks_to_more_than_its_header_allows_is_refused(path):
    archive.save(path, KIND, {"count": 1 << 20}, {"zeros": np.zeros(1 << 20, np.int64)}, compress=True)
    assert os.path.getsize(path) < 20_000
    header, found = archive.load(path, KIND, lambda header: 8 * header["count"] + 128)
    assert (header, found["zeros"].nbytes) == ({"count": 1 << 20}, 8 << 20)
    for most in (lambda header: 4 * header["count"], lambda header: 0):
        with pytest.raises(UserError, match=r"would unpack to 8,388,736 bytes, which is too much"):
            archive.load(path, KIND, most)
    with pytest.raises(UserError, match="is damaged|too much"):
        archive.load(path, KIND, lambda header: header["no such entry"])


def test_a_header_is_not_unpacked_to_fill_the_memory(path, monkeypatch):
    monkeypatch.setattr(archive, "_LONGEST_HEADER", 1000)
    archive.save(path, KIND, {"text": "a" * 2000}, {}, compress=True)
    with pytest.raises(UserError, match="has a header of"):
        load(path)


def test_a_header_is_read_without_the_arrays(arrays, path):
    archive.save(path, KIND, HEADER, arrays)
    found = archive.header_of(path, KIND)
    assert {name: found[name] for name in HEADER} == HEADER
    with pytest.raises(UserError, match="is not a file of books"):
        archive.header_of(path, "books")
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(UserError, match="or it is damaged"):
        archive.header_of(path, KIND)
    with pytest.raises(UserError, match="cannot read"):
        archive.header_of(path.parent / "none", KIND)


@pytest.mark.parametrize("by_columns", [False, True])
def test_an_array_of_objects_is_refused_before_its_bytes_are_taken_for_pointers(path, by_columns):
    archive.save(path, KIND, {}, {"large": np.ones((1 << 8, 1 << 9), np.int64)})
    content = path.read_bytes()
    changed = content.replace(b"'<i8'", b"'|O' ")
    if by_columns:
        changed = changed.replace(b"'fortran_order': False", b"'fortran_order': True ")
    begin = content.rindex(b"\x93NUMPY", 0, content.rindex(b"'<i8'"))
    path.write_bytes(content[:begin] + changed[begin:])
    with pytest.raises(UserError, match="or it is damaged"):
        load(path)
