"""The player of games against chance: it goes on from anywhere as if it had never stopped, and its chance is fair."""

import functools
from collections import Counter

import pytest

from distsearch import evaluation, games
from distsearch.api.options import DEEPEST
from distsearch.engines.expectimax import Expectimax
from distsearch.engines.player import Player, plies_for, seed_of, splitmix64
from distsearch.games.interface import Position, legal_moves, step

from ..games.sliding_twin import twin_of

SEED = 5
WHOLE = 10**9  # moves or nodes
PLAYED = [("2048", (2, 2)), ("2048", (3, 3)), ("2584", (2, 3)), ("2584", (4, 4))]


@functools.cache
def table(name, board):
    """Return (game, rules, engine)."""
    game = games.find(name)
    rules = game.rules(board)
    chosen = evaluation.find(game, evaluation.names(game)[0], rules)
    return game, rules, Expectimax(game, rules, chosen)


def played(name, board, seed=SEED, depth=1, most=WHOLE, budgets=lambda: WHOLE, state=None, chance_steps=0, **limits):
    """A Player that has played on from a state (default: the first one)."""
    game, rules, engine = table(name, board)
    player = Player(game, rules, engine, **limits)
    player.begin(game.start(rules).state if state is None else state, depth, seed, chance_steps, most)
    while not player.advance(budgets()):
        pass
    return player


def test_the_stream_is_splitmix64():
    """The first numbers of the authors' C code."""
    assert [splitmix64(1234567, n) for n in range(3)] == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@pytest.mark.parametrize(("name", "board"), PLAYED)
@pytest.mark.parametrize("depth", [1, 2])
def test_every_move_is_legal_and_the_twin_counts_the_same_score(name, board, depth):
    game, rules, _ = table(name, board)
    twin, player = twin_of(name, board), played(name, board, depth=depth)
    plain, score, moves = twin.start(), 0, 0
    for code in player.codes:
        moves += twin.kind(plain) == "max"
        text = game.move_text(code, rules)
        assert text in twin.moves(plain)
        plain, points = twin.play(plain, text)
        score += points
    assert twin.kind(plain) == "end"
    assert (player.score, player.moves, player.over) == (score, moves, True)
    assert game.text(Position(player.state), rules) == twin.text(plain)
    assert game.largest(player.state, rules) == max(map(int, twin.text(plain).split(",")))


def test_the_player_moves_as_its_engine_says():
    game, rules, _ = table("2048", (3, 3))
    engine = Expectimax(game, rules, evaluation.find(game, evaluation.names(game)[0], rules))
    position, nodes, expanded = game.start(rules), 0, 0
    player = played("2048", (3, 3), depth=3, most=300)
    for code in player.codes:
        if code < 4:
            engine.begin(position.state, 3)
            assert engine.advance(WHOLE)
            found = engine.result()
            assert found.move == code
            nodes, expanded = nodes + found.nodes, expanded + found.expanded
        assert code in legal_moves(game, position, rules)
        position = step(game, position, rules, code)
    assert (player.nodes, player.expanded) == (nodes, expanded)


def test_the_fewest_empty_cells_that_fit_say_how_deep():
    game, rules, _ = table("2048", (3, 3))
    for text, plies in (
        ("2,4,8,2,4,8,2,4,8", 9),
        ("0,4,8,2,4,8,2,4,8", 9),
        ("0,0,8,2,4,8,2,4,8", 5),
        ("2" + 8 * ",0", 1),
    ):
        assert plies_for(game, rules, game.parse(text, rules).state, 1, ((1, 9), (3, 5))) == plies
        assert plies_for(game, rules, game.parse(text, rules).state, 4, ()) == 4


@pytest.mark.parametrize(
    "limits", [{"depth_by_empty": ((2, 5), (5, 3))}, {"node_limit": 300}, {"node_limit": 1}], ids=str
)
def test_the_player_moves_as_its_engine_says_within_limits(limits):
    """A limit of nodes ends a search as it would end the engine's, and its last whole one decides if it must."""
    game, rules, _ = table("2048", (3, 3))
    engine = Expectimax(game, rules, evaluation.find(game, evaluation.names(game)[0], rules))
    position, nodes = game.start(rules), 0
    player = played("2048", (3, 3), most=150, depth=1 if "depth_by_empty" in limits else 9, **limits)
    for code in player.codes:
        if code < 4:
            left = limits.get("node_limit", WHOLE)
            deep = plies_for(game, rules, position.state, 1, limits.get("depth_by_empty", ()))
            move = None
            for plies in range(1, 10, 2) if "node_limit" in limits else [deep]:
                engine.begin(position.state, plies)
                engine.advance(left if move is not None else WHOLE)
                found = engine.result()
                if found.complete or move in found.values:
                    move = found.move
                left, nodes = left - found.nodes, nodes + found.nodes
                if left <= 0:
                    break
            assert move == code
        position = step(game, position, rules, code)
    assert player.nodes == nodes


def test_a_limit_of_time_is_used_and_kept():
    """Not to the millisecond, on a machine that is busy."""
    player = played("2048", (4, 4), depth=DEEPEST, most=30, seconds=0.01)
    game, rules, _ = table("2048", (4, 4))
    position = game.start(rules)
    for code in player.codes:
        assert code in legal_moves(game, position, rules)
        position = step(game, position, rules, code)
    assert len(player.times) == player.moves > 10
    assert min(player.times) >= 0.01
    assert sorted(player.times)[len(player.times) // 2] < 0.2


@pytest.mark.parametrize(("name", "board"), PLAYED)
@pytest.mark.parametrize("limits", [{}, {"node_limit": 500}], ids=str)
def test_slices_change_nothing(name, board, limits, rng):
    most = 100 if limits else 200
    whole = played(name, board, depth=3, most=most, **limits)
    sliced = played(name, board, depth=3, most=most, budgets=lambda: rng.choice((1, 7, 500)), **limits)
    for what in ("codes", "score", "moves", "nodes", "expanded", "state", "chance_steps"):
        assert getattr(sliced, what) == getattr(whole, what)


@pytest.mark.parametrize(("name", "board"), PLAYED)
def test_parts_make_the_same_game(name, board, rng):
    """At one ply nodes are the same as well, as no table is asked."""
    whole, codes, score, moves, nodes, state, chance_steps = played(name, board), [], 0, 0, 0, None, 0
    while True:
        part = played(name, board, most=rng.randint(1, 50), state=state, chance_steps=chance_steps)
        state, chance_steps = part.state, part.chance_steps
        codes, score, moves, nodes = codes + part.codes, score + part.score, moves + part.moves, nodes + part.nodes
        if part.over:
            break
    assert (codes, score, moves, nodes) == (whole.codes, whole.score, whole.moves, whole.nodes)
    assert (state, chance_steps) == (whole.state, whole.chance_steps)


def test_a_game_that_is_over_stays_over():
    end = played("2048", (2, 2))
    again = played("2048", (2, 2), state=end.state, chance_steps=end.chance_steps)
    assert (again.over, again.complete, again.codes, again.nodes) == (True, True, [], 0)


def test_games_have_seeds_of_their_own():
    assert len({seed_of(seed, game) for seed in range(20) for game in range(50)}) == 1000
    assert len({tuple(played("2048", (3, 3), seed_of(SEED, game)).codes[:30]) for game in range(20)}) == 20


def test_chance_is_fair(full):
    """Kinds of tile as often as they are to come, and every cell alike; five deviations are allowed."""
    n = 2000 if full else 300
    first = [played("2048", (4, 4), seed_of(SEED, game), most=2).codes for game in range(n)]
    kinds, cells = Counter((code - 4) // 16 for game in first for code in game), Counter(game[0] - 4 for game in first)
    assert abs(kinds[1] - 0.1 * 2 * n) < 5 * (2 * n * 0.09) ** 0.5
    by_cell = Counter()
    for code, count in cells.items():
        by_cell[code % 16] += count
    assert sum((by_cell[cell] - n / 16) ** 2 / (n / 16) for cell in range(16)) < 15 + 5 * 30**0.5


def test_other_tiles_may_come(rng):
    game = games.find("2048")
    rules = game.rules((2, 2), spawn="8:1")
    engine = Expectimax(game, rules, evaluation.find(game, evaluation.names(game)[0], rules))
    player = Player(game, rules, engine)
    player.begin(game.start(rules).state, 1, rng.randrange(1 << 64), 0, 2)
    assert player.advance(WHOLE)
    assert sorted(game.text(Position(player.state), rules).split(",")) == ["0", "0", "8", "8"]
