"""The log of visits: every board belongs to one, whatever happens to the search."""

import random

import numpy as np
import pytest

from distsearch import evaluation, games
from distsearch.engines.pvs import kernels, visits
from distsearch.engines.pvs import table as tt
from distsearch.engines.pvs.depth_search import DepthSearch
from distsearch.engines.pvs.exact_solver import ExactSolver
from distsearch.games.random_play import random_position

PLIES = {"solve": {"othello": 43, "connect4": 12}, "deep": {"othello": 24, "connect4": 10}}
DEPTH = 9


def make(kind, name, far):
    """(engine, state at which it is begun, arguments of ``begin`` after that)."""
    game = games.find(name)
    rules = game.rules({"othello": (8, 8), "connect4": (6, 7)}[name])
    if kind == "solve":
        return game, rules, ExactSolver(game, rules, far, part=True, order=evaluation.for_order(game, rules)), ()
    chosen = evaluation.find(game, evaluation.names(game)[0], rules)
    return game, rules, DepthSearch(game, rules, chosen, far, part=True), (DEPTH,)


def position(game, rules, kind, rng):
    return random_position(game, rules, [PLIES[kind][game.NAME]], rng).state


every = pytest.mark.parametrize(("kind", "name"), [(k, n) for k in PLIES for n in ("othello", "connect4")])


@every
def test_a_log_changes_no_search_and_has_every_board(kind, name, rng):
    game, rules, plain, how = make(kind, name, tt.new_shared_table(1))
    _, _, told, _ = make(kind, name, tt.new_shared_table(1))
    log = visits.Visits()
    told.explain(log)
    total = 0
    for _ in range(4):
        state = position(game, rules, kind, rng)
        for engine in (plain, told):
            engine.begin(state, *how)
            while not engine.advance(rng.choice((50, 3_000))):
                pass
        assert told.result() == plain.result()
        assert told.table_counts == plain.table_counts
        total += told.nodes
    found = log.columns()
    assert found["nodes"].sum() == total
    assert found["answered"].all()
    assert (found["since"] < found["until"]).all()


@every
def test_no_board_is_lost_where_searches_are_narrowed_given_away_or_left(kind, name, rng):
    game, rules, engine, how = make(kind, name, tt.new_shared_table(1))
    log, total = visits.Visits(), 0
    engine.explain(log)
    for _ in range(12):
        engine.begin(position(game, rules, kind, rng), *how)
        for _ in range(rng.randint(1, 30)):
            if engine.advance(300):
                break
            _, low, high, left = engine.question
            if rng.random() < 0.2 and high - low > 2:
                engine.narrow(max(low, -5), min(high, 5)) if low < 5 and high > -5 else None
            elif rng.random() < 0.3:
                engine.split_off(left // 2)
        total += engine.nodes
    found = log.columns()
    assert found["nodes"].sum() == total
    assert not found["answered"].all()


@pytest.mark.parametrize("name", ["othello", "connect4"])
def test_ranks_in_one_search_write_to_one_log(name, rng):
    far, log = tt.new_shared_table(2), visits.Visits()
    made = [make("solve", name, far) for _ in range(3)]
    game, rules, *_ = made[0]
    engines = [engine for _, _, engine, _ in made]
    state = position(game, rules, "solve", rng)
    for engine in engines:
        engine.explain(log)
        engine.share(True)
        engine.begin(state)
        engine.share(True)
    while not any(engine.advance(200) for engine in engines):
        pass
    found = log.columns()
    for number, engine in enumerate(engines):
        assert found["nodes"][found["engine"] == number].sum() == engine.nodes
    assert len(set(found["host"].tolist())) == 1
    assert len(set(found["root"].tolist())) == 1


def test_visits_are_the_nodes_that_other_hosts_are_told_of(rng):
    """Another record of the same: entries of nodes that took so many nodes."""
    game, rules, engine, how = make("deep", "othello", tt.new_shared_table(1))
    log, told, since, root = visits.Visits(), [], (0, 0), int(kernels.ROOT)
    engine.explain(log)
    engine.set_remote_marks(np.zeros((0, 2), np.uint64), 2, 0)
    roots = set()
    while not told:
        engine.share(True)
        state = position(game, rules, "deep", rng)
        engine.begin(state, *how)
        engine.share(True)
        # a root is told by a hash of its own
        roots.add(int(engine.functions["key"](state, rules)) ^ int(engine._control["salt"]) % 2**64)
        done = False
        while not done:
            done = engine.advance(20_000)
            entries, *_, since = engine.export_updates(since)
            told += [(int(word ^ data), int(tt.depth_of(data))) for word, data in entries]
    told = [(h ^ root if h ^ root in roots else h, left) for h, left in told]
    found = log.columns()
    sums = np.concatenate([[0], np.cumsum(found["nodes"])])
    below = sums[np.searchsorted(found["since"], found["until"])] - sums[: len(found["since"])]
    smallest = engine._control["visits_from"]  # roots of shallower searches are visits as well
    dear = (below >= kernels._EXPENSIVE) & (found["left"] >= smallest) & (found["answered"] != 0)
    nodes = found["node"][dear].astype(np.int64).view(np.uint64).tolist()
    assert sorted(told) == sorted(zip(nodes, found["left"][dear].tolist()))


def test_a_full_log_stops_a_search_until_it_is_emptied(rng, monkeypatch):
    monkeypatch.setattr(visits, "_CAPACITY", 2)
    game, rules, engine, how = make("solve", "connect4", tt.new_shared_table(1))
    log, state = visits.Visits(), position(game, rules, "solve", rng)
    engine.explain(log)
    engine.begin(state)
    slices = 1
    while not engine.advance(10**9):
        slices += 1
    found = log.columns()
    assert found["nodes"].sum() == engine.nodes
    assert slices >= len(found["node"]) // 4


def test_what_is_dropped_is_marked_with_what_others_found_that_joined(rng):
    far, log = tt.new_shared_table(1), visits.Visits()
    (game, rules, owner, _), (_, _, guest, _) = made = [make("solve", "connect4", far) for _ in range(2)]
    for _, _, engine, _ in made:
        engine.explain(log)
    first, second = (position(game, rules, "solve", random.Random(n)) for n in (1, 2))
    for engine in (owner, guest):
        engine.begin(first)
        engine.advance(300)
    owner.drop()
    dropped = owner.nodes + guest.nodes
    for engine in (owner, guest):
        engine.begin(second)
        engine.advance(10**9)
    found = log.columns()
    assert found["nodes"][found["dropped"]].sum() == dropped
    assert found["nodes"][~found["dropped"]].sum() == owner.nodes + guest.nodes


def test_an_engine_that_is_not_explained_has_no_log():
    *_, engine, _ = make("solve", "connect4", tt.new_shared_table(1))
    assert engine._control["visits"] == 0
    assert engine._control["visits_from"] == tt.NEVER
