"""What rank 0 does for HTTP: it listens, makes the token, and keeps the process that serves."""

import json
import os
import re
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from typing import NamedTuple, Self

from ...cluster.launchers import without_ranks
from ...core.errors import UserError, print_error
from ..schema import STATE
from .limits import HTTP_DEFAULTS, HttpLimits

TOKEN_VARIABLE = "DISTSEARCH_TOKEN"  # in the environment: a token of the user's own
_NEEDED = "starlette", "uvicorn", "prometheus_client"
_LEAST_TOKEN = 16  # characters
_LOOPBACK = "127.0.0.1"
_BACKLOG = 128
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0  # seconds before the process is started again
_FAREWELL = 5.0  # seconds for it to end


class Address(NamedTuple):
    """Where to listen. port: 0 for one that is free."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the address of ``HOST:PORT``, ``[HOST]:PORT`` or ``PORT``; raises UserError."""
        found = re.fullmatch(r"(?:(\[[^\]]*\]|[^:\[\]]*):)?([0-9]{1,5})", text)
        if not found or int(found[2]) > 65535:
            raise UserError(f"'{text[:60]}' is not HOST:PORT, such as 127.0.0.1:8080, or PORT")
        return cls((found[1] or "").strip("[]") or _LOOPBACK, int(found[2]))


def check_needed() -> None:
    """Raise UserError unless the packages of the extra ``http`` are installed."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise UserError(f"--http needs the package {missing[0]}: pip install 'distsearch[http]'")


class Gateway:
    """HTTP at an Address for the service at the socket ``path``; a context, whose end is that of the process.

    logs: whether the process logs requests to stderr. url: where it is; url_with_token: what a browser is to open.
    Raises UserError.
    """

    def __init__(self, address: Address, path: str, limits: HttpLimits = HTTP_DEFAULTS, logs: bool = False):
        check_needed()
        from .openapi import document, kinds

        self._token = _token()
        self._listener = _listen(address)
        host, port = self._listener.getsockname()[:2]
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
        self.url_with_token = f"{self.url}#token={self._token}"
        self.loopback = host.startswith("127.") or host == "::1"
        self._settings = {
            "path": path,
            "token": self._token,
            "document": document(),
            "kinds": kinds(),
            "state": [[field.name, field.type, field.meaning] for field in STATE],
            "limits": limits._asdict(),
            "logs": logs,
        }
        self._process: subprocess.Popen[bytes] | None = None
        self._start_at, self._pause, self._started = 0.0, _FIRST_PAUSE, 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def tend(self) -> None:
        """Start the process, and start it again if it has ended. Called often."""
        now = time.monotonic()
        if self._process is None:
            if now >= self._start_at:
                self._start(now)
        elif (status := self._process.poll()) is not None:
            self._process, self._start_at = None, now + self._pause
            print_error(f"distsearch: the process that serves HTTP has ended with status {status}; it is started again")
            lasted = now - self._started > _LONGEST_PAUSE
            self._pause = _FIRST_PAUSE if lasted else min(2 * self._pause, _LONGEST_PAUSE)

    def _start(self, now):
        try:
            with tempfile.TemporaryFile("w+", encoding="utf-8") as file:  # not arguments: everyone sees those
                json.dump(self._settings, file)
                file.seek(0)
                descriptors = self._listener.fileno(), file.fileno()
                self._process = subprocess.Popen(
                    [sys.executable, "-m", f"{__package__}.process", *map(str, descriptors)],
                    env=without_ranks(),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    pass_fds=descriptors,
                    start_new_session=True,  # a Ctrl-C is for rank 0
                )
        except OSError as error:  # the disk may be full, or there are too many processes
            print_error(f"distsearch: cannot start the process that serves HTTP: {error.strerror}")
            self._start_at = now + _LONGEST_PAUSE
        self._started = now

    def close(self) -> None:
        """End the process, after the responses that it is writing; listen no more."""
        self._listener.close()
        if self._process is None:
            return
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(_FAREWELL)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None


def _token():
    given = os.environ.get(TOKEN_VARIABLE)
    if given is None:
        return secrets.token_urlsafe(32)
    if len(given) < _LEAST_TOKEN or not re.fullmatch(r"[A-Za-z0-9_.~-]+", given):
        raise UserError(f"{TOKEN_VARIABLE} is not {_LEAST_TOKEN} characters or more of A-Z, a-z, 0-9, _ . ~ -")
    return given


def _listen(address):
    try:
        family, _, _, _, where = socket.getaddrinfo(*address, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.create_server(where[:2], family=family, backlog=_BACKLOG)
    except (OSError, UnicodeError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise UserError(f"cannot listen at {address.host}:{address.port}: {why}") from error
    listener.setblocking(False)
    return listener
