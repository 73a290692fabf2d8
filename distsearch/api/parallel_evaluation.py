"""One board at a time evaluated by all ranks together: the parallel evaluation of the OthelloX report.

Rank 0 searches by plain alpha-beta. For each board at the depth limit it spreads the squares over all ranks by
Scatterv, itself included. Every rank multiplies what stands on its squares by their weights, for `static`, as the
report's do, or counts there what `complex` is made of; the sums are gathered and added. Two collective calls for some
tens of nanoseconds of work: it is here to be measured, not to be used.
"""

import functools
import os
import time
from typing import Any, NamedTuple

import numpy as np

from .. import evaluation, games
from ..cluster.backoff import BackOff
from ..core.errors import UserError
from ..engines.alphabeta import INFINITY, parse_ordering
from ..games.interface import END, MAX_MOVES, as_state, legal_moves
from .board_pieces import PIECES
from .compiling import compile_with_notice
from .declarations import shown
from .options import resolve
from .progress import Silent
from .result import Outcome, tidy

_AWAKE = 5e-3  # seconds of waiting before a rank sleeps between two looks; with 0.2 ms a board took 2.6 times as long
_LOOKS = 256  # nodes evaluated between two looks at the interrupt
_TAKEN = "depth", "algorithm", "ordering", "evaluation"
_OVER, _GO = 0, 1  # the first byte of what a rank is sent
_HEAD = 1


def checked(game: str, board: str | None = None, rules: dict | None = None, **given: Any):
    """Return (Options, game module, rules array) of what was asked, as ``options.resolve``; raises UserError.

    given: options of a search; whatever shares out a tree is refused.
    """
    for name in given:
        if name not in _TAKEN:
            raise UserError(
                f"parallel evaluation goes without {shown(name)}: one rank searches, and all evaluate its nodes"
            )
    if game != "othello":
        raise UserError(f"parallel evaluation spreads the squares of othello, not of {game[:40]}")
    if given.get("depth") is None:
        raise UserError("parallel evaluation goes with --depth N alone")
    asked = {"ordering": "static", "policy": "pool", "evaluation": "complex", **given}
    if asked["evaluation"] not in PIECES:
        raise UserError(
            f"parallel evaluation goes with evaluation {' or '.join(PIECES)}, not with {asked['evaluation'][:40]}"
        )
    if parse_ordering(asked["ordering"])[1]:
        raise UserError("parallel evaluation goes with ordering none or static, not shallow")
    return resolve(game, board, rules, **asked)


class _Stopped(Exception):  # noqa: N818, it is no error
    """The user wants an end."""


class Spread:
    """The ranks of a communicator (mpi4py's, or None for this process alone) as one evaluator of positions.

    All ranks make one; rank 0 asks for ``value`` and ends with ``close``, the others ``follow``. pieces: what makes
    pieces of a board and puts what ranks find together, see ``api.board_pieces``. communication, computation: seconds
    of this rank in collective calls and in counting, which begin with ``start``; making pieces is neither.
    """

    def __init__(self, comm, pieces_of):
        self._comm = comm
        self.ranks = comm.Get_size() if comm else 1
        self.rank = comm.Get_rank() if comm else 0
        self._pieces = pieces_of(self.ranks, self.rank)
        sizes = np.array([_HEAD + len(each) for each in self._pieces.first])
        starts = np.concatenate([[0], np.cumsum(sizes[:-1])])
        self._sent, self._places = np.zeros(sizes.sum(), np.uint8), (sizes, starts)
        self._parts = []
        for start, size, first in zip(starts, sizes, self._pieces.first, strict=True):
            part = self._sent[start + _HEAD : start + size]
            part[:] = first
            self._parts.append(part)
        self._starts, self._piece = starts, np.zeros(sizes[self.rank], np.uint8)
        self._found = np.zeros(self._pieces.counts, np.int64)
        self._all = np.zeros((self.ranks, self._pieces.counts), np.int64)
        self.start()

    def start(self):
        """Begin to measure."""
        self.communication = self.computation = 0.0
        self.nodes = 0

    def warm(self, state):
        """Count a state here alone, so that this is compiled."""
        self._pieces.put(self._parts, state)
        self._pieces.count(self._parts[self.rank], self._found)
        self._pieces.total(self._all)

    def meet(self):
        """Wait until all ranks are here."""
        if self._comm is not None:
            self._wait(self._comm.Ibarrier())

    def value(self, state):
        """Return the evaluation of a state, by all ranks; on rank 0."""
        self._scatter(_GO, state)
        self._count()
        self._gather()
        self.nodes += 1
        return self._pieces.total(self._all)

    def close(self):
        """Let the others go; on rank 0."""
        self._scatter(_OVER)

    def follow(self):
        """Count squares as rank 0 sends them, until it closes."""
        while True:
            self._scatter()
            if self._piece[0] == _OVER:
                return
            self._count()
            self._gather()
            self.nodes += 1

    def _scatter(self, go=_OVER, state=None):
        if self.rank == 0:
            self._sent[self._starts] = go
            if state is not None:
                self._pieces.put(self._parts, state)
        began = time.perf_counter()
        if self._comm is None:
            self._piece[:] = self._sent
        else:
            sent = [self._sent, self._places, "B"] if self.rank == 0 else None
            self._wait(self._comm.Iscatterv(sent, [self._piece, "B"], 0))
        self.communication += time.perf_counter() - began

    def _count(self):
        began = time.perf_counter()
        self._pieces.count(self._piece[_HEAD:], self._found)
        self.computation += time.perf_counter() - began

    def _gather(self):
        began = time.perf_counter()
        if self._comm is None:
            self._all[0] = self._found
        else:
            self._wait(self._comm.Igather(self._found, self._all if self.rank == 0 else None, 0))
        self.communication += time.perf_counter() - began

    @staticmethod
    def _wait(request):
        """Wait for a collective call: giving the core to others between two looks, asleep after a while."""
        began, rest = time.perf_counter(), None
        while not request.Test():
            if rest is not None:
                time.sleep(rest.seconds)
            elif time.perf_counter() - began < _AWAKE:
                os.sched_yield()
            else:
                rest = BackOff()


class _Variation(NamedTuple):
    value: int
    line: list


class _AlphaBeta:
    """The same nodes in the same order as ``engines.alphabeta`` visits, with leaves that a Spread evaluates."""

    def __init__(self, game, rules, spread, options, interrupted):
        functions = games.functions(game)
        static, _ = parse_ordering(options.ordering or "static")
        self._moves, self._play = functions["ordered_moves" if static else "moves"], game.play
        self._kind, self._final, self._rules = game.kind, game.final, rules
        self._bound = evaluation.find(game, options.evaluation, rules).bound
        self._prune, self._spread, self._interrupted = options.algorithm == "alphabeta", spread, interrupted
        self._out = np.zeros(MAX_MOVES, np.int16)
        self.nodes, self.best = 0, None

    def search(self, state, depth):
        """Return what was Found of a state that is not finished; ``best`` is what was found of it so far."""
        self.best = None
        return self._search(state, depth, -int(INFINITY), int(INFINITY), True)

    def _search(self, state, depth, alpha, beta, root=False):
        moves = self._out[: self._moves(state, self._rules, self._out, 0)].tolist()
        if not moves:
            return _Variation(self._finished(state), [])
        best = _Variation(-int(INFINITY), [])
        for m in moves:
            child = as_state(self._play(state, self._rules, m)[0])
            self.nodes += 1
            low = max(alpha, best.value) if self._prune else -int(INFINITY)
            found = self._leaf(child) if depth == 1 else self._search(child, depth - 1, -beta, -low)
            if -found.value > best.value:
                best = _Variation(-found.value, [m, *found.line])
                if root:
                    self.best = best
                if best.value >= beta:
                    break
        return best

    def _leaf(self, state):
        if self._kind(state, self._rules) == END:
            return _Variation(self._finished(state), [])
        if self._spread.nodes % _LOOKS == 0 and self._interrupted():
            raise _Stopped
        return _Variation(self._spread.value(state), [])

    def _finished(self, state):
        score = int(self._final(state, self._rules))
        return score + self._bound * ((score > 0) - (score < 0))


def search(comm, options, position, interrupted=lambda: False, progress=None):
    """Search a Position to a depth under Options that are ``checked``, all ranks of ``comm`` together.

    Returns the Outcome on rank 0, None on the others.
    """
    game = games.find(options.game)
    rules = game.rules(options.board, **options.rules)
    spread = Spread(comm, functools.partial(PIECES[options.evaluation], rules, game.words(rules)))
    _compile(comm, game, rules, spread, progress or Silent())
    if spread.rank > 0:
        spread.follow()
        return None
    engine = _AlphaBeta(game, rules, spread, options, interrupted)
    spread.start()
    began, busy, complete = time.perf_counter(), time.process_time(), True
    try:
        if int(game.kind(position.state, rules)) == END:
            found = _Variation(int(game.final(position.state, rules)), [])
        else:
            found = engine.search(position.state, options.depth)
    except _Stopped:
        found, complete = engine.best, False
    finally:
        seconds = time.perf_counter() - began
        spread.close()
    outcome = _outcome(options, game, rules, position, found, complete, spread)
    outcome.seconds, outcome.cpu_seconds, outcome.nodes = seconds, time.process_time() - busy, engine.nodes
    return outcome


def _compile(comm, game, rules, spread, progress):
    """Compile what is needed: rank 0 first, for the others then find it on disk."""

    def compile_all():
        state, out = game.start(rules).state, np.zeros(MAX_MOVES, np.int16)
        for function in games.functions(game)["ordered_moves"], game.moves:
            function(state, rules, out, 0)
        for function in game.kind, game.final:
            function(state, rules)
        game.play(state, rules, int(out[0]))
        spread.warm(state)

    if spread.rank == 0:
        compile_with_notice(game.NAME, compile_all, progress)
    spread.meet()
    if spread.rank > 0:
        compile_all()
    spread.meet()


def _outcome(options, game, rules, position, found, complete, spread):
    known = found is not None
    shared = spread.nodes > 0 and spread.ranks > 1
    relation = spread.communication / spread.computation if shared else 0.0
    over = not legal_moves(game, position, rules)
    return Outcome(
        game=game.NAME,
        board=f"{options.board[0]}x{options.board[1]}",
        position=game.text(position, rules),
        move=game.move_text(found.line[0], rules) if known and found.line else None,
        score=tidy(found.value) if known else None,
        unit=game.UNIT if over else "evaluation",
        bound="exact" if complete else "lower",
        proved=over,
        complete=complete,
        depth=options.depth if complete else 0,
        pv=[game.move_text(m, rules) for m in found.line] if known else [],
        ranks=spread.ranks,
        workers=spread.ranks,
        algorithm=options.algorithm,
        policy=options.policy,
        load_factor=1,
        parallel="evaluation",
        jobs=spread.nodes,
        communication_computation=round(relation, 6),
    )
