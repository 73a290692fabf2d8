"""Othello's patterns from the program's own games, with ends that it solves.

In rounds: games are played by the weights of the round before (in the first one by ``complex``), and weights are fitted
to the games of this round and the one before. A game begins with random moves, as many as a draw says, goes on by a
search of a few plies, and is played by exact scores once few squares are empty; some moves there are random again. A
position is worth the exact score of the first solved position that best play by the searches reaches from it.
"""

import time
from typing import NamedTuple

import numpy as np

from .. import evaluation
from ..core.jit import compiled
from ..engines.pvs import kernels
from ..engines.pvs.depth_search import DepthSearch
from ..engines.pvs.exact_solver import ExactSolver
from ..engines.pvs.layout import REQUEST
from ..evaluation import patterns as pt
from ..games import othello
from ..games.interface import END, MAX_MOVES, as_state
from ..games.lanes import load, store
from ..games.othello import SQUARES, count, final, kind, moves, play
from .regression import Regression, Samples, joined

_MOST_PLIES = 128  # of a game, passes among them
_AT_ONCE = 256  # games that are played side by side, so that a call searches a position of each
_BUDGET = 1 << 40  # nodes: no search stops early


class RoundPlan(NamedTuple):
    """How games are played."""

    games: int
    depth: int  # plies of a search
    solved: int = 12  # empty squares from which on scores are exact
    wild: float = 0.2  # share of random moves among solved positions
    least_random: int = 4  # moves that a game begins with, at least
    most_random: float = 0.625  # and at most, of the board's squares; fewer more often


def samples(plan, network, seed, rules, progress=None):
    """Return the Samples of games by a Network, or by ``complex`` if None.

    seed: of the random moves, an int or several; rules: of the board; progress: called with games done.
    """
    if network is None:
        chosen = evaluation.find(othello, "complex", rules)
    else:
        chosen = evaluation.Evaluation("patterns", pt.patterns, pt.tables_of(network), pt.bound(network.board))
    engines = DepthSearch(othello, rules, chosen), ExactSolver(othello, rules)
    rng, found = np.random.default_rng(seed), []
    for done in range(0, plan.games, _AT_ONCE):
        found.append(_together(min(_AT_ONCE, plan.games - done), plan, engines, rules, rng))
        if progress:
            progress(done + _AT_ONCE)
    return joined(found)


def _together(n, plan, engines, rules, rng):
    """Return the Samples of n games that are played side by side."""
    states = np.tile(np.array(othello.start(rules).state, np.uint64), (n, 1))
    most = int(plan.most_random * int(rules[SQUARES]))
    first = plan.least_random + (most - plan.least_random + 1) * rng.random(n) * rng.random(n)
    history, scores, kept = [], [], []  # by ply: states; exact scores, or NaN; whether the move after is a good one
    empty, ended = np.zeros(n, np.int64), np.zeros(n, bool)
    for ply in range(_MOST_PLIES):
        known, chosen = np.full(n, np.nan, np.float32), np.zeros(n, np.int16)
        look(states, rules, rng.integers(1 << 62, size=n), chosen, known, empty, ended, np.zeros(MAX_MOVES, np.int16))
        history.append(states.copy())
        scores.append(known)
        if ended.all():
            break
        good = ended.copy()
        for engine, plies, asked in zip(engines, (plan.depth, 0), _asked(plan, ply < first, empty, ended), strict=True):
            best, score = searched(engine, states[asked], plies)
            wild = (rng.random(len(best)) < plan.wild) & (plies == 0)
            chosen[asked] = np.where(wild, chosen[asked], best)
            good[asked] = ~wild
            if plies == 0:
                known[asked] = score
        kept.append(good)
        play_moves(states, rules, chosen, ended)
    return _labelled(history, scores, kept)


def _asked(plan, opening, empty, ended):
    """Return which games want a search to a depth, and which an exact one (indices)."""
    late = empty <= plan.solved
    return np.flatnonzero(~ended & ~opening & ~late), np.flatnonzero(~ended & ~opening & late)


def searched(engine, states, plies):
    """Return the best moves and the scores of states."""
    if len(states) == 0:
        return np.zeros(0, np.int16), np.zeros(0, np.float32)
    asked = np.zeros(len(states), REQUEST)
    asked["depth"], asked["brief"] = plies, 1
    asked["low"], asked["high"] = -kernels.INFINITY, kernels.INFINITY
    found, lines = engine.batch(np.ascontiguousarray(states), asked, _BUDGET)
    return lines[:, 0], found["score"].astype(np.float32)


def _labelled(history, scores, kept):
    """Return the Samples of games whose good moves carry a score back to the position before."""
    value, found = scores[-1], []
    for ply in range(len(history) - 2, -1, -1):
        value = np.where(np.isnan(scores[ply]), np.where(kept[ply], -value, np.nan), scores[ply])
        # a finished game stays where it is, and is no lesson
        use = ~np.isnan(value) & (history[ply] != history[ply + 1]).any(axis=1)
        found.append(Samples(history[ply][use], value[use].astype(np.float32)))
    return joined(found)


def look(states, r, draws, chosen, known, empty, ended, out):
    """Write of each state a random move, its score if it is finished, its empty squares, and whether it is finished."""
    _look(as_state(states[0]), states, r, draws, chosen, known, empty, ended, out)


@compiled
def _look(like, states, r, draws, chosen, known, empty, ended, out):
    for i in range(len(states)):
        s = load(like, states[i], 0)
        empty[i] = np.int64(r[SQUARES]) - count(s)
        ended[i] = kind(s, r) == END
        if ended[i]:
            known[i] = final(s, r)
        else:
            chosen[i] = out[draws[i] % moves(s, r, out, 0)]


def play_moves(states, r, chosen, ended):
    """Play a move in each state that is not finished."""
    _play_moves(as_state(states[0]), states, r, chosen, ended)


@compiled
def _play_moves(like, states, r, chosen, ended):
    for i in range(len(states)):
        if not ended[i]:
            s, _ = play(load(like, states[i], 0), r, np.int64(chosen[i]))
            store(states[i], 0, s)


def fit(taught, unseen, rates, seed, progress=None, start=None, board=(pt.SIDE, pt.SIDE)):
    """Return (Regression, root mean square error of Samples that it has not seen, in discs).

    rates: of each pass; progress: called with the pass, its error and that of the unseen; start: a Network; board:
    (rows, columns), one of ``patterns.PRESETS``.
    """
    rng, preset = np.random.default_rng(seed), pt.PRESETS[board]
    fitted = Regression(preset.tuples, preset.stages, preset.side)
    if start is not None:
        fitted.start_from(start)
    error = 0.0
    for done, rate in enumerate(rates, 1):
        squared = fitted.learn(taught, rate, rng)
        error = float(np.sqrt((fitted.errors(unseen).astype(np.float64) ** 2).mean()))
        if progress:
            progress(done, squared**0.5, error)
    return fitted, error


def falling(passes, first=0.5, last=0.02):
    """Return the rates of so many passes."""
    return np.geomspace(first, last, passes).tolist()


def train(games, depths, solved, passes, seed, group, tell, board=(pt.SIDE, pt.SIDE)):
    """Return the Network of rounds of so many games with searches so deep each, on the first rank of a RankGroup.

    games, depths: of each round; solved: see ``RoundPlan``; passes: over the positions of a round; tell: takes a
    line of text about the progress; board: (rows, columns), one of ``patterns.PRESETS``.
    """
    began, rules, network, parts = time.process_time(), othello.rules(board), None, []
    for number, (played, depth) in enumerate(zip(games, depths, strict=True)):
        plan = RoundPlan(group.share(played), depth, solved)
        found = samples(
            plan, network, [seed, number, group.rank], rules, lambda n, of=plan: tell(f"{n} of {of.games} games")
        )
        taught = group.gathered(found)
        if group.rank == 0:
            parts = [*parts[-1:], taught]  # weak play is forgotten
            taught = joined(parts)
            unseen = samples(plan._replace(games=_AT_ONCE), network, [seed, number, group.size], rules)
            fitted, error = fit(
                taught,
                unseen,
                falling(passes),
                seed,
                lambda done, seen, unseen: tell(f"pass {done}: error {seen:.2f} discs, unseen {unseen:.2f}"),
                board=board,
            )
            network = fitted.network(
                {
                    "games": list(games),
                    "depth": list(depths),
                    "solved": solved,
                    "passes": passes,
                    "seed": seed,
                    "ranks": group.size,
                    "positions": len(taught.scores),
                    "error": round(error, 2),
                    "cpu_seconds": round(time.process_time() - began),
                }
            )
        network = group.told(network)
    return network
