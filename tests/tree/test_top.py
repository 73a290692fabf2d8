"""The nodes near a root as they are shown, against the node array and the rules of what is done."""

import numpy as np
import pytest

from distsearch.games import othello
from distsearch.jobs.two_player import TO_THE_END
from distsearch.tree.deepening import Deepening
from distsearch.tree.layout import INFINITY, NONE, Status

from ..engines.positions import engine, rules, search, unfinished_states
from ..jobs.driving import do, runner
from .test_search_tree import pool_of

BOARD, DEPTH = (6, 6), 6
policies = pytest.mark.parametrize("policy", ["pool", "window", "brothers"])


def read(tree, node, name):
    """A value of the node array, None where it is infinite."""
    value = int(getattr(tree.nodes, name)[node])
    return None if abs(value) == INFINITY else value


def check(tree, shown):
    """What is shown of a tree is what its records say; returns the nodes by their ids."""
    by_id = {node.id: node for node in shown}
    assert list(by_id)[0] == 0
    depths = [int(tree.nodes.depth[node]) for node in by_id]
    assert depths == sorted(depths)
    for node in shown:
        for name in ("parent", "alpha", "beta", "low", "high", "depth_left", "cost"):
            assert getattr(node, name) == read(tree, node.id, name)
        assert node.parent in by_id or node.id == 0 and node.parent == NONE
        assert node.move == (None if node.id == 0 else int(tree.nodes.move[node.id]))
        if node.id:  # the move leads there
            child, _ = othello.play(tuple(tree.nodes.state[node.parent]), rules(BOARD), np.int64(node.move))
            assert tuple(child) == tuple(tree.nodes.state[node.id])
        if tree.is_asked(node.id) and by_id.get(node.parent, node).status != "done":
            assert node.status == Status(int(tree.nodes.status[node.id])).name.lower()
        assert (node.worker is None) == (node.status != "sent")
        if node.worker is not None:
            out = tree.jobs_out[tree.jobs_out["node"] == node.id]
            assert node.worker in out["worker"]
    return by_id


def test_few_nodes_are_those_nearest_to_the_root():
    tree = pool_of(BOARD, [othello.start(rules(BOARD)).state], DEPTH, 200)
    assert tree.nodes.size > 60
    shown = tree.top(60)
    assert len(shown) == 60
    check(tree, shown)
    deepest = max(int(tree.nodes.depth[node.id]) for node in shown)
    assert {node.id for node in shown} >= set(np.flatnonzero(tree.nodes.depth[: tree.nodes.size] < deepest).tolist())
    assert [node.id for node in tree.top(1)] == [0]


@policies
def test_windows_close_as_scores_come_in(policy, rng):
    (state,) = unfinished_states(rng, BOARD, 1)
    tree = pool_of(BOARD, [state], DEPTH, 12, policy=policy)
    worker, out, low, high = runner("subtree", BOARD), [], -np.inf, np.inf
    done, over = set(), tree.done
    while not tree.done:
        while len(out) < 3 and len(jobs := tree.take(1, worker=1 + rng.randrange(5))):
            out.extend(jobs)
        shown = check(tree, tree.top(60))
        assert policy == "pool" or shown[0].status != "done"  # a pool is searched to the end in any case
        before, root = (low, high), shown[0]
        low, high = -np.inf if root.low is None else root.low, np.inf if root.high is None else root.high
        assert before[0] <= low <= high <= before[1]
        tree.finish(np.atleast_1d(do(worker, out.pop(rng.randrange(len(out))))))
        done |= {node.id for node in shown.values() if node.status == "done"}
    root = tree.top(60)[0]
    assert (root.status, root.low, root.high) == ("done", *2 * (search(engine(BOARD), state, DEPTH).score,))
    if policy != "pool":
        assert {node.status for node in tree.top(60)} == {"done"}
    assert done or over or tree.nodes.size == 1  # over: growing the tree has ended all games below it


def test_the_tree_at_work_of_a_deepening_is_shown():
    state = othello.start(rules(BOARD)).state
    deepening = Deepening(lambda depth, **how: pool_of(BOARD, [state], depth, 6, policy="window", **how), 4)
    assert deepening.top(60) == deepening.pool.top(60)
    assert deepening.top(1)[0].depth_left == deepening.depth


def test_a_finished_game_is_done():
    state = othello.parse("X" * 35 + "O X", rules(BOARD)).state
    (root,) = pool_of(BOARD, [state], TO_THE_END, 4).top(60)
    assert (root.status, root.low, root.high) == ("done", 34, 34)
