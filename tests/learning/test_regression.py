"""Regression of patterns: weights that made the scores are found again, and games label what they should."""

import numpy as np
from mpi4py import MPI

from distsearch import evaluation
from distsearch.engines.pvs.exact_solver import ExactSolver
from distsearch.evaluation import patterns as pt
from distsearch.evaluation import tuple_network as nw
from distsearch.games import othello
from distsearch.games.interface import as_state
from distsearch.learning import othello_patterns as games
from distsearch.learning.rank_group import RankGroup
from distsearch.learning.regression import Regression, Samples

from ..evaluation.test_patterns import LARGE, STAGES, TUPLES, network
from ..games.othello_twin import random_position

SMALL = TUPLES[:2] + TUPLES[3:4]
PLAN = games.RoundPlan(games=24, depth=1, solved=8)


def test_scores_by_known_weights_are_learnt(seed):
    """Positions that were not shown are valued as by the network that made the scores."""
    known, rules = pt.tables_of(network(SMALL, STAGES, seed)), othello.rules()
    rng = np.random.default_rng(seed)
    states = games.samples(PLAN._replace(games=400), None, seed, rules).states
    scores = np.array([pt.patterns(as_state(s), rules, known) for s in states], np.float32) / pt.UNIT
    use = np.abs(scores) < pt.BOUND / pt.UNIT
    states, scores = states[use], scores[use]
    cut = len(scores) // 10
    learner = Regression(SMALL, STAGES, overlap=0)
    for rate in np.geomspace(0.2, 0.05, 40):
        learner.learn(Samples(states[cut:], scores[cut:]), rate, rng)
    error = np.sqrt((learner.errors(Samples(states[:cut], scores[:cut])) ** 2).mean())
    assert error < 0.05 * scores.std()
    # and the network says what the regression does
    tables = pt.tables_of(learner.network({}))
    told = np.array([pt.patterns(as_state(s), rules, tables) for s in states[:cut]]) / pt.UNIT
    assert np.abs(told - scores[:cut] - learner.errors(Samples(states[:cut], scores[:cut]))).max() < 0.2


def test_a_regression_goes_on_from_a_network(seed):
    net = network(pt.PRESETS[8, 8].tuples, STAGES, seed)
    learner = Regression(pt.PRESETS[8, 8].tuples, STAGES)
    learner.start_from(net)
    assert np.abs(pt.tables_of(learner.network({})).view(np.int16) - pt.tables_of(net).view(np.int16)).max() <= 1


def test_a_regression_values_positions_of_two_words_as_its_network(rng, seed):
    net, rules = network(LARGE, STAGES, seed, (10, 10)), othello.rules((10, 10))
    learner = Regression(LARGE, STAGES, side=10)
    learner.start_from(net)
    strewn = [random_position(rng, 10, 10) for _ in range(40)]
    states = [othello.parse("".join(map("".join, squares)) + " " + side, rules).state for squares, side in strewn]
    found = learner.errors(Samples(np.array(states, np.uint64), np.zeros(len(states), np.float32)))
    for tables in pt.tables_of(net), pt.tables_of(learner.network({})):
        told = np.array([pt.patterns(state, rules, tables) for state in states]) / pt.UNIT
        assert np.abs(told - found.clip(-100, 100)).max() < 0.3  # 50 look-ups, each rounded to a hundredth


def test_late_positions_have_their_exact_scores(seed):
    rules = othello.rules()
    taught = games.samples(PLAN, None, seed, rules)
    solver, solved = ExactSolver(othello, rules), 0
    for words, score in zip(taught.states, taught.scores, strict=True):
        state = as_state(words)
        if othello.moves_left(state, rules) <= PLAN.solved:
            solver.begin(state)
            assert solver.advance(1 << 40)
            assert solver.result().score == score
            solved += 1
    assert solved > PLAN.games
    assert len(taught.scores) > 2 * solved  # and earlier ones have scores too


def test_games_repeat_themselves():
    first, second = (games.samples(PLAN, None, 5, othello.rules()) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    other = games.samples(PLAN, None, 6, othello.rules())
    assert not np.array_equal(first.states[:50], other.states[:50])


def test_a_training_makes_a_network_of_the_preset(tmp_path):
    told = []
    group = RankGroup(MPI.COMM_SELF)
    net = games.train([300], [1], solved=6, passes=3, seed=1, group=group, tell=told.append)
    assert net.tuples == pt.PRESETS[8, 8].tuples
    assert net.record["games"] == [300]
    assert len(told) == 2 + 3  # after every 256 games, and every pass
    nw.save(tmp_path / "weights.npz", net, compact=True)
    found = evaluation.find(othello, str(tmp_path / "weights.npz"), othello.rules())
    # and other games end as it says, more or less
    other = games.samples(PLAN, None, 2, othello.rules())
    values = [found.function(as_state(words), othello.rules(), found.tables) for words in other.states]
    assert np.corrcoef(values, other.scores)[0, 1] > 0.5
