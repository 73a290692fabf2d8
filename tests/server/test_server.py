"""The loop with a queue that searches nothing: clients that are many, slow, rude or gone, and how it ends."""

import contextlib
import gc
import json
import resource
import socket
import threading
import time
import tracemalloc

import pytest

from distsearch.api.options import checked_seed
from distsearch.cluster.wakeup import Wakeup
from distsearch.server.limits import DEFAULTS
from distsearch.server.schema import ERRORS, STATE
from distsearch.server.server import Server

from .fake_queue import FakeDesk
from .serving import Serving, Wire, ask, code, descriptors, long_outcome, small, status, wait_until


@pytest.fixture
def path(tmp_path):
    """Where to serve."""
    return tmp_path / "socket"


def test_a_search(path):
    with Serving(FakeDesk(turns=3), path), Wire(path) as wire:
        ask(wire, "a", position="44", depth=3, priority=2)
        answer, done = wire.hear(), wire.hear()
    assert (answer["id"], answer["type"], answer["index"], answer["move"]) == ("a", "answer", 0, "d3")
    assert done == {"id": "a", "type": "done", "state": "done", "answers": 1}


def test_a_message_of_a_worker_ends_the_sleep(path, monkeypatch):
    monkeypatch.setattr("distsearch.server.server._GLANCE", 30)
    queue, awoken = FakeDesk(), threading.Event()
    with contextlib.closing(Wakeup()) as own, contextlib.closing(Wakeup()) as worker:
        queue.descriptor, queue.awoken = own.fileno(), lambda: (own.empty(), awoken.set())
        queue.pause = lambda: 30.0
        with Serving(queue, path):
            woken = []
            for _ in range(3):
                time.sleep(0.05)  # it sleeps by then
                worker.notify(own.name)
                woken.append(awoken.wait(10))
                awoken.clear()
            queue.pause = lambda: 0.01
            worker.notify(own.name)
        assert woken == [True] * 3


def test_what_the_queue_gets(path):
    queue = FakeDesk()
    with Serving(queue, path), Wire(path) as first, Wire(path) as second:
        ask(first, positions=["4", "44", "445", "4455"] * 5, priority=3)
        assert first.hear()["type"] == "answer"
        ask(second, progress=0.5)
        assert second.hear()["type"] == "progress"
    one, other = queue.submitted
    assert one.client != other.client
    assert (len(one.positions), one.priority, one.progress, other.priority, other.progress) == (20, 3, None, 0, 0.5)
    assert one.options.game == "connect4"


def test_positions_are_answered_each(path):
    with Serving(FakeDesk(), path), Wire(path) as wire:
        ask(wire, positions=["4"] * 12, progress=1)
        heard = [wire.hear() for _ in range(25)]
    assert [m["index"] for m in heard if m["type"] == "answer"] == list(range(12))
    assert heard[-1] == {"id": 1, "type": "done", "state": "done", "answers": 12}


def test_progress_is_heard_unless_older_things_wait(path):
    queue, limits = FakeDesk(held=True), DEFAULTS._replace(output=8 << 20)
    with Serving(queue, path, limits), Wire(path) as wire:
        ask(wire, progress=1)
        wait_until(lambda: queue.submitted)
        queue.found = long_outcome()
        queue.partial = 100  # in one turn
        wait_until(lambda: not queue.partial)
        queue.partial = 20  # while the client has not read those
        wait_until(lambda: not queue.partial)
        queue.held = False
        heard = [wire.hear()["type"] for _ in range(102)]
    assert heard == ["progress"] * 100 + ["answer", "done"]


def test_the_state(path):
    with Serving(FakeDesk(), path), Wire(path) as wire:
        wire.say(op="status")
        wire.say(op="status", id="x")
        first, second = wire.hear(), wire.hear()
    assert first.keys() == {field.name for field in STATE} - {"id"}
    assert second.keys() == {field.name for field in STATE}
    assert (first["type"], first["clients"], second["id"]) == ("status", 1, "x")


def test_a_request_can_be_cancelled(path):
    with Serving(FakeDesk(held=True), path), Wire(path) as wire, Wire(path) as other:
        ask(wire, "a")
        ask(wire, "b")
        wire.say(op="cancel", id="b")
        assert wire.hear() == {"id": "b", "type": "done", "state": "cancelled", "answers": 0}
        wire.say(op="cancel", id="b")
        assert code(wire.hear()) == "unknown_id"
        other.say(op="cancel", id="a")
        assert code(other.hear()) == "unknown_id"


@pytest.mark.parametrize("bad", ["nonsense", "9", "4" * 5000])
def test_a_refusal_names_the_position(path, bad):
    queue = FakeDesk()
    with Serving(queue, path), Wire(path) as wire:
        ask(wire, positions=["4"] * 7 + [bad, "44", bad])
        refused = wire.hear()
        assert (code(refused), refused["index"]) == ("bad_field", 7)
        ask(wire, depth="9")
        assert "index" not in wire.hear()
    assert not queue.submitted


def test_ids_are_taken_while_they_are_open(path):
    queue = FakeDesk(held=True)
    with Serving(queue, path), Wire(path) as wire, Wire(path) as other:
        ask(wire, 1)
        ask(wire, 1)
        assert code(wire.hear()) == "duplicate_id"
        ask(wire, "1")
        ask(other, 1)
        wait_until(lambda: len(queue.requests) == 3)
        queue.held = False
        assert [wire.hear()["id"] for _ in range(4)] == [1, 1, "1", "1"]
        ask(wire, 1)
        assert wire.hear()["type"] == "answer"


def test_the_queue_may_refuse_and_fail(path, capsys):
    queue = FakeDesk(held=True, full=1)
    with Serving(queue, path), Wire(path) as wire:
        ask(wire, 1)
        ask(wire, 2)
        refused = wire.hear()
        assert (refused["id"], code(refused)) == (2, "queue_full")
        queue.submit = lambda request: checked_seed(-1)  # a UserError
        ask(wire, 2)
        assert code(wire.hear()) == "bad_field"
        queue.submit = None  # whatever goes wrong in there
        ask(wire, 2)
        assert code(wire.hear()) == "internal"
        wire.say(op="status")
        assert wire.hear()["active"] == 1
    assert "TypeError" in capsys.readouterr().err


@contextlib.contextmanager
def writing(wire, data):
    """Meanwhile, another thread writes ``data``, unless the connection ends before."""

    def write():
        with contextlib.suppress(OSError):
            wire.write(data)

    thread = threading.Thread(target=write)
    thread.start()
    yield
    thread.join(20)
    assert not thread.is_alive()


def garbage(rng):
    """A line that is no message, most often a damaged one."""
    line = bytearray(
        json.dumps({"id": rng.randrange(9), "game": "connect4", "positions": ["44", "4"], "time": 1}).encode()
    )
    for _ in range(rng.randrange(1, 6)):
        where = rng.randrange(len(line))
        line[where : where + rng.randrange(3)] = rng.randbytes(rng.randrange(4))
    return bytes(line).replace(b"\n", b"") or b"?"


def test_malformed_lines_hurt_nobody(path, rng):
    with Serving(FakeDesk(held=True), path), Wire(path) as wire, Wire(path) as other:
        lines = [garbage(rng) for _ in range(1000)]
        heard = []
        with writing(wire, b"\n".join(lines) + b'\n{"op": "status", "id": "last"}\n'):
            while not heard or heard[-1]["type"] != "status":
                heard.append(wire.hear())
        assert len(heard) > 500
        assert {code(message) for message in heard[:-1]} <= ERRORS.keys() - {"internal"}
        other.say(op="status")
        assert other.hear()["clients"] == 2


def test_empty_lines_mean_nothing(path):
    with Serving(FakeDesk(), path), Wire(path) as wire:
        wire.write(b"\n  \r\n\n")
        wire.say(op="status")
        assert wire.hear()["type"] == "status"


def test_a_line_without_end_is_not_kept(path, full):
    size = (1024 if full else 64) << 20
    piece = b"x" * (1 << 18)
    with Serving(FakeDesk(), path), Wire(path) as wire:
        tracemalloc.start()
        for _ in range(size // len(piece)):
            wire.write(piece)
        wire.write(b'\n{"op": "status"}\n')
        assert code(wire.hear()) == "too_long"
        assert wire.hear()["type"] == "status"
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 4 * DEFAULTS.line


def test_a_line_may_come_byte_by_byte(path):
    with Serving(FakeDesk(), path), Wire(path) as wire:
        for byte in b'{"op": "status"}\n':
            wire.write(bytes([byte]))
        assert wire.hear()["type"] == "status"


def test_who_does_not_read_is_not_read(path, capsys):
    queue, limits = FakeDesk(), DEFAULTS._replace(output=1 << 20, patience=0.5)
    lines = b"".join(b'{"id": %d, "game": "connect4"}\n' % name for name in range(5000))
    with Serving(queue, path, limits), Wire(path) as deaf, Wire(path) as other, writing(deaf, lines):
        wait_until(lambda: queue.submitted and not queue.requests and len(queue.submitted) == submitted_soon(queue))
        assert len(queue.submitted) < 4000
        time.sleep(2 * limits.patience)
        ask(other, 1)
        assert [other.hear()["type"] for _ in range(2)] == ["answer", "done"]
        assert {deaf.hear()["type"] for _ in range(10_000)} == {"answer", "done"}
    assert capsys.readouterr().err == ""


def submitted_soon(queue):
    """How many requests the queue has seen a little later."""
    time.sleep(0.1)
    return len(queue.submitted)


@pytest.mark.parametrize("burst", [False, True])
def test_who_never_reads_is_let_go(path, capsys, burst):
    queue = FakeDesk()
    queue.found = long_outcome()
    # what the kernel keeps for a client is 200 kB; the rest is above output, or above twice of it
    patience, positions = (60.0, 60) if burst else (0.3, 16)
    with Serving(queue, path, small(patience=patience)), Wire(path) as deaf, Wire(path) as other:
        ask(deaf, positions=["4"] * positions)
        queue.held = False
        wait_until(lambda: queue.cancelled or not queue.requests)
        with contextlib.suppress(ConnectionError):  # after a burst it may be let go already
            ask(deaf, 2)
        wait_until(lambda: status(other)["clients"] == 1)
    assert "does not read" in capsys.readouterr().err


def test_more_open_requests_wait(path):
    queue = FakeDesk(held=True)
    with Serving(queue, path, small(open_requests=5)), Wire(path) as wire:
        for name in range(12):
            ask(wire, name)
        wait_until(lambda: len(queue.submitted) == 5)
        time.sleep(0.05)
        assert len(queue.submitted) == 5
        queue.held = False
        assert [wire.hear()["id"] for _ in range(24)] == [name for name in range(12) for _ in range(2)]


def test_one_client_with_many_lines_does_not_hold_the_others(path):
    queue, lines = FakeDesk(held=True), b'{"id": 1, "game": "connect4"}\n' * 20_000  # all but the first are refused
    with Serving(queue, path), Wire(path) as many, Wire(path) as other, writing(many, lines):
        wait_until(lambda: queue.submitted)
        assert status(other)["type"] == "status"
        for _ in range(1000):
            assert code(many.hear()) == "duplicate_id"
        assert status(other)["type"] == "status"
        many.socket.shutdown(socket.SHUT_RDWR)


def test_too_many_clients(path):
    with Serving(FakeDesk(), path, small(clients=2)), Wire(path) as one:
        wait_until(lambda: status(one)["clients"] == 1)
        with Wire(path) as two:
            assert status(one)["clients"] == status(two)["clients"] == 2
            with Wire(path) as three:
                assert code(three.hear()) == "too_many_clients"
                assert three.hear() is None
        wait_until(lambda: status(one)["clients"] == 1)
        with Wire(path) as two:
            assert status(two)["clients"] == 2


def test_who_has_gone_wants_no_answer(path):
    queue = FakeDesk(held=True)
    with Serving(queue, path), Wire(path) as wire:
        with Wire(path) as other:
            ask(other, 1)
            ask(other, 2)
            ask(wire, 1)
            wait_until(lambda: len(queue.requests) == 3)
        wait_until(lambda: len(queue.requests) == 1)
        queue.held = False
        assert [wire.hear()["type"] for _ in range(2)] == ["answer", "done"]


def test_who_has_said_all_still_gets_the_answers(path):
    queue = FakeDesk(held=True)
    with Serving(queue, path), Wire(path) as wire:
        ask(wire, 1)
        wire.write(b'{"id": 2, "game": "connect4"}')  # without a line break
        wire.socket.shutdown(socket.SHUT_WR)
        wait_until(lambda: len(queue.requests) == 2)
        queue.held = False
        assert [(m["id"], m["type"]) for m in wire.hear_all()] == [(i, t) for i in (1, 2) for t in ("answer", "done")]


def test_who_has_said_all_and_goes_is_noticed(path):
    queue = FakeDesk(held=True)
    with Serving(queue, path):
        with Wire(path) as wire:
            ask(wire)
            wire.socket.shutdown(socket.SHUT_WR)
            wait_until(lambda: len(queue.requests) == 1)
        wait_until(lambda: not queue.requests)


def test_clients_come_and_go(path, rng):
    before = descriptors()
    queue = FakeDesk(turns=2)
    with Serving(queue, path):
        for _ in range(150):
            with Wire(path) as wire:
                asked = rng.randrange(4)
                for name in range(asked):
                    ask(wire, name, positions=["4"] * rng.randrange(1, 20))
                wire.write(garbage(rng)[: rng.randrange(40)])
                for _ in range(rng.randrange(asked + 1)):
                    wire.hear()
        with Wire(path) as wire:
            wait_until(lambda: status(wire)["clients"] == 1)
            wait_until(lambda: not queue.requests)
    assert descriptors() == before


def test_an_end_answers_what_is_open(path):
    queue = FakeDesk(held=True)
    with Serving(queue, path) as serving, Wire(path) as wire:
        ask(wire, 1)
        wait_until(lambda: queue.requests)
        serving.stop()
        time.sleep(0.15)
        ask(wire, 2)
        refused = wire.hear()
        assert (refused["id"], code(refused)) == (2, "shutting_down")
        with Wire(path) as late:
            ask(late, 1)
            assert code(late.hear()) == "shutting_down"
        queue.held = False
        assert [message["type"] for message in wire.hear_all()] == ["answer", "done"]
        serving.join()
    assert serving.status == 0
    assert not path.exists()


def test_an_end_does_not_wait_forever(path):
    queue = FakeDesk(held=True)
    with Serving(queue, path, small()) as serving, Wire(path) as wire:
        ask(wire, 1)
        wait_until(lambda: queue.requests)
        began = time.monotonic()
        serving.stop()
        assert wire.hear_all() == [{"id": 1, "type": "done", "state": "cancelled", "answers": 0}]
        serving.join()
        assert 0.5 <= time.monotonic() - began < 2
    assert serving.status == 0


def test_an_end_answers_lines_that_waited(path):
    queue = FakeDesk(held=True)
    with Serving(queue, path, small(open_requests=1)) as serving, Wire(path) as wire:
        ask(wire, 1)
        wait_until(lambda: queue.requests)
        ask(wire, 2)  # not even read while the first one is open
        serving.stop()
        done, refused = wire.hear(), wire.hear()
        assert (done["id"], done["state"]) == (1, "cancelled")
        assert (refused["id"], code(refused)) == (2, "shutting_down")


def test_a_second_signal_ends_at_once(path):
    asked = []

    def interrupted():
        asked.append(True)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return True

    queue = FakeDesk(held=True)
    server = Server(queue, str(path))

    def open_one():
        with Wire(path) as wire:
            ask(wire)
            wire.hear_all()

    thread = threading.Thread(target=open_one)
    thread.start()
    queue.pause = lambda: 0.05 if queue.requests else 0.5
    with pytest.raises(KeyboardInterrupt):
        server.serve(lambda: bool(queue.requests) and interrupted())
    thread.join(10)
    assert not path.exists()


def test_nothing_to_do_costs_nothing(path):
    queue = FakeDesk()
    with Serving(queue, path) as serving, Wire(path) as wire:
        status(wire)
        gc.collect()  # or the server's thread might be the one that cleans up after all tests before

        def costs():
            """What it does in a second: (turns, CPU seconds)."""
            calls, began = queue.calls, serving.cpu_seconds()
            time.sleep(1)
            return queue.calls - calls, serving.cpu_seconds() - began

        # one quiet second has to do, on a machine where others take the caches away: a server that spins has none
        assert any(turns < 20 and seconds < 0.01 for turns, seconds in (costs() for _ in range(5)))


def lines(wire):
    """Ask for the answers to a line, which says nothing."""
    wire.say(op="lines", id=1, game="connect4", lines="nonsense", depth=1)


def test_lines_wait_for_their_reader_and_others_do_not(path):
    queue = FakeDesk()
    queue.reading = False
    with Serving(queue, path), Wire(path) as wire, Wire(path) as gone, Wire(path) as other:
        lines(wire)
        lines(gone)
        ask(other)
        assert [other.hear()["type"] for _ in range(2)] == ["answer", "done"]
        calls = queue.calls
        time.sleep(0.5)
        assert queue.calls - calls < 40  # it does not spin
        gone.close()
        wait_until(lambda: status(other)["clients"] == 2)
        queue.reading = True
        assert [wire.hear()["type"] for _ in range(2)] == ["lines", "done"]


def test_lines_that_wait_are_refused_at_the_end(path):
    queue = FakeDesk()
    queue.reading = False
    with Serving(queue, path) as serving, Wire(path) as wire:
        lines(wire)
        wait_until(lambda: queue.asked)
        serving.stop()
        assert code(wire.hear()) == "shutting_down"


def test_without_descriptors_newcomers_wait(path):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    queue = FakeDesk()
    with Serving(queue, path), Wire(path) as wire:
        status(wire)
        waiting = [socket.socket(socket.AF_UNIX) for _ in range(3)]
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(s.fileno() for s in waiting) + 1, hard))
            for newcomer in waiting:
                newcomer.connect(str(path))
            calls = queue.calls
            time.sleep(0.3)
            assert queue.calls - calls < 30
            assert status(wire)["clients"] == 1
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        wait_until(lambda: status(wire)["clients"] == 4)
        for newcomer in waiting:
            newcomer.close()


def test_a_mistake_that_nobody_is_told_of_ends_nothing(path, monkeypatch):
    class Lost:
        def write(self, text):
            raise BrokenPipeError

        flush = write

    monkeypatch.setattr("sys.stderr", Lost())
    queue = FakeDesk()
    queue.submit = None  # whatever goes wrong in there
    with Serving(queue, path), Wire(path) as wire:
        for _ in range(2):
            ask(wire, 1)
            assert code(wire.hear()) == "internal"
