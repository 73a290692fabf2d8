"""Minimax and fail-soft alpha-beta once more, as clearly as can be, over trees of plain positions."""

import math
from typing import NamedTuple

from distsearch.games import othello

from .positions import evaluate, rules


class Node(NamedTuple):
    """A position: its text, the final score for the side to move if the game is over, and what each move leads to."""

    text: str
    final: int | None
    children: dict


def grow(twin, position, plies=math.inf):
    """The tree of all lines of play from a position of a twin, as far as ``plies`` (a pass is one)."""
    moves = twin.moves(position)
    children = {move: grow(twin, twin.play(position, move)[0], plies - 1) for move in moves} if plies else {}
    return Node(twin.text(position), None if moves else twin.final(position), children)


def size(node, plies=math.inf):
    """Number of nodes below a node, as far as ``plies``."""
    return sum(1 + size(child, plies - 1) for child in node.children.values()) if plies else 0


class Worth:
    """What a leaf is worth to its side to move: by an evaluation of the package, or its final score if finished.

    A search that goes to the end of every game is ``exact``: no win needs to outweigh an evaluation.
    """

    def __init__(self, board, name, exact=False):
        self._rules, self._evaluation = rules(board), evaluate(board, name)
        self._win = 0 if exact else self._evaluation.bound

    def __call__(self, node):
        if node.final is not None:
            return node.final + self._win * ((node.final > 0) - (node.final < 0))
        state = othello.parse(node.text, self._rules).state
        return self._evaluation.function(state, self._rules, self._evaluation.tables)


def minimax(node, plies, worth):
    """Value of a node for its side to move."""
    if not plies or not node.children:
        return worth(node)
    return max(-minimax(child, plies - 1, worth) for child in node.children.values())


def alphabeta(node, plies, worth, alpha=-math.inf, beta=math.inf):
    """Return the fail-soft value of a node in a window, and how many nodes below it were visited."""
    if not plies or not node.children:
        return worth(node), 0
    best, visited = -math.inf, 0
    for child in node.children.values():
        value, below = alphabeta(child, plies - 1, worth, -beta, -max(alpha, best))
        best, visited = max(best, -value), visited + 1 + below
        if best >= beta:
            break
    return best, visited
