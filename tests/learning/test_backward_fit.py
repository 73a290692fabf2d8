"""A fit of Othello's patterns backwards: later stages first, each with less error than before."""

import re

import numpy as np
from mpi4py import MPI

from distsearch import evaluation
from distsearch.engines.pvs.depth_search import DepthSearch
from distsearch.engines.pvs.exact_solver import ExactSolver
from distsearch.evaluation import patterns as pt
from distsearch.evaluation import tuple_network as nw
from distsearch.games import othello
from distsearch.learning import backward_fit
from distsearch.learning.othello_patterns import searched

from ..evaluation.test_patterns import STAGES, network

ASKED = {"games": 300, "solved": 9, "cheap": 7, "exact": 2000, "searched": 1500, "from_discs": 52, "passes": 3}


def test_stages_are_fitted_from_the_last_one_to_the_first_asked_for(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(backward_fit, "count", lambda: 0)
    before, after = tmp_path / "before.npz", tmp_path / "after.npz"
    first = network(pt.PRESETS[8, 8].tuples, pt.PRESETS[8, 8].stages, 1)
    nw.save(before, first._replace(weights=first.weights / 50), compact=True)
    options = [part for name, value in ASKED.items() for part in (f"--{name.replace('_', '-')}", str(value))]
    assert backward_fit.main([*options, "--start", str(before), "--save", str(after)]) == 0
    lines = re.findall(r"stage from (\d+) discs.* pass ([0-9. ]+)", capfd.readouterr().err)
    assert [int(discs) for discs, _ in lines] == [56, 60, 52]
    for _, told in lines:
        errors = [float(error) for error in told.split()]
        assert len(errors) == 4
        assert errors[-1] < errors[0]
    old, new = (nw.load(path, pt.GAME, pt.CODES) for path in (before, after))
    changed = [bool((a != b).any()) for a, b in zip(old.weights, new.weights, strict=True)]
    assert changed == [stage >= 52 for stage in (0, *old.stages)]
    assert (new.record["games"], new.record["start"]) == (300, old.record)


def test_late_positions_have_their_exact_scores(monkeypatch):
    monkeypatch.setattr(backward_fit, "count", lambda: 0)
    rules = othello.rules()
    fit = backward_fit.BackwardFit(
        backward_fit.Plan(games=40, solved=6, from_discs=64, passes=1),
        network(pt.PRESETS[8, 8].tuples, pt.PRESETS[8, 8].stages, 1),
        MPI.COMM_SELF,
        lambda text: None,
    )
    fit.run(lambda network: None)
    solver = ExactSolver(othello, rules)
    for left, samples in fit._samples.items():
        assert len(samples.scores) > 20
        assert (64 - np.bitwise_count(samples.states[:, 0] | samples.states[:, 1]) == left).all()
        assert np.array_equal(samples.scores, searched(solver, samples.states, 0)[1])


def test_another_board_s_network_is_refused(tmp_path, capsys):
    small = evaluation.find(othello, "patterns", othello.rules((6, 6)))
    assert small.name == "patterns"
    path = tmp_path / "weights.npz"
    nw.save(path, network(pt.PRESETS[6, 6].tuples, STAGES, 1)._replace(board=(6, 6)))
    assert backward_fit.main(["--start", str(path), "--save", str(tmp_path / "new.npz")]) == 2
    assert "6x6" in capsys.readouterr().err


def test_what_favours_whoever_moves_cancels_out():
    """By a network in which every position is worth 5 discs to the side to move, no position is worth anything."""
    pattern = pt.PRESETS[8, 8]
    biased = network(pattern.tuples, pattern.stages, 1)
    biased.weights[:] = 0
    biased.weights[:, : pt.CODES ** len(pattern.tuples[0])] = 5 / 8  # of each of the eight images
    engine = DepthSearch(
        othello, othello.rules(), evaluation.Evaluation("patterns", pt.patterns, pt.tables_of(biased), pt.BOUND)
    )
    states = backward_fit.played(backward_fit.Plan(), 16, engine, othello.rules(), np.random.default_rng(1))
    early = states[np.bitwise_count(states[:, 0] | states[:, 1]) < 20]
    assert searched(engine, early, 4)[1].mean() > 4.5 * pt.UNIT
    assert np.abs(backward_fit._looked_ahead(engine, early, 4)).max() < 1
