"""Compile or load, and call, every engine kernel of Othello: ``python every_kernel.py WORDS...``.

WORDS are the numbers of 64-bit words a side, from 1 to 4, that boards are to have.
"""

import sys

from distsearch import evaluation
from distsearch.games import othello
from distsearch.search.alphabeta_engine import AlphaBeta
from distsearch.search.perft import Perft
from distsearch.tree.grow import Grower

BOARDS = {"1": (8, 8), "2": (9, 8), "3": (12, 13), "4": (16, 16)}


def engines(rules):
    """Yield every engine that there is for a board."""
    for name in evaluation.names(othello):
        yield AlphaBeta(othello, rules, evaluation.find(othello, name, rules), ordering="shallow:1")
    yield Perft(othello, rules)
    yield Grower(othello, rules)


if __name__ == "__main__":
    for words in sys.argv[1:]:
        for engine in engines(othello.rules(BOARDS[words])):
            engine.compile()
