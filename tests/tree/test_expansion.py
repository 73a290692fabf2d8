"""Growth: node by node the same as plain breadth-first search in Python."""

from dataclasses import dataclass

import numpy as np
import pytest

from distsearch.games import othello, othello_knowledge
from distsearch.games.interface import END, MAX_MOVES, PASS, Position, step
from distsearch.tree import windows
from distsearch.tree.layout import GROWN, INFINITY, NONE, WAITING
from distsearch.tree.nodes import NodeArray
from distsearch.tree.tree_arrays import TreeArrays

from ..engines.positions import board_id, engine, rules, search, state_of, unfinished_states
from ..jobs.driving import grower

WIN = 1000

boards = pytest.mark.parametrize("board", [(4, 4), (6, 6), (9, 8)], ids=board_id)


@dataclass
class Plain:
    """A node of the plain search."""

    position: Position
    parent: int
    root: int
    depth: int
    depth_left: int
    move: int = NONE
    children: tuple = ()


def ordered(position, r):
    out = np.zeros(MAX_MOVES, np.int16)
    return out[: othello_knowledge.ordered_moves(position.state, r, out, 0)].tolist()


def plain_growth(states, depth_left, r, wanted_subtrees, full_width_depth=0, pass_plies=1):
    """Grow plain nodes in order until ``wanted_subtrees`` unfinished ones are without children."""
    nodes = [Plain(Position(state), NONE, i, 0, depth_left) for i, state in enumerate(states)]
    waiting = len(nodes)
    for index, node in enumerate(nodes):  # the list grows on the way
        if waiting >= wanted_subtrees and node.depth >= full_width_depth:
            break
        moves = ordered(node.position, r)
        if not moves or (node.depth_left < 2 and node.depth >= full_width_depth):
            continue
        node.children = tuple(range(len(nodes), len(nodes) + len(moves)))
        waiting -= 1
        for m in moves:
            after = step(othello, node.position, r, m)
            plies = pass_plies if m == PASS else 1
            nodes.append(Plain(after, index, node.root, node.depth + 1, node.depth_left - plies, m))
            waiting += othello.kind(after.state, r) != END
    return nodes, waiting


def forest_of(states, depth_left):
    nodes = NodeArray(len(states[0]))
    for state in states:
        nodes.add_root(state, depth_left)
    return nodes


def grown(board, states, depth_left, wanted_subtrees, **options):
    """Return (NodeArray, waiting)."""
    nodes = forest_of(states, depth_left)
    _, waiting = grower(board).grow(nodes, 0, len(states), wanted_subtrees, **options)
    return nodes, waiting


def check_same(nodes, plain, r):
    """Compare all that growth alone decides."""
    assert nodes.size == len(plain)
    for name in ("parent", "root", "depth", "depth_left", "move"):
        assert getattr(nodes, name)[: nodes.size].tolist() == [getattr(node, name) for node in plain], name
    assert [tuple(state) for state in nodes.state[: nodes.size]] == [node.position.state for node in plain]
    assert nodes.child_count[: nodes.size].tolist() == [len(node.children) for node in plain]
    for i, node in enumerate(plain):
        if node.children:
            assert nodes.children_start[i] == node.children[0]
        over = node.depth > 0 and othello.kind(node.position.state, r) == END
        assert nodes.over[i] == over
        assert nodes.status[i] == (GROWN if node.children else WAITING)


def check_scores(nodes, plain, r, win_bonus):
    """Finished children are scored, and backed up by ``back_up_all``; nothing else is known."""
    size = nodes.size
    assert (nodes.best_child[:size] == NONE).all()
    unknown = nodes.over[:size] == 0
    assert (nodes.low[:size][unknown] == -INFINITY).all()
    assert (nodes.high[:size][unknown] == INFINITY).all()
    windows.back_up_all(TreeArrays(nodes).address, size)
    for i in reversed(range(size)):
        children = plain[i].children
        bounds = nodes.low[i], nodes.high[i]
        if nodes.over[i]:
            final = othello.final(plain[i].position.state, r)
            score = final + win_bonus * np.sign(final)
            assert bounds == (score, score)
        elif not children:
            assert bounds == (-INFINITY, INFINITY)
            assert nodes.best_child[i] == NONE
        else:
            lows, highs = [-nodes.high[child] for child in children], [-nodes.low[child] for child in children]
            assert bounds == (max(lows), max(highs))
            first = children[lows.index(max(lows))]
            assert nodes.best_child[i] == (NONE if max(lows) == -INFINITY else first)


@boards
@pytest.mark.parametrize("late", [False, True], ids=["any stage", "late"])
@pytest.mark.parametrize("wanted_subtrees", [1, 7, 300])
def test_growth_is_breadth_first(board, late, wanted_subtrees, rng):
    states = unfinished_states(rng, board, rng.randint(1, 5), most_empties=5 if late else None)
    depth_left = rng.randint(1, 8)
    nodes, waiting = grown(board, states, depth_left, wanted_subtrees, win_bonus=WIN)
    plain, expected = plain_growth(states, depth_left, rules(board), wanted_subtrees)
    unfinished = nodes.over[: nodes.size] == 0
    assert waiting == expected == (unfinished & (nodes.status[: nodes.size] == WAITING)).sum()
    check_same(nodes, plain, rules(board))
    check_scores(nodes, plain, rules(board), WIN)


@boards
def test_growth_without_cost_of_passes(board, rng):
    states = unfinished_states(rng, board, 4, most_empties=5)
    nodes, _ = grown(board, states, 5, 1000, pass_plies=0)
    plain, _ = plain_growth(states, 5, rules(board), 1000, pass_plies=0)
    check_same(nodes, plain, rules(board))
    check_scores(nodes, plain, rules(board), win_bonus=0)


@boards
@pytest.mark.parametrize("full_width_depth", [1, 2])
def test_forced_plies_are_grown_whatever_the_target_and_the_depth(board, full_width_depth, rng):
    states = unfinished_states(rng, board, 3)
    for depth_left in (1, 4):
        nodes, _ = grown(board, states, depth_left, 1, full_width_depth=full_width_depth)
        plain, _ = plain_growth(states, depth_left, rules(board), 1, full_width_depth=full_width_depth)
        check_same(nodes, plain, rules(board))
        assert nodes.depth[: nodes.size].max() == full_width_depth


@boards
def test_the_target_is_reached_and_not_by_much(board):
    start = othello.start(rules(board)).state
    for wanted_subtrees in (1, 2, 10, 100, 500):
        nodes, waiting = grown(board, [start], 20, wanted_subtrees)
        assert wanted_subtrees <= waiting < wanted_subtrees + 20
        open_ones = (nodes.status[: nodes.size] == WAITING) & (nodes.over[: nodes.size] == 0)
        depths = nodes.depth[: nodes.size][open_ones]
        assert depths.max() - depths.min() <= 1


def test_the_depth_limit_ends_growth():
    start = othello.start(rules((6, 6))).state
    nodes, waiting = grown((6, 6), [start], 4, 10**6)
    assert waiting == 56  # the positions three plies from the start: the last ply is for the workers
    assert nodes.depth_left[: nodes.size].min() == 1


def test_growth_goes_on_where_it_stopped():
    start = othello.start(rules((6, 6))).state
    nodes = forest_of([start], 20)
    cursor, waiting = grower((6, 6)).grow(nodes, 0, 1, 50)
    grower((6, 6)).grow(nodes, cursor, waiting, 400)
    check_same(nodes, plain_growth([start], 20, rules((6, 6)), 400)[0], rules((6, 6)))


def test_growth_counts_its_nodes():
    start = othello.start(rules((6, 6))).state
    nodes, _ = grown((6, 6), [start] * 2, 20, 3000)
    assert nodes.capacity > 1024
    below = np.zeros(nodes.size, int)
    for i in reversed(range(2, nodes.size)):
        below[nodes.parent[i]] += 1 + below[i]
    assert nodes.cost[: nodes.size].tolist() == below.tolist()


def test_a_pass_costs_a_ply_or_none():
    forced_pass = state_of((4, 4), ([list(row) for row in ("OX--", "----", "----", "----")], "X"))
    for pass_plies in (0, 1):
        nodes, _ = grown((4, 4), [forced_pass], 3, 1, full_width_depth=1, pass_plies=pass_plies)
        assert nodes.size == 2
        assert nodes.move[1] == PASS
        assert nodes.depth_left[1] == 3 - pass_plies


def test_a_game_that_ends_in_every_line_is_solved_by_growth(rng):
    states = unfinished_states(rng, (6, 6), 3, most_empties=1)
    nodes, waiting = grown((6, 6), states, 10, 1000)
    assert waiting == 0
    windows.back_up_all(TreeArrays(nodes).address, nodes.size)
    assert (nodes.low[: nodes.size] == nodes.high[: nodes.size]).all()
    expected = [search(engine((6, 6)), state).score for state in states]
    assert nodes.low[:3].tolist() == expected
