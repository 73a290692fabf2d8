"""Expectiminimax and minimax against chance once more, as plain recursion over a plain twin of the game."""

import math
from itertools import groupby


def value(twin, position, depth, evaluate, whole=False):
    """The value of a position of a twin to so many plies; evaluate(position) -> float.

    whole: the adversary chooses all that chance would.
    """
    kind = twin.kind(position)
    if depth == 0 or kind == "end":
        return evaluate(position)
    if kind == "max":
        return max(values(twin, position, depth, evaluate, whole).values())
    if whole:
        return least(twin, position, [move for move, _ in twin.outcomes(position)], depth, evaluate, whole)
    if depth == 1:
        return evaluate(position)
    by_draw = sorted(twin.outcomes(position), key=lambda outcome: twin.draw(outcome[0]))
    total = 0
    for _, outcomes in groupby(by_draw, key=lambda outcome: twin.draw(outcome[0])):
        moves, chances = zip(*outcomes, strict=True)
        total += float(math.fsum(chances)) * least(twin, position, moves, depth - 1, evaluate, whole)
    return total


def least(twin, position, moves, depth, evaluate, whole=False):
    """The least value among what an adversary may do."""
    return min(value(twin, twin.play(position, move)[0], depth - 1, evaluate, whole) for move in moves)


def values(twin, position, depth, evaluate, whole=False):
    """The values of the player's moves, by their texts."""
    return {
        move: value(twin, twin.play(position, move)[0], depth - 1, evaluate, whole) for move in twin.moves(position)
    }
