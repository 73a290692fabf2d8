"""Threads that share a session: each gets its own answers, whatever the others do."""

import gc
import random
import threading
from concurrent.futures import ThreadPoolExecutor, wait

import pytest

from distsearch.api.session import Session
from distsearch.api.turns import Steps, Turns
from distsearch.core.errors import UserError

from .solving import late_lines

SMALL = {"game": "othello", "board": "4x4", "exact": True}
SCORE = -10  # of its start
SOON = 60  # seconds


@pytest.fixture(scope="module")
def session():
    with Session(table=1, book="none") as session:
        yield session


def in_threads(*works):
    """Return what functions return that run at the same time."""
    with ThreadPoolExecutor(len(works)) as pool:
        running = [pool.submit(work) for work in works]
        assert not wait(running, SOON).not_done, "some wait for ever"
        return [each.result() for each in running]


def test_searches_of_all_kinds_at_once(session, rng):
    lines, scores = late_lines(rng, 30)
    tiles = "2,4,8,16,0,2,4,32,0,0,2,64,0,0,0,128"
    expected = session.search("2048", tiles, depth=3, evaluation="rows").score

    def one_by_one():
        return [session.search("connect4", line, exact=True).score for line in lines]

    def in_a_stream():
        return [found.score for found in session.solve("connect4", lines)]

    def of_othello():
        return [session.search(**SMALL).score for _ in range(10)]

    def against_chance():
        return [session.search("2048", tiles, depth=3, evaluation="rows").score for _ in range(5)]

    def counts():
        return session.perft("othello", 5).counts

    found = in_threads(one_by_one, in_a_stream, in_a_stream, of_othello, against_chance, counts)
    assert found == [scores, scores, scores, [SCORE] * 10, [expected] * 5, [1, 4, 12, 56, 244, 1396]]


def test_threads_take_steps_of_one_stream(session, rng):
    lines, scores = late_lines(rng, 40)
    answers = session.solve("connect4", lines)

    def some():
        return [(found.asked or found.position, found.score) for found in answers]

    found = sum(in_threads(some, some, some), [])
    assert sorted(score for _, score in found) == sorted(scores)


def test_streams_that_are_left_in_other_threads(session, rng):
    lines, scores = late_lines(rng, 10)

    def left():
        answers = session.solve("connect4", [*lines, "startpos"])
        found = next(answers).score
        if random.random() < 0.5:
            answers.close()
        del answers
        gc.collect()
        return found

    def search():
        return [session.search("connect4", line, exact=True).score for line in lines]

    found = in_threads(left, search, left, search, left)
    assert found == [scores[0], scores, scores[0], scores, scores[0]]
    assert session.search(**SMALL).score == SCORE


def test_a_session_that_another_thread_closes(rng):
    lines, scores = late_lines(rng, 200)
    begun = threading.Event()
    with Session(table=1, book="none") as session:

        def search():
            found = []
            try:
                for line in lines:
                    found.append(session.search("connect4", line, exact=True).score)
                    begun.set()
            except UserError as error:
                assert "the session is not open" in str(error)
            return found

        def close():
            begun.wait(SOON)
            session.close()

        found, _ = in_threads(search, close)
    assert found and found == scores[: len(found)]


def test_mpi_that_was_started_for_one_thread(session):
    turns = Turns()
    turns.only = threading.current_thread()
    with turns:
        pass

    def enter():
        with (
            pytest.raises(UserError, match="^MPI was started for thread MainThread alone, and ThreadPool.* calls"),
            turns,
        ):
            pass

    in_threads(enter)


def test_what_only_a_free_context_calls():
    turns, called = Turns(), []

    def call():
        turns.call_if_free(lambda: called.append(threading.get_ident()))

    call()
    with turns:
        call()  # the thread that is in
        in_threads(call)
    assert called == [threading.get_ident()] * 2
    turns.only = threading.current_thread()
    in_threads(call)
    assert len(called) == 2


def test_a_stream_that_is_dropped_within_a_call_is_closed_after_it():
    turns, ended = Turns(), []

    def numbers():
        try:
            yield 1
            yield 2
        finally:
            ended.append(True)

    steps = Steps(turns, numbers())
    assert next(steps) == 1
    with turns:
        del steps
        assert not ended
    assert ended
    steps = Steps(turns, numbers())
    next(steps)
    with turns:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(turns.abandon, steps._steps).result(SOON)
        assert len(ended) == 1
    assert len(ended) == 2


def numbers(ended, error=None):
    """Yield two numbers; at the end, whatever that is, append the thread to a list, and raise an error."""
    try:
        yield 1
        yield 2
    finally:
        ended.append(threading.current_thread())
        if error:
            raise error


def begun(*args):
    steps = numbers(*args)
    next(steps)
    return steps


def elsewhere(function, *args):
    """Return what a function returns in another thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *args).result(SOON)


def is_free(turns):
    """Whether another thread can enter."""
    free = elsewhere(turns._lock.acquire, False)
    assert turns._depth == 0
    return free


@pytest.mark.parametrize("where", ["at once", "at the end of a call", "before a call"])
def test_a_stream_that_fails_as_it_is_closed_keeps_nobody_out(where):
    turns, ended = Turns(), []
    with pytest.raises(LookupError, match="late"):
        if where == "at once":
            turns.abandon(begun(ended, LookupError("late")))
        elif where == "at the end of a call":
            with turns:
                turns.abandon(begun(ended, LookupError("late")))
        else:
            turns._abandoned.append(begun(ended, LookupError("late")))
            with turns:
                pytest.fail("it was not closed")
    assert len(ended) == 1 and is_free(turns)


def test_a_stream_that_is_dropped_in_a_thread_that_may_not_enter_is_closed_in_the_one_that_may():
    turns, ended = Turns(), []
    turns.only = threading.current_thread()
    elsewhere(turns.abandon, begun(ended))
    assert not ended
    with turns:
        assert ended == [turns.only]


def test_a_stream_that_is_dropped_as_a_call_ends_is_closed_then():
    """Between the call's last look and its release of the lock."""
    turns, ended = Turns(), []

    class Lock:
        def __init__(self, lock):
            self.acquire, self._lock, self._late = lock.acquire, lock, True

        def release(self):
            late, self._late = self._late, False
            if late:
                elsewhere(turns.abandon, begun(ended))
                assert not ended
            self._lock.release()

    turns._lock = Lock(turns._lock)
    with turns:
        pass
    assert len(ended) == 1
