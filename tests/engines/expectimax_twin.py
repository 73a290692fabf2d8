"""Expectimax once more, as plain recursion over a plain twin of the game."""

import math


def value(twin, position, depth, evaluate, points=False, least=0.0, alike=False, likely=1.0):
    """The value of a position of a twin to so many plies; evaluate(position) -> float."""
    kind = twin.kind(position)
    if depth == 0 or kind == "end":
        return evaluate(position)
    if kind == "chance":
        if likely < grid(least):
            return evaluate(position)
        outcomes = twin.outcomes(position)
        return math.fsum(
            value(
                twin,
                twin.play(position, move)[0],
                depth - 1,
                evaluate,
                points,
                least,
                alike,
                grid(likely * float(chance)),
            )
            * (1 / len(outcomes) if alike else float(chance))
            for move, chance in outcomes
        )
    return max(values(twin, position, depth, evaluate, points, least, alike, likely).values())


def values(twin, position, depth, evaluate, points=False, least=0.0, alike=False, likely=1.0):
    """The values of the player's moves, by their texts."""
    found = {}
    for move in twin.moves(position):
        child, gained = twin.play(position, move)
        found[move] = gained * points + value(twin, child, depth - 1, evaluate, points, least, alike, likely)
    return found


def grid(probability):
    """The nearest number with two bits of fraction, halves away from zero; 0 stays 0."""
    if probability == 0:
        return 0.0
    fraction, exponent = math.frexp(probability)
    return math.ldexp(math.floor(fraction * 8 + 0.5), exponent - 3)
