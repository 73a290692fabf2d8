"""The pool of a game against chance: the values of one engine alone, to the last bit, however it is shared out."""

import numpy as np
import pytest

from distsearch import evaluation, games
from distsearch.cluster.local import InProcessCluster
from distsearch.engines.expectimax import Expectimax
from distsearch.games.interface import CHANCE, END, legal_moves, step
from distsearch.jobs.chance import ExpectimaxRunner
from distsearch.jobs.expectimax import ExpectimaxPool
from distsearch.jobs.two_player import kinds

WAYS = [
    {},
    {"points": True},
    {"uniform_chance": True},
    {"min_probability": 0.01},
    {"min_probability": 0.3, "points": True},
]


class Case:
    """A game with a position so many random plies after the beginning, and ways to search it."""

    def __init__(self, name, rng, plies, **how):
        self.game, self.how = games.find(name), how
        self.setup = {"game": name, "board": (4, 4), "options": {}, "evaluation": "rows"}
        self.setup |= {"points": False, "min_probability": 0.0, "uniform_chance": False} | how
        self.rules = self.game.rules()
        position = self.game.start(self.rules)
        while plies and (legal := legal_moves(self.game, position, self.rules)):
            position, plies = step(self.game, position, self.rules, rng.choice(legal)), plies - 1
        self.state = position.state

    def alone(self, depth):
        engine = Expectimax(self.game, self.rules, evaluation.find(self.game, "rows", self.rules), **self.how)
        engine.begin(self.state, depth)
        while not engine.advance(10**6):
            pass
        return engine.result()

    def pool(self, depth, target, **more):
        return ExpectimaxPool(self.setup, self.state, depth, target, **more)

    def runner(self):
        return ExpectimaxRunner(self.setup)

    def work(self, runner, jobs):
        """The results of jobs, in another order."""
        results = []
        for job in reversed(jobs):
            runner.begin(job)
            while not runner.advance(10**6):
                pass
            results.append(runner.result(0.0, 0.0))
        return np.concatenate(results) if results else np.empty(0, ExpectimaxRunner.result_dtype)


@pytest.mark.parametrize("name", ["2048", "2584"])
@pytest.mark.parametrize("how", WAYS, ids=str)
def test_any_pool_has_the_value_of_one_engine(name, how, rng):
    for target in (1, 2, 7, 40, 300):
        case = Case(name, rng, rng.randint(2, 60), **how)
        depth = rng.randint(1, 5)
        pool, alone, runner = case.pool(depth, target, all_moves=target == 40), case.alone(depth), case.runner()
        while not pool.done:
            pool.finish(case.work(runner, pool.take(rng.randint(1, 9), 1)))
        assert pool.value[0] == alone.value
        # what follows a single move has 3 plies left then, too few to be grown
        nothing_to_share = alone.move is None or (depth == 4 and len(alone.values) == 1)
        assert pool.subtrees >= min(target, 2) or depth < 4 or nothing_to_share
        if int(case.game.kind(case.state, case.rules)) not in (END, CHANCE):
            assert pool.best() == alone.move
            if len(pool.children[0]) > 0:
                assert pool.moves() == alone.values


def test_all_moves_are_subtrees_of_their_own(rng):
    case = Case("2048", rng, 20)
    pool = case.pool(3, 1, all_moves=True)
    assert pool.subtrees == len(pool.children[0]) == len(legal_moves(case.game, case, case.rules))


def test_jobs_of_a_lost_worker_wait_again(rng):
    case = Case("2048", rng, 30)
    pool, runner = case.pool(5, 20), case.runner()
    first, second = pool.take(3, 1), pool.take(2, 2)
    waiting = pool.waiting
    pool.lost(1)
    assert pool.waiting == waiting + 3
    assert pool.take(3, 2)["job_id"].tolist() == first["job_id"].tolist()
    pool.finish(case.work(runner, np.concatenate([first, second])))
    pool.finish(case.work(runner, pool.take(10**6, 2)))
    assert pool.done
    assert pool.value[0] == case.alone(5).value


def test_what_was_stopped_leaves_its_value_open(rng):
    case = Case("2048", rng, 30)
    pool, runner = case.pool(7, 1, all_moves=True), case.runner()
    jobs = pool.take(10**6, 1)
    done = case.work(runner, jobs[:1])
    runner.begin(jobs[1])
    runner.advance(1)
    pool.finish(done)
    pool.finish(runner.result(0.0, 0.0))
    assert not pool.done
    assert pool.take(1, 1)["job_id"].tolist() == jobs["job_id"][1:2].tolist()  # another worker may have it
    assert pool.moves() == {pool.move[int(jobs["job_id"][0])]: done["value"][0]}


def test_a_cluster_of_one_does_it(rng):
    case = Case("2048", rng, 40, min_probability=0.001)
    setup = (
        b'{"kind": "expectimax", "game": "2048", "board": [4, 4], "options": {}, "evaluation": "rows", '
        b'"points": false, "min_probability": 0.001, "uniform_chance": false}'
    )
    pool = case.pool(7, 10)
    InProcessCluster(kinds()).run(setup, pool, lambda _: False)
    assert pool.value[0] == case.alone(7).value
