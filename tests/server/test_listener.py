"""The Unix socket: private, one service a path, gone with the service."""

import contextlib
import os
import socket
import stat

import pytest

from distsearch.core.errors import UserError
from distsearch.server.listener import Listener
from distsearch.server.server import Server

from .fake_queue import FakeDesk
from .serving import Serving, Wire, descriptors, status


@pytest.fixture
def path(tmp_path):
    """Where to serve."""
    return tmp_path / "socket"


def test_the_socket_is_private_and_goes_with_the_service(path):
    modes = []
    before = os.umask(0)
    try:
        real = socket.socket.listen
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(socket.socket, "listen", lambda s, n: (modes.append(path.stat().st_mode), real(s, n)))
            with Serving(FakeDesk(), path):
                modes.append(path.stat().st_mode)
    finally:
        assert os.umask(before) == 0
    assert [stat.S_IMODE(mode) for mode in modes] == [0o600, 0o600]
    assert not path.exists()


def test_one_service_a_path(path):
    with Serving(FakeDesk(), path), Wire(path) as wire:
        with pytest.raises(UserError, match="a service is there already"):
            Server(FakeDesk(), str(path)).serve(lambda: False)
        assert status(wire)["clients"] >= 1
    assert not path.exists()


def test_a_dead_service_makes_way(path):
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    assert path.exists()
    with Serving(FakeDesk(), path), Wire(path) as wire:
        assert status(wire)["type"] == "status"


def test_a_service_that_comes_as_another_one_goes_keeps_its_socket(path, monkeypatch):
    first = Listener(str(path))
    stat_of, came = os.stat, []

    def stat_and_start(*args, **options):  # in the middle of the first one's end
        found = stat_of(*args, **options)
        monkeypatch.undo()
        with contextlib.suppress(UserError):
            came.append(Listener(str(path)))
        return found

    monkeypatch.setattr(os, "stat", stat_and_start)
    first.close()
    came = came or [Listener(str(path))]
    with Wire(path):
        pass
    came[0].close()
    assert not path.exists()


def test_somebody_elses_file_stays(path):
    with Serving(FakeDesk(), path):
        path.unlink()
        path.write_text("mine")
    assert path.read_text() == "mine"
    with pytest.raises(UserError, match="no socket"):
        Server(FakeDesk(), str(path)).serve(lambda: False)


@pytest.mark.parametrize("name", ["", "no/such/folder", "x" * 200, "a\0b"])
def test_impossible_paths(tmp_path, name):
    before = descriptors()
    with pytest.raises(UserError, match="cannot listen|empty"):
        Server(FakeDesk(), str(tmp_path / name) if name else "").serve(lambda: False)
    assert descriptors() == before
