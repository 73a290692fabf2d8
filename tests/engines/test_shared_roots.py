"""The answers of a root that ranks take from each other: their move has their score."""

import numpy as np
import pytest

from distsearch.engines.pvs import kernels, table_exchange
from distsearch.engines.pvs import table as tt
from distsearch.games import connect4
from distsearch.games.interface import as_state, legal_moves, step

from .positions import NO_PAUSE
from .test_table_exchange import ENDINGS, SHALLOW, Kind

KINDS = [ENDINGS, SHALLOW, Kind(connect4, (6, 7), 24, None), Kind(connect4, (6, 7), 10, 7)]
SYMMETRIC = [Kind(connect4, (6, 7), 8, 7), Kind(connect4, (4, 5), 4, None)]


def root_hash(engine, state):
    found = int(engine.functions["key"](state, engine._rules))
    return np.uint64(found ^ int(engine._control["salt"]) % 2**64 ^ int(kernels.ROOT))


def answer(kind, engine, state, *window):
    """Search a state as one of several ranks, the others being idle; return the Result."""
    kind.begin(engine, state, kind.depth, *window)
    engine.share(True)
    while not engine.advance(NO_PAUSE):
        pass
    return engine.result()


def value_of(kind, judge, position, move):
    assert move in legal_moves(kind.game, position, kind.rules)
    after = step(kind.game, position, kind.rules, move).state
    return -kind.score(judge, after, kind.depth and kind.depth - 1)


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_the_answers_of_two_hosts_together_have_a_move_of_that_score(kind, rng):
    """One host says that the score is no less, and by which move, the other that it is no more."""
    judge, asked = kind.engine(part=False), 0
    for _ in range(12):
        position = kind.position(rng)
        state, rows = position.state, []
        score = kind.score(judge, state, kind.depth)
        for window in ((score - 1, score), (score, score + 1)):
            host = kind.engine()
            answer(kind, host, state, *window)
            h = root_hash(host, state)
            data = tt.probe_l1(host._control["table"], h)
            rows.append((h ^ data, data))
        for order in (rows, rows[::-1]):
            rank = kind.engine()
            for row in order:
                table_exchange.import_entries(rank._control["table"], np.array([row], np.uint64))
            found = answer(kind, rank, state)
            asked += rank.nodes
            assert found.score == score
            assert value_of(kind, judge, position, found.line[0]) == score
    assert kind.depth or asked < 100  # the answers were taken


@pytest.mark.parametrize("kind", SYMMETRIC, ids=repr)
def test_a_root_does_not_take_the_move_of_a_symmetric_one(kind, rng):
    """Their entries below the root are the same."""
    judge, found = kind.engine(part=False), 0
    while found < 8:
        position = kind.position(rng)
        mirrored = as_state(judge.functions["canonical"](position.state, kind.rules))
        if mirrored == position.state:
            continue
        far = kind.engine()._shared
        first, then = kind.engine(far), kind.engine(far)
        score = answer(kind, first, mirrored).score
        result = answer(kind, then, position.state)
        assert result.score == score
        assert value_of(kind, judge, position, result.line[0]) == score
        found += 1
