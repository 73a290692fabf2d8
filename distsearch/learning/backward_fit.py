"""Othello's patterns on 8×8, fitted from the end of the game backwards, from a network that there is.

    mpirun -n 63 python -m distsearch.learning.backward_fit --start old.npz --save new.npz

Positions come from games in which a search of two plies or a draw chooses the moves. Late ones are worth their exact
scores, which the GPUs of the host find, if it has some. Earlier ones are worth the mean of two searches, to an even and
to an odd number of plies, that end in the stages after theirs, which are fitted first. An evaluation's error in favour
of the side to move cancels out in that mean; otherwise it would add up from stage to stage. So a position is valued by
best play from there on; the result of the game that it comes from would be mostly chance. Stages that are not fitted
keep the first network's weights.
"""

import argparse
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from mpi4py import MPI

from .. import evaluation
from ..core.errors import UserError
from ..engines.pvs.depth_search import DepthSearch
from ..engines.pvs.exact_solver import ExactSolver
from ..evaluation import patterns as pt
from ..evaluation import tuple_network as nw
from ..games import othello
from ..games.interface import MAX_MOVES
from ..gpu.device import Gpu, count
from ..gpu.othello_endgame import GpuEndgame
from .othello_patterns import falling, look, play_moves, searched
from .regression import Regression, Samples, joined

_SQUARES = pt.SIDE**2
_AT_ONCE, _MOST_PLIES = 256, 128  # games side by side, and plies of a game
_PLAYERS = 2  # plies that players look ahead
_OVERLAP = 2  # discs by which the positions of a stage reach into its neighbours
_UNSEEN = 0.02  # share of the positions that only tell the error
_GROWTH = 2.2  # times as long an exact score takes for each empty square more
_TABLE_MIB, _SHARE_FROM = 4096, 9  # see ``GpuEndgame``


class Plan(NamedTuple):
    """How much is learnt, and from what."""

    games: int = 3_000_000
    solved: int = 18  # empty squares up to which scores are exact
    cheap: int = 15  # up to which as many positions of each number have one; beyond, so many as take as long
    exact: int = 1_500_000  # those positions, of each number of empty squares
    searched: int = 600_000  # positions of each number of empty squares whose values are searched
    depth: int = 4  # plies of the shallower one of the two searches of each of them
    from_discs: int = 36  # discs with which the first stage begins that is fitted
    to_discs: int = 65  # and those with which the first one begins that is left as it is
    wild: float = 0.2  # share of moves that are drawn
    least_random: int = 4  # moves that a game begins with are drawn, at least
    most_random: int = 30  # and at most; fewer more often
    passes: int = 8
    seed: int = 1


def played(plan, games, engine, rules, rng):
    """Return the states of so many games, uint64, shape (n, 2), each once."""
    found = []
    for begun in range(0, games, _AT_ONCE):
        n = min(_AT_ONCE, games - begun)
        states = np.tile(np.array(othello.start(rules).state, np.uint64), (n, 1))
        first = plan.least_random + (plan.most_random - plan.least_random + 1) * rng.random(n) * rng.random(n)
        empty, ended, known = np.zeros(n, np.int64), np.zeros(n, bool), np.zeros(n, np.float32)
        for ply in range(_MOST_PLIES):
            chosen, out = np.zeros(n, np.int16), np.zeros(MAX_MOVES, np.int16)
            look(states, rules, rng.integers(1 << 62, size=n), chosen, known, empty, ended, out)
            if ended.all():
                break
            found.append(states[~ended])
            asked = np.flatnonzero(~ended & (ply >= first) & (rng.random(n) >= plan.wild))
            chosen[asked], _ = searched(engine, states[asked], _PLAYERS)
            play_moves(states, rules, chosen, ended)
    return np.unique(np.concatenate(found), axis=0)


class BackwardFit:
    """The ranks of a fit: all play and search, those with a GPU solve, and late stages are fitted at the same time.

    network: where it begins, and what is learnt so far; tell: takes a line of text about the progress.
    """

    def __init__(self, plan, network, comm, tell):
        self.network = network._replace(weights=network.weights.copy())
        self._plan, self._comm, self._tell = plan, comm, tell
        self._rules, self._rng = othello.rules(), np.random.default_rng([plan.seed, comm.rank])
        self._gpus = min(_gpus(), comm.size) if plan.solved else 0
        self._began = [0, *network.stages, _SQUARES + 1]
        self._start = time.perf_counter()

    def run(self, keep: Callable[[nw.Network], object]):
        """Fit, on all ranks; on the first one, call keep(network) whenever another stage is fitted."""
        plan = self._plan
        if self._comm.rank == 0:
            self._engine().compile()
        self._comm.barrier()
        self._states = played(plan, plan.games // self._comm.size, self._engine(), self._rules, self._rng)
        discs = np.bitwise_count(self._states[:, 0] | self._states[:, 1])
        self._left = _SQUARES - discs.astype(np.int64)
        self._told(f"{len(self._states):,} positions on the first rank, {self._gpus} GPUs")
        solve = self._solver()
        self._samples = {left: self._exact(left, solve) for left in range(1, plan.solved + 1)}
        self._told("late positions are solved")
        fitted = [stage for stage, began in enumerate(self._began[:-1]) if plan.from_discs <= began < plan.to_discs]
        late = [stage for stage in fitted if _SQUARES - self._began[stage] <= plan.solved]
        self._fit_late(late)
        if late and self._comm.rank == 0:
            keep(self.network)
        for stage in reversed(fitted[: len(fitted) - len(late)]):
            self._fit_early(stage)
            if self._comm.rank == 0:
                keep(self.network)

    def _engine(self):
        chosen = evaluation.Evaluation("patterns", pt.patterns, pt.tables_of(self.network), pt.BOUND)
        return DepthSearch(othello, self._rules, chosen)

    def _told(self, text):
        if self._comm.rank == 0:
            self._tell(f"{time.perf_counter() - self._start:.0f} s: {text}")

    def _solver(self):
        """Return what gives states their exact scores: a GPU or this core; None on ranks that leave it to GPUs."""
        if not self._gpus:
            engine = ExactSolver(othello, self._rules, order=evaluation.for_order(othello, self._rules))
            return lambda states: searched(engine, states, 0)[1]
        if self._comm.rank >= self._gpus:
            return None
        gpu = Gpu(self._comm.rank)
        solver = GpuEndgame(gpu, othello, self._rules, _TABLE_MIB, share_from=_SHARE_FROM, most=self._plan.solved)
        return lambda states: solver.solve(states)[0].astype(np.float32)

    def _exact(self, left, solve):
        """Return the Samples with so many empty squares that this rank has the scores of."""
        plan, comm = self._plan, self._comm
        most = int(plan.exact / _GROWTH ** max(0, left - plan.cheap)) // comm.size
        states = self._states[self._left == left]
        if len(states) > most:
            states = states[self._rng.permutation(len(states))[:most]]
        for to in range(self._gpus):
            parts = comm.gather(states if comm.rank % self._gpus == to else states[:0], to)
            if comm.rank == to:
                states = np.concatenate(parts)
        if solve is None:
            return Samples(states[:0], np.zeros(0, np.float32))
        return Samples(states, solve(states))

    def _taught(self, lefts, to):
        """Return the Samples of all ranks with some numbers of empty squares on rank ``to``, None elsewhere."""
        parts = self._comm.gather(joined([self._samples[left] for left in lefts if left in self._samples]), to)
        return joined(parts) if parts else None

    def _reach(self, stage):
        """Return the numbers of empty squares with which positions teach a stage: its own, and those near them."""
        least, most = _SQUARES + 1 - self._began[stage + 1], _SQUARES - max(self._began[stage], 4)
        return range(max(least - _OVERLAP, 1), min(most + _OVERLAP, _SQUARES - 4) + 1)

    def _fit_late(self, stages):
        """Fit stages whose positions have exact scores."""
        mine, found = [], []
        for i, stage in enumerate(stages):
            taught = self._taught(self._reach(stage), i % self._comm.size)
            if taught is not None:
                mine.append((stage, taught))
        for stage, taught in mine:
            found.append((stage, *self._fitted(stage, taught)))
        for part in self._comm.allgather(found):
            for stage, weights, text in part:
                self.network.weights[stage] = weights
                self._told(text)

    def _fit_early(self, stage):
        """Fit a stage to searches that end in those after it."""
        plan, engine = self._plan, self._engine()
        lefts = self._reach(stage)[:-_OVERLAP]  # not earlier positions: their searches would end in this stage
        for left in lefts:
            known = self._samples.get(left)
            later = left <= _SQUARES - self._began[stage + 1]
            if known and (later or len(known.scores) * self._comm.size > 1.5 * plan.searched):
                continue
            states = self._states[self._left == left]
            states = states[self._rng.permutation(len(states))[: plan.searched // self._comm.size]]
            found = Samples(states, _looked_ahead(engine, states, plan.depth))
            self._samples[left] = joined([known, found]) if known else found
        taught = self._taught(lefts, 0)
        weights, text = self._comm.bcast(self._fitted(stage, taught) if taught else None)
        self.network.weights[stage] = weights
        self._told(text)

    def _fitted(self, stage, taught):
        """Return the weights of a stage fitted to Samples, and what to tell of it."""
        rng = np.random.default_rng([self._plan.seed, stage])
        apart = rng.random(len(taught.scores)) < _UNSEEN
        unseen, seen = (Samples(*(column[part] for column in taught)) for part in (apart, ~apart))
        fit = Regression(self.network.tuples, (), self.network.board[0])
        fit.start_from(self.network._replace(weights=self.network.weights[stage : stage + 1]))
        errors = [_error(fit, unseen)]
        for rate in falling(self._plan.passes):
            fit.learn(seen, rate, rng)
            errors.append(_error(fit, unseen))
        text = f"stage from {self._began[stage]} discs: {len(seen.scores):,} positions, error of others by pass "
        return fit.network({}).weights[0], text + " ".join(f"{error:.2f}" for error in errors)


def _looked_ahead(engine, states, depth):
    """Return the mean of searches to ``depth`` plies and to one more, in discs, float32."""
    return sum(searched(engine, states, plies)[1] for plies in (depth, depth + 1)) / np.float32(2 * pt.UNIT)


def _error(fit, samples):
    """Return the root mean square error of Samples, in discs."""
    return float(np.sqrt((fit.errors(samples).astype(np.float64) ** 2).mean()))


def _gpus():
    try:
        return count()
    except UserError:
        return 0


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m distsearch.learning.backward_fit",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name, usual in Plan()._asdict().items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(usual), default=usual, help=f"default {usual}")
    parser.add_argument("--start", required=True, metavar="FILE", help="a network of Othello on 8x8")
    parser.add_argument("--save", required=True, metavar="FILE", help="where the fitted one is written")
    args = vars(parser.parse_args(argv))
    start, save, comm = args.pop("start"), args.pop("save"), MPI.COMM_WORLD
    try:
        network = nw.load(start, pt.GAME, pt.CODES)
        pt.check_fits(network, (pt.SIDE, pt.SIDE), start)
    except UserError as error:
        print(f"backward_fit: {error}", file=sys.stderr)
        return 2
    begun = network.record
    fit = BackwardFit(Plan(**args), network, comm, lambda text: print(text, file=sys.stderr, flush=True))

    def keep(network):
        try:
            nw.save(save, network._replace(record={**args, "ranks": comm.size, "start": begun}), compact=True)
        except OSError as error:
            print(f"backward_fit: cannot write {save}: {error.strerror}", file=sys.stderr, flush=True)
            comm.Abort(1)  # others wait for this rank

    fit.run(keep)
    return 0


if __name__ == "__main__":
    sys.exit(main())
