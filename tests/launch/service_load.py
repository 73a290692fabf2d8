"""What a service costs and stands: latency, throughput, and a long day with clients of every kind.

    python tests/launch/service_load.py latency [--ranks 3] [--requests 1000] [--seed 1] [--watchers 1]
    python tests/launch/service_load.py throughput [--ranks 3] [--clients 8] [--requests 5000]
    python tests/launch/service_load.py soak [--ranks 5] [--clients 8] [--requests 20000] [--flood 10] [--web 4]
    python tests/launch/service_load.py soak --hours 1 --kill 2

Each starts the service it measures. latency: seconds from asking to knowing for easy Connect 4 positions, asked one
after another without a pause or after up to 2 s, of a service that has nothing else to do, while another client has a
long exact search done, and while seven have, and CPU seconds a second of rank 0; also while clients watch the cluster
twice a second. throughput: requests a second of clients that ask without waiting.
soak: clients ask, cancel, talk nonsense, leave and come back, at the socket and over HTTP, next to one that sends a
line of many GB and one that never reads, while workers are killed; whether everything was answered once and right, and
whether anything leaks in any process, is checked (status 1: no).
"""

import argparse
import contextlib
import json
import random
import select
import socket
import subprocess
import sys
import time

from serving import Service, share
from soak import soak

from distsearch.games import connect4
from distsearch.games.random_play import random_positions
from distsearch.server.client import Client

_STONES = range(28, 35)
_PAUSES = 0.01, 2.0  # seconds
_CHUNK = 1 << 16
_LONG_SEARCHES = 0, 1, 7


def easy_texts(count, rng):
    """Return Connect 4 positions that are solved in microseconds, as texts."""
    rules = connect4.rules()
    return [connect4.text(position, rules) for position in random_positions(connect4, rules, _STONES, count, rng)]


def latency(args):
    """Print p50, p99 and the worst of each kind of load."""
    rng = random.Random(args.seed)
    print(f"{'long searches':>13} {'pauses':>12} {'p50, ms':>8} {'p99':>8} {'worst':>8} {'rank 0':>8}")
    with Service(args.ranks) as service, watching(service.path, args.watchers):
        for searches in args.long:
            others = [Client(service.path, timeout=60) for _ in range(searches)]
            for column, client in enumerate(others, 1):
                client.submit("connect4", str(column), exact=True)
            time.sleep(1.0 if others else 0.0)
            for name, pauses in (("none", (0.0, 0.0)), ("10 ms to 2 s", _PAUSES)):
                cpu, began = service.cpu()[0], time.perf_counter()
                seconds = asked_in_turn(service.path, easy_texts(args.requests // 2, rng), pauses, rng)
                figures = [1000 * share(seconds, part) for part in (0.5, 0.99, 1.0)]
                figures.append((service.cpu()[0] - cpu) / (time.perf_counter() - began))
                print(f"{searches:>13} {name:>12} " + " ".join(f"{each:8.2f}" for each in figures), flush=True)
            for client in others:
                client.close()


@contextlib.contextmanager
def watching(path, count):
    """Have so many clients watch the cluster while the context lasts."""
    program = "import sys; from distsearch.server.client import Client; [0 for _ in Client(sys.argv[1]).watch(0.5)]"
    watchers = [subprocess.Popen([sys.executable, "-c", program, path]) for _ in range(count)]
    try:
        yield
    finally:
        for watcher in watchers:
            watcher.terminate()
            watcher.wait()


def asked_in_turn(path, texts, pauses, rng):
    """Return the seconds that the answer to each of the texts took; pauses: the shortest and the longest between."""
    seconds = []
    low, high = pauses
    with Client(path, timeout=60) as client:
        client.search("connect4", texts[0], exact=True)
        for text in texts:
            if high:
                time.sleep(low * (high / low) ** rng.random())
            began = time.perf_counter()
            answer = client.search("connect4", text, exact=True)
            seconds.append(time.perf_counter() - began)
            assert answer["complete"]
    return seconds


def throughput(args):
    """Print requests a second of clients that send all theirs at once."""
    rng = random.Random(args.seed)
    with Service(args.ranks) as service:
        for client in (1, args.clients):
            pipelined(service.path, [[each] for each in easy_texts(client, rng)])
            batches = [easy_texts(args.requests // client, rng) for _ in range(client)]
            before, began = service.cpu(), time.perf_counter()
            pipelined(service.path, batches)
            took = time.perf_counter() - began
            requests, after = sum(map(len, batches)), service.cpu()
            cpu = " ".join(f"{1e6 * (now - before[rank]) / requests:,.0f}" for rank, now in after.items())
            print(f"{client} clients: {requests / took:,.0f} requests/s; µs of CPU each, by rank: {cpu}", flush=True)


def pipelined(path, batches):
    """Have each client ask for its batch of texts without waiting; return when all are answered."""
    clients, poll = {}, select.poll()
    for batch in batches:
        connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connected.connect(path)
        connected.setblocking(False)
        lines = [
            json.dumps({"id": i, "game": "connect4", "position": text, "exact": True}) for i, text in enumerate(batch)
        ]
        clients[connected.fileno()] = connected, memoryview("".join(f"{line}\n" for line in lines).encode())
        poll.register(connected, select.POLLIN | select.POLLOUT)
    left, rests = sum(map(len, batches)), dict.fromkeys(clients, b"")
    while left:
        for descriptor, event in poll.poll():
            connected, unsent = clients[descriptor]
            if event & select.POLLOUT:
                clients[descriptor] = connected, unsent[connected.send(unsent[:_CHUNK]) :]
                if not len(clients[descriptor][1]):
                    poll.modify(connected, select.POLLIN)
            if event & select.POLLIN:
                *lines, rests[descriptor] = (rests[descriptor] + connected.recv(_CHUNK)).split(b"\n")
                left -= sum(b'"type": "done"' in line for line in lines)
    for connected, _ in clients.values():
        connected.close()


def _parser():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    commands = parser.add_subparsers(required=True)
    for function in (latency, throughput, soak):
        command = commands.add_parser(function.__name__, help=function.__doc__)
        command.set_defaults(run=function)
        command.add_argument("--ranks", type=int, default=5 if function is soak else 3)
        command.add_argument("--seed", type=int, default=1)
        if function is latency:
            command.add_argument("--requests", type=int, default=1000)
            command.add_argument("--long", type=int, nargs="+", default=_LONG_SEARCHES, help="long searches at once")
            command.add_argument("--watchers", type=int, default=0, help="clients that watch the cluster")
        else:
            command.add_argument("--requests", type=int, default=20_000 if function is soak else 5000)
            command.add_argument("--clients", type=int, default=8)
        if function is soak:
            command.add_argument("--positions", type=int, default=40, help="of each kind")
            command.add_argument("--malformed", type=int, default=1000, help="lines that make no sense")
            command.add_argument("--flood", type=float, default=10.0, help="GB of a line that does not end")
            command.add_argument("--web", type=int, default=4, help="clients over HTTP next to the others")
            command.add_argument("--kill", type=int, default=0, help="workers to kill, evenly spread over the run")
            command.add_argument("--hours", type=float, help="go on for so long, instead of a number of requests")
    return parser


def main():
    args = _parser().parse_args()
    return args.run(args)


if __name__ == "__main__":
    sys.exit(main())
