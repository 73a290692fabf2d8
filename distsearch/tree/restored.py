"""The node array of a saved search, looked at before kernels follow its indices.

Every node must have its place in the forest and come from its parent by a legal move. Scores are not
checked: any value in range is possible.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import jit
from ..core.saved import LARGEST, Saved
from ..engines.alphabeta import LINE_LENGTH
from ..games import lanes
from ..games.interface import END, MAX_MOVES, PASS
from .layout import DONE, GROWN, INFINITY, NODE, NONE, SENT, WAITING, node_at
from .nodes import NodeArray

# pyright: reportCallIssue=false
# bound for each game, and by the engine
canonical = key = kind = moves = play = None
FLAGS = "over", "expected_cut_node"


def first_odd_node(s, r, nodes, size, state, scratch, out, pass_plies):
    """Return the first node that does not come from its parent by a legal move, ``size`` if there is none.

    nodes: address of the node array; state: of its positions; scratch: uint64, room for one; out: int16, for its moves.
    """
    words, width = state.reshape(-1), len(s)
    for node in range(size):
        n, here = node_at(nodes, node), lanes.load(s, words, node * width)
        if n.over != (kind(here, r) == END) or n.key != 0 and n.key != np.int64(key(canonical(here, r), r)):
            return node
        legal = np.int64(moves(here, r, out, 0)) if n.child_count > 0 else np.int64(0)
        for i in range(n.children_start, n.children_start + n.child_count):
            child = node_at(nodes, i)
            m, known = child.move, False
            for j in range(legal):
                known = known or out[j] == m
            plies = np.int64(1) if m != PASS else np.int64(pass_plies)
            if not known or child.depth_left != n.depth_left - plies:
                return i
            position, _ = play(here, r, m)
            lanes.store(scratch, 0, position)
            for word in range(width):
                if scratch[word] != words[i * width + word]:
                    return i
    return size


def cut_lines(s, r, state, lines, out):
    """Cut lines (int64: a node, a number of moves, and moves) off before their first move that is not legal.

    state: of the node array's positions; out: int16, for moves. Returns how many lines were cut off.
    """
    cut = 0
    words, width = state.reshape(-1), len(s)
    for row in range(len(lines)):
        line = lines[row]
        here = lanes.load(s, words, line[0] * width)
        for at in range(line[1]):
            n, known = np.int64(moves(here, r, out, 0)), False
            for j in range(n):
                known = known or out[j] == line[2 + at]
            if not known:
                line[1] = at
                cut += 1
                break
            here, _ = play(here, r, line[2 + at])
    return cut


def _kernel(template, grower):
    return jit.specialise(template, f"{template.__name__}_{grower.name}", grower.functions)


def restored_nodes(
    saved: Saved, grower: Any, states: Sequence, depths_left: Sequence[int], pass_plies: int
) -> NodeArray:
    """Return the NodeArray of a snapshot, in which nodes that were SENT wait again: no worker has them.

    saved: what ``NodeArray.snapshot`` gave; grower: the ``Grower`` of the game; states, depths_left: of its roots;
    pass_plies: plies that a pass costs. Raises UserError for what no search of these roots could have left.
    """
    words = len(states[0])
    records = saved.array("records", NODE, (None,)).copy()
    state = saved.array("state", np.uint64, (len(records), words))
    if not (_is_forest(records, len(states), depths_left) and np.array_equal(state[: len(states)], states)):
        raise saved.damaged("its tree")
    records["status"][records["status"] == SENT] = WAITING
    records["first_child"] = np.where(records["best_child"] == NONE, records["children_start"], records["best_child"])
    # what was of other arrays, and of questions that are asked again
    records["previous_iteration_node"] = NONE
    for name in ("job_id", "queued", "deferred", "alpha", "beta", "visited"):
        records[name] = 0
    nodes = NodeArray(words, len(records))
    nodes.size = len(records)
    nodes.state[:], nodes.records[:] = state, records
    scratch, out = np.zeros(words, np.uint64), np.zeros(2 * MAX_MOVES, np.int16)
    where = nodes.address, nodes.size, nodes.state, scratch, out
    if _kernel(first_odd_node, grower)(grower.start, grower.rules, *where, pass_plies) < nodes.size:
        raise saved.damaged("its tree")
    return nodes


def restored_lines(saved: Saved, name: str, grower: Any, nodes: NodeArray) -> dict[int, list[int]]:
    """Return each node's line. In the file each row is: node, number of moves, LINE_LENGTH moves.

    A line is cut off before a move that is not legal. Raises UserError for what is no such array.
    """
    rows = saved.array(name, np.int64, (None, LINE_LENGTH + 2)).copy()
    node, length = rows[:, 0], rows[:, 1]
    if not np.all((node >= 0) & (node < nodes.size) & (length >= 0) & (length <= LINE_LENGTH)):
        raise saved.damaged(name)
    _kernel(cut_lines, grower)(grower.start, grower.rules, nodes.state, rows, np.zeros(2 * MAX_MOVES, np.int16))
    return {row[0]: row[2 : 2 + row[1]] for row in rows.tolist()}


def _is_forest(records, roots, depths_left):
    """Whether indices, flags, bounds and costs are those of a forest with this many roots."""
    size = len(records)
    at, is_root = np.arange(size), np.arange(size) < roots
    start, count, parent = (records[name] for name in ("children_start", "child_count", "parent"))
    status, best, ring = (records[name] for name in ("status", "best_child", "transposition"))
    if size < roots or not np.isin(status, (WAITING, SENT, GROWN, DONE)).all():
        return False
    inner = (count > 0) & (count <= size) & (start > at) & (start <= size - np.minimum(count, size))
    leaf = (count == 0) & (status != GROWN)
    below = np.where(is_root, 0, parent)
    if not ((inner & (status == GROWN)) | leaf).all() or np.any((below < 0) | (below >= np.maximum(at, 1))):
        return False
    placed = (start[below] <= at) & (at < start[below] + count[below]) & (records["root"] == records["root"][below])
    placed &= records["depth"] == records["depth"][below] + 1
    at_top = (parent == NONE) & (records["root"] == at) & (records["depth"] == 0)
    if not np.where(is_root, at_top, placed).all() or count.sum() != size - roots:
        return False
    has_best = (best >= start) & (best < start + count)
    if not ((best == NONE) | has_best).all() or not np.array_equal(np.sort(ring), at):
        return False
    same = (records["key"][ring] == records["key"]) & (records["depth_left"][ring] == records["depth_left"])
    if not (same | (ring == at)).all() or not np.isin(np.array([records[name] for name in FLAGS]), (0, 1)).all():
        return False
    bounds = np.array([records[name] for name in ("low", "high", "null_window_beta")])
    bounded = np.all((bounds >= -INFINITY) & (bounds <= INFINITY))
    bounded &= np.all(records["depth_left"] >= 0)
    bounded &= np.all((records["cost"] >= 0) & (records["cost"] < LARGEST))
    return bounded and np.array_equal(records["depth_left"][:roots], depths_left)
