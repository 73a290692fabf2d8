"""Paused searches that tests change: engines by name, and bytes of a search that is under way."""

from distsearch.engines.alphabeta import AlphaBeta
from distsearch.engines.perft import Perft
from distsearch.engines.pvs.exact_solver import ExactSolver
from distsearch.games import othello

from .depth_searches import deep
from .positions import evaluate, rules, unfinished_states

BOARD = (6, 6)
_SLICE = 300  # nodes before a search is saved


def _plain(ordering):
    return AlphaBeta(othello, rules(BOARD), evaluate(BOARD, "static"), True, ordering)


def _begin_plain(engine, state):
    engine.begin(state, 6)


ENGINES = {  # what makes an engine, and what has one begin a search from a state
    "alpha-beta": (lambda: _plain("static"), _begin_plain),
    "alpha-beta, shallow": (lambda: _plain("shallow:2"), _begin_plain),
    "perft": (lambda: Perft(othello, rules(BOARD)), lambda engine, state: engine.begin(state, 7)),
    "depth": (lambda: deep(BOARD, "static"), lambda engine, state: engine.begin(state, 8)),
    "exact": (lambda: ExactSolver(othello, rules(BOARD)), lambda engine, state: engine.begin(state)),
}


def saved(make, begin, rng):
    """A search that is under way: its state, and its bytes."""
    for state in unfinished_states(rng, BOARD, 30, most_empties=14):
        engine = make()
        begin(engine, state)
        if not engine.advance(_SLICE):
            return state, engine.save()
    raise AssertionError("no search takes so long")


def mutated(content, rng):
    """Bytes with a few 16-bit or 64-bit numbers, or single bits, changed."""
    mutant = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        kind, at = rng.randrange(4), rng.randrange(len(mutant))
        if kind == 0:
            mutant[at] ^= 1 << rng.randrange(8)
        else:
            width = 2 if kind == 1 else 8
            at -= at % width
            value = rng.choice([0, -1, 1, 2, 3, 64, 1 << 14, 1 << 40, -(1 << 62), rng.randrange(60)])
            mutant[at : at + width] = (value % (1 << 8 * width)).to_bytes(width, "little")
    return bytes(mutant[: len(content)])
