"""Sessions on any number of ranks: the first one searches with all of them, the others get None when it leaves."""

import time
import traceback
from concurrent.futures import ThreadPoolExecutor

import pytest

from distsearch.api import book_growth
from distsearch.api import session as sessions
from distsearch.api.book import WITHOUT
from distsearch.api.options import Options
from distsearch.api.session import Session
from distsearch.books.book import load
from distsearch.cluster import joint
from distsearch.core import kernel_cache
from distsearch.core.errors import UserError
from distsearch.engines.pvs import growing_table, table_search

from ..api.solving import HARD, late_lines

SMALL = {"game": "othello", "board": "4x4"}
SCORE = -10  # of its start
TIMEOUT = 1.0  # seconds
HARDER = {"77755544636312": -2, "6767655446333114": -1, "76444335252311": 1}  # 20 to 60 ms


@pytest.fixture
def with_session(comm, agree):
    """``with_session(body)``: rank 0 calls ``body(session)``; all fail if that fails, or if a worker gets a session."""

    def run(body, **options):
        failure = ""
        try:
            with Session(comm, **{"table": 2, "book": "none", **options}) as session:
                if comm.Get_rank() == 0:
                    body(session)
                elif session is not None:
                    failure = f"a worker got {session}"
        except Exception:
            failure = traceback.format_exc()
        agree(not failure, failure)

    return run


def test_one_search_after_another(with_session, comm):
    def body(session):
        assert session.ranks == comm.Get_size()
        for _ in range(2):
            assert session.search(**SMALL, exact=True).score == SCORE
            assert session.search(**SMALL, depth=4, evaluation="static").depth == 4
            assert session.perft("othello", 6).counts == [1, 4, 12, 56, 244, 1396, 8200]
            assert session.search("connect4", "4453", nodes=1000).ranks == comm.Get_size()
            assert session.search(**SMALL, time=5.0).proved

    with_session(body)


def test_a_first_rank_that_compiles_for_long_is_not_lost_on_other_hosts(with_session, comm, monkeypatch):
    from mpi4py import MPI

    name = f"host {comm.Get_rank()}"
    monkeypatch.setattr(MPI, "Get_processor_name", lambda: name)

    def body(session):
        assert session.search(**SMALL, exact=True).score == SCORE
        end = time.monotonic() + 5 * TIMEOUT  # after three a silent rank 0 is lost
        while time.monotonic() < end:
            kernel_cache.about_to_compile("a kernel")
            time.sleep(TIMEOUT / 10)
        assert session.search(**SMALL, exact=True).score == SCORE
        assert session.cluster.lost == []

    with_session(body, worker_timeout=TIMEOUT)
    assert not kernel_cache.busy


def test_threads_share_a_session(with_session, rng):
    lines, scores = late_lines(rng, 12)

    def body(session):
        def one_by_one():
            return [session.search("connect4", line, exact=True).score for line in lines]

        def in_a_stream():
            return [found.score for found in session.solve("connect4", lines)]

        with ThreadPoolExecutor(3) as pool:
            running = [pool.submit(work) for work in (one_by_one, in_a_stream, in_a_stream)]
            assert [each.result(60) for each in running] == [scores] * 3

    with_session(body)


def test_a_table_grows_and_changes_no_score(with_session, monkeypatch):
    for module, name, value in [
        (sessions, "DEFAULT_MIB", 1),
        (sessions, "default_mib", lambda: 4),
        (growing_table, "_BUCKETS_A_STEP", 64),
        (table_search, "LONG", 0),
        (table_search, "LOST_A_STEP", 0),
    ]:
        monkeypatch.setattr(module, name, value)

    def body(session):
        assert session.table_mib == 4
        for _ in range(2):
            assert [outcome.score for outcome in session.solve("connect4", HARDER)] == list(HARDER.values())
            for line, score in HARDER.items():
                assert session.search("connect4", line, exact=True).score == score
        words = session._table.words[: -joint.WORDS] if session.ranks > 1 else session._table.words
        table = growing_table.Growing(words, 1, lambda begin, end: True)
        assert table.first < table.buckets

    with_session(body, table=None)


def test_streams_and_searches_in_turn(with_session, rng):
    lines, scores = late_lines(rng, 500)

    def body(session):
        for _ in range(2):
            assert [outcome.score for outcome in session.solve("connect4", lines)] == scores
            assert session.search("connect4", lines[0], exact=True).score == scores[0]
        assert [outcome.score for outcome in session.solve("connect4", lines[:9], depth=20)] == scores[:9]
        assert [outcome.score for outcome in session.solve("connect4", lines[:9], nodes=10**6)] == scores[:9]
        assert list(session.solve("connect4", [])) == []

    with_session(body)


def test_hard_positions_among_easy_ones(with_session, rng):
    lines, scores = late_lines(rng, 100)
    lines = [*HARDER, *lines, *HARDER, *lines, *HARDER]
    scores = [*HARDER.values(), *scores, *HARDER.values(), *scores, *HARDER.values()]

    def body(session):
        found = list(session.solve("connect4", lines))
        assert [outcome.score for outcome in found] == scores
        assert all(outcome.complete and outcome.proved for outcome in found)
        # a hard one is not grown into jobs on one host, whose ranks search it together
        assert all(outcome.jobs == 1 for outcome in found)

    with_session(body)


def test_every_move_of_every_position(with_session, rng):
    lines, scores = late_lines(rng, 30)

    def body(session):
        found = list(session.solve("connect4", lines, all_moves=True))
        assert [outcome.score for outcome in found] == scores
        assert [max(entry["score"] for entry in outcome.moves) for outcome in found] == scores

    with_session(body)


def test_a_stream_may_be_left_half_way(with_session, rng):
    lines, scores = late_lines(rng, 50)

    def body(session):
        for taken in (1, 20):
            answers = session.solve("connect4", [*lines, *[HARD] * 10])
            assert [next(answers).score for _ in range(taken)] == scores[:taken]
            answers.close()
            assert session.search(**SMALL, exact=True).score == SCORE
        assert [outcome.score for outcome in session.solve("connect4", lines)] == scores

    with_session(body)


def test_each_answer_may_lead_to_a_search(with_session, rng):
    lines, scores = late_lines(rng, 10)

    def body(session):
        for outcome, line, score in zip(session.solve("connect4", lines), lines, scores, strict=True):
            assert outcome.score == score
            assert session.search("connect4", line, exact=True).score == score

    with_session(body)


def test_a_session_that_ends_with_a_stream_at_work_lets_everybody_go(with_session, rng):
    lines, scores = late_lines(rng, 5)
    kept = []

    def body(session):
        answers = session.solve("connect4", [*lines, *[HARD] * 10])
        assert next(answers).score == scores[0]
        kept.append(answers)

    with_session(body)
    for answers in kept:
        with pytest.raises(UserError, match="closed"):
            list(answers)


def test_an_interrupt_leaves_workers_for_the_next_search(with_session):
    wanted = [time.monotonic() + 0.5]

    def body(session):
        wanted[0] = time.monotonic() + 0.3
        (found,) = session.solve("connect4", [HARD])
        assert (found.complete, found.bound) == (False, "lower")
        assert found.move
        wanted[0] = float("inf")
        assert session.search(**SMALL, exact=True).score == SCORE

    with_session(body, interrupted=lambda: time.monotonic() > wanted[0])


def test_a_refusal_on_the_first_rank_ends_nothing(with_session, rng):
    def body(session):
        for wrong in ({"game": "chess"}, {"game": "othello", "board": "3x3"}, {"game": "othello", "depth": 0}):
            with pytest.raises(UserError):
                session.search(**wrong)
        with pytest.raises(UserError):
            list(session.solve("connect4", ["44", "9"]))
        assert session.search(**SMALL, exact=True).score == SCORE

    with_session(body)


def test_an_error_of_the_first_rank_lets_the_others_go(comm, agree):
    """Its program may go on, and so may theirs."""
    failure = "" if comm.Get_rank() else "no error"
    try:
        with Session(comm, table=1) as session:
            if session is not None:
                next(session.solve("connect4", ["4453", HARD], depth=3))
                raise RuntimeError("mine")
    except RuntimeError as error:
        failure = "" if comm.Get_rank() == 0 and str(error) == "mine" else traceback.format_exc()
    agree(not failure, failure)


def test_one_session_after_another(comm, agree):
    scores = []
    session = Session(comm, table=1)
    for _ in range(3):
        with session as entered:
            if entered is not None:
                scores.append(entered.search(**SMALL, exact=True).score)
    agree(scores == ([] if comm.Get_rank() else [SCORE] * 3), scores)


def test_a_book_grows_on_any_number_of_ranks(with_session, tmp_path_factory):
    options = Options("othello", (4, 4), depth=3)
    folder = tmp_path_factory.mktemp("book")  # of this rank; the first one alone writes

    def body(session):
        with Session(table=1, book=WITHOUT) as alone:
            book_growth.grow(alone, options, str(folder / "alone"), 150)
        book_growth.grow(session, options, str(folder / "together"), 150)
        one, other = (load(str(folder / name)).entries for name in ("alone", "together"))
        for name in ("key", "score", "depth"):
            assert one[name].tolist() == other[name].tolist()

    with_session(body)
