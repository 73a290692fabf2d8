"""What an engine tells others, and what it makes of what it is told: it answers from its table, with the same score."""

import numpy as np
import pytest

from distsearch import evaluation
from distsearch.games import connect4, othello
from distsearch.games.interface import END, PASS, as_state, legal_moves, step
from distsearch.search import drivers as dr
from distsearch.search import pvs
from distsearch.search import table as tt
from distsearch.search.deep_engine import Deep
from distsearch.search.solver_engine import Solver

from .positions import NO_PAUSE

FAR = 3  # buckets of eight words: few, so that entries are written over


class Kind:
    """Searches of a game on a board, to a depth or to the end (None), after so many plies."""

    def __init__(self, game, board, plies, depth):
        self.game, self.board, self.plies, self.depth = game, board, plies, depth
        self.rules = game.rules(board)

    def __repr__(self):
        return "{}-{}x{}-{}".format(self.game.NAME, *self.board, "exact" if self.depth is None else "deep")

    def engine(self, buckets=1 << 14, part=True):
        far = np.zeros(8 * buckets, np.uint64)
        if self.depth is None:
            return Solver(self.game, self.rules, far, part=part)
        chosen = evaluation.find(self.game, evaluation.names(self.game)[0], self.rules)
        engine = Deep(self.game, self.rules, chosen, far, part=part)
        engine._control[dr.STEP] = 1 << 40  # at once to the depth
        return engine

    def position(self, rng, passes=False):
        """A random one with moves, after one of which the other side has to pass, if that is wanted."""
        while True:
            position = self.game.start(self.rules)
            for _ in range(self.plies):
                if moves := legal_moves(self.game, position, self.rules):
                    position = step(self.game, position, self.rules, rng.choice(moves))
            moves = legal_moves(self.game, position, self.rules)
            after = [legal_moves(self.game, step(self.game, position, self.rules, m), self.rules) for m in moves]
            if moves and (not passes or [PASS] in after):
                return position.state, [step(self.game, position, self.rules, m).state for m in moves]

    def left(self, state):
        return int(self.game.moves_left(state, self.rules)) if self.depth is None else self.depth - 1

    def score(self, engine, state, left):
        engine.begin(state) if self.depth is None else engine.begin(state, left)
        while not engine.advance(NO_PAUSE):
            pass
        return int(engine.result().score)

    def told(self, rng, states, slack=0):
        """Rows of the scores of states, as bounds that leave so much open."""
        engine = self.engine(part=False)
        rows = []
        for state in states:
            if self.game.kind(state, self.rules) != END:
                score = self.score(engine, state, self.left(state))
                low, high = score - rng.randint(0, slack), score + rng.randint(0, slack)
                rows.append(
                    [self.left(state), low, high, self.depth is not None, *np.array(state, np.uint64).view(np.int64)]
                )
        return np.array(rows, np.int64)


KINDS = [
    Kind(othello, (6, 6), 20, None),
    Kind(othello, (8, 8), 50, None),
    Kind(othello, (9, 8), 58, None),
    Kind(othello, (6, 6), 18, 6),
    Kind(othello, (8, 8), 30, 5),
    Kind(connect4, (6, 7), 22, None),
    Kind(connect4, (5, 6), 12, None),
    Kind(connect4, (6, 7), 10, 7),
]
kinds = pytest.mark.parametrize("kind", KINDS, ids=repr)
with_passes = pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.game is othello], ids=repr)


def searched_next_to_nothing(kind, rng, passes=False):
    """Whether an engine that was told all of a position's moves hardly searches; that it finds the same score it must.

    Two entries may fall on the same place of a small table, in less than one position of a thousand, and one of them is
    searched for then.
    """
    state, after = kind.position(rng, passes)
    expected = kind.score(kind.engine(part=False), state, kind.depth)
    engine = kind.engine()
    engine.compile()
    engine.learn(kind.told(rng, after))
    assert kind.score(engine, state, kind.depth) == expected, state
    # a question at the root looks at every move, and at most twice; there are no more questions than scores
    questions = 1 if kind.depth else 20
    return engine.boards <= 2 * questions * len(after)


@kinds
def test_what_is_told_is_true(kind, full, rng):
    """Whatever window is asked for, of whatever frame, in slices, with a window that becomes narrower."""
    judge, told, tries = kind.engine(part=False), 0, 0
    judge.compile()
    while tries < (20 if full else 2) or not told and kind.plies <= 50:  # some positions are too easy
        tries += 1
        state, _ = kind.position(rng)
        engine = kind.engine()
        engine.tell(20)
        low = rng.randint(-10, 10)
        asked = (low, low + rng.choice((1, 5, 40)))
        engine.begin(state, *asked) if kind.depth is None else engine.begin(state, kind.depth, *asked)
        while not engine.advance(rng.choice((10, 100, 1000))):
            if rng.random() < 0.2:
                engine.narrow(low, rng.randint(low + 1, asked[1]))
        for left, low, high, cut, *words in rng.sample(rows := engine.found().tolist(), min(len(rows), 30)):
            state = as_state(np.array(words, np.int64).view(np.uint64))
            score = kind.score(judge, state, left)
            assert low <= score <= high, (state, left)
            if kind.depth and not cut:  # it rests on ends of games alone, so it holds at any depth
                assert low <= kind.score(judge, state, left + 2) <= high, (state, left)
            told += 1


def test_only_what_is_dear_is_told_and_once(rng):
    kind = KINDS[1]
    state, _ = kind.position(rng)
    counts = []
    for boards in (0, 1, 10, 100, 1 << 30):
        engine = kind.engine()
        engine.tell(boards)
        kind.score(engine, state, None)
        counts.append(len(engine.found()))
        assert len(engine.found()) == 0
    assert counts[0] == counts[-1] == 0
    assert counts[1:] == sorted(counts[1:], reverse=True)
    assert counts[1] > 0


def test_what_nobody_takes_is_not_kept(rng):
    kind = Kind(othello, (8, 8), 44, None)
    engine = kind.engine()
    engine.tell(1)
    kind.score(engine, kind.position(rng)[0], None)
    assert len(engine.found()) == engine._control[pvs.FOUND_ROOM]
    engine.tell(0)
    kind.score(engine, kind.position(rng)[0], None)
    assert len(engine.found()) == 0


@kinds
def test_it_answers_from_the_table(kind, full, rng):
    tries = 50 if full else 5
    assert sum(searched_next_to_nothing(kind, rng) for _ in range(tries)) >= 0.8 * tries


@with_passes
def test_passes_too(kind, full, rng):
    tries = 20 if full else 3
    assert sum(searched_next_to_nothing(kind, rng, passes=True) for _ in range(tries)) >= 0.6 * tries


@kinds
def test_bounds_that_leave_something_open(kind, full, rng):
    """Told in any order, more than once, to tables of any size, before a search, or after."""
    for _ in range(50 if full else 5):
        state, after = kind.position(rng)
        expected = kind.score(kind.engine(part=False), state, kind.depth)
        engine = kind.engine(buckets=rng.choice((FAR, 1 << 14)))
        engine.compile()
        if rng.random() < 0.5:
            assert kind.score(engine, state, kind.depth) == expected, state
        for _ in range(3):
            rows = kind.told(rng, after, slack=4)
            engine.learn(rows[rng.sample(range(len(rows)), len(rows))])
        assert kind.score(engine, state, kind.depth) == expected, state


@kinds
def test_what_is_known_better_stays(kind, rng):
    state, after = kind.position(rng)
    engine = kind.engine()
    engine.compile()
    engine.learn(kind.told(rng, after))
    loose = kind.told(rng, after)
    loose[:, 1], loose[:, 2] = -(1 << 60), 1 << 60
    engine.learn(loose)
    kind.score(engine, state, kind.depth)
    assert engine.boards <= 2 * (1 if kind.depth else 20) * len(after)


def test_a_search_at_work_goes_on(rng):
    """It is told what it would find; its counts are its own."""
    kind = KINDS[1]
    state, after = kind.position(rng)
    expected, engine = kind.score(kind.engine(part=False), state, None), kind.engine()
    engine.begin(state)
    engine.advance(50)
    before = engine.table_counts, int(engine._control[tt.FAR_LEFT])
    engine.learn(kind.told(rng, after))
    assert (engine.table_counts, int(engine._control[tt.FAR_LEFT])) == before
    while not engine.advance(50):
        pass
    assert int(engine.result().score) == expected


def test_another_depth_is_not_answered(rng):
    """What is left must match, for a score is one of a depth."""
    kind = Kind(othello, (6, 6), 18, 6)
    state, after = kind.position(rng)
    expected, engine = kind.score(kind.engine(part=False), state, 6), kind.engine()
    engine.compile()
    wrong = kind.told(rng, after)
    wrong[:, 1:3] += 1000
    for left in (3, 4, 6, 7):
        wrong[:, 0] = left
        engine.learn(wrong)
    assert kind.score(engine, state, 6) == expected


def test_what_a_depth_cut_off_is_not_proved(rng):
    kind = Kind(othello, (6, 6), 18, 6)
    state, after = kind.position(rng)
    engine = kind.engine()
    engine.compile()
    engine.learn(kind.told(rng, after))
    kind.score(engine, state, 6)
    assert engine.result().evaluated


def test_without_a_far_table_the_near_one_takes_it(rng):
    kind = KINDS[1]
    state, after = kind.position(rng)
    engine = Solver(othello, kind.rules, part=True)
    engine.compile()
    engine.learn(kind.told(rng, after))
    kind.score(engine, state, None)
    assert engine.boards <= 40 * len(after)
