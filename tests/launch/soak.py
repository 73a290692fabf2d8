"""Clients of every kind at a real service for a long time: is everybody answered once and rightly, does it leak?"""

import contextlib
import json
import math
import random
import select
import socket
import threading
import time
from collections import deque
from itertools import count

from serving import Service, share
from soak_cases import families, malformed
from soak_web import WebSoaker

from distsearch.api.session import Session
from distsearch.games import connect4
from distsearch.games.random_play import random_positions
from distsearch.server.client import Client

_CHUNK = 1 << 16
_MOST_OPEN = 12  # requests of a client
_CANCELLED, _LEFT, _BATCHED, _TOGETHER = 0.05, 0.004, 0.15, 0.2  # shares of the requests
_GROWTH = 0.05  # of resident memory from the third quarter of the time to the fourth one
_SLACK = 2.0  # MiB, for a sample of small numbers
_SAMPLES = 40  # fewer say nothing: kernels are loaded when they are first asked for
_PATIENCE = 300.0  # seconds in which something must come


class Wire:
    """A connection that never waits to write, and waits to read as long as it is told."""

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(path)
        self._socket.setblocking(False)
        self._poll = select.poll()
        self._poll.register(self._socket)
        self._unsent, self._rest = bytearray(), b""

    def write(self, line):
        """Send a line (bytes) as soon as the service takes it."""
        self._unsent += line + b"\n"
        self._flush()

    def say(self, **message):
        """Send a message."""
        self.write(json.dumps(message).encode())

    def _flush(self):
        with contextlib.suppress(BlockingIOError):
            while self._unsent:
                del self._unsent[: self._socket.send(self._unsent[:_CHUNK])]

    def hear(self, seconds):
        """Return the messages that are here, after so many seconds at most; raises ConnectionError at the end."""
        self._poll.modify(self._socket, select.POLLIN | select.POLLOUT * bool(self._unsent))
        if not self._poll.poll(1000 * seconds):
            return []
        self._flush()
        with contextlib.suppress(BlockingIOError):
            data = self._socket.recv(_CHUNK)
            if not data:
                raise ConnectionError("the service closed the connection")
            *lines, self._rest = (self._rest + data).split(b"\n")
            return [json.loads(line) for line in lines]
        return []

    def close(self):
        """Go without a word."""
        self._socket.close()


class Asked:
    """A request that is open: a variant, the numbers of its texts, and which of them were answered."""

    def __init__(self, family, variant, numbers):
        self.family, self.variant, self.numbers = family, variant, numbers
        self.answered, self.cancelled, self.began = set(), False, time.monotonic()

    def message(self, name, rng):
        """Return what to send."""
        texts = [self.family.texts[number] for number in self.numbers]
        positions = {"positions": texts} if len(texts) > 1 else {"position": texts[0]}
        extras = {"priority": rng.randint(-10, 10)} if rng.random() < 0.2 else {}
        if rng.random() < 0.1:
            extras["progress"] = rng.choice([0.01, 0.05])
        return {"id": name, **self.variant.fields, **positions, **extras}


class Soaker(threading.Thread):
    """A client that asks, cancels, talks nonsense, goes and comes back; ``problems`` is what it has to complain of.

    is_over(sent): whether it has asked enough; nonsense: the share of lines that make no sense.
    """

    def __init__(self, path, cases, is_over, nonsense, seed):
        super().__init__(daemon=True)
        self._path, self._cases, self._rng = path, cases, random.Random(seed)
        self._names, self._open, self._expected = count(1), {}, deque()
        self._is_over, self._nonsense = is_over, nonsense
        self.sent = self.answers = self.cancelled = self.abandoned = self.refused = 0
        self.problems, self.seconds = [], []

    def run(self):
        try:
            self._wire = Wire(self._path)
            while not self._is_over(self.sent):
                self._act()
                self._listen(0.0)
            self._finish()
            self._wire.close()
        except Exception as error:
            self.problems.append(f"{type(error).__name__}: {error}")

    def _act(self):
        rng = self._rng
        for family, variant in self._choice():
            numbers = [rng.randrange(len(family.texts))]
            if rng.random() < _BATCHED:
                numbers += [rng.randrange(len(family.texts)) for _ in range(rng.randint(1, 5))]
            self._ask(Asked(family, variant, numbers))
        if rng.random() < self._nonsense:
            line, name, code = malformed(rng)
            self._expected.append((name, code))
            self._wire.write(line)
        if self._open and rng.random() < _CANCELLED:
            name = rng.choice(list(self._open))
            self._open[name].cancelled = True
            self._wire.say(op="cancel", id=name)
        if rng.random() < _LEFT:
            self._leave()
        most = rng.randint(1, _MOST_OPEN)
        while len(self._open) >= most:
            self._listen(_PATIENCE)

    def _choice(self):
        """Return what to ask next: sometimes one position under all options at once."""
        family = self._rng.choice(self._cases)
        if self._rng.random() < _TOGETHER:
            return [(family, variant) for variant in family.variants]
        return [(family, self._rng.choice(family.variants))]

    def _ask(self, asked):
        name = next(self._names)
        self._open[name] = asked
        self.sent += 1
        self._wire.say(**asked.message(name, self._rng))

    def _leave(self):
        self.abandoned += len(self._open)
        self._wire.close()
        self._open.clear()
        self._expected.clear()
        self._wire = Wire(self._path)

    def _finish(self):
        """Wait for all that is open, and see that nothing follows."""
        while self._open or self._expected:
            self._listen(_PATIENCE)
        self._wire.say(op="status", id="last")
        while self._listen(_PATIENCE) != "status":
            pass

    def _listen(self, seconds):
        """Take in what is here; return the type of the last message."""
        before, messages = time.monotonic(), self._wire.hear(seconds)
        if not messages and seconds and time.monotonic() - before >= seconds:
            raise TimeoutError(f"nothing in {seconds:g} s; open: {sorted(self._open)}, errors due: {self._expected}")
        for message in messages:
            self._take(message)
        return messages[-1]["type"] if messages else None

    def _take(self, message):
        kind, name = message["type"], message.get("id")
        if kind == "error":
            self._take_error(name, message["error"]["code"])
        elif kind in ("answer", "progress", "done"):
            if name not in self._open:
                self.problems.append(f"{kind} for {name}, which is not open")
            elif kind == "answer":
                self._take_answer(self._open[name], message)
            elif kind == "done":
                self._take_done(self._open.pop(name), message)

    def _take_error(self, name, code):
        self.refused += 1
        if code == "unknown_id" and isinstance(name, int) and name not in self._open:
            return  # a cancel that came too late
        expected = self._expected.popleft() if self._expected else None
        if (name, code) != expected:
            self.problems.append(f"error {code} for {name}; expected {expected}")

    def _take_answer(self, asked, answer):
        index = answer["index"]
        if index in asked.answered or not 0 <= index < len(asked.numbers):
            self.problems.append(f"answer {index} of {len(asked.numbers)} again, or never asked")
        asked.answered.add(index)
        self.answers += 1
        wrong = asked.variant.expected(asked.numbers[index], answer)
        if wrong:
            self.problems.append(f"{asked.family.texts[asked.numbers[index]]} {asked.variant.fields}: {wrong}")

    def _take_done(self, asked, done):
        state = done["state"]
        self.cancelled += state == "cancelled"
        if state == "done":
            self.seconds.append(time.monotonic() - asked.began)
        complete = len(asked.answered) == len(asked.numbers)
        if done["answers"] != len(asked.answered) or not (complete if state == "done" else asked.cancelled):
            self.problems.append(f"{done} after {len(asked.answered)} of {len(asked.numbers)} answers")


class Background(threading.Thread):
    """Something that goes on until ``stop``; ``problems`` as a Soaker has them."""

    def __init__(self, service):
        super().__init__(daemon=True)
        self._service, self._stopped, self.problems = service, threading.Event(), []

    def stop(self):
        self._stopped.set()
        self.join()

    def run(self):
        try:
            self.act()
        except Exception as error:
            self.problems.append(f"{type(self).__name__}: {type(error).__name__}: {error}")


class Flood(Background):
    """A line of many bytes, at whatever rate they are taken; one error answers it."""

    def __init__(self, service, size):
        super().__init__(service)
        self.size = size

    def act(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connected:
            connected.connect(self._service.path)
            connected.settimeout(_PATIENCE)
            left, block = self.size, b"x" * (1 << 20)
            while left > 0:
                connected.sendall(block[:left])
                left -= len(block)
            connected.sendall(b'\n{"op": "status"}\n')
            with connected.makefile("rb") as file:
                told = [json.loads(file.readline()) for _ in range(2)]
        if told[0].get("error", {}).get("code") != "too_long" or told[1]["type"] != "status":
            self.problems.append(f"the flood is answered by {told}")


class Silent(Background):
    """Asks as much as is taken, and never reads; comes back when it is let go. positions: of each request."""

    def __init__(self, service, positions):
        super().__init__(service)
        self._positions, self.times = positions, 0

    def act(self):
        asked = {"id": 1, "game": "connect4", "positions": ["44"] * self._positions, "depth": 1}
        line = json.dumps(asked).encode() + b"\n"
        while not self._stopped.is_set():
            self.times += 1
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connected:
                connected.connect(self._service.path)
                connected.settimeout(0.5)
                with contextlib.suppress(ConnectionError):
                    self._ask(connected, line)

    def _ask(self, connected, line):
        number, unsent = 1, line
        while not self._stopped.is_set():
            with contextlib.suppress(TimeoutError):
                unsent = unsent[connected.send(unsent) :]
            if not unsent:
                number += 1
                unsent = line.replace(b'"id": 1', b'"id": %d' % number)


class Probe(Background):
    """A client of easy questions, one at a time; ``seconds`` is what each took."""

    def __init__(self, service, rng):
        super().__init__(service)
        rules = connect4.rules()
        self._texts = [connect4.text(each, rules) for each in random_positions(connect4, rules, range(28, 35), 50, rng)]
        self.seconds = []

    def act(self):
        with Client(self._service.path, timeout=_PATIENCE) as client:
            while not self._stopped.is_set():
                began = time.monotonic()
                client.search("connect4", self._texts[len(self.seconds) % len(self._texts)], exact=True)
                self.seconds.append(time.monotonic() - began)
                time.sleep(0.05)


class Monitor(Background):
    """Samples of resident memory and of descriptors."""

    def __init__(self, service):
        super().__init__(service)
        self.resident, self.descriptors = [], []

    def act(self):
        while not self._stopped.wait(0.25):
            with contextlib.suppress(FileNotFoundError):  # a worker was just killed
                self.resident.append(self._service.resident())
                self.descriptors.append(self._service.descriptors())

    def growth(self):
        """Return (MiB in the third quarter of the time, in the fourth one) by process, medians, of those that live."""
        quarter = len(self.resident) // 4
        third, fourth = self.resident[2 * quarter : 3 * quarter], self.resident[3 * quarter :]
        return {
            rank: tuple(share([sample[rank] for sample in part], 0.5) for part in (third, fourth))
            for rank in self.resident[-1]
        }


class Killer(Background):
    """Kills workers, the last ones first, evenly spread over the run. progress(): how far that is, up to 1."""

    def __init__(self, service, workers, progress):
        super().__init__(service)
        self._ranks, self._progress = sorted(set(service.pids) - {0, "HTTP"})[-workers:] if workers else [], progress
        self.killed = []

    def act(self):
        while self._ranks and not self._stopped.wait(0.1):
            if self._progress() >= (len(self.killed) + 1) / (len(self.killed) + len(self._ranks) + 1):
                self.killed.append(self._ranks.pop())
                self._service.kill_worker(self.killed[-1])


def soak(args):
    """Print what came of it; return 0 if all was right, else 1."""
    print(f"seed {args.seed}", flush=True)
    with Session() as session:
        cases = families(session, random.Random(args.seed), args.positions)
    with Service(args.ranks, http=args.web > 0, survives=args.kill > 0) as service:
        before = service.descriptors()
        soakers, helpers, took = _go(args, service, cases)
        problems = [problem for each in (*soakers, *helpers.values()) for problem in each.problems]
        problems += _leaks(service, helpers["monitor"], before)
        problems += _end(service)
    _report(soakers, helpers, took)
    for problem in problems[:20]:
        print(f"PROBLEM {problem[:500]}")
    print(f"{len(problems)} problems" if problems else "all right")
    return 1 if problems else 0


def _go(args, service, cases):
    rng, began, clients = random.Random(f"{args.seed} of helpers"), time.monotonic(), args.clients + args.web
    seconds, requests = (3600 * args.hours, math.inf) if args.hours else (math.inf, args.requests / clients)

    def is_over(sent):
        return sent >= requests or time.monotonic() - began >= seconds

    def progress():
        return max((time.monotonic() - began) / seconds, sum(each.sent for each in soakers) / clients / requests)

    helpers = {
        "flood": Flood(service, int(args.flood * 1e9)),
        "silent": Silent(service, 1),
        "greedy": Silent(service, 100),
        "probe": Probe(service, rng),
        "monitor": Monitor(service),
        "killer": Killer(service, args.kill, progress),
    }
    nonsense = args.malformed / args.requests
    soakers = [Soaker(service.path, cases, is_over, nonsense, f"{args.seed} {i}") for i in range(args.clients)]
    soakers += [WebSoaker(service, cases, is_over, f"{args.seed} web {i}") for i in range(args.web)]
    for each in (*helpers.values(), *soakers):
        each.start()
    while progress() < 0.5 and any(each.is_alive() for each in soakers):
        time.sleep(0.1)
    helpers["greedy"].stop()  # what waits for it comes and goes, and is no leak
    for each in (*soakers, helpers["flood"]):
        each.join()
    took = time.monotonic() - began
    for name in ("silent", "probe", "monitor", "killer"):
        helpers[name].stop()
    return soakers, helpers, took


def _leaks(service, monitor, before):
    """Return what is left behind: requests, clients, descriptors, memory."""
    found, end = [], time.monotonic() + 10
    with Client(service.path, timeout=60) as client:
        while True:
            state = client.status()
            left = {name: state[name] for name in ("active", "queued", "clients")}
            if left == {"active": 0, "queued": 0, "clients": 1} or time.monotonic() > end:
                break
            time.sleep(0.05)
    if left != {"active": 0, "queued": 0, "clients": 1}:
        found.append(f"left behind: {left}")
    time.sleep(0.2)
    after = service.descriptors()
    if any(after[rank] > before[rank] for rank in after):  # Open MPI closes one of its own when it likes
        found.append(f"descriptors by rank: {before} before, {after} after")
    growth = monitor.growth() if len(monitor.resident) >= _SAMPLES else {}
    for rank, (third, fourth) in growth.items():
        if fourth - third > max(_GROWTH * third, _SLACK):
            found.append(f"process {rank} grew from {third:.1f} to {fourth:.1f} MiB")
    return found


def _end(service):
    """End the service with a search open, which must still be answered; return what is wrong."""
    with Client(service.path, timeout=60) as client:
        pending = client.submit("othello", time=1.0)
        client.status()
        answers = []
        reader = threading.Thread(target=lambda: answers.append(pending.result()), daemon=True)
        reader.start()
        status = service.stop()
        reader.join(10)
    found = [] if answers and answers[0]["complete"] else ["what was open at the end was not answered"]
    return found + ([f"the service ended with status {status}"] if status else [])


def _report(soakers, helpers, took):
    total = {
        name: sum(getattr(each, name) for each in soakers)
        for name in ("sent", "answers", "cancelled", "abandoned", "refused")
    }
    print(", ".join(f"{value:,} {name}" for name, value in total.items()) + f" in {took:.0f} s")
    flood, monitor, visits = helpers["flood"], helpers["monitor"], helpers["silent"].times + helpers["greedy"].times
    print(f"a line of {flood.size / 1e9:.2f} GB; two that never read came {visits} times")
    print(f"killed workers: {', '.join(map(str, helpers['killer'].killed)) or 'none'}")
    for name, seconds in (
        ("requests of these clients", [each for soaker in soakers for each in soaker.seconds]),
        ("easy ones, one at a time", helpers["probe"].seconds),
    ):
        figures = [1000 * share(seconds, part) for part in (0.5, 0.99, 1.0)]
        print(f"{name}: p50 {figures[0]:.1f} ms, p99 {figures[1]:.1f} ms, worst {figures[2]:.1f} ms")
    steps = range(0, len(monitor.resident), max(1, len(monitor.resident) // 8))
    for rank in monitor.resident[-1]:
        print(
            f"process {rank}: MiB "
            + " ".join(f"{monitor.resident[i][rank]:.0f}" for i in steps)
            + "; descriptors "
            + " ".join(f"{monitor.descriptors[i][rank]}" for i in steps)
        )
