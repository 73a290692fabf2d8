"""Games in compiled code are those of ``Player``, move by move and board by board."""

import functools

import pytest

from distsearch import evaluation, games
from distsearch.engines.expectimax import Expectimax
from distsearch.engines.player import Player, seed_of
from distsearch.engines.self_play import MAX_PLIES, SelfPlay
from distsearch.games.interface import as_state

from ..games import short_2048

WHOLE = 10**9  # nodes
EVERYTHING = {"min_probability": 1e-3, "points": True, "uniform_chance": True}
WAYS = [{}, {"points": True}, {"uniform_chance": True}, {"min_probability": 0.02}, EVERYTHING]
CASES = [
    ("2048", (2, 2), {}),
    ("2048", (3, 3), {}),
    ("2048", (4, 4), {}),
    ("2048", (2, 4), {"spawn": "2:0.7,4:0.2,8:0.1"}),
    ("2048", (3, 3), {"spawn": "4:1"}),
    ("2584", (2, 3), {}),
    ("2584", (4, 4), {}),
    ("2584", (3, 3), {"spawn": "1:1"}),
]
COLUMNS = {name: name for name in ("score", "moves", "nodes", "expanded", "over")} | {"drawn": "chance_steps"}


class Case:
    """A game and engines that all have the same options."""

    def __init__(self, game, board, rules, how, chosen=None):
        self.game, self.rules = game, game.rules(board, **rules)
        chosen = chosen or evaluation.find(game, evaluation.names(game)[0], self.rules)
        self.start = game.start(self.rules).state
        self.player = Player(game, self.rules, Expectimax(game, self.rules, chosen, **how))
        self.games = SelfPlay(game, self.rules, Expectimax(game, self.rules, chosen, **how))

    def one_by_one(self, depth, seed, most, part):
        """A game's codes, figures and state by ``Player``, which plays parts."""
        codes, state, figures = [], self.start, dict.fromkeys(COLUMNS, 0)
        while len(codes) < most and not figures["over"]:
            player = self.player
            player.begin(state, depth, seed, figures["drawn"], min(part, most - len(codes)))
            assert player.advance(WHOLE)
            codes, state = codes + player.codes, player.state
            for name in ("score", "moves", "nodes", "expanded"):
                figures[name] += getattr(player, name)
            figures["drawn"], figures["over"] = player.chance_steps, player.over
        return codes, figures, state

    def together(self, depths, seeds, most, part, budgets=lambda: WHOLE):
        """The same of several games in compiled code."""
        found = self.games
        found.begin([self.start] * len(seeds), depths, seeds, [0] * len(seeds), most, part, recorded=True)
        while not found.advance(budgets()):
            assert not found.complete[found.at :].any()
        assert found.complete.all()
        return [
            (
                found.codes[i, : row["count"]].tolist(),
                {name: row[column] for name, column in COLUMNS.items()},
                as_state(found.table["state"][i]),
            )
            for i, row in enumerate(found.table)
        ]

    def compare(self, rng, most, games=3, deepest=MAX_PLIES):
        """Play the same games both ways, to all depths, in parts and slices of any size."""
        for depth in range(1, deepest + 1):
            seeds, part = [rng.randrange(1 << 64) for _ in range(games)], rng.randint(1, most)
            expected = [self.one_by_one(depth, seed, most, part) for seed in seeds]
            assert self.together([depth] * games, seeds, most, part) == expected
            sliced = self.together([depth] * games, seeds, most, part, lambda: rng.choice((0, 1, 7, 500)))
            assert sliced == expected
            assert all(codes for codes, _, _ in expected)


@functools.cache
def case(name, board):
    return Case(games.find(name), board, {}, {})


@pytest.mark.parametrize(("name", "board", "rules"), CASES, ids=str)
@pytest.mark.parametrize("how", WAYS, ids=str)
def test_the_games_of_the_player(name, board, rules, how, rng, full):
    """On a board of four cells or six to the end."""
    most = 2000 if full else 400 if board[0] == 2 else 120
    Case(games.find(name), board, rules, how).compare(rng, most, 5 if full else 2)


def test_a_game_of_others_without_hooks(rng):
    """One that ends while there are moves left, or a tile is due."""
    chosen = short_2048.cells(seen=0xFF0F)  # enough to prefer moves to others, and often not
    Case(short_2048, (2, 3), {}, {}, chosen).compare(rng, 300, deepest=4)


@pytest.mark.parametrize("name", ["2048", "2584"])
def test_games_of_several_depths_side_by_side(name, rng):
    depths, seeds = [rng.randint(1, 4) for _ in range(12)], [rng.randrange(1 << 64) for _ in range(12)]
    expected = [case(name, (3, 3)).one_by_one(*each, 90, 40) for each in zip(depths, seeds, strict=True)]
    budgets = lambda: rng.choice((0, 3, 200, 5000))  # noqa: E731
    assert case(name, (3, 3)).together(depths, seeds, 90, 40, budgets) == expected


def test_games_go_on_where_they_stopped(rng):
    """From a state where chance has had some turns; the codes are those of the part alone."""
    here, seed = case("2048", (3, 3)), rng.randrange(1 << 64)
    codes, _, end = here.one_by_one(3, seed, 100, 50)
    _, figures, state = here.one_by_one(3, seed, 50, 50)
    here.games.begin([state], [3], [seed], [figures["drawn"]], 50, 50, recorded=True)
    assert here.games.advance(WHOLE)
    assert here.games.codes[0].tolist() == codes[50:]
    assert as_state(here.games.table["state"][0]) == end


def test_what_waits_can_be_dropped():
    here, seeds = case("2048", (2, 2)), [seed_of(1, number) for number in range(6)]
    here.games.begin([here.start] * 6, [2] * 6, seeds, [0] * 6, 1000, 1000)
    while here.games.at < 2:
        here.games.advance(1)
    here.games.drop_waiting()
    assert (here.games.last, here.games.at, here.games.nodes) == (2, 2, here.games.table["nodes"][2])
    assert here.games.advance(WHOLE)
    assert here.games.complete.tolist() == [True] * 3 + [False] * 3
    assert here.games.nodes == here.games.table["nodes"][2] > 0
    assert not here.games.table["count"][3:].any()
    assert here.games.codes.size == 0  # they were not asked for


def test_a_game_that_is_over_stays_over():
    here = case("2048", (2, 2))
    _, figures, state = here.one_by_one(1, 5, 10**6, 10**6)
    here.games.begin([state] * 2, [1] * 2, [5] * 2, [figures["drawn"]] * 2, 10, 10)
    assert here.games.advance(1)
    assert here.games.table[["over", "count", "nodes"]].tolist() == [(1, 0, 0)] * 2
