"""Snapshots that were changed: refused in a line, or a search that comes to an end; never an index out of an array."""

import copy

import numpy as np
import pytest

from distsearch.core.errors import UserError
from distsearch.core.saved import Saved
from distsearch.engines.saved_path import legal_part
from distsearch.games import othello
from distsearch.jobs.two_player import TO_THE_END
from distsearch.tree.deepening import Deepening
from distsearch.tree.layout import NODE
from distsearch.tree.perft_pool import PerftPool
from distsearch.tree.position_stream import Stream
from distsearch.tree.restored import restored_lines, restored_nodes
from distsearch.tree.search_tree import ANY, SearchTree

from ..engines.positions import rules, unfinished_states
from ..jobs.driving import do, drive, grower, runner
from .mutants import ODD, mutated

BOARD, DEPTH = (6, 6), 5
EMPTIES = 8
MUTANTS = 150


def split(states, snapshot=None):
    return SearchTree(grower(BOARD), states, TO_THE_END, 8, "split", snapshot=snapshot)


def pool(states, snapshot=None):
    return SearchTree(grower(BOARD), states, DEPTH, 20, snapshot=snapshot)


def deepening(states, snapshot=None):
    def make_pool(depth, previous=None, snapshot=None):
        return SearchTree(grower(BOARD), states[:1], depth, 8, previous=previous, snapshot=snapshot)

    return Deepening(make_pool, DEPTH, snapshot=snapshot)


def perft(states, snapshot=None):
    return PerftPool(grower(BOARD), states, DEPTH, 20, snapshot=snapshot)


def stream(states, snapshot=None):
    def make_pool(state, window, shared, snapshot=None):
        return SearchTree(grower(BOARD), [state], TO_THE_END, 8 if shared else 1, window=window, snapshot=snapshot)

    def legal(state, line):
        return legal_part(othello, rules(BOARD), state, line)

    source = Stream(
        len(states[0]), TO_THE_END, 2, make_pool, ANY, first_try=20, snapshot=snapshot, capacity=16, legal_part=legal
    )
    source.add(np.array(states, np.uint64))
    source.closed = True
    return source


SOURCES = {"split": split, "pool": pool, "deepening": deepening, "perft": perft, "stream": stream}


def begun(name, rng):
    """States, and the snapshot of a source that has done some jobs while others are out."""
    states = unfinished_states(rng, BOARD, 2, most_empties=EMPTIES)
    source, worker = SOURCES[name](states), runner("perft" if name == "perft" else "subtree", BOARD)
    out = list(source.take(4, worker=1))
    for _ in range(6):
        out.extend(source.take(2, worker=1))
        if out and not source.done:
            source.finish(np.atleast_1d(do(worker, out.pop(rng.randrange(len(out))))))
    known = {int(job["job_id"]): np.zeros(30, np.uint8) for job in out[:2]}
    return states, source.snapshot(known)


@pytest.mark.parametrize("name", SOURCES)
def test_mutants_are_refused_or_come_to_an_end(name, rng):
    worker = runner("perft" if name == "perft" else "subtree", BOARD)
    states, snapshot = begun(name, rng)
    refused = 0
    for _ in range(MUTANTS):
        try:
            source = SOURCES[name](states, mutated(snapshot, rng))
        except UserError as error:
            assert str(error).startswith("the checkpoint is damaged: ")
            refused += 1
            continue
        drive(source, worker, rng, workers=3)
        assert source.done
    assert refused > MUTANTS // 5


@pytest.mark.parametrize("name", NODE.names)
def test_every_field_of_a_node_is_looked_at_or_made_anew(name, rng):
    states, snapshot = begun("split", rng)
    size = len(snapshot["nodes"]["records"])
    for value in ODD:
        mutant = copy.deepcopy(snapshot)
        mutant["nodes"]["records"][name][rng.randrange(size)] = value
        try:
            source = split(states, mutant)
        except UserError:
            continue
        drive(source, runner("subtree", BOARD), rng, workers=3)


@pytest.mark.parametrize(
    ("field", "node", "value"),
    [
        ("parent", 3, 4),
        ("children_start", 0, 0),
        ("children_start", 0, 1 << 40),
        ("child_count", 0, 1 << 40),
        ("child_count", 0, -1),
        ("best_child", 0, 0),
        ("transposition", 1, 2),
        ("root", 1, 1),
        ("depth", 1, 2),
        ("depth_left", 1, DEPTH),
        ("depth_left", 0, DEPTH - 1),
        ("move", 1, 77),
        ("over", 1, 1),
        ("status", 0, 4),
        ("status", -1, 2),
        ("key", 1, 3),
        ("expected_cut_node", 1, 2),
        ("low", 1, -(1 << 63)),
        ("cost", 1, -1),
    ],
)
def test_what_cannot_be_in_a_tree_is_refused(field, node, value):
    states = [othello.start(rules(BOARD)).state]
    snapshot = pool(states).nodes.snapshot(1)[0]
    arguments = grower(BOARD), states, [DEPTH], 1
    restored_nodes(Saved(snapshot), *arguments)
    snapshot["records"][field][node] = value
    with pytest.raises(UserError, match="its tree in it cannot be right"):
        restored_nodes(Saved(snapshot), *arguments)


def test_a_position_that_no_move_leads_to_is_refused():
    states = [othello.start(rules(BOARD)).state]
    for node in (0, 1):
        snapshot = pool(states).nodes.snapshot(1)[0]
        snapshot["state"][node, 0] ^= 1
        with pytest.raises(UserError, match="its tree in it cannot be right"):
            restored_nodes(Saved(snapshot), grower(BOARD), states, [DEPTH], 1)


def test_lines_are_cut_off_before_what_is_not_legal():
    states = [othello.start(rules(BOARD)).state]
    source = pool(states)
    for _ in range(5):
        source.finish(do(runner("subtree", BOARD), source.take(1, worker=1)[0]))
    snapshot = source.snapshot()
    nodes, lines = pool(states, snapshot).nodes, snapshot["lines"]
    assert len(restored_lines(Saved(snapshot), "lines", grower(BOARD), nodes)) == len(lines)
    whole = {int(row[0]): row[2 : 2 + row[1]].tolist() for row in lines}
    assert restored_lines(Saved(snapshot), "lines", grower(BOARD), nodes) == whole
    row = int(np.argmax(lines[:, 1]))
    lines[row, 2 + lines[row, 1] - 1] = 99
    node = int(lines[row, 0])
    assert restored_lines(Saved(snapshot), "lines", grower(BOARD), nodes)[node] == whole[node][:-1]
    lines[row, 0] = nodes.size
    with pytest.raises(UserError, match="lines in it cannot be right"):
        restored_lines(Saved(snapshot), "lines", grower(BOARD), nodes)
