"""A client of a soak over HTTP: searches, streams, some of them cut off, files of positions, and what is refused."""

import contextlib
import http.client
import itertools
import json
import random
import socket
import threading
import time
from urllib.parse import urlencode, urlsplit

_STREAMED, _CUT, _BATCHED, _NONSENSE = 0.2, 0.1, 0.15, 0.05  # shares of the requests; the others are plain searches
_PAUSE = 0.02  # seconds between two requests on average, so that all these clients stay below the limit of an address
_MOST_LINES = 30  # of a file
_PATIENCE = 300.0  # seconds in which something must come
_REFUSALS = [  # (method, path, body, token, code)
    ("POST", "/search", b"{", True, "bad_json"),
    ("POST", "/search", b'{"game": "draughts"}', True, "bad_field"),
    ("POST", "/search", b'{"game": "connect4", "colour": 1}', True, "unknown_field"),
    ("GET", "/search?game=connect4&depth=x", None, True, "bad_field"),
    ("POST", "/batch?game=connect4", b"\n\n", True, "bad_field"),
    ("GET", "/nowhere", None, True, "not_found"),
    ("PUT", "/search", b"{}", True, "wrong_method"),
    ("POST", "/search", b'{"game": "connect4"}', False, "unauthorized"),
]


class WebSoaker(threading.Thread):
    """Asks one thing after another until ``is_over(sent)``; the attributes are those of a ``soak.Soaker``."""

    def __init__(self, service, cases, is_over, seed):
        super().__init__(daemon=True)
        where = urlsplit(service.url)
        self._address, self._token = (where.hostname, where.port), service.token
        self._cases, self._is_over, self._rng = cases, is_over, random.Random(seed)
        self.sent = self.answers = self.cancelled = self.abandoned = self.refused = 0
        self.problems, self.seconds = [], []

    def run(self):
        try:
            with self._connected() as self._connection:
                while not self._is_over(self.sent):
                    self._act()
        except Exception as error:
            self.problems.append(f"over HTTP: {type(error).__name__}: {error}")

    def _connected(self):
        return contextlib.closing(http.client.HTTPConnection(*self._address, timeout=_PATIENCE))

    def _act(self):
        rng = self._rng
        kinds = (self._stream, self._cut, self._batch, self._nonsense, self._search)
        shares = list(itertools.accumulate((_STREAMED, _CUT, _BATCHED, _NONSENSE)))
        family = rng.choice(self._cases)
        kind = kinds[sum(share <= rng.random() for share in shares)]
        kind(family, rng.choice(family.variants))
        self.sent += 1
        time.sleep(rng.expovariate(1 / _PAUSE))

    def _ask(self, method, path, body=None, token=True, **headers):
        """Send a request; return the response, unread."""
        own = {"Authorization": f"Bearer {self._token}"} if token else {}
        self._connection.request(method, path, body, {**own, **headers})
        return self._connection.getresponse()

    def _asked(self, family, variant, accept, **more):
        """Send a search of some positions; return (their numbers, the response)."""
        numbers = [self._rng.randrange(len(family.texts)) for _ in range(self._rng.randint(1, 4))]
        fields = {**variant.fields, "positions": [family.texts[number] for number in numbers], **more}
        return numbers, self._ask("POST", "/search", json.dumps(fields), Accept=accept)

    def _search(self, family, variant):
        began = time.monotonic()
        numbers, response = self._asked(family, variant, "application/json")
        found = json.loads(response.read())
        self.seconds.append(time.monotonic() - began)
        if (response.status, found.get("state")) != (200, "done"):
            self.problems.append(f"status {response.status}, {found}")
        self._check(family, variant, numbers, found.get("answers", []))

    def _stream(self, family, variant):
        accept = self._rng.choice(["application/x-ndjson", "text/event-stream"])
        numbers, response = self._asked(family, variant, accept, progress=0.01)
        lines = [line.removeprefix("data: ") for line in response.read().decode().splitlines()]
        found = [json.loads(line) for line in lines if line.startswith("{")]
        if not found or found[-1].get("state") != "done":
            self.problems.append(f"a stream ends with {found[-1:]}")
        self._check(family, variant, numbers, [each for each in found if each["type"] == "answer"])

    def _cut(self, family, variant):
        """Go in the middle of an answer, or before it begins."""
        self._connection.close()
        body = json.dumps({**variant.fields, "positions": family.texts[:20], "progress": 0.01})
        head = f"POST /search HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self._token}\r\n"
        accept = "Accept: application/x-ndjson\r\n"
        with socket.create_connection(self._address, timeout=_PATIENCE) as plain:
            plain.sendall(f"{head}{accept}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            if self._rng.random() < 0.5:
                plain.recv(self._rng.choice([1, 100, 1000]))
        self.abandoned += 1

    def _batch(self, family, variant):
        numbers = [self._rng.randrange(len(family.texts)) for _ in range(self._rng.randint(1, _MOST_LINES))]
        lines = [family.texts[number] for number in numbers]
        bad = self._rng.randrange(len(lines) + 1)  # nonsense in the middle costs its own line alone
        query = urlencode({name: _as_parameter(value) for name, value in variant.fields.items()})
        text = "\n".join([*lines[:bad], "nonsense", *lines[bad:]])
        response = self._ask("POST", f"/batch?{query}", text.encode())
        found = [json.loads(line) for line in response.read().splitlines()]
        if [each["line"] for each in found] != list(range(1, len(lines) + 2)) or "error" not in found[bad]:
            self.problems.append(f"a file of {len(lines)} positions is answered by {found[-1:]}")
            return
        answers = [{**each, "index": index} for index, each in enumerate(found[:bad] + found[bad + 1 :])]
        self._check(family, variant, numbers, answers)

    def _nonsense(self, _, __):
        method, path, body, token, code = self._rng.choice(_REFUSALS)
        response = self._ask(method, path, body, token)
        found = json.loads(response.read())
        self.refused += 1
        if found.get("error", {}).get("code") != code:
            self.problems.append(f"{method} {path} is answered by {found}, not {code}")

    def _check(self, family, variant, numbers, answers):
        """Every position has one answer, which is right."""
        self.answers += len(answers)
        if sorted(answer.get("index", -1) for answer in answers) != list(range(len(numbers))):
            self.problems.append(f"{len(answers)} answers over HTTP to {len(numbers)} positions")
            return
        for answer in answers:
            number = numbers[answer["index"]]
            wrong = answer.get("error") or variant.expected(number, answer)
            if wrong:
                self.problems.append(f"over HTTP: {family.texts[number]} {variant.fields}: {wrong}")


def _as_parameter(value):
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list) else value
