"""Subtrees where chance has an adversary: the values of one engine alone, however they are shared out."""

import json

import numpy as np
import pytest

from distsearch import evaluation, games
from distsearch.cluster.local import InProcessCluster
from distsearch.core.errors import UserError
from distsearch.engines.expectiminimax import Expectiminimax
from distsearch.games.interface import END, MAX, as_state, legal_moves, step
from distsearch.jobs import expectiminimax
from distsearch.jobs.chance import ExpectiminimaxRunner
from distsearch.jobs.expectiminimax import ExpectiminimaxPool
from distsearch.jobs.two_player import kinds

SPAWNS = [
    ("2048", "2:0.9,4:0.1"),
    ("2048", "2:1"),
    ("2048", "2:0.6,4:0.3,8:0.1"),
    ("2584", "1:0.75,3:0.25"),
    ("2048", "2:1,4:1e-20"),
]
games_ = pytest.mark.parametrize(("name", "spawn"), SPAWNS, ids=str)
adversary_choices = pytest.mark.parametrize("adversary_chooses_all", [False, True], ids=["expectiminimax", "minimax"])


class Case:
    """A game with a position some random plies after the beginning, and ways to search it."""

    def __init__(self, name, spawn, rng, adversary_chooses_all=False, board=(4, 4)):
        self.game, self.adversary_chooses_all, self.rng = games.find(name), adversary_chooses_all, rng
        self.rules = self.game.rules(board, spawn=spawn)
        self.evaluation = evaluation.find(self.game, "rows", self.rules)
        self.setup = {
            "kind": "expectiminimax",
            "game": name,
            "board": board,
            "options": {"spawn": spawn},
            "evaluation": "rows",
            "adversary_chooses_all": adversary_chooses_all,
            "prune": True,
        }
        position, plies = self.game.start(self.rules), rng.randint(0, 120)
        while plies and (legal := legal_moves(self.game, position, self.rules)):
            position, plies = step(self.game, position, self.rules, rng.choice(legal)), plies - 1
        self.state = position.state

    def evaluate(self, state):
        return float(self.evaluation.function(state, self.rules, self.evaluation.tables))

    def alone(self, depth, prune=False):
        engine = Expectiminimax(self.game, self.rules, self.evaluation, self.adversary_chooses_all, prune)
        engine.begin(self.state, depth)
        while not engine.advance(10**6):
            pass
        return engine.result()

    def tree(self, depth, wanted_subtrees=1, par_depth=None, prune=True, **how):
        how = {"evaluate": self.rng.choice((self.evaluate, None)), "par_depth": par_depth, **how}
        return ExpectiminimaxPool({**self.setup, "prune": prune}, self.state, depth, wanted_subtrees, **how)

    def runner(self, prune=True):
        return ExpectiminimaxRunner({**self.setup, "prune": prune})

    def run(self, tree, prune=True, workers=3):
        """Have the tree done by workers that finish in any order, some are lost; return [(worker, job)] still out."""
        runner, out, losses = self.runner(prune), [], 0
        while not tree.done:
            worker = self.rng.randint(1, workers)
            out += [(worker, job) for job in tree.take(self.rng.randint(1, 3), worker)]
            if tree.done:
                break
            assert out  # or none would ever do more
            if losses < 5 and self.rng.random() < 0.05:
                tree.lost(worker)
                out, losses = [(its, job) for its, job in out if its != worker], losses + 1
            elif self.rng.random() < 0.7:
                tree.finish(searched(runner, out.pop(self.rng.randrange(len(out)))[1]))
        return out


def searched(runner, job):
    runner.begin(job)
    while not runner.advance(10**6):
        pass
    return runner.result(0.0, 0.0)


def near(expected):
    return pytest.approx(expected, rel=1e-9, abs=1e-9)


@games_
@adversary_choices
@pytest.mark.parametrize("siblings_wait", [False, True], ids=["pool", "brothers"])
def test_any_tree_has_the_value_of_one_engine(name, spawn, adversary_chooses_all, siblings_wait, rng, full):
    deepest = 3 if adversary_chooses_all and spawn.count(":") > 2 else 4  # or there would be 200,000 nodes
    for i in range(60 if full else 14):
        case = Case(name, spawn, rng, adversary_chooses_all)
        depth = rng.randint(1, 4) if adversary_chooses_all else rng.randint(1, 6)
        grown = (
            {"par_depth": rng.randint(0, min(depth, deepest))}
            if i % 2
            else {"wanted_subtrees": rng.choice((1, 2, 7, 40, 200))}
        )
        tree, alone = case.tree(depth, siblings_wait=siblings_wait, all_moves=i % 3 == 0, **grown), case.alone(depth)
        case.run(tree)
        assert tree.root_value == alone.value  # to the last bit
        assert tree.jobs_used + tree.jobs_wasted + tree.jobs_cut == tree.subtrees
        assert siblings_wait or tree.jobs_cut == 0
        if int(case.game.kind(case.state, case.rules)) == MAX:
            assert alone.values[tree.best()] == alone.value
            assert tree.moves() == {move: alone.values[move] for move in tree.moves()}
            assert i % 3 or len(tree.children[0]) == 0 or tree.moves().keys() == alone.values.keys()
        else:
            assert (tree.best(), tree.moves()) == (None, {})


@games_
@adversary_choices
def test_plain_jobs_need_nothing_and_waste_nothing(name, spawn, adversary_chooses_all, rng):
    case = Case(name, spawn, rng, adversary_chooses_all)
    tree = case.tree(4, par_depth=2, prune=False)
    case.run(tree, prune=False)
    assert tree.root_value == near(case.alone(4).value)
    assert (tree.jobs_used, tree.jobs_wasted, tree.jobs_cut) == (tree.subtrees, 0, 0)


@games_
def test_every_node_at_the_par_depth_is_a_job(name, spawn, rng):
    case = next(c for c in iter(lambda: Case(name, spawn, rng), None) if int(c.game.kind(c.state, c.rules)) == MAX)
    moves = legal_moves(case.game, case, case.rules)
    draws = spawn.count(":")
    after = [as_state(case.game.play(case.state, case.rules, np.int64(m))[0]) for m in moves]
    outcomes = [case.game.moves(state, case.rules, np.zeros(256, np.int16), 0) for state in after]
    expected = [1, len(moves), draws * len(moves), sum(outcomes)]
    for par_depth, subtrees in enumerate(expected):
        tree = case.tree(7, par_depth=par_depth)
        assert tree.subtrees == subtrees
        assert set(tree.take(10**6, 1)["depth"]) == {7 - par_depth}


def test_all_jobs_of_a_pool_have_the_full_window(rng):
    case = next(
        c for c in iter(lambda: Case("2048", SPAWNS[0][1], rng), None) if int(c.game.kind(c.state, c.rules)) != END
    )
    tree, runner = case.tree(7, wanted_subtrees=50), case.runner()
    tree.finish(np.concatenate([searched(runner, job) for job in tree.take(5, 1)]))
    jobs = tree.take(10**6, 1)
    assert set(jobs["alpha"]) == {-np.inf}
    assert set(jobs["beta"]) == {np.inf}


def test_siblings_wait_for_the_first_child_and_get_windows(rng):
    case = Case("2048", SPAWNS[0][1], rng)
    case.state = case.game.parse("2,4,8,16,0,2,4,32,0,0,2,64,0,0,0,128", case.rules).state
    tree, runner = case.tree(7, par_depth=3, siblings_wait=True), case.runner()
    assert tree.waiting == 2  # the first reply to each of two tiles, after the first move
    first_child = tree.children[0][0]
    jobs, windows = tree.take(9, 1), set()
    while not tree.closed[first_child]:
        assert all(tree.parent[tree.parent[tree.parent[job["job_id"]]]] == 0 for job in jobs)
        tree.finish(np.concatenate([searched(runner, job) for job in jobs]))
        jobs = tree.take(9, 1)
        windows |= {(float(job["alpha"]), float(job["beta"])) for job in jobs}
    assert len(windows) > 1
    best = tree.low[first_child]
    assert best == tree.high[first_child] == near(case.alone(7).values[tree.move[first_child]])


def test_jobs_of_a_lost_worker_wait_again(rng):
    case = Case("2048", SPAWNS[0][1], rng)
    tree, runner = case.tree(6, wanted_subtrees=20), case.runner()
    first, second = tree.take(3, 1), tree.take(2, 2)
    waiting = tree.waiting
    tree.lost(1)
    assert tree.waiting == waiting + len(first)
    assert tree.take(3, 2)["job_id"].tolist() == first["job_id"].tolist()
    for job in (*first, *second, *tree.take(10**6, 2)):
        tree.finish(searched(runner, job))
    assert tree.root_value == near(case.alone(6).value)


def test_what_was_stopped_leaves_its_value_open(rng):
    case = next(
        c
        for c in iter(lambda: Case("2048", SPAWNS[0][1], rng), None)
        if len(legal_moves(c.game, c, c.rules)) > 1 and int(c.game.kind(c.state, c.rules)) == MAX
    )
    tree, runner = case.tree(7, all_moves=True), case.runner()
    jobs = tree.take(10**6, 1)
    done = searched(runner, jobs[0])
    runner.begin(jobs[1])
    runner.advance(1)
    tree.finish(done)
    tree.finish(runner.result(0.0, 0.0))
    assert not tree.done
    assert np.isnan(tree.root_value)
    assert tree.moves() == {tree.move[int(jobs["job_id"][0])]: done["value"][0]}
    assert tree.best() == tree.move[int(jobs["job_id"][0])]


@adversary_choices
def test_brothers_take_fewer_nodes_than_the_pool(adversary_chooses_all, rng, full):
    nodes, cut = {True: 0, False: 0}, 0
    for _ in range(40 if full else 8):
        case = Case("2048", SPAWNS[0][1], rng, adversary_chooses_all)
        for siblings_wait in nodes:
            tree = case.tree(5, par_depth=3, siblings_wait=siblings_wait, evaluate=case.evaluate)
            case.run(tree, workers=2)
            nodes[siblings_wait] += tree.nodes
            cut += tree.jobs_cut
    assert nodes[True] < nodes[False]
    assert cut > 0


def test_jobs_that_are_still_out_at_the_end_are_wasted(rng):
    for _ in range(40):
        case = Case("2048", SPAWNS[0][1], rng)
        tree = case.tree(5, par_depth=3, siblings_wait=True)
        out = case.run(tree)
        wasted = tree.jobs_wasted
        for _, job in out:
            tree.finish(searched(case.runner(), job))
        assert tree.jobs_wasted == wasted
        if out:
            return
    raise AssertionError("no tree was done with jobs out")


def test_a_tree_that_is_too_large_is_refused(rng, monkeypatch):
    monkeypatch.setattr(expectiminimax, "_MOST_NODES", 5_000)
    case = Case("2048", SPAWNS[0][1], rng)
    case.state = case.game.parse("2,0,0,0,0,0,0,0,0,0,4,0,0,0,0,0", case.rules).state
    with pytest.raises(UserError, match="par-depth makes a tree of more than"):
        case.tree(30, par_depth=20)


def test_a_finished_game_is_one_job(rng):
    case = Case("2048", SPAWNS[0][1], rng)
    case.state = case.game.parse("2,4,2,4,4,2,4,2,2,4,2,4,4,2,4,2", case.rules).state
    assert int(case.game.kind(case.state, case.rules)) == END
    tree = case.tree(7, par_depth=3, siblings_wait=True)
    case.run(tree)
    assert (tree.subtrees, tree.best(), tree.root_value) == (1, None, case.evaluate(case.state))


@pytest.mark.parametrize("siblings_wait", [False, True], ids=["pool", "brothers"])
def test_a_cluster_of_one_does_it(siblings_wait, rng):
    case = Case("2048", SPAWNS[0][1], rng)
    tree = case.tree(7, wanted_subtrees=30, siblings_wait=siblings_wait)
    setup = json.dumps({**case.setup, "prune": True}).encode()
    InProcessCluster(kinds()).run(setup, tree, lambda _: False)
    assert tree.root_value == near(case.alone(7).value)
