"""The next member: shares, new members, and members that come and go."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from distsearch.cluster.fair_queue import FairQueue

LONGEST = 1.0  # seconds of a turn
turns = st.floats(0.01, LONGEST)


def joined(*names):
    fair = FairQueue()
    for name in names:
        fair.join(name)
    return fair


def take_turns(fair, lengths, weights):
    """Return what each has had after turns of so many seconds."""
    had = dict.fromkeys(weights, 0.0)
    for seconds in lengths:
        client = fair.first()
        fair.charge(client, seconds, weights[client])
        had[client] += seconds
    return had


def test_it_knows_its_members():
    fair = joined("a", "b")
    fair.leave("a")
    assert (len(fair), "a" in fair, "b" in fair) == (1, False, True)
    assert fair.first() == "b"


@given(st.lists(turns, max_size=200), st.lists(st.floats(0.1, 10), min_size=1, max_size=6))
def test_shares_are_as_the_weights_at_any_time(lengths, weights):
    weights = dict(enumerate(weights))
    had = take_turns(joined(*weights), lengths, weights)
    shares = [had[client] / weight for client, weight in weights.items()]
    assert max(shares) - min(shares) <= LONGEST / min(weights.values()) + 1e-9


@pytest.mark.parametrize("weights", [{"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 3.0, "c": 0.5}])
def test_equal_turns_come_by_weight(weights):
    had = take_turns(joined(*weights), [1.0] * 900, weights)
    for client, weight in weights.items():
        assert had[client] == pytest.approx(900 * weight / sum(weights.values()), abs=2)


def test_a_new_member_goes_first():
    fair = joined("old", "older")
    for _ in range(7):
        fair.charge(fair.first(), 1.0)
    fair.join("new")
    assert fair.first() == "new"


@given(st.lists(turns, min_size=1, max_size=50), st.lists(turns, min_size=1, max_size=50))
def test_unused_time_is_not_saved_up(before, after):
    fair = joined("there")
    take_turns(fair, before, {"there": 1.0})
    fair.join("late")
    had = take_turns(fair, after, {"there": 1.0, "late": 1.0})
    assert abs(had["there"] - had["late"]) <= LONGEST + 1e-9


@given(st.lists(turns, max_size=200), st.integers(1, 3))
def test_a_member_that_leaves_after_every_turn_gets_no_more(lengths, restless):
    """A stream of short jobs against one long job."""
    fair, had = joined("long"), Counter()
    names = [f"short {i}" for i in range(restless)]
    for seconds in lengths:
        for name in names:
            if name not in fair:
                fair.join(name)
        client = fair.first()
        fair.charge(client, seconds)
        had[client] += seconds
        if client != "long":
            fair.leave(client)
    for name in names:
        assert had[name] - had["long"] <= LONGEST + 1e-9


@given(st.data())
def test_no_member_waits_for_ever(data):
    """However others come and go, a member that stays has a turn before another one has had two turns' time more."""
    fair, waited = joined("stays"), Counter()
    for _ in range(data.draw(st.integers(0, 60))):
        name = data.draw(st.sampled_from("abc"))
        if name not in fair:
            fair.join(name)
        elif data.draw(st.booleans()):
            fair.leave(name)
        client = fair.first()
        seconds = data.draw(turns)
        fair.charge(client, seconds)
        waited[client] += seconds
        if client == "stays":
            waited.clear()
        assert all(seconds <= 2 * LONGEST + 1e-9 for seconds in waited.values())


def test_those_that_left_are_forgotten():
    fair = joined("stays")
    for i in range(100):
        fair.join(i)
        fair.charge(i, 1.0)
        fair.leave(i)
        fair.charge("stays", 1.0)
    fair.join("last")
    assert vars(fair) == {"_had": {"stays": 100.0, "last": 100.0}, "_ahead": {}}
    fair.leave("stays")
    fair.charge("last", 1.0)
    fair.leave("last")
    assert vars(fair) == {"_had": {}, "_ahead": {}}
