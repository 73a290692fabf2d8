"""Searches on virtual workers: the right score whatever the delays, and the same run from the same seed."""

import dataclasses
import json
import random
import shlex

import pytest

from distsearch.api.options import Options
from distsearch.api.progress import Progress
from distsearch.api.simulate import Machine, simulate
from distsearch.api.two_player import TwoPlayerSearcher
from distsearch.cluster.local import InProcessCluster
from distsearch.core.errors import UserError
from distsearch.games import othello
from distsearch.jobs.two_player import kinds

from ..engines.positions import EVALUATIONS, engine, rules, search, unfinished_positions
from ..games.othello_twin import OthelloTwin

BOARDS = ((4, 4), (5, 4), (6, 6), (8, 8))
RATE = 1e7  # nodes a second; given, so that nothing is measured


def drawn(seed, full=False):
    """A search on a virtual cluster, all of it drawn from ``seed``: (text of the position, options, machine).

    full: by any evaluation, each of which has kernels of its own.
    """
    rng = random.Random(seed)
    board = rng.choice(BOARDS)
    text = OthelloTwin(*board).text(unfinished_positions(rng, board, 1)[0])
    options = {
        "board": board,
        "depth": rng.randint(1, 5),
        "evaluation": rng.choice(EVALUATIONS if full else ["static"]),
        "load_factor": rng.randint(1, 16),
        "prefetch": rng.randint(1, 4),
    }
    machine = {
        "workers": rng.randint(1, 64),
        "network": rng.choice(("host", "tcp")),
        "delay": rng.choice((0.0, 1e-5, 1e-3, 0.1)),
        "spread": rng.choice((0.0, 0.3)),
        "jitter": rng.choice((0.0, 0.5)),
        "rate": RATE,
        "busy_rate": RATE * rng.choice((1.0, 0.5)),
        "seed": seed,
    }
    machine["hosts"] = rng.randint(1, min(4, machine["workers"]))
    return text, options, machine


def command(text, options, machine):
    """The command line that runs such a search again."""
    given = {**options, **machine, "board": "{}x{}".format(*options["board"])}
    rest = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in given.items())
    return f"distsearch simulate othello {shlex.quote(text)} {rest}"


def run(text, options, machine):
    """The Simulation of a drawn search."""
    position = othello.parse(text, rules(options["board"]))
    return simulate(Options("othello", **options), Machine(**machine), position, Progress(), lambda: False)


def test_the_score_is_minimax_whatever_the_delays(full, seed):
    for each in range(seed, seed + (2000 if full else 40)):
        asked = text, options, _ = drawn(each, full)
        plain = engine(options["board"], options["evaluation"], prune=False)
        expected = search(plain, othello.parse(text, rules(options["board"])).state, options["depth"]).score
        found = run(*asked)
        assert found.outcome.score == expected, f"replay: {command(*asked)}"
        assert found.outcome.complete


def test_a_seed_repeats_itself(seed):
    first, second = (run(*drawn(seed)) for _ in range(2))
    assert first.to_json() == second.to_json()


def test_figures_of_one_worker_without_delays():
    text, options = "startpos", {"board": (8, 8), "depth": 9, "load_factor": 1, "evaluation": "static"}
    found = run(text, options, {"workers": 1, "rate": 1e5})
    figures = found.figures
    assert figures["search_overhead"] == 1
    assert figures["speedup"] == pytest.approx(1, abs=0.05)
    assert figures["efficiency"] == pytest.approx(figures["speedup"] / 2, abs=1e-3)
    assert figures["efficiency_by_workers"] == pytest.approx(figures["speedup"], abs=1e-3)


def test_workers_and_time(seed):
    """More workers are faster, and every worker's three timers add up to its wall time."""
    options = {"board": (8, 8), "depth": 9, "load_factor": 8, "evaluation": "static"}
    alone, many = (run("startpos", options, {"workers": n, "rate": 1e6}) for n in (1, 8))
    assert many.outcome.seconds < alone.outcome.seconds
    for worker in many.outcome.per_worker:
        parts = worker["busy"] + worker["communication"] + worker["idle"]
        assert parts == pytest.approx(worker["wall"], rel=0.02)


def test_busy_workers_slow_each_other_down():
    """Twice the time where all work all the time, and less than that where some of them rest."""
    options = {"board": (8, 8), "depth": 9, "load_factor": 64, "ordering": "static", "evaluation": "static"}
    even, slowed = (run("startpos", options, {"workers": 4, "rate": 1e6, "busy_rate": b}) for b in (1e6, 5e5))
    assert 1.8 < slowed.outcome.seconds / even.outcome.seconds <= 2.02
    options["load_factor"] = 1
    even, slowed = (run("startpos", options, {"workers": 30, "rate": 1e6, "busy_rate": b}) for b in (1e6, 5e5))
    assert even.outcome.seconds < slowed.outcome.seconds < 1.8 * even.outcome.seconds


def test_the_real_search_gives_the_same_tree():
    """With one worker nothing depends on timing: the virtual search and the real one visit the same nodes."""
    options = Options("othello", board=(8, 8), depth=8, load_factor=16, evaluation="static")
    start = othello.start(rules((8, 8)))
    real = next(TwoPlayerSearcher(options, InProcessCluster(kinds())).search([start]))
    virtual = simulate(options, Machine(workers=1, rate=RATE), start, Progress(), lambda: False).outcome
    assert (virtual.nodes, virtual.jobs, virtual.score) == (real.nodes, real.jobs, real.score)


def test_time_limit_is_virtual():
    options = Options("othello", time=0.05, evaluation="static")
    start = othello.start(rules((8, 8)))
    found = simulate(options, Machine(workers=2, rate=1e6), start, Progress(), lambda: False).outcome
    assert found.complete
    assert found.seconds == pytest.approx(0.05, abs=0.02)


def test_json_has_all_fields():
    found = json.loads(run(*drawn(1)).to_json())
    assert found["simulated"] is True
    assert found.keys() >= {"score", "speedup", "efficiency", "search_overhead", "idle_share", "rate", "seed"}


@pytest.mark.parametrize(
    "field, value",
    [
        ("workers", 0),
        ("network", "wifi"),
        ("latency", -1.0),
        ("bandwidth", 0.0),
        ("rate", -5.0),
        ("busy_rate", 0.0),
        ("busy_rate", 1e-300),
        ("busy_rate", float("nan")),
        ("latency", float("inf")),
        ("spread", -0.1),
    ],
)
def test_impossible_machines_are_refused(field, value):
    with pytest.raises(UserError, match=field.replace("_", "-")):
        dataclasses.replace(Machine(), **{field: value})


def test_of_a_search_that_was_stopped_no_speedup_is_told():
    game, looks = othello, iter(range(1000))
    position = game.start(game.rules((6, 6)))
    options = Options("othello", board=(6, 6), depth=9, evaluation="static")
    stopped = simulate(options, Machine(workers=3, rate=RATE), position, Progress(), lambda: next(looks) > 2)
    assert not stopped.outcome.complete or not stopped.sequential.complete
    told = json.loads(stopped.to_json())
    assert {told[name] for name in ("speedup", "efficiency", "efficiency_by_workers", "search_overhead")} == {None}
    assert "unknown, since the search was stopped" in stopped.to_text()
