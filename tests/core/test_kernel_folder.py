"""Which folder kernels are kept in: none that another user could have put a program into."""

import os
import stat
from pathlib import Path

import pytest

from distsearch.core import kernel_folder
from distsearch.core.kernel_folder import choose, fault_of

OTHER = 12345  # a user that does not run this


@pytest.fixture
def own(monkeypatch):
    """Has paths owned as a table says, others by root."""
    owners, real = {}, os.lstat

    def lstat(path):
        state = list(real(path))
        state[4] = owners.get(str(path), 0)
        return os.stat_result(state)

    monkeypatch.setattr(Path, "lstat", lstat)
    return owners


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """A folder for temporary files of this test's own; tests run in one that only this user may write."""
    folder = tmp_path / "temporary"
    folder.mkdir(mode=0o755)
    monkeypatch.setattr(kernel_folder.tempfile, "tempdir", str(folder))
    return folder


def test_what_is_named_first_is_used(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    monkeypatch.delenv("DISTSEARCH_CACHE", raising=False)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    assert choose().path.parent == tmp_path / "user" / "distsearch"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    assert choose().path.parent == tmp_path / "numba"
    monkeypatch.setenv("DISTSEARCH_CACHE", str(tmp_path / "ours"))
    chosen = choose()
    assert (chosen.path.parent, chosen.problem) == (tmp_path / "ours", None)
    assert stat.S_IMODE(chosen.path.stat().st_mode) == 0o755


def test_another_compiler_or_processor_has_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("DISTSEARCH_CACHE", str(tmp_path))
    assert choose("znver3").path == choose("znver3").path != choose("znver4").path


@pytest.mark.parametrize("place", ["itself", "above"])
def test_a_folder_of_another_user_is_refused(place, tmp_path, own):
    folder = tmp_path / "cache" / "kernels"
    folder.mkdir(parents=True)
    at = folder if place == "itself" else folder.parent
    own[str(at)] = OTHER
    assert fault_of(folder) == f"another user owns {at}"


@pytest.mark.parametrize("mode", [0o777, 0o702, 0o1777])
def test_a_folder_that_others_may_write_is_refused(mode, tmp_path):
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels").chmod(mode)
    assert fault_of(tmp_path / "kernels") == f"other users may write to {tmp_path / 'kernels'}"


@pytest.mark.parametrize("mode, refused", [(0o777, True), (0o1777, False), (0o755, False)])
def test_of_the_folders_above_a_sticky_one_may_be_everybodys(mode, refused, tmp_path):
    above = tmp_path / "scratch"
    above.mkdir()
    above.chmod(mode)
    assert fault_of(above / "mine" / "kernels") == (f"other users may write to {above}" if refused else None)


def test_a_group_may_write_if_it_is_the_users_alone(tmp_path, monkeypatch):
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels").chmod(0o770)
    for private in (True, False):
        monkeypatch.setattr(kernel_folder, "_is_private", lambda _, private=private: private)
        assert (fault_of(tmp_path / "kernels") is None) == private


@pytest.mark.parametrize("way", ["link/kernels", "link/../open/kernels", "hop/link/kernels"])
def test_what_links_lead_to_is_looked_at_and_used(way, tmp_path, monkeypatch):
    real, hop = tmp_path / "open" / "real", tmp_path / "hop"
    real.mkdir(parents=True)
    hop.mkdir()
    for link in (tmp_path / "link", hop / "link"):
        link.symlink_to(real)
    monkeypatch.setenv("DISTSEARCH_CACHE", f"{tmp_path}/{way}")
    path, problem = choose()
    assert problem is None
    assert path.parent == Path(os.path.realpath(f"{tmp_path}/{way}"))
    (tmp_path / "open").chmod(0o777)
    assert f"other users may write to {tmp_path / 'open'}" in choose().problem


def test_a_relative_name_is_of_the_folder_where_it_was_looked_at(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISTSEARCH_CACHE", "cache")
    assert choose().path.parent == tmp_path / "cache"


def test_links_in_a_circle_are_told(tmp_path, monkeypatch):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    monkeypatch.setenv("DISTSEARCH_CACHE", str(tmp_path / "a"))
    assert "link" in choose().problem


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o077])
def test_folders_that_are_made_can_be_used_whatever_the_umask_is(mask, tmp_path, monkeypatch):
    monkeypatch.setenv("DISTSEARCH_CACHE", str(tmp_path / "some" / "where"))
    before = os.umask(mask)
    try:
        first, second = choose(), choose()
    finally:
        os.umask(before)
    assert first == second == (first.path, None)
    assert first.path.parent == tmp_path / "some" / "where"


def test_what_cannot_be_trusted_or_made_is_told_and_replaced(tmp_path, temporary, monkeypatch):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "file").touch()
    for wanted, why in (("open", "other users may write"), ("file/cache", "cannot make")):
        monkeypatch.setenv("DISTSEARCH_CACHE", str(tmp_path / wanted))
        path, problem = choose()
        assert path.parent == temporary / f"distsearch-{os.getuid()}"
        assert problem.startswith(
            f"kernels are kept in {path.parent}, not in DISTSEARCH_CACHE={tmp_path / wanted}: {why}"
        )
        assert path.is_dir()


def test_nothing_is_kept_if_the_common_folder_is_another_users(tmp_path, temporary, monkeypatch, own):
    shared = temporary / f"distsearch-{os.getuid()}"
    shared.mkdir()
    own[str(shared)] = OTHER
    monkeypatch.setenv("DISTSEARCH_CACHE", "/dev/null/cache")
    path, problem = choose()
    assert problem.startswith("kernels are compiled at each start, and not kept in DISTSEARCH_CACHE=/dev/null/cache: ")
    assert not path.exists()
    with pytest.raises(OSError):
        path.mkdir(parents=True)


def test_nothing_is_kept_where_there_is_no_place_for_it(monkeypatch):
    def none():
        raise FileNotFoundError

    monkeypatch.setattr(kernel_folder.tempfile, "gettempdir", none)
    monkeypatch.setenv("DISTSEARCH_CACHE", "/dev/null/cache")
    assert not choose().path.exists()


def test_a_folder_that_cannot_be_looked_at_is_refused(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "lstat", refuse)
    assert fault_of(tmp_path / "kernels") == f"cannot look at {tmp_path / 'kernels'}: Permission denied"


def test_kernels_are_loaded_from_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.setenv("DISTSEARCH_CACHE", str(tmp_path / "image"))
    path, _ = choose()
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert choose() == (path, f"cannot write to {path}: kernels that are not there are compiled at each start")


def test_in_a_container_the_hosts_root_may_own_what_is_above(tmp_path, monkeypatch, own):
    (tmp_path / "kernels").mkdir()
    monkeypatch.setattr(
        kernel_folder, "_trusted_users", lambda of_folder: {0, os.getuid(), *(() if of_folder else (65534,))}
    )
    own["/"] = 65534
    assert fault_of(tmp_path / "kernels") is None
    own[str(tmp_path / "kernels")] = 65534
    assert fault_of(tmp_path / "kernels") == f"another user owns {tmp_path / 'kernels'}"
