"""Selective searches from end to end: what is asked of runners, what outcomes say, several workers, other searches."""

import json
from importlib import resources

import pytest

from distsearch import evaluation
from distsearch.api.options import Options
from distsearch.api.progress import Progress
from distsearch.api.session import Session
from distsearch.api.simulate import Machine, simulate
from distsearch.core.errors import UserError
from distsearch.evaluation import probcut_fit
from distsearch.games import othello
from distsearch.games.random_play import random_position

RULES = othello.rules()
SHIPPED_FIT = str(resources.files(evaluation) / "fits" / "othello_8x8_patterns.json")
OPENING = "f5d6c3d3c4f4c5b3c2e6c6b4b5d2e3a6c1b6f3d1"


@pytest.fixture
def unsure(tmp_path):
    """A file of the package's fit, with errors so large that nothing is foretold."""
    fit = probcut_fit.find(othello, (8, 8), "patterns", evaluation.find(othello, "patterns", RULES))
    path = tmp_path / "unsure.json"
    path.write_text(fit._replace(pairs=[pair._replace(sigma=1e9) for pair in fit.pairs]).to_json(), encoding="utf-8")
    return str(path)


def test_a_setup_says_what_runners_need_to_know():
    assert Options("othello", depth=8).setup()["selective"] is None
    setup = Options("othello", depth=8, selective=0.9).setup()
    probability, stage, pairs = setup["selective"]
    assert (probability, stage) == (0.9, 6)
    assert len(pairs) > 20
    assert json.loads(json.dumps(setup["selective"])) == setup["selective"]
    assert setup != Options("othello", depth=8, selective=0.95).setup()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, probcut_fit.USUAL),
        ({"time": 1}, probcut_fit.USUAL),
        ({"time": 1, "evaluation": "complex"}, probcut_fit.USUAL),
        ({"time": 1, "selective": 0.8}, 0.8),
        ({"time": 1, "selective": 1}, None),
        ({"time": 1, "depth": 9}, None),
        ({"time": 1, "nodes": 9}, None),
        ({"depth": 9}, None),
        ({"exact": True}, None),
        ({"exact": True, "selective": 1}, None),
        ({"time": 1, "probcut_params": SHIPPED_FIT}, probcut_fit.USUAL),
        ({"probcut_params": SHIPPED_FIT}, probcut_fit.USUAL),
        ({"time": 1, "evaluation": "static"}, None),
        ({"time": 1, "board": (6, 6)}, None),
        ({"time": 1, "ordering": "static"}, None),
    ],
    ids=str,
)
def test_time_alone_is_selective_where_a_fit_ships(given, expected):
    selective = Options("othello", **given).setup()["selective"]
    assert (selective and selective[0]) == expected


def test_types_are_checked():
    for given, named in (({"selective": "0.9"}, "not a number"), ({"selective": True}, "not a number")):
        with pytest.raises(UserError, match=named):
            Options("othello", depth=8, **given)
    with pytest.raises(UserError, match="probcut-params 3 is not a text"):
        Options("othello", depth=8, selective=0.9, probcut_params=3)


def test_an_outcome_says_that_it_is_selective():
    with Session() as session:
        found = session.search("othello", OPENING, depth=8, selective=0.9)
        every = session.search("othello", OPENING, depth=8)
    assert (found.selective, found.bound, found.proved, found.depth) == (0.9, "exact", False, 8)
    assert found.to_dict()["selective"] == 0.9
    assert "alphabeta, selective 0.9, depth 8" in found.to_text()
    assert "selective" not in every.to_dict()
    assert "selective" not in every.to_text()
    assert found.nodes < every.nodes


def test_one_session_keeps_selective_and_full_searches_apart(full, rng):
    """On one table; and on one rank a selective search repeats itself."""
    for _ in range(20 if full else 4):
        text = othello.text(random_position(othello, RULES, range(10, 45), rng), RULES)
        with Session(table=1) as session:
            fresh = session.search("othello", text, depth=7)
        with Session(table=1) as session:
            first = [session.search("othello", text, depth=7, selective=each) for each in (0.6, 0.9)]
            late = session.search("othello", text, depth=7)
        with Session(table=1) as session:
            again = session.search("othello", text, depth=7, selective=0.6)
        assert (late.score, late.nodes) == (fresh.score, fresh.nodes), text
        assert (first[0].score, first[0].nodes, first[0].pv) == (again.score, again.nodes, again.pv), text


def test_an_ending_is_proved_where_all_of_it_was_searched(rng):
    with Session(table=1) as session:
        for _ in range(5):
            text = othello.text(random_position(othello, RULES, range(50, 58), rng), RULES)
            found = session.search("othello", text, time=60.0, selective=0.6)
            exact = session.search("othello", text, exact=True)
            assert (found.score, found.unit, found.proved) == (exact.score, "discs", True), text


def test_a_budget_repeats_itself():
    with Session(table=1) as session:
        first, second = (session.search("othello", OPENING, nodes=300_000, selective=0.9) for _ in range(2))
    assert (first.score, first.nodes, first.pv) == (second.score, second.nodes, second.pv)


@pytest.mark.parametrize("policy", ["pool", "window", "brothers", "split"])
@pytest.mark.parametrize("workers", [1, 3, 17])
def test_virtual_workers_come_to_an_end(policy, workers, unsure, full, rng, seed):
    """With the score of a full search, where nothing is foretold; contradictory answers stop no worker."""
    for each in range(10 if full else 1):
        position = random_position(othello, RULES, range(10, 50), rng)
        machine = Machine(
            workers, "host", delay=1e-4, jitter=0.5, rate=rng.choice((1e4, 1e5)), seed=seed + each, table=1
        )
        for asked in ({"selective": 0.51}, {"selective": 0.9, "probcut_params": unsure}):
            options = Options("othello", depth=7, policy=policy, **asked)
            found = simulate(options, machine, position, Progress(), lambda: False)
            said = othello.text(position, RULES), asked
            assert found.outcome.complete, said
            assert found.outcome.move is not None, said
            assert "probcut_params" not in asked or found.outcome.score == found.sequential.score, said
