"""What jobs are asked while ranks are killed, and what their answers have to be."""

import contextlib
import random
import signal
from collections.abc import Collection
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from distsearch.evaluation import tuple_network
from distsearch.games import connect4
from distsearch.games.random_play import random_positions
from distsearch.server.client import Client, ServiceError
from tests.launch.running import PATIENCE, Finished, Job, run, wait_for

from . import hosts

CHECKPOINT_SECONDS = 0.3
_SAVING = {"DISTSEARCH_CHECKPOINT_SECONDS": str(CHECKPOINT_SECONDS)}
_KEPT = "score", "proved", "complete", "counts", "depth", "average", "maximum", "moves"  # the same on any ranks
_TIMED = 4  # ranks
_PREPARED = 300  # seconds for a job without faults, which may have to compile
_CODES = 16  # of tiles of 2048
_ANSWERED = 30  # seconds, for a service to end once it has answered


class Work:
    """A command line that prints its answers and ends.

    saves: whether a checkpoint keeps what it has found, so that rank 0 may be killed; gpu: whether a rank may
    have an emulated GPU; submasters: whether it takes them; survives: whether it goes on without workers that die;
    span: seconds that it takes once ranks have loaded.
    """

    survives, span, kept_in = True, 0.0, "checkpoint"

    def __init__(self, *arguments: str, saves: bool = True, gpu: bool = True, submasters: bool = True):
        self.arguments, self.saves, self.gpu, self.submasters = arguments, saves, gpu, submasters
        self.expected: list[Any] = []
        self.unfinished_output = ""  # what a job that did not end has printed

    def prepare(self, folder: Path) -> None:
        """Find the right answers, by one rank; folder: for what a run keeps in files."""
        self.checkpoint = folder / self.kept_in
        self.clear()
        done = run(*self.arguments, timeout=_PREPARED)
        assert done.status == 0, done.err
        self.expected = self.found_in(done)

    def start(self, options: list[str], saved: bool, **job: Any) -> Job:
        """Start the job; saved: whether it is to keep a checkpoint."""
        self.clear()
        options = [*options, *(["--checkpoint", str(self.checkpoint)] if saved else [])]
        return Job(*self.arguments, *options, environment=_SAVING, survives=self.survives, **job)

    def clear(self) -> None:
        """Remove the files of an earlier run."""
        for left in self.checkpoint.parent.glob(f"{self.checkpoint.name}*"):
            left.unlink()

    def done(self, job: Job) -> bool:
        """Whether there is nothing left to wait for."""
        return job.over

    def end(self, job: Job, patience: float) -> Finished | None:
        """Return what a job leaves.

        It is None if the job does not end within so many seconds; then ``unfinished_output`` is what it printed.
        """
        try:
            return job.finish(patience)
        except pytest.fail.Exception as error:
            self.unfinished_output = str(error)
            return None

    def found_in(self, done: Finished) -> list[Any]:
        """Return what of an output is the answer."""
        return [_kept(each) for each in done.results] or done.out.splitlines()

    def resumed(self, done: Finished, ranks: int) -> tuple[bool, Finished]:
        """Go on from what a killed job has saved; return whether the answers are right, and what the run leaves."""
        finished = run(*self.arguments, "--checkpoint", str(self.checkpoint), "--resume", timeout=300)
        return finished.status == 0 and self.found_in(finished) == self.expected, finished


class Service(Work):
    """A service whose client asks for several searches at once; it is ended when all are answered."""

    def __init__(self, requests: list[dict[str, Any]]):
        super().__init__("serve", saves=False, gpu=False)  # an emulator would take minutes
        self._requests = requests
        self._threads = ThreadPoolExecutor()
        self._answers: Future[list[Any]]

    def prepare(self, folder: Path) -> None:
        self.checkpoint, self._socket = folder / "unused", folder / "socket"
        self.arguments = "serve", "--book", "none", "--socket", str(self._socket)
        with self.start([], False, ranks=1) as job:
            done = self.end(job, _PREPARED)
        assert done, "a service does not end"
        assert done.status == 0, done.err
        self.expected = self.found_in(done)

    def start(self, options: list[str], saved: bool, **job: Any) -> Job:
        self._socket.unlink(missing_ok=True)
        started = super().start(options, saved, **job)
        self._answers = self._threads.submit(self._ask, started)
        return started

    def _ask(self, job):
        while True:
            try:
                with Client(str(self._socket)) as client:
                    asked = [client.submit(**request) for request in self._requests]
                    return [_kept(each) for answers in asked for each in _list(answers.result())]
            except ServiceError:
                if job.over or self._socket.exists():
                    raise
                wait_for(lambda: job.over or self._socket.exists(), PATIENCE)

    def done(self, job: Job) -> bool:
        return job.over or self._answers.done()

    def end(self, job: Job, patience: float) -> Finished | None:
        with contextlib.suppress(AssertionError):
            wait_for(lambda: self.done(job), patience)
        if not job.over and self._answers.done():
            with contextlib.suppress(KeyError, ProcessLookupError):  # it has just ended
                job.signal_first_rank(signal.SIGTERM)
        return super().end(job, _ANSWERED)

    def found_in(self, done: Finished) -> list[Any]:
        return self._answers.result() if self._answers.exception() is None else [repr(self._answers.exception())]


class Training(Work):
    """Learning: the job ends when any rank dies, and goes on from the last file that was saved."""

    survives, games, every, kept_in = False, 1_000_000, 20_000, "weights.npz"

    def __init__(self):
        learner = "train", "2048", "--board", "2x3", "--asymmetric", "--tuples", "0,1,2,3/2,3,4,5", "--json"
        super().__init__(*learner, "--games", str(self.games), saves=False, gpu=False, submasters=False)

    def prepare(self, folder: Path) -> None:
        self.arguments = *self.arguments, "--save", str(folder / self.kept_in), "--save-every", str(self.every)
        super().prepare(folder)

    def start(self, options: list[str], saved: bool, **job: Any) -> Job:
        return super().start([], False, **job)

    def found_in(self, done: Finished) -> list[Any]:
        last = done.results[-1]  # what is learnt by several ranks is never quite the same
        return [last.get("played"), last.get("complete")]

    def resumed(self, done: Finished, ranks: int) -> tuple[bool, Finished]:
        told = max((line["games"] for line in done.results if line.get("kind") == "learning"), default=0)
        saved = tuple_network.load(self.checkpoint, "2048", _CODES).record["games"] if self.checkpoint.exists() else 0
        finished = run(*self.arguments, "--resume", ranks=ranks, launcher=hosts.mpirun_options(), timeout=300)
        kept = saved % self.every == 0 and told - self.every <= saved
        return kept and finished.status == 0 and self.found_in(finished) == self.expected, finished


def _list(answers):
    return answers if isinstance(answers, list) else [answers]


def _kept(answer):
    return {name: answer[name] for name in _KEPT if name in answer}


def works_of(folder: Path, names: Collection[str] = ()) -> dict[str, Work]:
    """Return what may be asked, by name, with the right answers.

    folder: for files of theirs; names: of those wanted, none for all. Raises KeyError for another name.
    """
    rules, path = connect4.rules(), folder / "positions.txt"
    positions = random_positions(connect4, rules, range(16, 17), 400, random.Random(1))
    path.write_text("".join(f"{connect4.text(each, rules)}\n" for each in positions))
    exact = {"game": "connect4", "position": "444444", "exact": True}
    asked = [
        exact,
        {"game": "othello", "depth": 15},
        {"game": "2048", "position": "startpos", "depth": 4, "evaluation": "rows"},
        {"game": "connect4", "position": [connect4.text(each, rules) for each in positions[:50]], "exact": True},
    ]
    search = "search", "connect4", "444444", "--exact", "--book", "none", "--json"
    counted = "perft", "othello", "--board", "6x6", "--depth", "12", "--json"
    games = "play", "2048", "--games", "3000", "--depth", "3", "--evaluation", "rows", "--json"
    found = {
        "search": Work(*search),
        "search of othello": Work("search", "othello", "--depth", "17", "--book", "none", "--json"),
        # an emulator would take hours
        "solve": Work("solve", "connect4", "--positions", str(path), "--plain", gpu=False),
        "perft": Work(*counted, gpu=False, submasters=False),
        # of equally good moves a GPU may choose another one, and its games differ
        "play": Work(*games, saves=False, gpu=False),
        "serve": Service(asked),
        "train": Training(),
    }
    found = {name: found[name] for name in names or found}
    for work in found.values():
        work.prepare(folder)
    short = ["search", "connect4", "--depth", "1"]
    several = {"ranks": _TIMED, "launcher": hosts.mpirun_options()}
    loading = min(run(*short, **several).seconds for _ in range(2))
    for work in found.values():
        with work.start([], False, **several) as job:
            done = work.end(job, _PREPARED)
        assert done, f"{work.arguments[0]} does not end"
        work.span = max(0.3, done.seconds - loading)
    return found
