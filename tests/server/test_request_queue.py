"""The desk: every request ends once, whatever happens to it, and leaves nothing behind."""

import gc
import weakref

import pytest

from distsearch.core.errors import UserError
from distsearch.server import request_queue as desks
from distsearch.server import running_request
from distsearch.server.request import Refused
from distsearch.server.request_queue import Desk

from .queue_clients import EASY, LONG, SCORES, Asked, VirtualRanks, alone, finish, turn_until

MIXED = [
    {"exact": True},
    {"depth": 4},
    {"nodes": 500},
    {"time": 0.01},
    {"exact": True, "all_moves": True},
    {"game": "othello", "board": "4x4", "depth": 4},
    {"game": "othello", "board": "4x4", "nodes": 300},
]


@pytest.fixture(params=[alone, VirtualRanks])
def session(request):
    made = request.param()
    yield made
    made.close()


@pytest.fixture
def desk(session):
    return Desk(session)


def put(desk, *requests):
    """Submit requests; return them."""
    for request in requests:
        desk.submit(request)
    return requests


def busy(desk, client=1, searches=desks._OF_CLIENT):
    """Have a client's share of the desk taken by long searches; return them."""
    requests = put(desk, *(Asked("startpos", client=client, **LONG) for _ in range(searches)))
    desk.turn()
    assert desk.status()["active"] == searches
    return requests


@pytest.mark.parametrize("options", MIXED, ids=str)
def test_each_position_is_answered_once_and_then_the_request_ends(desk, options):
    texts = ("startpos",) * 3 if "game" in options else EASY
    (asked,) = put(desk, Asked(*texts, **options))
    finish(desk)
    assert sorted(asked.answers) == list(range(len(texts)))
    assert all(outcome.complete for outcome in asked.answers.values())
    assert asked.ends == ["done"]
    if "exact" in options:
        assert tuple(asked.answers[i].score for i in range(len(texts))) == SCORES


def test_thousands_of_positions_in_a_request(desk, full):
    count = 10_000 if full else 2000
    (many,) = put(desk, Asked(*EASY * (count // 2), exact=True))
    finish(desk)
    assert [many.answers[i].score for i in range(count)] == list(SCORES) * (count // 2)
    assert desk.status()["answered"] == count


def test_requests_under_different_options_do_not_disturb_each_other(desk):
    requests = put(desk, *(Asked(*EASY, client=i % 3, exact=True, load_factor=1 + i) for i in range(9)))
    limited = put(desk, *(Asked(*EASY, client=i % 3, exact=True, window=(-1, 1)) for i in range(3)))
    finish(desk)
    for asked in requests:
        assert (asked.answers[0].score, asked.answers[1].score) == SCORES
    for asked in limited:
        assert [asked.answers[i].bound for i in (0, 1)] == ["upper", "lower"]


def test_a_short_search_does_not_wait_for_long_ones_of_others(desk):
    for client in range(2, 8):
        busy_requests = put(desk, *(Asked("startpos", client=client, **LONG) for _ in range(3)))
    desk.turn()
    (short,) = put(desk, Asked(client=1, exact=True))
    turn_until(desk, lambda: short.ends, seconds=5)
    assert short.answers[0].score == SCORES[0]
    assert not any(request.ends for request in busy_requests)


@pytest.mark.parametrize("options", [*MIXED, LONG], ids=str)
@pytest.mark.parametrize("turns", [0, 1, 2, 5])
def test_a_cancelled_request_ends_once_at_any_moment(desk, options, turns):
    texts = ("startpos",) * 3 if "game" in options else EASY
    (asked,) = put(desk, Asked(*texts, **options))
    for _ in range(turns):
        desk.turn()
    desk.cancel(asked)
    desk.cancel(asked)
    finish(desk)
    assert asked.ends in (["cancelled"], ["done"])
    assert asked.ends == ["cancelled"] or len(asked.answers) == len(texts)
    desk.cancel(asked)
    desk.turn()
    assert len(asked.ends) == 1


def test_a_request_that_waits_is_cancelled_at_once(desk):
    long = busy(desk)
    first, second, third = put(desk, *(Asked(exact=True) for _ in range(3)))
    desk.cancel(second)
    assert second.ends == []  # not before the next turn
    desk.turn()
    assert second.ends == ["cancelled"]
    assert desk.status()["queued"] == 2
    for request in (*long, first, third):
        desk.cancel(request)
    finish(desk)
    assert desk.status()["queued"] == desk.status()["active"] == 0


def test_after_cancelling_everything_the_client_may_ask_again(desk):
    requests = (*busy(desk), *put(desk, *(Asked(exact=True) for _ in range(20))))
    for request in requests:
        desk.cancel(request)
    (again,) = put(desk, Asked(exact=True))
    finish(desk)
    assert all(request.ends == ["cancelled"] for request in requests)
    assert again.ends == ["done"]


def test_random_requests_and_cancels_of_many_clients(desk, rng, full):
    asked, cancelled = [], set()
    for _ in range(300 if full else 40):
        options = rng.choice(MIXED)
        texts = ("startpos",) * rng.randint(1, 3) if "game" in options else EASY
        asked += put(desk, Asked(*texts, client=rng.randint(1, 6), priority=rng.randint(-10, 10), **options))
        for _ in range(rng.randint(0, 3)):
            desk.turn()
        if rng.random() < 0.4:
            chosen = rng.choice(asked)
            desk.cancel(chosen)
            cancelled.add(chosen)
    finish(desk)
    for request in asked:
        assert len(request.ends) == 1
        assert request.ends == ["done"] or request in cancelled
        assert request.ends == ["cancelled"] or len(request.answers) == len(request.positions)
    assert desk.status()["active"] == desk.status()["queued"] == 0


def test_what_is_over_is_forgotten(desk):
    gone = []
    for options in MIXED:
        for cancel in (False, True):
            texts = ("startpos",) if "game" in options else EASY
            (asked,) = put(desk, Asked(*texts, **options))
            if cancel:
                desk.turn()
                desk.cancel(asked)
            gone.append(weakref.ref(asked))
    finish(desk)
    del asked
    gc.collect()
    assert [each() for each in gone] == [None] * len(gone)


def test_a_clients_requests_go_by_priority_then_by_order(desk):
    long = busy(desk)
    order = []
    for name, priority in (("low", -1), ("first", 5), ("second", 5), ("middle", 0)):
        (asked,) = put(desk, Asked(exact=True, priority=priority))
        asked.on_end = lambda state, text, name=name: order.append(name)
    desk.cancel(long[0])  # there is room for one at a time
    turn_until(desk, lambda: len(order) == 4)
    assert order == ["first", "second", "middle", "low"]


def test_a_client_without_any_gets_one_however_many_others_are_at_work(desk, monkeypatch):
    monkeypatch.setattr(desks, "_AT_WORK", 2)
    busy(desk, client=1, searches=2)
    waiting, welcome = put(desk, Asked(client=1, exact=True), Asked(client=2, exact=True))
    turn_until(desk, lambda: welcome.ends)
    assert waiting.ends == []


def test_there_is_room_for_so_many(desk, monkeypatch):
    monkeypatch.setattr(desks, "_MOST_REQUESTS", 3)
    monkeypatch.setattr(desks, "_MOST_POSITIONS", 5)
    first, second = put(desk, Asked(*EASY, exact=True), Asked(*EASY, exact=True))
    for refused in (Asked(*EASY, exact=True), Asked(*EASY * 3, exact=True)):
        with pytest.raises(Refused) as told:
            desk.submit(refused)
        assert told.value.code == "queue_full"
    (third,) = put(desk, Asked(exact=True))
    with pytest.raises(Refused):
        desk.submit(Asked(exact=True))
    desk.cancel(first)
    (instead,) = put(desk, Asked(exact=True))
    finish(desk)
    assert [each.ends for each in (first, second, third, instead)] == [["cancelled"], ["done"], ["done"], ["done"]]


def test_a_client_that_fills_the_queue_leaves_room_for_one_of_each_other(desk, monkeypatch):
    monkeypatch.setattr(desks, "_MOST_REQUESTS", 3)
    monkeypatch.setattr(desks, "_MOST_POSITIONS", 6)
    waiting = put(desk, *(Asked(*EASY, client=1, exact=True) for _ in range(3)))
    (welcome,) = put(desk, Asked(*EASY, client=2, exact=True))
    with pytest.raises(Refused):
        desk.submit(Asked(client=2, exact=True))
    finish(desk)
    assert [each.ends for each in (*waiting, welcome)] == [["done"]] * 4


def test_thousands_of_answers_at_once_keep_nobody_waiting(desk, monkeypatch):
    monkeypatch.setattr(running_request, "_TELLING", 0.0)
    turns = [0]
    (asked,) = put(desk, Asked(*EASY * 50, depth=1))
    while not desk.idle:
        desk.turn()
        turns.append(len(asked.answers))
    told = [now - before for before, now in zip(turns, turns[1:], strict=False)]
    assert (sum(told), max(told)) == (100, 1)
    assert asked.ends == ["done"]


@pytest.mark.parametrize(("error", "traced"), [(MemoryError(), True), (UserError("no room"), False)])
def test_a_search_that_cannot_begin_fails_alone(desk, session, monkeypatch, capfd, error, traced):
    def fail(options):
        raise error

    monkeypatch.setattr(session, "searcher", fail)
    (failed,) = put(desk, Asked(exact=True))
    desk.turn()
    assert failed.ends == ["failed"]
    assert failed.why in ("MemoryError", "no room")
    assert ("Traceback" in capfd.readouterr().err) == traced
    monkeypatch.undo()
    (asked,) = put(desk, Asked(exact=True))
    finish(desk)
    assert asked.ends == ["done"]


@pytest.mark.parametrize("options", [{"exact": True}, {"nodes": 500}], ids=str)
def test_a_mistake_in_the_middle_of_a_search_takes_nobody_along(desk, capfd, options):
    def fail(index, outcome):
        raise ZeroDivisionError

    failing, other = put(desk, Asked(*EASY, **options), Asked(*EASY, client=2, **options))
    failing.on_answer = fail
    finish(desk)
    assert failing.ends == ["failed"]
    assert "ZeroDivisionError" in failing.why
    assert "Traceback" in capfd.readouterr().err
    assert other.ends == ["done"]


def test_options_that_workers_need_not_know_of_cost_nothing(desk, session, monkeypatch):
    made = []
    searcher = session.searcher
    monkeypatch.setattr(session, "searcher", lambda options: made.append(options) or searcher(options))
    put(desk, *(Asked(exact=True, load_factor=1 + i) for i in range(5)), Asked(depth=3), Asked(time=0.01))
    finish(desk)
    assert len(made) == 2


def test_old_options_are_forgotten_and_come_again(desk, monkeypatch):
    monkeypatch.setattr(desks, "_MOST_SEARCHERS", 2)
    long = busy(desk, client=2, searches=1)
    for _ in range(2):
        for options in MIXED:
            texts = ("startpos",) if "game" in options else EASY
            (asked,) = put(desk, Asked(*texts, **options))
            turn_until(desk, lambda asked=asked: asked.ends)
            assert len(asked.answers) == len(texts)
    desk.cancel(long[0])
    finish(desk)
    assert len(desk._searchers) <= 3


def test_the_state_counts_what_was_done(desk):
    before = desk.status()
    assert (before["answered"], before["boards"], before["active"], before["queued"]) == (0, 0, 0, 0)
    seen, requests = [0], put(desk, Asked(*EASY, depth=7), Asked(*EASY, nodes=2000), Asked("startpos", **LONG))

    def settled():
        seen.append(desk.status()["boards"])
        return all(request.ends for request in requests[:2])

    turn_until(desk, settled)
    desk.cancel(requests[2])
    finish(desk)
    seen.append(desk.status()["boards"])
    assert seen == sorted(seen)
    found = sum(outcome.nodes for request in requests for outcome in request.answers.values())
    assert 0 < found <= seen[-1] + 100  # boards of the tree are the answers' alone
    assert desk.status()["answered"] == 4


def test_a_desk_without_requests_may_wait(desk):
    assert desk.idle
    desk.turn()
    assert desk.pause() == 1.0
    (asked,) = put(desk, Asked(exact=True))
    assert not desk.idle
    desk.turn()
    assert desk.pause() < 0.01
    desk.cancel(asked)
    finish(desk)
