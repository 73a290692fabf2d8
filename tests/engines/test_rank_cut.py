"""Rank-Cut: the value of plain minimax over the moves that it leaves, and no score that claims to be proved."""

import numpy as np
import pytest

from distsearch import evaluation, games
from distsearch.engines.alphabeta import AlphaBeta
from distsearch.games import othello
from distsearch.games.interface import END, MAX_MOVES, PASS, as_state
from distsearch.games.random_play import random_position

RULES = othello.rules((8, 8))
EVALUATION = evaluation.find(othello, "complex", RULES)


def ordered(state, ordering):
    """The moves of a state, as the engine tries them: by the game, or by the evaluation of the board after each."""
    out = np.zeros(MAX_MOVES, np.int16)
    moves = out[: games.functions(othello)["ordered_moves"](state, RULES, out, 0)].tolist()
    if ordering == "shallow":
        moves.sort(key=lambda move: worth(after(state, move)))
    return moves


def after(state, move):
    return as_state(othello.play(state, RULES, np.int64(move))[0])


def worth(state):
    if othello.kind(state, RULES) == END:
        score = int(othello.final(state, RULES))
        return score + EVALUATION.bound * ((score > 0) - (score < 0))
    return int(EVALUATION.function(state, RULES, EVALUATION.tables))


def minimax(state, depth, most, at_the_root=True, ordering="static"):
    """The value of the tree in which nodes have their first few moves, by the plies left; the root has all."""
    if depth == 0 or othello.kind(state, RULES) == END:
        return worth(state)
    moves = ordered(state, ordering if depth >= 4 else "static")
    kept = moves if at_the_root else moves[: most[depth]]
    return max(-minimax(after(state, move), depth - 1, most, False, ordering) for move in kept)


def searched(state, depth, ordering, most, prune=True, budget=1 << 40):
    engine = AlphaBeta(othello, RULES, EVALUATION, prune, ordering, most and (lambda left, plies: most[: plies + 1]))
    engine.begin(state, depth)
    while not engine.advance(budget):
        pass
    return engine.result()


@pytest.fixture
def positions(rng):
    found = []
    while len(found) < 6:
        position = random_position(othello, RULES, range(8, 50), rng)
        if othello.kind(position.state, RULES) != END:
            found.append(position.state)
    return found


@pytest.mark.parametrize("ordering", ["static", "shallow"])
@pytest.mark.parametrize("prune", [True, False])
def test_the_value_of_the_moves_that_are_left(ordering, prune, positions, rng):
    for state in positions:
        depth = rng.randint(2, 4)
        most = [MAX_MOVES, *(rng.randint(1, 4) for _ in range(depth))]
        found = searched(state, depth, ordering, most, prune, rng.choice((1, 1 << 40)))
        assert found.score == minimax(state, depth, most, ordering=ordering)
        assert found.line[0] in ordered(state, "static")


def test_the_line_is_of_moves_that_are_left(positions):
    """Its end has the score: the last plies of a line are looked for where the search has looked."""
    for state in positions:
        most = [MAX_MOVES, 2, 2, 2, 2, 2]
        found, at, sign = searched(state, 5, "shallow", most), state, 1
        for move in found.line:
            at, sign = after(at, move), -sign
        assert sign * worth(at) == found.score


def test_a_search_to_the_end_has_all_moves_again(rng):
    state = random_position(othello, RULES, range(54, 56), rng).state
    engine = AlphaBeta(othello, RULES, EVALUATION, keep=lambda left, plies: 1)
    found = []
    for depth in (None, 6, None):
        engine.begin(state, depth)
        assert engine.advance(1 << 40)
        found.append(engine.result())
    assert found[0] == found[2]


def test_leaving_nothing_out_changes_nothing(positions):
    for state in positions:
        assert searched(state, 5, "shallow", [MAX_MOVES] * 6) == searched(state, 5, "shallow", None)


def test_less_is_searched(positions):
    narrow, wide = (sum(searched(state, 6, "shallow", most).nodes for state in positions) for most in ([2] * 7, None))
    assert narrow < wide


def test_a_game_searched_to_its_end_is_not_proved_if_moves_are_left_out(rng):
    """Scores are proved where no leaf is evaluated; moves left out count as such."""
    state = random_position(othello, RULES, range(54, 56), rng).state
    while sum(move != PASS for move in ordered(state, "static")) < 2:
        state = random_position(othello, RULES, range(54, 56), rng).state
    assert searched(state, 20, "static", None).evaluated == 0
    assert searched(state, 20, "static", [MAX_MOVES, *[1] * 20], prune=False).evaluated > 0


def test_a_search_that_was_saved_goes_on(positions):
    state, most = positions[0], [MAX_MOVES, 2, 2, 3, 3, 3, 3]
    engine, other = (AlphaBeta(othello, RULES, EVALUATION, True, "shallow", lambda left, plies: most) for _ in range(2))
    engine.begin(state, 6)
    other.begin(state, 6)
    assert not engine.advance(50)
    other.restore(engine.save())
    for each in (engine, other):
        while not each.advance(100):
            pass
    assert engine.result() == other.result()
