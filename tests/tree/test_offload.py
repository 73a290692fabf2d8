"""Parts that a worker offloads: roots of their own with one question, whose answers go back to the owner of the job."""

import numpy as np
import pytest

from distsearch.core.saved import Saved
from distsearch.games import othello
from distsearch.games.interface import legal_moves, step
from distsearch.games.random_play import random_positions
from distsearch.jobs.offloaded import row
from distsearch.jobs.two_player import KINDS, TO_THE_END
from distsearch.tree.restored import restored_nodes
from distsearch.tree.search_tree import SearchTree

from ..engines.positions import rules
from ..jobs.driving import do, grower

BOARD = (6, 6)
OWNER, OTHER = 1, 2
SETUP = {"kind": "solve", "game": "othello", "board": list(BOARD), "options": {}}


@pytest.fixture(scope="module")
def solver():
    return KINDS["solve"](SETUP)


@pytest.fixture
def offloading(rng):
    """(tree, the owner's job, [(state, depth left)] of parts of it)."""
    r = rules(BOARD)
    (position,) = [
        each for each in random_positions(othello, r, range(19, 20), 40, rng) if len(legal_moves(othello, each, r)) > 2
    ][:1]
    tree = SearchTree(grower(BOARD), [position.state], TO_THE_END, 8, "split")
    (job,) = tree.take(8, OWNER, full_window=True)
    moves = legal_moves(othello, position, r)
    states = [step(othello, position, r, m).state for m in moves]
    return tree, job, [(state, int(othello.moves_left(state, r))) for state in states]


def offload(tree, job, parts, low=-1, high=0, first=0):
    """Offload parts; return their numbers."""
    rows = [row(job["job_id"], first + i, low, high, depth_left, state) for i, (state, depth_left) in enumerate(parts)]
    tree.on_offload(OWNER, np.concatenate(rows))
    return list(range(first, first + len(parts)))


def test_the_owner_has_the_root_with_its_full_window(offloading):
    tree, job, _ = offloading
    assert tree.offloads
    assert job["low"] < -64
    assert job["high"] > 64
    assert tree.waiting == 0


def test_answers_go_back_and_only_the_job_counts(offloading, solver):
    tree, job, parts = offloading
    numbers = offload(tree, job, parts)
    assert tree.offloaded == tree.waiting == len(parts)
    taken, answers = tree.take(100, OTHER), {}
    assert sorted(tuple(each["state"]) for each in taken) == sorted(state for state, _ in parts)
    assert {(each["low"], each["high"]) for each in taken} == {(-1, 0)}
    for each in taken:
        tree.finish(do(solver, each))
        for worker, rows in tree.offload_results().items():
            assert worker == OWNER
            answers |= {subtree: (low, high) for subtree, low, high in rows}
    assert sorted(answers) == numbers
    for (state, _), (low, high) in zip(parts, [answers[number] for number in numbers], strict=True):
        question = taken[0].copy()
        question["state"], question["low"], question["high"] = state, -100, 100
        score = do(solver, question)["score"][0]
        assert low <= score <= high
        assert low >= 0 or high <= -1
    assert (tree.offloaded, tree.done) == (0, False)
    result = do(solver, job)
    nodes = int(result["nodes"][0])
    offload(tree, job, parts[:1], first=50)
    tree.finish(result)
    assert tree.done
    assert tree.score(0) == result["score"][0]
    assert tree.offloaded == 0
    assert tree.nodes.cost[0] > nodes  # those of the parts as well


def test_parts_that_end_are_dropped_wherever_they_are(offloading):
    tree, job, parts = offloading
    numbers = offload(tree, job, parts)
    (taken,) = tree.take(1, OTHER)
    tree.on_offload(OWNER, np.concatenate([row(0, number, 0, 0, 0, parts[0][0]) for number in numbers]))
    assert (tree.offloaded, tree.waiting) == (0, 0)
    updates = {(worker, name): low < high for worker, name, low, high, *_ in tree.job_updates(0)}
    assert updates[OTHER, int(taken["job_id"])] is False
    tree.on_offload(OWNER, row(0, 999, 0, 0, 0, parts[0][0]))  # not known
    assert tree.offload_results() == {}


def test_a_lost_owner_ends_its_parts(offloading):
    tree, job, parts = offloading
    offload(tree, job, parts)
    tree.lost(OWNER)
    assert tree.offloaded == 0
    assert tree.waiting == 1  # the job itself
    tree.on_offload(OWNER, row(job["job_id"], 77, -1, 0, parts[0][1], parts[0][0]))  # on its way when it was lost
    assert tree.offloaded == 0


def test_nodes_of_parts_are_used_again(offloading, solver):
    tree, job, parts = offloading
    for first in range(0, 40, 10):
        offload(tree, job, parts[:3], first=first)
        size = tree.nodes.size
        for each in tree.take(100, OTHER):
            tree.finish(do(solver, each))
        assert len(tree.offload_results()[OWNER]) == 3
        assert size == 4


def test_a_snapshot_is_of_the_tree_without_its_parts(offloading, solver):
    tree, job, parts = offloading
    offload(tree, job, parts)
    taken = tree.take(100, OTHER)
    tree.finish(do(solver, taken[0]))
    known = {int(each["job_id"]): np.zeros(5, np.uint8) for each in (job, taken[1])}
    snapshot = tree.snapshot(known)
    assert len(snapshot["nodes"]["records"]) == 1
    assert [name.split()[0] for name in snapshot["progress"]] == ["0"]
    again = SearchTree(grower(BOARD), [tuple(job["state"])], TO_THE_END, 8, "split", snapshot=snapshot)
    (question,) = again.take(8, OWNER, full_window=True)
    result = do(solver, question)
    again.finish(result)
    assert again.done
    assert again.score(0) == result["score"][0]


def test_nodes_behind_a_part_are_numbered_anew_in_a_snapshot():
    state = othello.start(rules(BOARD)).state
    tree = SearchTree(grower(BOARD), [state], 5, 4)
    nodes, table = tree.nodes, np.zeros(0, np.int64)
    grown = nodes.size
    part = nodes.add_root(state, 3)
    nodes.root[part], nodes.depth[part] = 0, 1
    for node in (part, grown - 1):  # the part's children come before those of a node of the tree
        nodes.reserve(100)
        grower(BOARD).expand(nodes, node, (1, 0), nodes, table, True)
    outside = 1 + int(nodes.child_count[part])
    nodes.transposition[[1, part]] = part, 1  # a ring through the part
    nodes.key[part], nodes.depth_left[part] = nodes.key[1], nodes.depth_left[1]
    snapshot, kept = nodes.snapshot(1)
    assert len(kept) == nodes.size - outside
    again = restored_nodes(Saved({"nodes": snapshot}).part("nodes"), grower(BOARD), [state], [5], 1)
    assert again.state[: again.size].tolist() == nodes.state[kept].tolist()
    assert again.transposition[1] == 1
    assert again.child_count[grown - 1] == nodes.child_count[grown - 1] > 0
    assert again.children_start[grown - 1] == nodes.children_start[grown - 1] - outside
