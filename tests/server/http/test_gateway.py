"""The process that serves HTTP: where it listens, what it is told, and how it begins and ends."""

import errno
import os
import re
import signal
import socket

import pytest

from distsearch.core.errors import UserError
from distsearch.server.http import gateway
from distsearch.server.http.gateway import Address, Gateway, check_needed

from ..fake_queue import FakeDesk
from .asking import OverHttp, wait_until


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("8080", ("127.0.0.1", 8080)),
        (":0", ("127.0.0.1", 0)),
        ("0.0.0.0:80", ("0.0.0.0", 80)),
        ("node01:65535", ("node01", 65535)),
        ("[::1]:8080", ("::1", 8080)),
    ],
)
def test_addresses(text, address):
    assert Address.parse(text) == address


@pytest.mark.parametrize("text", ["", "localhost", "localhost:", "localhost:x", "1:2:3", "::1:80", "x:65536", "x:-1"])
def test_what_is_no_address(text):
    with pytest.raises(UserError, match="is not HOST:PORT"):
        Address.parse(text)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(gateway, "find_spec", lambda name: None if name == "uvicorn" else name)
    with pytest.raises(UserError, match=r"needs the package uvicorn: pip install 'distsearch\[http\]'"):
        check_needed()


def test_a_port_that_is_taken(tmp_path):
    pytest.importorskip("uvicorn", reason="the extra http is not installed")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(UserError, match=f"cannot listen at 127.0.0.1:{port}"):
            Gateway(Address("127.0.0.1", port), str(tmp_path / "socket"))


def test_a_token_of_ones_own(tmp_path, monkeypatch):
    pytest.importorskip("uvicorn", reason="the extra http is not installed")
    monkeypatch.setenv("DISTSEARCH_TOKEN", "correct-horse-battery")
    with Gateway(Address("127.0.0.1", 0), str(tmp_path / "socket")) as one:
        assert one.url_with_token == f"{one.url}#token=correct-horse-battery"
    for wrong in ("short", "with spaces and more", "x" * 20 + "\n"):
        monkeypatch.setenv("DISTSEARCH_TOKEN", wrong)
        with pytest.raises(UserError, match="DISTSEARCH_TOKEN is not 16 characters"):
            Gateway(Address("127.0.0.1", 0), str(tmp_path / "socket"))


def test_tokens_differ(tmp_path):
    pytest.importorskip("uvicorn", reason="the extra http is not installed")
    urls = []
    for _ in range(3):
        with Gateway(Address("127.0.0.1", 0), str(tmp_path / "socket")) as one:
            urls.append(one.url_with_token.partition("=")[2])
    assert len(set(urls)) == 3
    assert min(map(len, urls)) >= 43


def test_the_token_is_in_no_list_of_processes(tmp_path, monkeypatch):
    pytest.importorskip("uvicorn", reason="the extra http is not installed")
    monkeypatch.setenv("PMI_RANK", "0")
    with OverHttp(FakeDesk(), tmp_path) as service:
        with open(f"/proc/{service.pid}/cmdline", "rb") as file:
            assert service.token.encode() not in file.read()
        with open(f"/proc/{service.pid}/environ", "rb") as file:
            assert b"PMI_RANK" not in file.read()  # it is no rank


def test_it_is_started_again(tmp_path, capsys, monkeypatch):
    pytest.importorskip("uvicorn", reason="the extra http is not installed")
    monkeypatch.setattr(gateway, "_FIRST_PAUSE", 0.1)
    with OverHttp(FakeDesk(), tmp_path) as service:
        before = service.pid
        os.kill(before, signal.SIGTERM)  # which it leaves to rank 0
        os.kill(before, signal.SIGINT)
        with service.client() as client:
            assert client.search()[0] == 200
        os.kill(before, signal.SIGKILL)
        wait_until(lambda: service.gateway.tend() or service.gateway._process is None)
        wait_until(lambda: service.gateway.tend() or service.gateway._process is not None)
        with service.client() as client:  # which waits in the backlog until it serves
            assert client.search()[0] == 200
        assert service.pid != before
    assert "has ended with status -9" in capsys.readouterr().err


def test_a_full_disk_at_its_start_is_waited_out(tmp_path, capsys, monkeypatch):
    pytest.importorskip("uvicorn", reason="the extra http is not installed")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(gateway, "_LONGEST_PAUSE", 0.0)
    with monkeypatch.context() as patched, Gateway(Address.parse("0"), str(tmp_path / "socket")) as served:
        patched.setattr(gateway.tempfile, "TemporaryFile", full)
        served.tend()
        assert "cannot start the process that serves HTTP: No space left on device" in capsys.readouterr().err
        patched.undo()
        served.tend()
        assert served._process is not None


def test_it_ends_with_rank_0(tmp_path):
    pytest.importorskip("uvicorn", reason="the extra http is not installed")
    with OverHttp(FakeDesk(), tmp_path) as service:
        service.gateway._process.stdin.close()  # as the kernel does for a rank that was killed
        assert service.gateway._process.wait(10) == 0


def test_requests_are_logged_without_query_and_token(tmp_path, capfd):
    pytest.importorskip("uvicorn", reason="the extra http is not installed")
    with OverHttp(FakeDesk(), tmp_path, logs=True) as service:
        with service.client() as client:
            _, body, _ = client.ask("POST", "/search", '{"game": "connect4"}')
            client.get(f"/status?token={service.token}&x=secret")
            client.get(f"/%0a%1b[31m{service.token}")
        with service.client("wrong") as stranger:
            stranger.get("/metrics")
    err = capfd.readouterr().err
    assert service.token not in err
    assert "secret" not in err
    told = [re.sub(r"client=127\.0\.0\.1:\d+ ", "", line.partition(" ")[2]) for line in err.splitlines()]
    pattern = r"http method=(\w+) path=(.+) status=(\d+) bytes=(\d+) seconds=\d+\.\d{4}"
    found = [re.fullmatch(pattern, line).groups() for line in told]
    assert found[1] == ("POST", "/search", "200", str(len(body)))
    assert [each[:3] for each in found[2:]] == [
        ("GET", "/status", "200"),
        ("GET", '"/\\n\\u001b[31mTOKEN"', "404"),
        ("GET", "/metrics", "401"),
    ]
