"""Whether the CUDA header of Othello's rules says what games/othello.py says, on boards of all shapes."""

from pathlib import Path

import numpy as np
import pytest

from distsearch.games import othello
from distsearch.games.interface import legal_moves, step

SOURCE = str(Path(__file__).with_name("othello_rules.cu"))
BOARDS = (8, 8), (6, 6), (4, 4), (5, 7), (7, 4), (4, 16), (10, 6)
PARAMETERS = np.dtype(
    [("states", "u8"), ("answers", "u8"), *((n, "i4") for n in ("positions", "rows", "columns", "to_winner", "depth"))],
    align=True,
)
WORDS = 67


def asked(gpu, states, board, to_winner=1, depth=0):
    """Return the answers of the kernel, shape (positions, WORDS), uint64."""
    states = np.array(states, np.uint64).reshape(-1, 2)
    given, answers = gpu.upload(states), gpu.array(len(states) * WORDS, np.uint64)
    answers.zero()
    record = np.array((given.address, answers.address, len(states), *board, to_winner, depth), PARAMETERS)
    blocks, threads = (1, 1) if depth else (3, 64)
    gpu.kernel(SOURCE, "rules")(record, blocks, threads)
    return answers.get().reshape(-1, WORDS)


def played(r, games, rng):
    """Return all positions of random games."""
    found = []
    for _ in range(games):
        position = othello.start(r)
        while True:
            found.append(position)
            moves = legal_moves(othello, position, r)
            if not moves:
                break
            position = step(othello, position, r, rng.choice(moves))
    return found


@pytest.mark.parametrize("board", BOARDS)
def test_moves_discs_scores_and_hashes_are_those_of_the_cpu(gpus, rng, full, board):
    empties = rng.choice(["winner", "none"])
    r = othello.rules(board, empties)
    positions = played(r, 100 if full else 12, rng)
    answers = asked(gpus(), [p.state for p in positions], board, empties == "winner")
    passes = 0
    for position, (moves, key, final, *turned) in zip(positions, answers.tolist(), strict=True):
        legal = [m for m in legal_moves(othello, position, r) if m != othello.PASS]
        passes += not legal
        assert moves == sum(1 << m for m in legal)
        assert sum(1 << m for m, discs in enumerate(turned) if discs) == moves
        for m in legal:
            own, opp = position.state[0] | np.uint64(turned[m]) | np.uint64(1 << m), position.state[1]
            assert step(othello, position, r, m).state == (opp & ~np.uint64(turned[m]), own)
        assert key == othello.key(position.state, r)
        assert np.int64(np.uint64(final)) == othello.final(position.state, r)
    assert passes >= 12  # every game ends in one


@pytest.mark.parametrize(("board", "depth", "leaves"), [((8, 8), 6, 8200), ((6, 6), 7, 47740)])
def test_the_number_of_positions_at_a_depth_is_the_known_one(gpus, board, depth, leaves):
    r = othello.rules(board)
    assert asked(gpus(), othello.start(r).state, board, depth=depth)[0, 0] == leaves
