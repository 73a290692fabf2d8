"""Arrays that are kept in the kernels' folder: made once, and made again where the file is not what it should be."""

import io
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from distsearch.core import array_cache
from distsearch.core.array_cache import kept
from distsearch.core.kernel_cache import told_of_compiling
from distsearch.core.kernel_folder import KernelFolder

SHAPE, DTYPE = (3, 500), np.float32


class Making:
    """Makes an array, and counts how often."""

    def __init__(self, rng, folder):
        self.array = np.random.default_rng(rng.getrandbits(64)).normal(0, 1, SHAPE).astype(DTYPE)
        self.folder, self.times = folder, 0

    def __call__(self):
        self.times += 1
        return self.array.copy()

    def kept(self, shape=SHAPE, source=b"what it is made of"):
        """The array as it is kept, checked against what was made."""
        found = kept("things", source, shape, DTYPE, self)
        assert found.dtype == DTYPE
        assert np.array_equal(found, self.array)
        assert type(found) is np.ndarray and found.flags.writeable  # the type that kernels were compiled for
        return found

    @property
    def file(self):
        (file,) = (each for each in self.folder.iterdir() if each.suffix != ".lock")  # and nothing else
        return file


@pytest.fixture
def making(rng, tmp_path, monkeypatch):
    monkeypatch.setattr(array_cache, "FOLDER", KernelFolder(tmp_path / "kernels", None))
    return Making(rng, tmp_path / "kernels")


def test_runs_of_zeros_take_no_room(making):
    making.array = np.zeros((1024, 500), DTYPE)
    making.array[0, 3], making.array[600, 5] = 1, 2
    making.kept((1024, 500))
    assert making.file.stat().st_size > making.array.nbytes
    assert 512 * making.file.stat().st_blocks < making.array.nbytes / 4
    making.kept((1024, 500))
    assert making.times == 1


def test_an_array_is_made_once_for_each_source(making):
    before = making.kept()
    before[:] = 7  # stays in this array
    for shape in SHAPE, (None, 500), (None, None):
        making.kept(shape)
    assert making.times == 1
    assert np.array_equal(np.load(making.file), making.array)
    making.kept(source=b"something else")
    assert making.times == 2


def test_that_an_array_is_to_be_made_is_told_first(making):
    def refuse(name):
        raise KeyboardInterrupt(name)

    with pytest.raises(KeyboardInterrupt, match="things-"), told_of_compiling(refuse):
        making.kept()
    assert making.times == 0
    making.kept()
    with told_of_compiling(refuse):
        making.kept()


def test_making_an_array_may_take_another_one(making, monkeypatch):
    monkeypatch.setattr(array_cache, "_PATIENCE", 1e9)  # of a lock that it would wait for itself
    found = kept("sums", b"of things", SHAPE, DTYPE, lambda: 2 * making.kept())
    assert np.array_equal(found, 2 * making.array)


def test_processes_that_begin_together_make_an_array_once(making):
    """Locks are of open files, so threads stand for processes here."""
    begun = threading.Event()

    def slowly():
        begun.set()
        time.sleep(0.3)
        return making()

    def other():
        begun.wait()
        return making.kept()

    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(kept, "things", b"what it is made of", SHAPE, DTYPE, slowly)
        others = [pool.submit(other) for _ in range(3)]
    assert making.times == 1
    assert all(np.array_equal(each.result(), first.result()) for each in others)


def test_a_process_that_was_stopped_keeps_no_other_waiting(making, monkeypatch):
    monkeypatch.setattr(array_cache, "_PATIENCE", 0.1)
    making.folder.mkdir()
    with array_cache._alone(making.folder):
        making.kept()
    assert making.times == 1


def npy(array):
    """The bytes of a file of an array."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"",
        lambda whole: whole[:5],
        lambda whole: whole[:60],
        lambda whole: whole[:128],
        lambda whole: whole[:-4],
        lambda whole: whole[:-1],
        lambda whole: bytes(len(whole)),
        lambda whole: b"\x80" * len(whole),
        lambda whole: b"PK\x03\x04" + whole[4:],
        lambda whole: whole.replace(b"500", b"5,0"),
        lambda whole: whole.replace(b"(3, 500)", b"(3, 900)"),
        lambda whole: whole.replace(b"{", b"("),
        lambda whole: whole.replace(b"<f4", b"<zz"),
        lambda whole: npy(np.zeros((500, 3), DTYPE)),
        lambda whole: npy(np.zeros(1500, DTYPE)),
        lambda whole: npy(np.zeros(SHAPE, np.int32)),
        lambda whole: npy(np.zeros(SHAPE, DTYPE, order="F")),
    ],
    ids=range(17),
)
def test_a_file_that_is_not_whole_is_made_again(damage, making, tmp_path):
    """Cut short in its header or behind it, of zeros or rubbish, or of another shape, dtype or order."""
    before, file = making.kept(), making.file
    whole = file.read_bytes()
    damaged = damage(whole)
    assert damaged != whole
    (tmp_path / "damaged").write_bytes(damaged)
    (tmp_path / "damaged").rename(file)  # a new file: the old one is mapped
    for _ in range(2):
        making.kept()
        assert making.times == 2
        assert making.file.read_bytes() == whole
    assert np.array_equal(before, making.array)


def test_where_nothing_can_be_written_arrays_are_made_every_time(making):
    making.folder.write_text("no folder")
    for times in 1, 2:
        making.kept()
        assert making.times == times
    assert making.folder.read_text() == "no folder"
