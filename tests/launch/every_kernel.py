"""Compile or load, and call, every kernel: ``python every_kernel.py WORDS...``.

WORDS are the numbers of 64-bit words a side, from 1 to 4, that boards of Othello are to have. Of one number alone it is
most kernels: all templates, but not all of them by each evaluation.
"""

import sys
import tempfile

from distsearch import evaluation
from distsearch.engines.alphabeta import AlphaBeta
from distsearch.engines.perft import Perft
from distsearch.engines.pvs.depth_search import DepthSearch
from distsearch.engines.pvs.exact_solver import ExactSolver
from distsearch.engines.pvs.probcut import table
from distsearch.formats.positions import Lines, format_scores
from distsearch.games import connect4, othello
from distsearch.tree.expansion import Grower

BOARDS = {"1": (8, 8), "2": (9, 8), "3": (12, 13), "4": (16, 16)}


def engines(game, rules, every):
    """Yield every engine that there is for a board; every: by each evaluation, else by some."""
    for name in evaluation.names(game):
        if evaluation.learnt(game, name) and not evaluation.for_order(game, rules):
            continue  # learnt for another board
        chosen = evaluation.find(game, name, rules)
        yield AlphaBeta(game, rules, chosen, ordering="shallow:1")
        if every or name != "discs":  # whose kernels no other short test compiles
            yield DepthSearch(game, rules, chosen)
        if name == "complex" or (every and game is connect4):
            yield DepthSearch(game, rules, chosen, selective=table(0.9, 6, [], chosen.bound))
    yield ExactSolver(game, rules)
    if order := evaluation.for_order(game, rules):
        yield ExactSolver(game, rules, order=order)
    yield Perft(game, rules)
    yield Grower(game, rules)


def read_and_write(game, rules):
    """Read a line and write its score."""
    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(b"startpos\n")
        file.seek(0)
        chunk = Lines(game, rules, file.fileno()).read(1)
    format_scores(chunk, 0, 1, [0])


if __name__ == "__main__":
    for game, board in [(connect4, None), *((othello, BOARDS[words]) for words in sys.argv[1:])]:
        rules = game.rules(board)
        for engine in engines(game, rules, every=len(sys.argv) > 2):
            engine.compile()
        read_and_write(game, rules)
