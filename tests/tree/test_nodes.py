"""The node array: how scores travel up hand-made trees."""

import itertools

import numpy as np
import pytest

from distsearch.games.interface import MAX, MIN
from distsearch.tree.nodes import DONE, EXACT, GROWN, LOWER, NONE, SENT, UNKNOWN, UPPER, WAITING, NodeArray


def plant(nodes, tree):
    """Add a tree to a NodeArray; return its {leaf: score}. A tree is a list of trees or, as a leaf, its score."""
    leaves = {}
    queue = [(nodes.add_root((0,), left=9), tree)]
    for node, below in queue:
        if isinstance(below, list):
            first = add_children(nodes, node, len(below))
            queue.extend(enumerate(below, first))
        else:
            leaves[node] = below
    return leaves


def add_children(nodes, node, n):
    """Give a node n waiting children; return the first."""
    nodes.reserve(n)
    first = nodes.size
    nodes.size += n
    nodes.first[node], nodes.children[node], nodes.pending[node], nodes.status[node] = first, n, n, GROWN
    fresh = slice(first, nodes.size)
    nodes.parent[fresh], nodes.root[fresh], nodes.depth[fresh] = node, nodes.root[node], nodes.depth[node] + 1
    nodes.kind[fresh] = MIN if nodes.kind[node] == MAX else MAX
    nodes.best[fresh] = np.inf if nodes.kind[node] == MAX else -np.inf
    nodes.best_child[fresh], nodes.status[fresh] = NONE, WAITING
    return first


def finish(nodes, leaves, cost=0):
    """Score a few leaves ({leaf: score}) at once."""
    for leaf, score in leaves.items():
        nodes.best[leaf], nodes.bound[leaf], nodes.status[leaf], nodes.cost[leaf] = score, EXACT, DONE, cost
    nodes.back_up(list(leaves))


def minimax(tree, choose=max, other=min):
    return choose(minimax(below, other, choose) for below in tree) if isinstance(tree, list) else tree


def best_path(tree, choose=max, other=min):
    """The numbers of the children on the best line, the first one among equals."""
    if not isinstance(tree, list):
        return []
    values = [minimax(below, other, choose) for below in tree]
    best = values.index(choose(values))
    return [best, *best_path(tree[best], other, choose)]


def random_tree(rng, plies):
    """A tree with few different scores, so that many are equal."""
    if not plies or rng.random() < 0.2:
        return rng.randint(-2, 2)
    return [random_tree(rng, plies - 1) for _ in range(rng.randint(1, 4))]


def path(nodes, root=0):
    """The best line as the numbers of children."""
    line = nodes.line(root)
    return [int(below - nodes.first[above]) for above, below in itertools.pairwise(line)]


def test_scores_travel_up_in_any_order(full, rng):
    for _ in range(2000 if full else 200):
        tree = [random_tree(rng, 4) for _ in range(3)]
        nodes = NodeArray(1)
        leaves = list(plant(nodes, tree).items())
        rng.shuffle(leaves)
        while leaves:
            n = rng.randint(1, 3)
            finish(nodes, dict(leaves[:n]), cost=5)
            del leaves[:n]
        assert (nodes.status[: nodes.size] == DONE).all()
        assert (nodes.bound[: nodes.size] == EXACT).all()
        assert (nodes.pending[: nodes.size] == 0).all()
        assert nodes.best[0] == minimax(tree), tree
        assert path(nodes) == best_path(tree), tree


def test_every_kind_has_its_rule():
    nodes = NodeArray(1)
    leaves = plant(nodes, [[3, -1], [7, 2], 1])
    assert nodes.kind[:8].tolist() == [MAX, MIN, MIN, MIN, MAX, MAX, MAX, MAX]
    finish(nodes, leaves)
    assert nodes.best[:4].tolist() == [2, -1, 2, 1]
    assert path(nodes) == [1, 1]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_first_of_equals_counts_in_any_order(order):
    for tree, best in (([4, 4, 4], 0), ([1, 4, 4], 1), ([[4, 4, 4]], 0), ([[9, 4, 4]], 1)):
        nodes = NodeArray(1)
        leaves = list(plant(nodes, tree).items())
        for i in order:
            finish(nodes, dict([leaves[i]]))
        assert path(nodes)[-1] == best


def test_what_is_known_before_all_children_are():
    nodes = NodeArray(1)
    leaves = plant(nodes, [[3, -1], [7, 2]])
    finish(nodes, {3: leaves[3]})
    assert (nodes.best[1], nodes.bound[1], nodes.status[1]) == (3, UPPER, GROWN)
    assert (nodes.bound[0], nodes.status[0]) == (UNKNOWN, GROWN)
    finish(nodes, {4: leaves[4]})
    assert (nodes.best[1], nodes.bound[1], nodes.status[1]) == (-1, EXACT, DONE)
    assert (nodes.best[0], nodes.bound[0], nodes.status[0]) == (-1, LOWER, GROWN)
    assert nodes.line(0) == [0, 1, 4]


def test_costs_add_up_to_the_root():
    nodes = NodeArray(1)
    leaves = plant(nodes, [[3, [1, 2]], 5])
    for cost, leaf in enumerate(leaves, 1):
        finish(nodes, {leaf: leaves[leaf]}, cost=10**cost)
    by_leaf = dict(zip(leaves, (10, 100, 1000, 10000), strict=True))
    for node in range(nodes.size):
        below = [leaf for leaf in leaves if node in ancestors(nodes, leaf)]
        assert nodes.cost[node] == sum(by_leaf[leaf] for leaf in below)


def ancestors(nodes, node):
    """A node and all above it."""
    found = [node]
    while nodes.parent[found[-1]] != NONE:
        found.append(nodes.parent[found[-1]])
    return found


def test_an_unfinished_leaf_leaves_only_its_cost():
    nodes = NodeArray(1)
    leaves = plant(nodes, [[3, -1], 2])
    stopped, other = 2, 3
    finish(nodes, {other: leaves[other]})
    nodes.best[stopped], nodes.status[stopped], nodes.cost[stopped] = 99, SENT, 7
    nodes.back_up([stopped])
    assert nodes.cost[:2].tolist() == [7, 0]
    assert (nodes.best[0], nodes.bound[0], nodes.pending[0], nodes.best_child[0]) == (-np.inf, UNKNOWN, 2, NONE)


def test_growing_keeps_what_is_there():
    nodes = NodeArray(3, capacity=2)
    for i in range(100):
        assert nodes.add_root((i, i + 1, i + 2), left=i) == i
    assert nodes.size == 100
    assert 100 <= nodes.capacity <= 200
    assert nodes.state[:100].tolist() == [[i, i + 1, i + 2] for i in range(100)]
    assert nodes.left[:100].tolist() == nodes.root[:100].tolist() == list(range(100))
    assert (nodes.parent[:100] == NONE).all()
    assert (nodes.kind[:100] == MAX).all()
    assert (nodes.status[:100] == WAITING).all()
    nodes.reserve(10_000)
    assert nodes.capacity >= 10_100
    assert nodes.left[:100].tolist() == list(range(100))
