"""A gateway to a service that searches nothing, and requests by the standard library alone."""

import contextlib
import http.client
import json
import time
from urllib.parse import urlsplit

from distsearch.server.http.gateway import Address, Gateway
from distsearch.server.http.limits import HTTP_DEFAULTS

from ..serving import Serving


class Asked(http.client.HTTPConnection):
    """A connection of a client; ``token`` goes with every request, None for none."""

    def __init__(self, url, token, timeout=60.0):
        where = urlsplit(url)
        super().__init__(where.hostname, where.port, timeout=timeout)
        self.token = token

    def ask(self, method, path, body=None, **headers):
        """Return (status, body, headers); header names with _ for -."""
        own = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
        self.request(method, path, body, {**own, **{name.replace("_", "-"): value for name, value in headers.items()}})
        response = self.getresponse()
        return response.status, response.read(), response.headers

    def get(self, path, **headers):
        """The same for GET."""
        return self.ask("GET", path, **headers)

    def search(self, accept="application/json", **fields):
        """Return (status, body) of a search of Connect 4."""
        return self.ask("POST", "/search", json.dumps({"game": "connect4", **fields}), Accept=accept)[:2]

    def code(self, method, path, body=None, **headers):
        """Return (status, code) of a refusal."""
        status, content, _ = self.ask(method, path, body, **headers)
        message = json.loads(content)
        assert message["type"] == "error"
        return status, message["error"]["code"]


class OverHttp:
    """A Serving with a Gateway while the context lasts; ``client`` makes an Asked."""

    def __init__(self, queue, folder, limits=None, logs=False, **changes):
        self.serving = Serving(queue, folder / "socket", *([] if limits is None else [limits]))
        self._limits, self._path, self._logs = HTTP_DEFAULTS._replace(**changes), str(folder / "socket"), logs

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.serving)
            gateway = Gateway(Address("127.0.0.1", 0), self._path, self._limits, self._logs)
            self.gateway = stack.enter_context(gateway)
            self.token = self.gateway.url_with_token.partition("=")[2]
            self.gateway.tend()
            with self.client() as client:  # once it serves
                assert client.get("/status")[0] == 200
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error):
        return self._stack.__exit__(*error)

    @property
    def pid(self):
        """Of the process that serves HTTP."""
        return self.gateway._process.pid

    def client(self, token=""):
        """Return an Asked: with this token, the right one or none (None)."""
        return contextlib.closing(Asked(self.gateway.url, self.token if token == "" else token))


def messages(lines):
    """Return the messages in lines of JSON."""
    return [json.loads(line) for line in lines.splitlines()]


def events(text):
    """Return (event, message) of each server-sent event."""
    found = []
    for block in text.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


def wait_until(true, seconds=30.0):
    """Wait for what happens in another process."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)
