"""Which workers are pinged, and which are declared lost."""

from distsearch.cluster.liveness import Liveness

DEADLINE = 12.0


def until(alive, end, begin=0, preparing=()):
    """Look once a second; return [(second, rank)] of those that were due, and of those that were silent at last."""
    asked = []
    for now in range(begin + 1, end + 1):
        asked += [(now, rank) for rank in alive.due(now)]
    return asked, alive.silent(end, preparing)


def test_a_worker_that_was_heard_from_is_not_pinged():
    alive = Liveness(DEADLINE, [1, 2])
    for now in range(1, 100):
        alive.heard(1, now)
        alive.heard(2, now)
        assert alive.due(now) == alive.silent(now) == []


def test_the_silent_are_asked_and_then_lost():
    alive = Liveness(DEADLINE, [1, 2])
    alive.heard(2, 2)
    asked, silent = until(alive, 11, begin=2)
    assert asked == [(4, 1), (6, 2), (8, 1), (10, 2)]
    assert silent == []
    assert alive.silent(12) == [1]


def test_an_answer_saves():
    alive = Liveness(DEADLINE, [1])
    until(alive, 11)
    alive.heard(1, 11)
    assert until(alive, 22, begin=11)[1] == []
    assert alive.silent(23) == [1]


def test_the_lost_are_neither_asked_nor_lost_again_until_they_are_back():
    alive = Liveness(DEADLINE, [1])
    alive.lost(1)
    alive.heard(1, 1)
    assert until(alive, 50) == ([], [])
    alive.rejoined(1, 50)
    assert until(alive, 55, begin=50) == ([(54, 1)], [])
    assert until(alive, 62, begin=55)[1] == [1]


def test_a_worker_that_compiles_has_more_time():
    alive = Liveness(DEADLINE, [1, 2])
    assert until(alive, 300, preparing={1})[1] == [2]
    assert until(alive, 3000, begin=300, preparing={1})[1] == [1, 2]


def test_a_master_that_was_away_waits_for_the_mail():
    alive = Liveness(DEADLINE, [1])
    assert alive.silent(1e6) == []
    assert alive.due(1e6 + 2) == [1]
    alive.heard(1, 1e6 + 3)
    assert until(alive, 10**6 + 14, begin=10**6 + 3)[1] == []


def test_a_clock_may_begin_anywhere():
    assert Liveness(DEADLINE, [1], now=1e9).due(1e9 + 1) == []


def test_the_last_is_waited_for_longer():
    alive = Liveness(DEADLINE, [1, 2, 3], last=10)
    alive.heard(2, 5)
    asked, silent = until(alive, 40, begin=5)
    assert silent == [1, 3]
    for rank in silent:
        alive.lost(rank)
    assert until(alive, 124, begin=40)[1] == []
    assert alive.silent(125) == [2]
