"""Games that go on by moves found elsewhere are those of ``Player``, wherever the moves come from."""

import numpy as np
import pytest

from distsearch import evaluation, games
from distsearch.engines import batched_play
from distsearch.engines.batched_play import BatchedPlay
from distsearch.engines.expectimax import Expectimax
from distsearch.engines.player import Player

CASES = [("2048", (4, 4), {}), ("2584", (3, 3), {}), ("2048", (2, 3), {"spawn": "2:0.5,4:0.3,8:0.2"})]
DEPTH = 2
NO_MOVE = -1e300


class Case:
    def __init__(self, name, board, options, most):
        game = games.find(name)
        self.rules = rules = game.rules(board, **options)
        chosen = evaluation.find(game, "rows", rules)
        self.game, self.engine = game, Expectimax(game, rules, chosen)
        self.player = Player(game, rules, Expectimax(game, rules, chosen))
        self.rounds = BatchedPlay(game, rules, Expectimax(game, rules, chosen), 5, most)
        self.start = game.start(rules).state

    def found(self, states):
        """What searches of states find, as a GPU tells it."""
        found = np.full((len(states), batched_play.FOUND), NO_MOVE)
        for values, state in zip(found, states, strict=True):
            self.engine.begin((state[0], state[1]), DEPTH)
            assert self.engine.advance(1 << 30)
            for move, value in self.engine.result().values.items():
                values[move] = value
        return found

    def one(self, seed, most):
        self.player.begin(self.start, DEPTH, seed, 0, most)
        assert self.player.advance(1 << 40)
        return self.player


@pytest.mark.parametrize(("name", "board", "options"), CASES, ids=str)
def test_games_are_those_of_a_player(name, board, options, seed):
    case = Case(name, board, options, 10_000)
    seeds, table = [seed + i for i in range(5)], case.rounds
    until = [10_000, 7, 10_000, 2, 40]
    rows = table.add_games([case.start] * 5, seeds, [0] * 5, until)
    assert table.room == 0
    (at_work, states, ended), over, nodes = table.step(rows), [], 0
    while len(at_work):
        over += ended.tolist()
        nodes += 3 * len(at_work) + 1
        at_work, states, ended = table.step(at_work, case.found(states), 3 * len(at_work) + 1)
    assert sorted(over + ended.tolist()) == sorted(rows.tolist())
    for row, each, most in zip(rows, seeds, until, strict=True):
        player, line = case.one(each, most), table.table[row]
        assert table.codes[row, : line["count"]].tolist() == player.codes
        figures = [int(line[name]) for name in ("score", "moves", "chance_steps", "over")]
        assert figures == [player.score, player.moves, player.chance_steps, player.over]
        assert tuple(table.table["state"][row].tolist()) == tuple(map(int, player.state))
    assert table.table["nodes"].sum() == nodes
    table.remove_games(rows[:3])
    assert table.room == 3


def test_of_equal_moves_the_first_is_played_and_without_one_the_game_is_over():
    case = Case("2048", (4, 4), {}, 9)
    rows = case.rounds.add_games([case.start] * 3, [1, 2, 3], [0] * 3, [9] * 3)
    rows, _, _ = case.rounds.step(rows)
    found = np.full((3, batched_play.FOUND), NO_MOVE)
    found[0, [1, 2]] = -5.0, -5.0
    found[1, 3] = 2.0
    at_work, _, ended = case.rounds.step(rows, found)
    assert (at_work.tolist(), ended.tolist()) == (rows[:2].tolist(), [rows[2]])
    assert case.rounds.codes[rows[:2], 2].tolist() == [1, 3]
    assert case.rounds.table["over"][rows].tolist() == [0, 0, 1]
