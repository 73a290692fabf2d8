"""Which workers are pinged, and which are declared lost."""

from distsearch.cluster.liveness import Liveness

DEADLINE = 12.0


def until(liveness, end, begin=0, preparing=()):
    """Look once a second; return [(second, rank)] of those that were due, and of those that were silent at last."""
    asked = []
    for now in range(begin + 1, end + 1):
        asked += [(now, rank) for rank in liveness.due(now)]
    return asked, liveness.silent(end, preparing)


def test_a_worker_that_was_heard_from_is_not_pinged():
    liveness = Liveness(DEADLINE, [1, 2])
    for now in range(1, 100):
        liveness.heard(1, now)
        liveness.heard(2, now)
        assert liveness.due(now) == liveness.silent(now) == []


def test_the_silent_are_asked_and_then_lost():
    liveness = Liveness(DEADLINE, [1, 2])
    liveness.heard(2, 2)
    asked, silent = until(liveness, 11, begin=2)
    assert asked == [(4, 1), (6, 2), (8, 1), (10, 2)]
    assert silent == []
    assert liveness.silent(12) == [1]


def test_an_answer_saves():
    liveness = Liveness(DEADLINE, [1])
    until(liveness, 11)
    liveness.heard(1, 11)
    assert until(liveness, 22, begin=11)[1] == []
    assert liveness.silent(23) == [1]


def test_the_lost_are_neither_asked_nor_lost_again_until_they_are_back():
    liveness = Liveness(DEADLINE, [1])
    liveness.lost(1)
    liveness.heard(1, 1)
    assert until(liveness, 50) == ([], [])
    liveness.rejoined(1, 50)
    assert until(liveness, 55, begin=50) == ([(54, 1)], [])
    assert until(liveness, 62, begin=55)[1] == [1]


def test_a_worker_that_compiles_has_more_time():
    liveness = Liveness(DEADLINE, [1, 2])
    assert until(liveness, 100, preparing={1})[1] == [2]
    assert until(liveness, 1000, begin=100, preparing={1})[1] == [1, 2]


def test_a_master_that_was_away_waits_for_the_mail():
    liveness = Liveness(DEADLINE, [1])
    assert liveness.silent(1e6) == []
    assert liveness.due(1e6 + 2) == [1]
    liveness.heard(1, 1e6 + 3)
    assert until(liveness, 10**6 + 14, begin=10**6 + 3)[1] == []


def test_a_clock_may_begin_anywhere():
    assert Liveness(DEADLINE, [1], now=1e9).due(1e9 + 1) == []


def test_the_last_is_waited_for_longer():
    liveness = Liveness(DEADLINE, [1, 2, 3], last=10)
    liveness.heard(2, 5)
    asked, silent = until(liveness, 40, begin=5)
    assert silent == [1, 3]
    for rank in silent:
        liveness.lost(rank)
    assert until(liveness, 124, begin=40)[1] == []
    assert liveness.silent(125) == [2]
