"""Trees of simulations: they find the best moves of small games, whatever the slices, and count what they do."""

import functools
import math

import numpy as np
import pytest

from distsearch.engines import mcts
from distsearch.engines.mcts import Mcts

from .sliding_case import SlidingCase


class Case(SlidingCase):
    """how: playout, or an evaluation; points: whether those of moves count."""

    def __init__(self, how, board, rng, points=False, name="2048"):
        super().__init__(name, board, rng, None if how == "playout" else how)
        self.evaluated, self.points = how != "playout", points or how == "playout"

    def tree(self):
        return Mcts(self.game, self.rules, self.evaluation if self.evaluated else None, self.points)

    def grown(self, tree, position, seed, limit, budget=10**9):
        tree.begin(self.state(position), seed, limit)
        while not tree.advance(budget):
            pass
        return tree.result()

    def move_text(self, code):
        return self.game.move_text(code, self.rules)

    def values(self, position):
        """{text: value} of the player's moves, if the game goes on to its end by best play."""
        found = {}
        for move in self.twin.moves(position):
            after, gain = self.twin.play(position, move)
            found[move] = gain * self.points + self.value(after)
        return found

    @functools.cache  # noqa: B019  a case lasts for a test
    def value(self, position):
        kind = self.twin.kind(position)
        if kind == "end":
            return self.evaluate(position) if self.evaluated else 0.0
        if kind == "max":
            return max(self.values(position).values())
        plays = ((*self.twin.play(position, move), chance) for move, chance in self.twin.outcomes(position))
        return sum(float(chance) * (gain * self.points + self.value(after)) for after, gain, chance in plays)

    def position_to_play(self):
        while True:
            position = self.position(self.rng.randint(2, 12))
            if self.twin.kind(position) == "max" and len(self.twin.moves(position)) > 1:
                return position


@pytest.mark.parametrize(
    ("how", "points"), [("playout", True), ("free", False), ("free", True), ("rows", False)], ids=str
)
def test_values_come_near_those_of_best_play(how, points, rng, full):
    """Exhaustive search of a small board is the oracle."""
    case = Case(how, (2, 2), rng, points)
    tree = case.tree()
    for _ in range(12 if full else 4):
        position = case.position_to_play()
        values = case.values(position)
        found = case.grown(tree, position, rng.getrandbits(64), 300_000)
        best = max(range(len(found.visits)), key=lambda i: found.visits[i])
        scale = max(map(abs, values.values())) + 1
        assert set(map(case.move_text, found.moves)) == set(values)
        assert found.means[best] == pytest.approx(values[case.move_text(found.moves[best])], abs=0.1 * scale)
        assert values[case.move_text(found.moves[best])] >= max(values.values()) - 0.05 * scale


@pytest.mark.parametrize("name", ["2048", "2584"])
@pytest.mark.parametrize("how", ["playout", "rows"])
def test_slices_change_nothing_and_seeds_do(how, name, rng):
    case = Case(how, (4, 4), rng, name=name)
    position, seed = case.position(30), rng.getrandbits(63)
    while case.twin.kind(position) != "max" or len(case.twin.moves(position)) < 3:
        position = case.position(30)
    tree, other = case.tree(), case.tree()
    found = case.grown(tree, position, seed, 20_000)
    assert case.grown(other, position, seed, 20_000, budget=rng.choice((1, 100))) == found
    assert case.grown(tree, position, seed + 1, 20_000).means != found.means
    assert case.grown(tree, position, seed, 20_000) == found


@pytest.mark.parametrize("how", ["playout", "rows"])
@pytest.mark.parametrize("room", [None, 8])
def test_every_simulation_is_counted(how, room, rng, monkeypatch):
    if room:  # simulations go on when the tree is full
        monkeypatch.setattr(mcts, "MOST_NODES", room)
    case = Case(how, (3, 3), rng)
    tree, position = case.tree(), case.position_to_play()
    found = case.grown(tree, position, 1, 5000)
    control = tree._control
    assert found.complete
    assert sum(found.visits) == control["simulations"]
    assert found.nodes == control["nodes"] >= 5000
    assert 1 <= found.longest <= found.nodes
    used, nodes = int(control["used_nodes"]), tree._arrays["nodes_of"]
    assert (used == room) if room else (8 < used <= control["simulations"] + 1)
    edges = tree._arrays["edges"][: int(control["used_edges"])]
    assert nodes["count"][:used].sum() == len(edges)
    for first, count, visits in nodes[:used].tolist():
        assert edges["visits"][first : first + count].sum() == visits
    words = case.game.words(case.rules)
    states = tree._arrays["states"][: used * words].reshape(used, words)
    assert len(np.unique(states, axis=0)) == used
    seen = control["mean"], math.sqrt(control["squares"] / control["simulations"])
    assert np.isfinite(seen).all()


def test_where_the_player_has_no_move(rng):
    case = Case("rows", (4, 4), rng)
    tree = case.tree()
    for text in ("2,4,2,4,4,2,4,2,2,4,2,4,4,2,4,2", "2,4,8,2,0,0,0,0,0,0,0,0,0,0,0,0 +1"):
        tree.begin(case.game.parse(text, case.rules).state, 3, 100)
        assert tree.advance(1)
        assert tree.result() == (True, [], [], [], 0, 0, 0)
