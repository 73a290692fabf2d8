"""The node array: how bounds travel up hand-made trees, and what is asked of their leaves."""

import itertools

import numpy as np
import pytest

from distsearch.tree import ready_queue, windows
from distsearch.tree.layout import GROWN, INFINITY, NONE, WAITING
from distsearch.tree.nodes import NodeArray
from distsearch.tree.tree_arrays import TreeArrays


class HandMadeTree:
    """A hand-made tree in a NodeArray, whose root is asked for its score.

    A tree is a list of trees or, as a leaf, its score for the side to move at the root. leaves: {leaf: score} in order,
    each for its own side to move.
    """

    def __init__(self, tree, low=-INFINITY, high=INFINITY, all_at_once=True, fixed=True, null_windows=False):
        self.nodes, self.leaves = NodeArray(1), {}
        unseen = [(self.nodes.add_root((0,), depth_left=9), tree)]
        for node, below in unseen:
            if isinstance(below, list):
                unseen.extend(enumerate(below, add_children(self.nodes, node, len(below))))
            else:
                self.leaves[node] = self.sign(node) * below
        self.arrays = TreeArrays(self.nodes, all_at_once=all_at_once, fixed=fixed, null_windows=null_windows)
        self.arrays.reserve_ids(1)
        self.tree = self.arrays.address
        windows.back_up_all(self.tree, self.nodes.size)
        windows.ask_root(self.tree, 0, low, high)

    def sign(self, node):
        return (-1) ** int(self.nodes.depth[node])

    def finish(self, *leaves, cost=0):
        """Score leaves, one after another."""
        for leaf in leaves:
            self.tell(leaf, self.leaves[leaf], self.leaves[leaf], cost)

    def tell(self, node, low, high, cost=0):
        """Take in bounds of a node, for its own side to move."""
        windows.spend(self.tree, node, cost)
        if windows.tighten(self.tree, node, low, high):
            windows.improved(self.tree, node)

    def take(self):
        """Return the leaf that is searched next, NONE if there is none."""
        return int(ready_queue.pop(self.tree))

    def is_asked(self, node=0):
        return bool(ready_queue.is_asked(self.tree, node))

    def bounds(self, node=0):
        """(low, high) of a node's score for the side to move at the root."""
        low, high = int(self.nodes.low[node]), int(self.nodes.high[node])
        return (low, high) if self.sign(node) > 0 else (-high, -low)

    def path(self):
        """The best line as the numbers of children."""
        line = self.nodes.line(0)
        return [int(below - self.nodes.children_start[above]) for above, below in itertools.pairwise(line)]


def add_children(nodes, node, n):
    """Give a node n waiting children; return the first."""
    nodes.reserve(n)
    first = nodes.size
    nodes.size += n
    nodes.children_start[node], nodes.child_count[node], nodes.status[node], nodes.first_child[node] = (
        first,
        n,
        GROWN,
        first,
    )
    fresh = slice(first, nodes.size)
    nodes.parent[fresh], nodes.root[fresh], nodes.depth[fresh] = node, nodes.root[node], nodes.depth[node] + 1
    nodes.low[fresh], nodes.high[fresh] = -INFINITY, INFINITY
    nodes.best_child[fresh], nodes.status[fresh], nodes.transposition[fresh] = (
        NONE,
        WAITING,
        np.arange(first, nodes.size),
    )
    nodes.order[fresh] = np.arange(first, nodes.size)
    return first


def minimax(tree, choose=max, other=min):
    return choose(minimax(below, other, choose) for below in tree) if isinstance(tree, list) else tree


def best_path(tree, choose=max, other=min):
    """The numbers of the children on the best line, the first one among equals."""
    if not isinstance(tree, list):
        return []
    values = [minimax(below, other, choose) for below in tree]
    best = values.index(choose(values))
    return [best, *best_path(tree[best], other, choose)]


def worth(tree, path):
    """The score at the end of a path."""
    for i in path:
        tree = tree[i]
    return tree


def with_leaves(tree, scores):
    """The same tree with other scores, taken off an iterator in the order in which ``HandMadeTree`` numbers leaves."""
    copy = [None]
    queue = [(copy, 0, tree)]
    for above, i, below in queue:
        if isinstance(below, list):
            above[i] = [None] * len(below)
            queue.extend((above[i], k, child) for k, child in enumerate(below))
        else:
            above[i] = next(scores)
    return copy[0]


def random_tree(rng, plies):
    """A tree with few different scores, so that many are equal."""
    if not plies or rng.random() < 0.2:
        return rng.randint(-2, 2)
    return [random_tree(rng, plies - 1) for _ in range(rng.randint(1, 4))]


def random_trees(rng, full):
    for _ in range(2000 if full else 200):
        yield [random_tree(rng, 4) for _ in range(3)]


def test_scores_travel_up_in_any_order(full, rng):
    for tree in random_trees(rng, full):
        hand_made = HandMadeTree(tree)
        nodes, leaves = hand_made.nodes, list(hand_made.leaves)
        rng.shuffle(leaves)
        hand_made.finish(*leaves, cost=5)
        assert (nodes.low[: nodes.size] == nodes.high[: nodes.size]).all()
        assert hand_made.bounds() == (minimax(tree),) * 2, tree
        assert hand_made.path() == best_path(tree), tree
        assert nodes.cost[0] == 5 * len(leaves)
        assert (hand_made.is_asked(), hand_made.take()) == (False, NONE)


def test_all_scores_at_once_are_those_that_came_one_by_one(full, rng):
    for tree in random_trees(rng, full):
        hand_made = HandMadeTree(tree)
        nodes = hand_made.nodes
        for leaf, score in hand_made.leaves.items():
            nodes.low[leaf] = nodes.high[leaf] = score
        windows.back_up_all(hand_made.tree, nodes.size)
        assert hand_made.bounds() == (minimax(tree),) * 2, tree
        assert hand_made.path() == best_path(tree), tree


def test_bounds_of_some_leaves_bound_the_root_as_tightly_as_can_be(full, rng):
    """Its bounds are its scores if all leaves were worth the least and the most that they may be."""
    for tree in random_trees(rng, full):
        hand_made = HandMadeTree(tree)
        ranges = dict.fromkeys(hand_made.leaves, (-INFINITY, INFINITY))
        for leaf in rng.sample(list(hand_made.leaves), rng.randint(0, len(hand_made.leaves))):
            score = hand_made.leaves[leaf]
            low, high = rng.choice([(score, score), (score, INFINITY), (-INFINITY, score), (score - 1, score + 2)])
            hand_made.tell(leaf, low, high)
            ranges[leaf] = (low, high) if hand_made.sign(leaf) > 0 else (-high, -low)
        least, most = (minimax(with_leaves(tree, iter([ends[i] for ends in ranges.values()]))) for i in (0, 1))
        assert hand_made.bounds() == (least, most), tree
        assert least <= minimax(tree) <= most
        line = hand_made.nodes.line(0)
        assert all(hand_made.bounds(node)[0] >= least for node in line[:2])  # the move is as good as that


# all_at_once, fixed, null_windows
@pytest.mark.parametrize("policy", [(1, 1, 0), (1, 0, 0), (0, 0, 0), (0, 0, 1)])
def test_questions_that_are_answered_one_by_one_lead_to_the_score(policy, full, rng):
    """Every way to ask; windows of all kinds; leaves tell no more than they are asked."""
    for tree in random_trees(rng, full):
        low, high = rng.choice([(-INFINITY, INFINITY), (-1, 1), (0, 1), (-3, -2), (1, 4)])
        hand_made = HandMadeTree(tree, low, high, *policy)
        nodes, taken = hand_made.nodes, []
        while (leaf := hand_made.take()) != NONE:
            score, alpha, beta = hand_made.leaves[leaf], nodes.alpha[leaf], nodes.beta[leaf]
            hand_made.tell(leaf, score if score > alpha else -INFINITY, score if score < beta else INFINITY)
            windows.ask_root(hand_made.tree, 0, low, high)
            taken.append(leaf)
            assert len(taken) <= 10 * len(hand_made.leaves)
        score, (least, most) = minimax(tree), hand_made.bounds()
        assert not hand_made.is_asked()
        if low < score < high:
            assert (least, most) == (score, score), tree
            assert worth(tree, hand_made.path()) == score, tree
        else:
            assert (score <= low and most <= low) or (score >= high and least >= high), tree


def test_every_node_sees_scores_from_its_own_side():
    hand_made = HandMadeTree([[3, -1], [7, 2], 1])
    assert hand_made.leaves == {3: -1, 4: 3, 5: -1, 6: 7, 7: 2}
    hand_made.finish(*hand_made.leaves)
    assert hand_made.nodes.low[:4].tolist() == hand_made.nodes.high[:4].tolist() == [2, 1, -2, -1]
    assert hand_made.path() == [1, 1]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_first_of_equals_counts_in_any_order(order):
    for tree, best in (([4, 4, 4], 0), ([1, 4, 4], 1), ([[4, 4, 4]], 0), ([[9, 4, 4]], 1)):
        hand_made = HandMadeTree(tree)
        leaves = list(hand_made.leaves)
        hand_made.finish(*(leaves[i] for i in order))
        assert hand_made.path()[-1] == best


def test_what_is_known_before_all_children_are():
    hand_made = HandMadeTree([[3, -1], [7, 2]])
    hand_made.finish(3)
    assert hand_made.bounds(1) == (-INFINITY, 3)
    assert hand_made.bounds() == (-INFINITY, INFINITY)
    hand_made.finish(4)
    assert hand_made.bounds(1) == (-1, -1)
    assert hand_made.bounds() == (-1, INFINITY)
    assert hand_made.is_asked()
    assert hand_made.nodes.line(0) == [0, 1, 4]


def test_costs_add_up_to_the_root():
    hand_made = HandMadeTree([[3, [1, 2]], 5])
    nodes, by_leaf = hand_made.nodes, {}
    for i, leaf in enumerate(hand_made.leaves, 1):
        by_leaf[leaf] = 10**i
        hand_made.finish(leaf, cost=10**i)
    for node in range(nodes.size):
        below = [leaf for leaf in by_leaf if node in ancestors(nodes, leaf)]
        assert nodes.cost[node] == sum(by_leaf[leaf] for leaf in below)


def ancestors(nodes, node):
    """A node and all above it."""
    found = [node]
    while nodes.parent[found[-1]] != NONE:
        found.append(nodes.parent[found[-1]])
    return found


def test_an_unfinished_leaf_leaves_only_its_cost():
    hand_made = HandMadeTree([[3, -1], 2])
    stopped, other = 2, 3
    hand_made.finish(other)
    hand_made.tell(stopped, -INFINITY, INFINITY, cost=7)
    assert hand_made.nodes.cost[:2].tolist() == [7, 0]
    assert (hand_made.bounds(), hand_made.nodes.best_child[0]) == ((-INFINITY, INFINITY), NONE)
    assert hand_made.is_asked()


def test_twins_share_what_is_known_of_either():
    hand_made = HandMadeTree([[3, -1], [7, 2]])
    nodes = hand_made.nodes
    nodes.transposition[[4, 6]] = 6, 4
    hand_made.tell(4, -1, -1)
    assert hand_made.bounds(6) == (-1, -1)
    assert (hand_made.bounds(1), hand_made.bounds(2)) == ((-INFINITY, -1), (-INFINITY, -1))
    assert hand_made.bounds() == (-INFINITY, -1)


def test_growing_keeps_what_is_there():
    nodes = NodeArray(3, capacity=2)
    for i in range(100):
        assert nodes.add_root((i, i + 1, i + 2), depth_left=i) == i
    assert nodes.size == 100
    assert 100 <= nodes.capacity <= 200
    assert nodes.state[:100].tolist() == [[i, i + 1, i + 2] for i in range(100)]
    assert (
        nodes.depth_left[:100].tolist()
        == nodes.root[:100].tolist()
        == nodes.transposition[:100].tolist()
        == list(range(100))
    )
    assert (nodes.parent[:100] == NONE).all()
    assert (nodes.low[:100] == -INFINITY).all()
    assert (nodes.high[:100] == INFINITY).all()
    assert (nodes.status[:100] == WAITING).all()
    nodes.reserve(10_000)
    assert nodes.capacity >= 10_100
    assert nodes.depth_left[:100].tolist() == list(range(100))
