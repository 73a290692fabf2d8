"""Pools of sampled runs: the same values and votes to the last bit, however the runs are shared out."""

import json
import math

import numpy as np
import pytest

from distsearch import evaluation, games
from distsearch.api.options import Options
from distsearch.cluster.local import InProcessCluster
from distsearch.cluster.simulated import NETWORKS, Faults, Processors, SimulatedCluster
from distsearch.engines.averaged import SampledRun
from distsearch.engines.ida import Ida
from distsearch.engines.player import seed_of
from distsearch.games.interface import as_state, legal_moves, step
from distsearch.jobs.sampled import AveragedPool, IdaPool
from distsearch.jobs.two_player import KINDS, kinds

WIDTH, LIMIT = 2, 300


class Case:
    """A game with a random position in which the player has a move, and its searches; how: averaged or ida."""

    def __init__(self, how, name, rng):
        self.how, self.rng = how, rng
        limits = {"width": WIDTH, "depth": 4} if how == "averaged" else {"nodes": LIMIT}
        self.setup = Options(name, algorithm=how, **limits).setup()
        self.game = games.find(name)
        self.rules = self.game.rules()
        self.position = self.apply_initial_chance(rng.randint(20, 60))
        while len(legal_moves(self.game, self.position, self.rules)) != 3:
            self.position = self.apply_initial_chance(rng.randint(20, 60))
            if self.game.kind(self.position.state, self.rules) != 1:
                self.position = self.game.start(self.rules)

    def apply_initial_chance(self, plies):
        position = self.game.start(self.rules)
        while plies and (legal := legal_moves(self.game, position, self.rules)):
            position, plies = step(self.game, position, self.rules, self.rng.choice(legal)), plies - 1
        return position

    def pool(self, runs, seed, depth=4):
        if self.how == "averaged":
            return AveragedPool(self.game, self.rules, self.position, depth, runs, seed)
        return IdaPool(self.game, self.rules, self.position, LIMIT, runs, seed)

    def runner(self):
        return KINDS[self.how](self.setup)

    def found(self, pool):
        assert pool.done
        assert pool.waiting == 0
        return pool.root_value, pool.moves(), pool.best()


def work(runner, jobs, slices=10**6):
    """The results of jobs, in another order."""
    results = [np.empty(0, runner.result_dtype)]
    for job in reversed(jobs):
        runner.begin(job)
        while not runner.advance(slices):
            pass
        results.append(runner.result(0.0, 0.0))
    return np.concatenate(results)


def shared_out(case, pool, workers, seed, faults=None):
    virtual = SimulatedCluster(
        kinds(), workers, NETWORKS["host"], Processors(1e6, spread=0.3, jitter=0.2), seed, faults
    )
    virtual.run(json.dumps(case.setup).encode(), pool, lambda _: False)
    return case.found(pool)


@pytest.mark.parametrize("name", ["2048", "2584"])
@pytest.mark.parametrize("how", ["averaged", "ida"])
def test_any_number_of_workers_finds_the_same(how, name, rng):
    case, seed = Case(how, name, rng), rng.randrange(100)
    pool = case.pool(7, seed)
    InProcessCluster(kinds()).run(json.dumps(case.setup).encode(), pool, lambda _: False)
    expected = case.found(pool)
    assert pool.jobs == pool.subtrees == pool.finished == (21 if how == "averaged" else 7)
    for workers in (1, 2, 5, 30):
        assert shared_out(case, case.pool(7, seed), workers, rng.randrange(100)) == expected


@pytest.mark.parametrize("how", ["averaged", "ida"])
def test_jobs_of_a_lost_worker_wait_again(how, rng):
    case = Case(how, "2048", rng)
    pool, runner = case.pool(5, 1), case.runner()
    first, second = pool.take(3, 1), pool.take(2, 2)
    waiting = pool.waiting
    pool.lost(1)
    assert (pool.waiting, pool.jobs) == (waiting + 3, 2)
    assert pool.take(3, 2)["job_id"].tolist() == first["job_id"].tolist()
    pool.finish(work(runner, np.concatenate([first, second])))
    pool.finish(work(runner, pool.take(10**6, 3), slices=7))
    whole = case.pool(5, 1)
    whole.finish(work(runner, whole.take(10**6, 1)))
    assert case.found(pool) == case.found(whole)


def test_workers_may_die(rng):
    case = Case("averaged", "2048", rng)
    whole = case.pool(40, 2, depth=5)
    whole.finish(work(case.runner(), whole.take(10**6, 1)))
    faults = Faults(0.5, deaths={2: rng.uniform(0, 0.01), 4: rng.uniform(0, 0.01)})
    found = shared_out(case, case.pool(40, 2, depth=5), 6, 3, faults)
    assert found == case.found(whole)


def test_a_value_is_the_mean_of_its_runs(rng):
    case = Case("averaged", "2048", rng)
    pool = case.pool(6, 11)
    pool.finish(work(case.runner(), pool.take(10**6, 1)))
    engine = SampledRun(case.game, case.rules, evaluation.find(case.game, "rows", case.rules), WIDTH)
    expected = {}
    for m in legal_moves(case.game, case.position, case.rules):
        child, values = as_state(case.game.play(case.position.state, case.rules, np.int64(m))[0]), []
        for run in range(6):
            engine.seed(seed_of(11, run))
            engine.begin(child, 3)
            while not engine.advance(10**6):
                pass
            values.append(engine.result().value)
        expected[m] = math.fsum(values) / 6
    assert pool.moves() == expected
    assert pool.best() == max(expected, key=expected.get)
    assert pool.root_value == max(expected.values())


def test_votes_are_counted_and_ties_go_to_the_larger_tile(rng):
    case = Case("ida", "2048", rng)
    pool = case.pool(4, 0)
    jobs, results = pool.take(10, 1), []
    for job, (move, goal, length) in zip(jobs, [(2, 0, 9), (2, 1, 4), (3, 1, 3), (3, 1, 5)], strict=True):
        record = np.zeros(1, pool.result_dtype)
        record["job_id"], record["complete"], record["move"] = job["job_id"], True, move
        record["goal"], record["length"] = goal, length
        results.append(record)
    pool.finish(np.concatenate(results))
    assert (pool.moves(), pool.best(), pool.root_value) == ({2: 0.5, 3: 0.5}, 3, 0.5)
    assert (pool.goals, pool.longest) == (3, 9)


def test_votes_are_those_of_the_runs(rng):
    case = Case("ida", "2048", rng)
    pool, votes = case.pool(9, 4), []
    pool.finish(work(case.runner(), pool.take(10**6, 1)))
    engine = Ida(case.game, case.rules, evaluation.find(case.game, "rows", case.rules))
    for run in range(9):
        engine.begin(case.position.state, seed_of(4, run), LIMIT)
        while not engine.advance(10**6):
            pass
        votes.append(engine.result().move)
    assert pool.moves() == {m: votes.count(m) / 9 for m in sorted(set(votes))}


@pytest.mark.parametrize("how", ["averaged", "ida"])
def test_what_was_stopped_stays_unknown(how, rng):
    case = Case(how, "2048", rng)
    if how == "ida":  # a goal that a few nodes do not find
        case.position = case.game.parse("0,0,0,0,0,0,0,0,0,0,2,0,0,0,0,1024", case.rules)
    pool, runner = case.pool(2, 0, depth=7), case.runner()
    jobs = pool.take(10**6, 1)
    pool.finish(work(runner, jobs[1:]))
    runner.begin(jobs[0])
    assert not runner.advance(1)
    pool.finish(runner.result(0.0, 0.0))
    assert not pool.done
    assert len(pool.moves()) == (2 if how == "averaged" else 1)


@pytest.mark.parametrize("how", ["averaged", "ida"])
@pytest.mark.parametrize("text", ["2,4,2,4,4,2,4,2,2,4,2,4,4,2,4,2", "2,4,8,2,0,0,0,0,0,0,0,0,0,0,0,0 +1"])
def test_where_the_player_has_no_move(how, text, rng):
    case = Case(how, "2048", rng)
    case.position = case.game.parse(text, case.rules)
    pool = case.pool(3, 0)
    pool.finish(work(case.runner(), pool.take(10**6, 1)))
    assert (pool.done, pool.moves(), pool.best()) == (True, {}, None)
    assert math.isfinite(pool.root_value)
