"""Expectiminimax and minimax against chance: the values of plain recursion, pruned or not, however they are sliced."""

import math
import random

import pytest

from distsearch import evaluation, games
from distsearch.engines.expectiminimax import EXACT, LOWER, UPPER, Expectiminimax

from ..games.sliding_twin import twin_of
from .expectiminimax_twin import least, value, values

SPAWNS = {
    "2048": ["2:0.9,4:0.1", "2:1", "2:0.5,4:0.3,8:0.2", "4:0.05,2:0.05,8:0.3,16:0.1,32:0.1,64:0.2,128:0.1,256:0.1"],
    "2584": ["1:0.75,3:0.25", "1:0.2,2:0.2,3:0.2,5:0.4"],
}
RULES = [(name, spawn) for name, spawns in SPAWNS.items() for spawn in spawns]
BOARDS = [(2, 2), (2, 3), (3, 3), (4, 4)]
rules = pytest.mark.parametrize(("name", "spawn"), RULES, ids=str)
wholes = pytest.mark.parametrize("whole", [False, True], ids=["expectiminimax", "minimax"])


class Case:
    """A game, its twin, and random positions of both."""

    def __init__(self, name, spawn, board, rng):
        tiles = [(int(tile), chance) for tile, chance in (kind.split(":") for kind in spawn.split(","))]
        self.game, self.twin, self.rng = games.find(name), twin_of(name, board, tiles), rng
        self.rules = self.game.rules(board, spawn=spawn)
        names = ["rows", "haskell"] if name == "2048" else ["rows"]
        self.evaluation = evaluation.find(self.game, rng.choice(names), self.rules)

    def evaluate(self, position):
        return float(self.evaluation.function(self.state(position), self.rules, self.evaluation.tables))

    def state(self, position):
        return self.game.parse(self.twin.text(position), self.rules).state

    def position(self, plies):
        """A random position of the twin, so many plies after the beginning or fewer."""
        position = self.twin.start()
        for _ in range(plies):
            if options := self.twin.moves(position):
                position = self.twin.play(position, self.rng.choice(options))[0]
        return position

    def any_position(self):
        return self.position(self.rng.randint(0, self.rng.choice((6, 60))))

    def engine(self, **how):
        return Expectiminimax(self.game, self.rules, self.evaluation, **how)


def search(engine, *asked, budget=10**9):
    engine.begin(*asked)
    while not engine.advance(budget):
        pass
    return engine.result()


def near(expected):
    return pytest.approx(expected, rel=1e-9, abs=1e-9)


@rules
@wholes
@pytest.mark.parametrize("board", BOARDS, ids=str)
def test_the_values_of_plain_recursion(name, spawn, whole, board, rng, full):
    case = Case(name, spawn, board, rng)
    many = spawn.count(":") > 4
    deepest = {(2, 2): 7, (2, 3): 5, (3, 3): 4, (4, 4): 4}[board] - (whole or many) + full
    deepest -= whole and many and board == (4, 4)
    plain, pruned = (case.engine(adversary_chooses_all=whole, prune=pruned) for pruned in (False, True))
    for i in range(40 if full else 6):
        position, depth = case.any_position(), i % (deepest + 1)
        expected = value(case.twin, position, depth, case.evaluate, whole)
        for engine in (plain, pruned):
            found = search(engine, case.state(position), depth)
            assert (found.value, found.bound, found.complete) == (near(expected), EXACT, True)
            by_text = {case.game.move_text(m, case.rules): v for m, v in found.values.items()}
            if case.twin.kind(position) == "max" and depth > 0:
                known = values(case.twin, position, depth, case.evaluate, whole)
                assert by_text == near({move: known[move] for move in by_text})
                assert engine is pruned or by_text.keys() == known.keys()
                assert by_text[case.game.move_text(found.move, case.rules)] == near(expected)
            else:
                assert (found.move, by_text) == (None, {})


@rules
@wholes
def test_pruning_changes_no_value(name, spawn, whole, rng, full):
    case = Case(name, spawn, (4, 4), rng)
    plain, pruned = (case.engine(adversary_chooses_all=whole, prune=pruned) for pruned in (False, True))
    most = 7 if spawn.count(":") <= 2 and not whole else 5 if spawn.count(":") <= 4 or full else 4
    nodes = [0, 0]
    for depth in [min(5, most)] * (20 if full else 5) + [most] * (20 if full else 3):
        state = case.state(case.any_position())
        one, other = search(plain, state, depth), search(pruned, state, depth)
        assert (other.value, other.bound) == (one.value, EXACT)  # to the last bit
        assert other.nodes <= one.nodes
        if one.move is not None:
            assert one.values[other.move] == one.value
            assert other.values == {move: one.values[move] for move in other.values}
        nodes[0] += one.nodes
        nodes[1] += other.nodes
    assert nodes[1] < nodes[0]


@pytest.mark.parametrize(("evaluated", "spawn"), [("haskell", "2:1,4:1e-20"), ("free", "2:0.7,4:0.2,8:0.1")])
def test_rounding_cuts_nothing_that_matters(evaluated, spawn, rng, full):
    """Values of 10^12 next to small ones, over a draw that never comes; and many that differ in their last bit."""
    case = Case("2048", spawn, (3, 3), rng)
    case.evaluation = evaluation.find(case.game, evaluated, case.rules)
    plain, pruned = (case.engine(prune=pruned) for pruned in (False, True))
    boards = ["0,512,1024,0,16,16,1024,512,16", "1024,0,2,2,512,1024,16,0,16"]
    tiles = (0, 0, 2, 2, 4, 8, 16, 32) if evaluated == "free" else (0, 0, 2, 4, 16, 512, 1024, 1024)
    boards += [",".join(str(rng.choice(tiles)) for _ in range(8)) + ",2" for _ in range(20_000 if full else 1_000)]
    for board in boards:
        state = case.game.parse(board, case.rules).state
        one, other = search(plain, state, 7), search(pruned, state, 7)
        assert other.value == one.value, board
        assert one.move is None or one.values[other.move] == one.value, board


@rules
@wholes
def test_a_value_is_exact_within_its_window_and_a_bound_outside(name, spawn, whole, rng, full):
    case = Case(name, spawn, rng.choice(BOARDS), rng)
    engine = case.engine(adversary_chooses_all=whole)
    for i in range(150 if full else 42):
        state, depth = case.state(case.any_position()), rng.randint(1, 5)
        exact = search(engine, state, depth).value
        width = max(1e-3, abs(exact)) * rng.choice((1e-3, 0.1, 1))
        far, slack = rng.choice((2 * width, math.inf)), 1e-9 * max(1, abs(exact))
        where = (EXACT, LOWER, UPPER)[i % 3]
        if where == EXACT:
            found = search(engine, state, depth, exact - width, exact + rng.choice((width, math.inf)))
            assert found.value == near(exact)
        elif where == LOWER:
            found = search(engine, state, depth, exact - far, beta := exact - width)
            assert beta <= found.value <= exact + slack
        else:
            found = search(engine, state, depth, alpha := exact + width, exact + far)
            assert exact - slack <= found.value <= alpha
        assert found.bound == where


@rules
def test_a_draw_alone_is_the_least_of_its_outcomes(name, spawn, rng):
    case = Case(name, spawn, (3, 3), rng)
    engine = case.engine()
    for _ in range(6):
        position = next(p for p in iter(case.any_position, None) if case.twin.kind(p) == "max")
        position = case.twin.play(position, case.rng.choice(case.twin.moves(position)))[0]
        outcomes = [move for move, _ in case.twin.outcomes(position)]
        codes = {move: case.game.parse_move(move, case.rules) for move in outcomes}
        drawn = int(case.game.draw(codes[rng.choice(outcomes)], case.rules))
        its = [move for move in outcomes if case.game.draw(codes[move], case.rules) == drawn]
        depth = rng.randint(1, 3)
        found = search(engine, case.state(position), depth, -math.inf, math.inf, drawn)
        assert found.value == near(least(case.twin, position, its, depth, case.evaluate))


@rules
@wholes
@pytest.mark.parametrize("pruned", [False, True], ids=["plain", "pruned"])
def test_slices_change_nothing(name, spawn, whole, pruned, rng):
    case = Case(name, spawn, (4, 4), rng)
    engine = case.engine(adversary_chooses_all=whole, prune=pruned)
    for budget in (1, 2, 3, 50):
        state = case.state(case.any_position())
        assert search(engine, state, 4, budget=budget) == search(engine, state, 4)


def test_a_stopped_search_knows_the_moves_it_has_tried(rng):
    case = Case("2048", SPAWNS["2048"][0], (4, 4), rng)
    position = next(p for p in iter(lambda: case.position(40), None) if len(case.twin.moves(p)) > 2)
    plain = case.engine(prune=False)
    whole = search(plain, case.state(position), 6)
    plain.begin(case.state(position), 6)
    while len(plain.result().values) < 2:
        assert not plain.advance(20)
    part = plain.result()
    assert not part.complete
    assert part.bound == LOWER
    assert part.values.items() <= whole.values.items()
    assert part.values[part.move] == part.value == max(part.values.values())


@pytest.mark.parametrize("name", SPAWNS)
def test_a_finished_game_is_worth_its_evaluation(name):
    case = Case(name, SPAWNS[name][0], (2, 2), random.Random(1))
    position = case.position(1000)
    found = search(case.engine(), case.state(position), 5)
    assert (found.value, found.move, found.nodes) == (case.evaluate(position), None, 0)


def test_a_tile_on_a_known_board():
    # 4 cells in all: the moves leave one or two of them empty, so that chance and its adversary can be followed by hand
    case = Case("2048", "2:0.9,4:0.1", (2, 2), random.Random(1))
    case.evaluation = evaluation.find(case.game, "free", case.rules)
    state = case.game.parse("2,2,4,8", case.rules).state
    found = search(case.engine(), state, 3)
    # left and right make 4 0 4 8; then the tile takes the one empty cell
    assert (found.value, found.values) == (0.0, {0: 0.0})
    after = case.game.parse("4,0,4,8 +1", case.rules).state
    # a 2 leaves a merge downwards (8 over the 2 and 8), a 4 one more to the left: either way one cell is free
    assert search(case.engine(), after, 3).value == near(0.9 * 1 + 0.1 * 1)
