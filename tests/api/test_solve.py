"""Positions of an input, solved as they come: by a session alone, from files and from pipes that are still written."""

import io
import os
import threading
import time

import numpy as np
import pytest

from distsearch.api import solve
from distsearch.api.options import resolve
from distsearch.api.progress import Progress
from distsearch.api.session import Session
from distsearch.api.solve import StreamSolver, TextPositions
from distsearch.core.errors import UserError
from distsearch.formats.positions import NO_SCORE, Lines
from distsearch.games import connect4

from .solving import HARD, RULES, late_lines, with_bad_lines


class Interrupts:
    """Says whether the user wants an end, which is when ``when()`` is true."""

    def __init__(self):
        self.when = lambda: False

    def __call__(self):
        return self.when()


@pytest.fixture
def interrupts():
    return Interrupts()


@pytest.fixture
def session(interrupts):
    with Session(table=1, interrupted=interrupts) as session:
        yield session


@pytest.fixture
def pipe():
    """(reading end, file to write lines to)."""
    reading, writing = os.pipe()
    with open(reading, "rb"), open(writing, "wb", buffering=0) as written:
        yield reading, written


def searcher(session, **options):
    options, _, _ = resolve("connect4", **{"exact": True, **options})
    return session.searcher(options)


class Solver:
    """Has lines solved that are in a file, or come by a pipe; ``complaints``: numbers of the bad ones so far."""

    def __init__(self, session, source, folder=None, **options):
        self.complaints = []
        if folder is not None:
            (folder / "lines").write_text("".join(f"{line}\n" for line in source))
            source = os.open(folder / "lines", os.O_RDONLY)
        self.lines = Lines(connect4, RULES, source)
        self.solving = StreamSolver(session, searcher(session, **options), self.lines, self._print_error, brief=True)

    def _print_error(self, number, text):
        self.complaints.append(number)

    def answers(self):
        """Yield (number of the line, score, whether it is complete) of the good lines, as they are answered."""
        place = 1
        for part in self.solving:
            assert part.chunk.first + part.begin == place or self.solving.halted
            place = part.chunk.first + part.end
            for line, record in zip(part.lines.tolist(), part.records, strict=True):
                assert not record["complete"] or part.scores[line - part.begin] == record["score"]
                yield part.chunk.first + line, float(record["score"]), bool(record["complete"])
            bad = np.setdiff1d(np.arange(part.begin, part.end), part.lines)
            assert (part.scores[bad - part.begin] == NO_SCORE).all()


def numbered(scores):
    """What ``answers`` should give, and the numbers of the bad lines."""
    numbers = enumerate(scores, 1)
    good = [(number, score, True) for number, score in numbers if score is not None]
    return good, [number for number, score in enumerate(scores, 1) if score is None]


def test_lines_are_answered_in_order_and_bad_ones_named(session, tmp_path, rng):
    lines, scores = with_bad_lines(rng, *late_lines(rng, 1000))
    solver = Solver(session, lines * 20, tmp_path)
    good, bad = numbered(scores * 20)
    assert list(solver.answers()) == good
    assert solver.complaints == bad
    assert solver.solving.bad == len(bad)


@pytest.mark.parametrize("chunk", [1, 3, 50])
def test_chunks_may_be_of_any_size(chunk, session, tmp_path, rng, monkeypatch):
    monkeypatch.setattr(solve, "_CHUNK", chunk)
    lines, scores = with_bad_lines(rng, *late_lines(rng, 200))
    lines, scores = ["x", *lines, "x", "x"], [None, *scores, None, None]
    solver = Solver(session, lines, tmp_path)
    good, bad = numbered(scores)
    assert list(solver.answers()) == good
    assert solver.complaints == bad


@pytest.mark.parametrize("lines", [[], ["x"], ["x"] * 20_000], ids=len)
def test_an_input_without_positions_ends(lines, session, tmp_path):
    solver = Solver(session, lines, tmp_path)
    assert list(solver.answers()) == []
    assert len(solver.complaints) == solver.lines.place == len(lines)


def test_every_answer_comes_before_the_next_line(session, pipe, rng):
    reading, written = pipe
    lines, scores = late_lines(rng, 20)
    answers = Solver(session, reading).answers()
    for number, (line, score) in enumerate(zip(lines, scores, strict=True), 1):
        written.write(f"{line}\n".encode())
        assert next(answers) == (number, score, True)
    written.close()
    assert list(answers) == []


def test_lines_may_come_in_pieces_of_any_size(session, pipe, rng):
    reading, written = pipe
    lines, scores = with_bad_lines(rng, *late_lines(rng, 300))
    content = "".join(f"{line}\n" for line in lines).encode()

    def write():
        at = 0
        while at < len(content):
            size = rng.choice([1, 10, 100, 1000])
            written.write(content[at : at + size])
            at += size
            time.sleep(rng.choice([0, 0, 1e-4, 1e-2]))
        written.close()

    solver, writer = Solver(session, reading), threading.Thread(target=write)
    writer.start()
    good, bad = numbered(scores)
    assert list(solver.answers()) == good
    assert solver.complaints == bad
    writer.join()


def test_what_waits_for_an_answer_is_bounded_bad_lines_too(session, interrupts, tmp_path, monkeypatch):
    monkeypatch.setattr(solve, "_CHUNK", 100)
    monkeypatch.setattr(solve, "_MOST_LINES", 1000)
    solver, end = Solver(session, [HARD, *["x"] * 5000], tmp_path), time.monotonic() + 1.0
    interrupts.when = lambda: time.monotonic() > end
    assert [complete for _, _, complete in solver.answers()] == [False]
    assert 900 <= solver.lines.place <= 1200
    assert len(solver.complaints) == solver.lines.place - 1


# --- interrupts ---


@pytest.mark.parametrize("chunk", [1, 2, 8192])
def test_what_an_interrupt_leaves_belongs_to_its_lines(chunk, session, interrupts, tmp_path, rng, monkeypatch):
    """Bad lines stand between: those of a chunk, and chunks of nothing else."""
    monkeypatch.setattr(solve, "_CHUNK", chunk)
    lines, scores = with_bad_lines(rng, *late_lines(rng, 50))
    lines, scores = [*lines, HARD, "x", "x", "x", *lines], [*scores, ..., None, None, None, *scores]
    solver = Solver(session, lines, tmp_path)
    stream = solver.solving._stream
    take, start = stream.take, np.array(connect4.start(RULES).state)

    def take_others(count, worker):
        """Hand all out but the hard one, so that the others are answered before it."""
        jobs = take(count, worker)
        others = jobs[(jobs["state"] != start).any(axis=1)]
        # a worker that gets nothing from a source, and has no job, does not ask again
        return others if len(others) or not len(jobs) else take(count, worker)

    stream.take = take_others
    interrupts.when = lambda: stream.closed and stream.in_flight == 1
    good, bad = numbered(scores)
    assert list(solver.answers()) == [answer for answer in good if answer[1] is not ...]
    assert solver.complaints == bad


def test_an_interrupt_before_the_start_ends_it(session, interrupts, tmp_path):
    interrupts.when = lambda: True
    solver = Solver(session, [HARD] * 10, tmp_path)
    assert [(number, complete) for number, _, complete in solver.answers()] == [(1, False)]
    assert solver.solving.halted


def test_an_interrupt_while_nothing_comes_ends_it(session, interrupts, pipe, rng):
    reading, written = pipe
    (line,), (score,) = late_lines(rng, 1)
    answers = Solver(session, reading).answers()
    written.write(f"{line}\n".encode())
    assert next(answers) == (1, score, True)
    end = time.monotonic() + 0.2
    interrupts.when = lambda: time.monotonic() > end
    assert list(answers) == []
    assert time.monotonic() < end + 5


# --- one session, many uses ---


def test_a_generator_that_is_closed_ends_its_run(session, tmp_path, rng):
    lines, scores = late_lines(rng, 30)
    answers = Solver(session, [*lines, HARD], tmp_path).answers()
    for score in scores[:10]:
        assert next(answers)[1] == score
    answers.close()
    turns = 0
    while session.cluster.turn():  # the first few bring the worker the end of the run; HARD would take thousands
        turns += 1
        assert turns < 100
    assert [score for _, score, _ in Solver(session, lines, tmp_path).answers()] == scores


def test_others_may_search_between_two_answers(session, tmp_path, rng):
    """And have the cluster turn until this run is over, with progress due."""
    session.progress = Progress(io.StringIO())
    (easy,), (score,) = late_lines(rng, 1)
    slower = ["77755544636312", "6767655446333114", "76444335252311"]  # 20 ms each: not in the first one's turns
    expected = [session.search("connect4", line, exact=True).score for line in slower]
    solver = Solver(session, [easy, *slower], tmp_path)
    answers = solver.answers()
    assert next(answers) == (1, score, True)
    run = solver.solving._run
    assert session.cluster.is_open(run)
    assert session.search("connect4", easy, exact=True).score == score
    while session.cluster.is_open(run):
        session.cluster.turn()
    time.sleep(1.1)
    assert [score for _, score, _ in answers] == expected


def test_two_streams_take_turns(session, tmp_path, rng):
    lines, scores = late_lines(rng, 40)
    (tmp_path / "other").mkdir()
    first, second = (Solver(session, lines, folder).answers() for folder in (tmp_path, tmp_path / "other"))
    assert [(a[1], b[1]) for a, b in zip(first, second, strict=True)] == list(zip(scores, scores))


@pytest.mark.parametrize("begun", [False, True])
def test_a_closed_session_ends_its_streams_with_an_error(begun, session, tmp_path, rng):
    lines, scores = late_lines(rng, 5)
    answers = Solver(session, [*lines, HARD], tmp_path).answers()
    assert next(answers)[1] == scores[0]
    session.close()
    if begun:
        answers.close()
        return
    found = []
    with pytest.raises(UserError, match="closed"):
        for _, score, _ in answers:
            found.append(score)
    assert found == scores[1 : 1 + len(found)]


def test_an_error_in_the_input_ends_the_run(session, rng):
    def positions():
        yield "4453"
        raise UserError("enough")

    solving = StreamSolver(session, searcher(session), TextPositions(connect4, RULES, positions()))
    with pytest.raises(UserError, match="enough"):
        list(solving)
    assert not session.cluster.is_open(solving._run)


def test_figures_cover_the_whole_run(session, tmp_path, rng):
    lines, _ = late_lines(rng, 100)
    solver = Solver(session, lines, tmp_path)
    assert len(list(solver.answers())) == 100
    took = solver.solving.taken()
    (worker,) = took.workers
    assert worker["jobs"] == 100
    assert 0 < worker["busy"] <= took.seconds + 0.01  # the clock here starts some turns later
    assert took.startup_seconds > 0
    assert not took.interrupted
