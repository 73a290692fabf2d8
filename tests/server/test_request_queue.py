"""The queue: every request ends once, whatever happens to it, and leaves nothing behind."""

import gc
import sys
import time
import weakref

import pytest

from distsearch.api.book import WITHOUT
from distsearch.api.book_maker import make
from distsearch.api.compiling import NotCompiledError
from distsearch.api.options import Options
from distsearch.api.session import Session
from distsearch.core.errors import UserError
from distsearch.jobs.chance import ExpectimaxRunner
from distsearch.server import request_queue as request_queues
from distsearch.server import running_request
from distsearch.server.request import Refused
from distsearch.server.request_queue import RequestQueue

from ..api.recipes import recipe
from .queue_clients import EASY, LONG, SCORES, Asked, VirtualRanks, alone, finish, turn_until

MIXED = [
    {"exact": True},
    {"depth": 4},
    {"nodes": 500},
    {"time": 0.01},
    {"exact": True, "all_moves": True},
    {"game": "othello", "board": "4x4", "depth": 4},
    {"game": "othello", "board": "4x4", "nodes": 300},
    {"game": "2048", "depth": 3, "evaluation": "rows"},
    {"game": "2048", "time": 0.01, "evaluation": "rows"},
    {"game": "2048", "algorithm": "averaged", "depth": 2, "runs": 2},
]


@pytest.fixture(params=[alone, VirtualRanks])
def session(request):
    made = request.param()
    yield made
    made.close()


@pytest.fixture
def queue(session):
    return RequestQueue(session)


def put(queue, *requests):
    """Submit requests; return them."""
    for request in requests:
        queue.submit(request)
    return requests


def busy(queue, client=1, searches=request_queues._OF_CLIENT):
    """Have a client's share of the queue taken by long searches; return them."""
    requests = put(queue, *(Asked("startpos", client=client, **LONG) for _ in range(searches)))
    queue.turn()
    assert queue.status()["active"] == searches
    return requests


@pytest.mark.parametrize("options", MIXED, ids=str)
def test_each_position_is_answered_once_and_then_the_request_ends(queue, options):
    texts = ("startpos",) * 3 if "game" in options else EASY
    (asked,) = put(queue, Asked(*texts, **options))
    finish(queue)
    assert sorted(asked.answers) == list(range(len(texts)))
    assert all(outcome.complete for outcome in asked.answers.values())
    assert asked.ends == ["done"]
    if "exact" in options:
        assert tuple(asked.answers[i].score for i in range(len(texts))) == SCORES


def test_a_search_by_time_ends_with_an_exact_one(queue):
    (asked,) = put(queue, Asked(*EASY, time=20.0, progress=0.01))
    finish(queue)
    assert tuple(asked.answers[i].score for i in range(len(EASY))) == SCORES
    assert all(answer.proved and answer.unit == "stones" for answer in asked.answers.values())
    assert not any(partial.complete for partial in asked.partial)


def test_where_the_time_ends_first_the_deepening_answers(queue):
    (asked,) = put(queue, Asked("startpos", time=0.1))
    finish(queue)
    assert not asked.answers[0].proved
    assert (asked.answers[0].complete, asked.answers[0].move) == (True, "4")
    assert asked.answers[0].meaning.startswith("undecided")


def test_thousands_of_positions_in_a_request(queue, full):
    count = 10_000 if full else 2000
    (many,) = put(queue, Asked(*EASY * (count // 2), exact=True))
    finish(queue)
    assert [many.answers[i].score for i in range(count)] == list(SCORES) * (count // 2)
    assert queue.status()["answered"] == count


def test_requests_under_different_options_do_not_disturb_each_other(queue):
    requests = put(queue, *(Asked(*EASY, client=i % 3, exact=True, load_factor=1 + i) for i in range(9)))
    limited = put(queue, *(Asked(*EASY, client=i % 3, exact=True, window=(-1, 1)) for i in range(3)))
    finish(queue)
    for asked in requests:
        assert (asked.answers[0].score, asked.answers[1].score) == SCORES
    for asked in limited:
        assert [asked.answers[i].bound for i in (0, 1)] == ["upper", "lower"]


def test_a_short_search_does_not_wait_for_long_ones_of_others(queue):
    for client in range(2, 8):
        busy_requests = put(queue, *(Asked("startpos", client=client, **LONG) for _ in range(3)))
    queue.turn()
    (short,) = put(queue, Asked(client=1, exact=True))
    turn_until(queue, lambda: short.ends, seconds=5)
    assert short.answers[0].score == SCORES[0]
    assert not any(request.ends for request in busy_requests)


@pytest.mark.parametrize("options", [*MIXED, LONG], ids=str)
@pytest.mark.parametrize("turns", [0, 1, 2, 5])
def test_a_cancelled_request_ends_once_at_any_moment(queue, options, turns):
    texts = ("startpos",) * 3 if "game" in options else EASY
    (asked,) = put(queue, Asked(*texts, **options))
    for _ in range(turns):
        queue.turn()
    queue.cancel(asked)
    queue.cancel(asked)
    finish(queue)
    assert asked.ends in (["cancelled"], ["done"])
    assert asked.ends == ["cancelled"] or len(asked.answers) == len(texts)
    queue.cancel(asked)
    queue.turn()
    assert len(asked.ends) == 1


def test_a_request_that_waits_is_cancelled_at_once(queue):
    long = busy(queue)
    first, second, third = put(queue, *(Asked(exact=True) for _ in range(3)))
    queue.cancel(second)
    assert second.ends == []  # not before the next turn
    queue.turn()
    assert second.ends == ["cancelled"]
    assert queue.status()["queued"] == 2
    for request in (*long, first, third):
        queue.cancel(request)
    finish(queue)
    assert queue.status()["queued"] == queue.status()["active"] == 0


def test_after_cancelling_everything_the_client_may_ask_again(queue):
    requests = (*busy(queue), *put(queue, *(Asked(exact=True) for _ in range(20))))
    for request in requests:
        queue.cancel(request)
    (again,) = put(queue, Asked(exact=True))
    finish(queue)
    assert all(request.ends == ["cancelled"] for request in requests)
    assert again.ends == ["done"]


def test_random_requests_and_cancels_of_many_clients(queue, rng, full):
    asked, cancelled = [], set()
    for _ in range(300 if full else 40):
        options = rng.choice(MIXED)
        texts = ("startpos",) * rng.randint(1, 3) if "game" in options else EASY
        asked += put(queue, Asked(*texts, client=rng.randint(1, 6), priority=rng.randint(-10, 10), **options))
        for _ in range(rng.randint(0, 3)):
            queue.turn()
        if rng.random() < 0.4:
            chosen = rng.choice(asked)
            queue.cancel(chosen)
            cancelled.add(chosen)
    finish(queue)
    for request in asked:
        assert len(request.ends) == 1
        assert request.ends == ["done"] or request in cancelled
        assert request.ends == ["cancelled"] or len(request.answers) == len(request.positions)
    assert queue.status()["active"] == queue.status()["queued"] == 0


def test_what_is_over_is_forgotten(queue):
    gone = []
    for options in MIXED:
        for cancel in (False, True):
            texts = ("startpos",) if "game" in options else EASY
            (asked,) = put(queue, Asked(*texts, **options))
            if cancel:
                queue.turn()
                queue.cancel(asked)
            gone.append(weakref.ref(asked))
    finish(queue)
    del asked
    gc.collect()
    assert [each() for each in gone] == [None] * len(gone)


def test_a_clients_requests_go_by_priority_then_by_order(queue):
    long = busy(queue)
    order = []
    for name, priority in (("low", -1), ("first", 5), ("second", 5), ("middle", 0)):
        (asked,) = put(queue, Asked(exact=True, priority=priority))
        asked.on_end = lambda state, text, name=name: order.append(name)
    queue.cancel(long[0])  # there is room for one at a time
    turn_until(queue, lambda: len(order) == 4)
    assert order == ["first", "second", "middle", "low"]


def test_a_client_without_any_gets_one_however_many_others_are_at_work(queue, monkeypatch):
    monkeypatch.setattr(request_queues, "_AT_WORK", 2)
    busy(queue, client=1, searches=2)
    waiting, welcome = put(queue, Asked(client=1, exact=True), Asked(client=2, exact=True))
    turn_until(queue, lambda: welcome.ends)
    assert waiting.ends == []


def test_there_is_room_for_so_many(session):
    queue = RequestQueue(session, most_requests=3, most_positions=5)
    first, second = put(queue, Asked(*EASY, exact=True), Asked(*EASY, exact=True))
    for refused in (Asked(*EASY, exact=True), Asked(*EASY * 3, exact=True)):
        with pytest.raises(Refused) as told:
            queue.submit(refused)
        assert told.value.code == "queue_full"
    (third,) = put(queue, Asked(exact=True))
    with pytest.raises(Refused):
        queue.submit(Asked(exact=True))
    queue.cancel(first)
    (instead,) = put(queue, Asked(exact=True))
    finish(queue)
    assert [each.ends for each in (first, second, third, instead)] == [["cancelled"], ["done"], ["done"], ["done"]]


def test_a_client_that_fills_the_queue_leaves_room_for_one_of_each_other(session):
    queue = RequestQueue(session, most_requests=3, most_positions=6)
    waiting = put(queue, *(Asked(*EASY, client=1, exact=True) for _ in range(3)))
    (welcome,) = put(queue, Asked(*EASY, client=2, exact=True))
    with pytest.raises(Refused):
        queue.submit(Asked(client=2, exact=True))
    finish(queue)
    assert [each.ends for each in (*waiting, welcome)] == [["done"]] * 4


def test_thousands_of_answers_at_once_keep_nobody_waiting(queue, monkeypatch):
    monkeypatch.setattr(running_request, "_TELLING", 0.0)
    turns = [0]
    (asked,) = put(queue, Asked(*EASY * 50, depth=1))
    while not queue.idle:
        queue.turn()
        turns.append(len(asked.answers))
    told = [now - before for before, now in zip(turns, turns[1:], strict=False)]
    assert (sum(told), max(told)) == (100, 1)
    assert asked.ends == ["done"]


@pytest.mark.parametrize(("error", "end"), [(MemoryError(), "failed"), (UserError("no room"), "refused")])
def test_a_search_that_cannot_begin_fails_alone(queue, session, monkeypatch, capfd, error, end):
    def fail(options):
        raise error

    monkeypatch.setattr(session, "searcher", fail)
    (failed,) = put(queue, Asked(exact=True))
    queue.turn()
    assert failed.ends == [end]
    assert failed.why in ("MemoryError", "no room")
    assert ("Traceback" in capfd.readouterr().err) == (end == "failed")
    monkeypatch.undo()
    (asked,) = put(queue, Asked(exact=True))
    finish(queue)
    assert asked.ends == ["done"]


@pytest.mark.parametrize("options", [{"exact": True}, {"nodes": 500}], ids=str)
def test_a_mistake_in_the_middle_of_a_search_takes_nobody_along(queue, capfd, options):
    def fail(index, outcome):
        raise ZeroDivisionError

    failing, other = put(queue, Asked(*EASY, **options), Asked(*EASY, client=2, **options))
    failing.on_answer = fail
    finish(queue)
    assert failing.ends == ["failed"]
    assert "ZeroDivisionError" in failing.why
    assert "Traceback" in capfd.readouterr().err
    assert other.ends == ["done"]


def test_options_that_workers_need_not_know_of_cost_nothing(queue, session, monkeypatch):
    made = []
    searcher = session.searcher
    monkeypatch.setattr(session, "searcher", lambda options: made.append(options) or searcher(options))
    put(queue, *(Asked(exact=True, load_factor=1 + i) for i in range(5)), Asked(depth=3), Asked(time=0.01))
    finish(queue)
    assert len(made) == 2


def test_old_options_are_forgotten_and_come_again(queue, monkeypatch):
    monkeypatch.setattr(request_queues, "_MOST_SEARCHERS", 2)
    long = busy(queue, client=2, searches=1)
    for _ in range(2):
        for options in MIXED:
            texts = ("startpos",) if "game" in options else EASY
            (asked,) = put(queue, Asked(*texts, **options))
            turn_until(queue, lambda asked=asked: asked.ends)
            assert len(asked.answers) == len(texts)
    queue.cancel(long[0])
    finish(queue)
    assert len(queue._searchers) <= 3


def test_the_state_counts_what_was_done(queue):
    before = queue.status()
    assert (before["answered"], before["nodes"], before["active"], before["queued"]) == (0, 0, 0, 0)
    seen, requests = [0], put(queue, Asked(*EASY, depth=7), Asked(*EASY, nodes=2000), Asked("startpos", **LONG))

    def settled():
        seen.append(queue.status()["nodes"])
        return all(request.ends for request in requests[:2])

    turn_until(queue, settled)
    queue.cancel(requests[2])
    finish(queue)
    seen.append(queue.status()["nodes"])
    assert seen == sorted(seen)
    found = sum(outcome.nodes for request in requests for outcome in request.answers.values())
    assert 0 < found <= seen[-1] + 100  # nodes of the tree are the answers' alone
    assert queue.status()["answered"] == 4


def test_a_desk_without_requests_may_wait(queue):
    assert queue.idle
    queue.turn()
    assert queue.pause() == 1.0
    (asked,) = put(queue, Asked(exact=True))
    assert not queue.idle
    queue.turn()
    assert queue.pause() < 0.01
    queue.cancel(asked)
    finish(queue)


@pytest.fixture
def uncompiled(session, monkeypatch, tmp_path):
    """Kernels of searches to depth 3 are not there yet: another process compiles them."""
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
    searcher, asked = session.searcher, recipe(tmp_path, seconds=0.5)
    missing = [True]

    def without_kernels(options):
        if options.depth == 3 and missing:
            missing.clear()
            raise NotCompiledError(asked)
        return searcher(options)

    monkeypatch.setattr(session, "searcher", without_kernels)
    return tmp_path / "0"


def test_a_request_waits_for_its_kernels_while_others_are_answered(session, uncompiled):
    queue = RequestQueue(session)
    waits, other = put(queue, Asked("startpos", depth=3), Asked(EASY[0], client=2, exact=True))
    while not other.ends:
        queue.turn()
    assert queue.status()["state"] == "compiling"
    assert (waits.ends, waits.answers, queue.idle) == ([], {}, False)
    finish(queue)
    assert uncompiled.exists()
    assert len(waits.answers) == 1
    assert queue.status()["state"] == "serving"


def test_a_request_that_waits_for_kernels_can_be_cancelled(session, uncompiled):
    queue = RequestQueue(session)
    (waits,) = put(queue, Asked("startpos", depth=3))
    queue.turn()
    queue.cancel(waits)
    queue.turn()
    assert waits.ends == ["cancelled"]
    assert queue.idle
    assert queue.status()["state"] == "compiling"
    queue.close()
    assert queue.status()["state"] == "serving"
    time.sleep(1.0)
    assert not uncompiled.exists()  # half a second would have been enough


def test_warming_goes_on_in_turns(session, uncompiled, monkeypatch):
    queue = RequestQueue(session)
    queue._begin(Options("connect4", depth=3))
    assert queue.status()["state"] == "compiling"
    assert queue.idle
    while queue.status()["state"] == "compiling":
        queue.turn()
        time.sleep(queue.pause())
    assert uncompiled.exists()


def test_warming_that_fails_is_told_and_leaves_nothing_behind(monkeypatch, capsys):
    def fail(*_):
        raise UserError("no such network")

    monkeypatch.setattr(ExpectimaxRunner, "begin", fail)
    with Session(book=WITHOUT, guarded=True) as session:
        queue = RequestQueue(session)
        queue._begin(Asked("startpos", game="2048", depth=1, evaluation="rows").options)
        assert queue.status()["state"] == "compiling"
        turn_until(queue, lambda: queue.status()["state"] == "serving")
        told = "distsearch: usual searches of 2048 fail: no such network\n"
        assert capsys.readouterr().err == told
        assert queue.status()["state"] == "serving"
        assert capsys.readouterr().err == ""
        assert session.cluster._master.failures == {}


def test_one_search_is_warmed_in_a_turn_and_none_before(session, monkeypatch):
    made, searcher = [], session.searcher
    monkeypatch.setattr(session, "searcher", lambda options: made.append(options.game) or searcher(options))
    queue = RequestQueue(session)
    queue.warm(["connect4", "2048"])
    assert (made, queue.status()["state"]) == ([], "compiling")
    told = []
    while queue.status()["state"] == "compiling":
        queue.turn()
        told.append(len(made))
    assert made == ["connect4", "connect4", "2048"]
    assert max(after - before for before, after in zip([0, *told], told, strict=False)) == 1


@pytest.mark.parametrize("limit", [{"exact": True}, {"time": 60.0}], ids=str)
def test_a_book_answers_what_it_has_at_once(tmp_path, limit):
    path, four = str(tmp_path / "book"), {"board": "4x4"}
    options = Options("connect4", (4, 4), exact=True)
    with Session(table=1, book=WITHOUT) as maker:
        make(maker, options, path, 3)
    with Session(table=1, book=path) as session:
        queue = RequestQueue(session)
        (known,) = put(queue, Asked("12", "startpos", **four, **limit))
        queue.turn()
        assert known.ends == ["done"]
        assert [known.answers[i].book for i in range(2)] == ["book"] * 2
        (mixed,) = put(queue, Asked("12", "112233", "1", "1122", **four, **limit))
        (other,) = put(queue, Asked(**{**limit, "time": None, "exact": True}))
        finish(queue)
        assert queue.status()["answered"] == 7
        expected = [session.search("connect4", text, **four, exact=True) for text in ("12", "112233", "1", "1122")]
    assert [mixed.answers[i].score for i in range(4)] == [each.score for each in expected]
    assert [mixed.answers[i].nodes == 0 for i in range(4)] == [True, False, True, False]
    assert (mixed.ends, other.ends, other.answers[0].score) == (["done"], ["done"], SCORES[0])
