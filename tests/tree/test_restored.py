"""Snapshots that were changed: refused in a line, or a search that comes to an end; never an index out of an array."""

import copy

import numpy as np
import pytest

from distsearch.core.errors import UserError
from distsearch.core.saved import Saved
from distsearch.games import othello
from distsearch.tree.layout import NODE
from distsearch.tree.restored import restored_lines, restored_nodes

from ..engines.positions import rules
from ..jobs.driving import do, drive, grower, runner
from .mutants import ODD, mutated
from .under_way import BOARD, DEPTH, SOURCES, begun, pool, split, worker

MUTANTS = 150


@pytest.mark.parametrize("name", SOURCES)
def test_mutants_are_refused_or_come_to_an_end(name, rng):
    states, snapshot = begun(name, rng)
    refused = 0
    for _ in range(MUTANTS):
        try:
            source = SOURCES[name](states, mutated(snapshot, rng))
        except UserError as error:
            assert str(error).startswith("the checkpoint is damaged: ")
            refused += 1
            continue
        drive(source, worker(name), rng, workers=3)
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
