"""What a service costs and stands over HTTP: latency next to a long search, and next to strangers.

    python tests/launch/http_load.py latency [--ranks 3] [--requests 500] [--seed 1]
    python tests/launch/http_load.py strangers [--ranks 3] [--requests 500] [--threads 4]

Each starts the service it measures. latency: seconds from asking to knowing for easy Connect 4 positions, asked one
after another over one connection and over the socket, while another client has a long exact search done. strangers:
the same while strangers ask with no token, with wrong tokens and from another site, over many connections, open
connections that say nothing, and write endless bodies; and what memory rank 0 and the process that serves HTTP take.
The status is 1 if a stranger gets an answer, the client loses one or waits twice as long (p99), or rank 0 takes more
than 300 MiB.
"""

import argparse
import contextlib
import http.client
import json
import multiprocessing
import random
import socket
import sys
import threading
import time
from urllib.parse import urlsplit

from service_load import asked_in_turn, easy_texts
from serving import Service, share

from distsearch.server.client import Client

_SILENT = 200  # connections
_LONGER, _MOST_MIB = 2.0, 300.0  # bars: p99 of other clients next to strangers to that without; memory of rank 0


class Web:
    """A connection that keeps alive; a token of None is none."""

    def __init__(self, url, token):
        where = urlsplit(url)
        self._connection = http.client.HTTPConnection(where.hostname, where.port, timeout=60)
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    def search(self, text, **headers):
        """Return (status, content) of a search to the end."""
        body = json.dumps({"game": "connect4", "position": text, "exact": True})
        self._connection.request("POST", "/search", body, {**self._headers, **headers})
        response = self._connection.getresponse()
        return response.status, json.loads(response.read())

    def close(self):
        """End it."""
        self._connection.close()


def in_turn(web, texts):
    """Return the seconds that the answer to each of the texts took."""
    seconds = []
    web.search(texts[0])
    for text in texts:
        began = time.perf_counter()
        status, found = web.search(text)
        seconds.append(time.perf_counter() - began)
        assert status == 200 and found["answers"][0]["complete"], found
    return seconds


def show(name, seconds):
    """Print p50, p99 and the worst; return p99."""
    figures = [1000 * share(seconds, part) for part in (0.5, 0.99, 1.0)]
    print(f"{name:>32} " + " ".join(f"{each:8.2f}" for each in figures), flush=True)
    return figures[1]


def latency(args):
    """Print p50, p99 and the worst over HTTP and over the socket."""
    rng = random.Random(args.seed)
    print(f"{'ms':>32} {'p50':>8} {'p99':>8} {'worst':>8}")
    with Service(args.ranks, http=True) as service, contextlib.closing(Web(service.url, service.token)) as web:
        for searches in (0, 1):
            others = [Client(service.path, timeout=60) for _ in range(searches)]
            for client in others:
                client.submit("othello", exact=True)  # takes years
            time.sleep(1.0)
            load = f"{searches} long searches"
            show(f"HTTP, {load}", in_turn(web, easy_texts(args.requests, rng)))
            show(f"socket, {load}", asked_in_turn(service.path, easy_texts(args.requests, rng), (0.0, 0.0), rng))
            for client in others:
                assert client.status()["active"] == searches  # all the while
                client.close()
    return 0


class Strangers:
    """Threads that bother a service; ``refused``: how often; ``answered``: what they got but refusals."""

    def __init__(self, url, token, threads):
        self._url, self._stop = url, threading.Event()
        self.refused, self.answered = 0, []
        asks = [self._ask(None), self._ask("wrong"), self._ask(token, Origin="http://evil.example")]
        tasks = [*asks, self._begin_anew, self._write] * threads
        self._threads = [threading.Thread(target=self._until_the_end(task), daemon=True) for task in tasks]

    def bother(self, pipe):
        """Do so until the other end of a pipe is heard; send (refused, answered)."""
        silent = [self._connect() for _ in range(_SILENT)]
        for each in silent:
            each.sendall(b"POST /search HTTP/1.1\r\nHost: x\r\nX-Slow:")
        for thread in self._threads:
            thread.start()
        pipe.recv()
        pipe.send((self.refused, self.answered))

    @classmethod
    @contextlib.contextmanager
    def at_work(cls, service, threads):
        """Have them bother a service from another process; the context's list gets what they send at its end."""
        found, (own, other) = [], multiprocessing.Pipe()
        strangers = cls(service.url, service.token, threads)
        process = multiprocessing.Process(target=strangers.bother, args=(other,))
        process.start()
        yield found
        own.send("end")
        found += own.recv()
        process.kill()
        process.join()

    def _connect(self):
        where = urlsplit(self._url)
        return socket.create_connection((where.hostname, where.port), timeout=60)

    def _until_the_end(self, task):
        def run():
            while not self._stop.is_set():
                with contextlib.suppress(OSError, http.client.HTTPException):  # let go
                    task()

        return run

    def _ask(self, token, **headers):
        def ask():
            with contextlib.closing(Web(self._url, token)) as web:
                while not self._stop.is_set():
                    status, found = web.search("4453222", **headers)
                    if status in (401, 403):
                        self.refused += 1
                    else:
                        self.answered.append((status, found))

        return ask

    def _begin_anew(self):
        with self._connect() as plain:
            plain.sendall(b"GET /status HTTP/1.1\r\nHost: x\r\n\r\n")

    def _write(self):
        with self._connect() as plain:
            plain.sendall(b"POST /batch?game=connect4 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            while not self._stop.is_set():
                plain.sendall(b"4000\r\n" + b"4" * 0x4000 + b"\r\n")
                time.sleep(0.01)


def strangers(args):
    """Print latency without and with strangers; return 1 if one got an answer, or a bar is missed."""
    rng = random.Random(args.seed)
    texts = easy_texts(args.requests, rng)
    print(f"{'ms':>32} {'p50':>8} {'p99':>8} {'worst':>8}")
    with Service(args.ranks, http=True) as service, contextlib.closing(Web(service.url, service.token)) as web:
        ways = {
            "HTTP": lambda: in_turn(web, texts),
            "socket": lambda: asked_in_turn(service.path, texts, (0.0, 0.0), rng),
        }
        alone = {name: show(f"{name}, alone", ask()) for name, ask in ways.items()}
        with Strangers.at_work(service, args.threads) as found:
            time.sleep(1.0)
            next_to = {name: show(f"{name}, next to strangers", ask()) for name, ask in ways.items()}
            with contextlib.closing(Web(service.url, service.token)) as newcomer:
                show("HTTP, a new connection", in_turn(newcomer, texts[:20]))
        memory, descriptors = service.resident(), service.descriptors()
        for name in (0, "HTTP"):
            print(f"process {name}: {memory[name]:.0f} MiB, {descriptors[name]} descriptors")
        refused, answered = found
        print(f"{refused} requests refused, {len(answered)} answered")
    missed = [f"{len(answered)} answers to strangers"] if answered else []
    missed += [
        f"p99 over {name} is {next_to[name] / alone[name]:.1f} times as long"
        for name in ways
        if next_to[name] > _LONGER * alone[name]
    ]
    missed += [f"rank 0 has {memory[0]:.0f} MiB"] if memory[0] > _MOST_MIB else []
    print("\n".join(f"MISSED {each}" for each in missed) or "all bars are met")
    return 1 if missed else 0


def main():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    commands = parser.add_subparsers(required=True)
    for function in (latency, strangers):
        command = commands.add_parser(function.__name__, help=function.__doc__)
        command.set_defaults(run=function)
        command.add_argument("--ranks", type=int, default=3)
        command.add_argument("--seed", type=int, default=1)
        command.add_argument("--requests", type=int, default=500)
        command.add_argument("--threads", type=int, default=4, help="of each kind of stranger")
    args = parser.parse_args()
    return args.run(args)


if __name__ == "__main__":
    sys.exit(main())
