"""The service at stdin and stdout: pipes and files, and their other ends."""

import os

import pytest

from distsearch.core.errors import UserError
from distsearch.server.limits import DEFAULTS
from distsearch.server.server import Server

from .fake_queue import FakeDesk
from .serving import Serving, long_outcome, small, strict, wait_until


class Pipes:
    """What the service has for stdin and stdout, and their other ends."""

    def __enter__(self):
        self.stdin, self.input = os.pipe()
        self.output, self.stdout = os.pipe()
        self._open = {self.stdin, self.input, self.output, self.stdout}
        return self

    def close(self, descriptor):
        """Close one of them."""
        self._open.remove(descriptor)
        os.close(descriptor)

    def __exit__(self, *_):
        for descriptor in self._open:
            os.close(descriptor)

    def serving(self, queue, limits=DEFAULTS):
        """A server at them."""
        return Serving(queue, None, limits, (self.stdin, self.stdout))


def test_stdin_is_served_to_its_end():
    queue = FakeDesk(turns=4)
    with Pipes() as pipes, pipes.serving(queue) as serving:
        os.write(pipes.input, b'{"id": 1, "game": "connect4", "positions": ["4", "44"]}\n{"id": 2, "game": "connect4"}')
        pipes.close(pipes.input)
        serving.join()
        assert serving.status == 0
        pipes.close(pipes.stdout)
        with open(pipes.output, closefd=False) as output:
            heard = [strict(line) for line in output]
    assert [(m["id"], m["type"]) for m in heard] == [
        (1, "answer"),
        (1, "answer"),
        (1, "done"),
        (2, "answer"),
        (2, "done"),
    ]


def test_files_are_served(tmp_path):
    (tmp_path / "in").write_text("".join(f'{{"id": {number}, "game": "connect4"}}\n' for number in range(3)))
    with open(tmp_path / "in") as stdin, open(tmp_path / "out", "w") as stdout:
        assert Server(FakeDesk(), descriptors=(stdin.fileno(), stdout.fileno())).serve(lambda: False) == 0
    heard = [strict(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert sorted((m["id"], m["type"]) for m in heard) == [(i, kind) for i in range(3) for kind in ("answer", "done")]


def test_stdin_and_stdout_stay_as_they_were():
    with Pipes() as pipes, pipes.serving(FakeDesk()):
        os.write(pipes.input, b'{"op": "status"}\n')
        assert strict(os.read(pipes.output, 1 << 16))["type"] == "status"
        assert os.get_blocking(pipes.stdin)
        assert os.get_blocking(pipes.stdout)


def test_whoever_reads_stdout_may_have_enough():
    queue = FakeDesk(held=True)
    with Pipes() as pipes, pipes.serving(queue) as serving:
        os.write(pipes.input, b'{"id": 1, "game": "connect4"}\n')
        wait_until(lambda: queue.requests)
        pipes.close(pipes.output)
        serving.join()
        assert serving.status == 0
        assert queue.idle


def test_whoever_does_not_read_stdout_ends_the_service():
    queue = FakeDesk()
    queue.found = long_outcome()
    with Pipes() as pipes, pytest.raises(UserError, match="have no reader"), pipes.serving(queue, small()) as serving:
        os.write(pipes.input, b'{"id": 1, "game": "connect4", "positions": ["4", "4", "4", "4", "4", "4", "4", "4"]}\n')
        serving.join()
