"""Paused searches whose bytes were changed: they are refused, or go on to an end; none reads or writes elsewhere."""

import numpy as np
import pytest

from distsearch.core.packing import packed, unpacked
from distsearch.engines.perft import Perft
from distsearch.engines.saved_path import legal_part
from distsearch.games import connect4, othello
from distsearch.games.interface import Position, legal_moves, step

from .paused import BOARD, ENGINES, mutated, saved
from .positions import NO_PAUSE, rules, unfinished_states

MUTANTS = 400


@pytest.mark.parametrize("name", ENGINES)
def test_mutants_are_refused_or_end(name, rng):
    make, begin = ENGINES[name]
    state, content = saved(make, begin, rng)
    engine, refused = make(), 0
    for _ in range(MUTANTS):
        begin(engine, state)
        try:
            engine.restore(mutated(content, rng))
        except ValueError:
            refused += 1
        while not engine.advance(NO_PAUSE):
            pass
        if hasattr(engine, "result"):
            line = engine.result().line
            assert legal_part(othello, rules(BOARD), state, line) == line
    assert MUTANTS // 10 < refused < MUTANTS


@pytest.mark.parametrize("name", ENGINES)
def test_a_refused_one_leaves_the_search_that_was_begun(name, rng):
    make, begin = ENGINES[name]
    state, content = saved(make, begin, rng)
    fresh, engine = make(), make()
    begin(fresh, state)
    begin(engine, state)
    with pytest.raises(ValueError, match="arrays"):
        engine.restore(content[:-1])
    while not (fresh.advance(NO_PAUSE) and engine.advance(NO_PAUSE)):
        pass
    if name == "perft":
        assert engine.counts.tolist() == fresh.counts.tolist()
    else:
        assert engine.result() == fresh.result()


def test_frames_of_another_position_are_refused(rng):
    make, begin = ENGINES["exact"]
    state, content = saved(make, begin, rng)
    engine = make()
    other = next(each for each in unfinished_states(rng, BOARD, 30, most_empties=14) if each != state)
    begin(engine, other)
    with pytest.raises(ValueError, match="another position|out of its range"):
        engine.restore(content)


def test_a_move_that_is_not_legal_is_refused():
    engine = Perft(othello, rules(BOARD))
    state = othello.start(rules(BOARD)).state
    engine.begin(state, 7)
    assert not engine.advance(1)
    places = np.zeros(1, np.int64), engine.counts, engine._words, engine._frames.view(np.int64), engine._out
    *others, moves = unpacked(engine.save(), *places)
    moves = moves.copy()
    moves[0] = 14  # where a disc is
    with pytest.raises(ValueError, match="illegal"):
        engine.restore(packed(*others, moves))


def test_a_line_is_cut_off_before_what_is_not_legal(rng):
    r, position, line = connect4.rules(), connect4.start(connect4.rules()), []
    while len(line) < 8:
        line.append(rng.choice(legal_moves(connect4, position, r)))
        position = step(connect4, position, r, line[-1])
    state = connect4.start(r).state
    assert legal_part(connect4, r, state, line) == line
    assert legal_part(connect4, r, state, [*line[:5], 99, *line[5:]]) == line[:5]
    assert Position(state).side == 0
