"""What the tests of sources of work share: runners by name, and sources that are driven without a cluster."""

import functools

import numpy as np

from distsearch.api.options import Options
from distsearch.games import othello
from distsearch.games.interface import Position, legal_moves, step
from distsearch.jobs.two_player import KINDS
from distsearch.tree.expansion import Grower

from ..engines.positions import NO_PAUSE, evaluate, rules


@functools.cache
def runner(kind, board):
    """The runner of that kind of job for Othello, shared since it takes a while to load its kernels."""
    return KINDS[kind](Options("othello", board=board, depth=1, evaluation="static").setup(kind))


@functools.cache
def grower(board, empties="winner"):
    return Grower(othello, rules(board, empties))


def do(worker, job):
    """The result record of a job, done in one go."""
    worker.begin(job)
    while not worker.advance(NO_PAUSE):
        pass
    return worker.result(seconds=2.0, cpu=1.0)


def stop(worker, job, nodes):
    """The result record of a job that is stopped after about so many nodes."""
    worker.begin(job)
    assert not worker.advance(nodes)
    return worker.result(seconds=2.0, cpu=1.0)


def stop_with_a_score(worker, job):
    """The result record of a job that is stopped as soon as it knows anything."""
    worker.begin(job)
    while not np.isfinite(worker.result(seconds=2.0, cpu=1.0)["score"][0]):
        assert not worker.advance(10)
    return worker.result(seconds=2.0, cpu=1.0)


def check_line(line, state, score, board, depth):
    """The moves are legal and lead to a position of that score."""
    r, worth = rules(board), evaluate(board, "static")
    position = Position(state)
    for m in line:
        assert m in legal_moves(othello, position, r)
        position = step(othello, position, r, m)
    sign = (-1) ** len(line)
    if legal_moves(othello, position, r):
        assert len(line) == depth
        assert score == sign * worth.function(position.state, r, worth.tables)
    else:
        final = othello.final(position.state, r)
        win = 0 if depth is None else worth.bound
        assert score == sign * (final + win * np.sign(final))


def drive(source, worker, rng, workers):
    """Have a source done with up to so many jobs out at a time, whose results come back in random order."""
    out = []
    while not source.done:
        while len(out) < workers and len(jobs := source.take(1, worker=1)):
            out.extend(jobs)
        results = do(worker, out.pop(rng.randrange(len(out))))
        source.finish(np.atleast_1d(results))
