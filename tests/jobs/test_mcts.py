"""Pools of trees: the same visits, however the trees are shared out."""

import math

import numpy as np
import pytest

from distsearch import evaluation, games
from distsearch.api.options import Options
from distsearch.core.errors import UserError
from distsearch.engines.mcts import Mcts
from distsearch.engines.player import seed_of
from distsearch.jobs import mcts
from distsearch.jobs.mcts import MctsPool
from distsearch.jobs.two_player import KINDS

from .test_sampled import Case as SampledCase
from .test_sampled import shared_out, work

LIMIT = 2000


class Case(SampledCase):
    """A position with three moves; evaluated: by what."""

    def __init__(self, rng, evaluated="rows", name="2048"):
        super().__init__("ida", name, rng)
        self.how, self.setup = "mcts", Options(name, algorithm="mcts", evaluation=evaluated).setup()

    def pool(self, runs, seed, depth=0):
        return MctsPool(self.game, self.rules, self.position, LIMIT, runs, seed)

    def found(self, pool):
        return *super().found(pool), pool.mean, pool.longest


@pytest.mark.parametrize("name", ["2048", "2584"])
@pytest.mark.parametrize("evaluated", ["rows", "ntuple", "playout"])
def test_any_number_of_workers_finds_the_same(evaluated, name, rng):
    case, seed = Case(rng, evaluated, name), rng.randrange(100)
    whole = case.pool(7, seed)
    whole.finish(work(case.runner(), whole.take(10**6, 1)))
    expected = case.found(whole)
    assert whole.jobs == whole.subtrees == whole.finished == 7
    for workers in (1, 2, 5, 30):
        assert shared_out(case, case.pool(7, seed), workers, rng.randrange(100)) == expected


def test_visits_are_those_of_the_trees(rng):
    case = Case(rng)
    pool = case.pool(5, 4)
    pool.finish(work(case.runner(), pool.take(10**6, 1)))
    tree, visits, totals = Mcts(case.game, case.rules, evaluation.find(case.game, "rows", case.rules)), {}, {}
    for run in range(5):
        tree.begin(case.position.state, seed_of(4, run), LIMIT)
        tree.advance(10**9)
        found = tree.result()
        for move, count, mean in zip(found.moves, found.visits, found.means, strict=True):
            visits[move] = visits.get(move, 0) + count
            totals.setdefault(move, []).append(mean * count)
    every = sum(visits.values())
    assert pool.moves() == {move: count / every for move, count in visits.items()}
    assert pool.best() == max(visits, key=lambda move: visits[move])
    assert pool.mean == math.fsum(totals[pool.best()]) / visits[pool.best()]


def test_what_was_stopped_stays_unknown(rng):
    case = Case(rng)
    pool, runner = case.pool(2, 0), case.runner()
    jobs = pool.take(10**6, 1)
    pool.finish(work(runner, jobs[1:]))
    known = pool.moves()
    runner.begin(jobs[0])
    assert not runner.advance(1)
    pool.finish(runner.result(0.0, 0.0))
    assert not pool.done
    assert pool.moves() == known


@pytest.mark.parametrize("text", ["2,4,2,4,4,2,4,2,2,4,2,4,4,2,4,2", "2,4,8,2,0,0,0,0,0,0,0,0,0,0,0,0 +1"])
def test_where_the_player_has_no_move(text, rng):
    case = Case(rng)
    case.position = case.game.parse(text, case.rules)
    pool = case.pool(3, 0)
    pool.finish(work(case.runner(), pool.take(10**6, 1)))
    assert (pool.done, pool.moves(), pool.best(), pool.root_value) == (True, {}, None, 0.0)
    assert math.isnan(pool.mean)


def test_too_many_moves_are_refused(monkeypatch):
    monkeypatch.setattr(mcts, "MOST_MOVES", 1)
    game = games.find("2048")
    rules = game.rules()
    with pytest.raises(UserError, match="1 moves at most"):
        MctsPool(game, rules, game.parse("2,2,0,0,0,0,0,0,0,0,0,0,0,0,0,0", rules), 10, 1, 0)
    assert np.dtype(KINDS["mcts"](Options("2048", algorithm="mcts").setup()).result_dtype) == mcts.MCTS_RESULT
