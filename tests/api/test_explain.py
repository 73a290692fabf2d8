"""Where the nodes go: classes by hand, and of searches on virtual workers."""

import json
import random

import numpy as np
import pytest

from distsearch import games
from distsearch.api.explain import MEANINGS, explain
from distsearch.api.options import Options
from distsearch.api.progress import Progress
from distsearch.api.simulate import Machine, simulate
from distsearch.engines.pvs.visits import ROW
from distsearch.games.random_play import random_position

LATE = {"othello": 42, "connect4": 14}


def run(*visits):
    """A run's columns from rows (node, low, high, nodes, since, until) with what else is different by name."""
    rows = []
    for node, low, high, nodes, since, until, *more in visits:
        row = dict.fromkeys(ROW.names, 0) | {
            "node": node,
            "left": 12,
            "low": low,
            "high": high,
            "nodes": nodes,
            "since": since,
            "until": until,
            "answered": 1,
            "host": 0,
            "dropped": False,
        }
        rows.append(row | (more[0] if more else {}))
    found = {name: np.array([row[name] for row in rows], np.int64) for name in (*ROW.names, "host")}
    return found | {"dropped": np.array([row["dropped"] for row in rows], bool)}


ONE = run((1, -1, 0, 100, 0, 9), (2, 0, 1, 50, 1, 2), (2, 3, 4, 30, 3, 4), (3, 0, 1, 70, 5, 6))


def explained(*visits):
    """{class: (nodes, visits)} of those that there are."""
    found = explain(ONE, run(*visits))
    assert sum(part.nodes for part in found.classes.values()) == found.many.nodes
    assert list(found.classes) == list(MEANINGS)
    return {name: (part.nodes, part.visits) for name, part in found.classes.items() if part != (0, 0, 0)}


def test_the_same_visits_are_those_of_one_worker():
    found = explain(ONE, ONE)
    assert {name for name, part in found.classes.items() if part.nodes} == {"as_one_worker"}
    assert found.classes["as_one_worker"] == found.one == found.many == (250, 4, 0)
    assert found.unasked == 0


def test_other_nodes_and_other_windows():
    assert explained((4, 0, 1, 20, 0, 1), (2, 1, 2, 8, 2, 3), (3, 0, 1, 70, 4, 5)) == {
        "never_visited": (20, 1),
        "other_window": (8, 1),
        "as_one_worker": (70, 1),
    }
    assert explain(ONE, run((3, 0, 1, 70, 4, 5))).unasked == 180


def test_ranks_that_share_a_visit_search_nothing_twice():
    assert explained((2, 0, 1, 30, 0, 3, {"engine": 1}), (2, 0, 1, 20, 1, 2, {"engine": 2})) == {
        "as_one_worker": (50, 1),
        "searched_again": (0, 1),
    }


def test_what_two_ranks_search_at_once_or_after_an_answer():
    at_once = explained((2, 0, 1, 50, 0, 3, {"engine": 1}), (2, 0, 1, 45, 1, 2, {"engine": 2}))
    assert at_once == {"as_one_worker": (50, 1), "searched_again": (45, 1)}
    after = explained((2, 0, 1, 50, 0, 1), (2, 0, 1, 45, 2, 3))
    assert after == {"as_one_worker": (50, 1), "table_missed": (45, 1)}
    elsewhere = explained((2, 0, 1, 50, 0, 1), (2, 0, 1, 45, 2, 3, {"host": 1}))
    assert elsewhere == at_once
    given_up = explained((2, 0, 1, 50, 0, 1, {"answered": 0}), (2, 0, 1, 45, 2, 3))
    assert given_up == at_once


def test_what_costs_more_and_what_is_dropped():
    dropped = {"dropped": True}
    assert explained((2, 0, 1, 80, 0, 1), (2, 0, 1, 9, 2, 3, dropped), (5, 0, 1, 7, 4, 5, dropped)) == {
        "as_one_worker": (50, 1),
        "same_costs_more": (30, 0),
        "dropped": (16, 2),
    }


def test_nodes_of_the_master_count():
    found = explain(ONE, ONE, 12)
    assert found.classes["grown"] == (12, 0, 0)
    assert found.many == (262, 4, 0)


def test_what_is_given_up_is_told():
    found = explain(ONE, run((4, 0, 1, 20, 0, 1), (4, 0, 1, 9, 2, 3, {"answered": 0}), (1, -1, 0, 3, 4, 5)))
    assert found.classes["never_visited"] == (29, 2, 9)
    assert found.many == (32, 3, 9)


def test_left_tells_nodes_of_one_position_apart():
    assert explained((2, 0, 1, 5, 0, 1, {"left": 11})) == {"never_visited": (5, 1)}


def searched(name, workers, chance, **given):
    """The Simulation of a search of some position that is explained."""
    machine = {key: given.pop(key) for key in ("hosts", "submasters") if key in given}
    options = Options(name, **(given or {"exact": True}))
    game, rules = games.find(name), games.find(name).rules(options.board)
    position = random_position(game, rules, [LATE[name] if options.exact else 10], chance)
    return simulate(options, Machine(workers=workers, rate=1e7, **machine), position, Progress(), lambda: False, True)


@pytest.mark.parametrize("workers", [1, 2, 15])
@pytest.mark.parametrize("name", ["othello", "connect4"])
def test_classes_add_up_to_all_nodes(name, workers, rng):
    found = searched(name, workers, rng)
    explanation, classes = found.explanation, found.explanation.classes
    assert explanation.many.nodes == found.outcome.nodes
    assert explanation.one.nodes == found.sequential.nodes
    assert sum(part.nodes for part in classes.values()) == found.outcome.nodes
    assert min(part.nodes for part in classes.values()) >= 0
    assert classes["as_one_worker"].nodes + explanation.unasked == found.sequential.nodes
    assert classes["dropped"].nodes == 0
    if workers == 1:
        assert classes["as_one_worker"].nodes == found.outcome.nodes
        assert explanation.many.given_up == 0


@pytest.mark.parametrize(
    "given",
    [{"depth": 8}, {"depth": 8, "policy": "window"}, {"exact": True, "hosts": 3}, {"exact": True, "policy": "pool"}],
    ids=str,
)
def test_other_ways_to_share_a_search_out(given, rng):
    found = searched("connect4", 6, rng, **given)
    nodes = sum(part.nodes for part in found.explanation.classes.values())
    # of a rank that has joined one job after another the first ones' nodes may be told too late to count
    assert nodes == found.explanation.many.nodes >= found.outcome.nodes
    if given.get("policy") == "pool":
        assert 0 < found.explanation.classes["grown"].nodes <= found.outcome.tree_nodes


def test_json_and_text():
    found = searched("connect4", 2, random.Random(3))
    told = json.loads(found.to_json())
    classes = told["explain"]["classes"]
    assert sum(part["nodes"] for part in classes.values()) == told["nodes"] == told["explain"]["workers"]["nodes"]
    assert classes.keys() == MEANINGS.keys()
    text = found.to_text()
    assert all(meaning in text for meaning in MEANINGS.values())
    assert f"{found.sequential.nodes:,}" in text


def test_what_is_not_asked_is_not_told():
    game = games.find("connect4")
    position = game.parse("4444415", game.rules((6, 7)))
    found = simulate(Options("connect4", depth=4), Machine(rate=1e7), position, Progress(), lambda: False)
    assert found.explanation is None
    assert "explain" not in json.loads(found.to_json())
