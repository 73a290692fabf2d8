"""Expectimax once more, as plain recursion over a plain twin of the game."""

import math


def value(twin, position, depth, evaluate, path=1.0, **how):
    """The value of a position of a twin to so many plies; evaluate(position) -> float; how: as ``values`` has it."""
    kind = twin.kind(position)
    if depth == 0 or kind == "end":
        return evaluate(position)
    if kind == "chance":
        if path < grid(how.get("min_probability", 0.0)):
            return evaluate(position)
        outcomes = twin.outcomes(position)
        return math.fsum(
            value(twin, twin.play(position, move)[0], depth - 1, evaluate, grid(path * float(chance)), **how)
            * (1 / len(outcomes) if how.get("uniform_chance") else float(chance))
            for move, chance in outcomes
        )
    return max(values(twin, position, depth, evaluate, path, **how).values())


def values(twin, position, depth, evaluate, path=1.0, **how):
    """The values of the player's moves, by their texts; how: an engine's options."""
    found = {}
    for move in twin.moves(position):
        child, gained = twin.play(position, move)
        below = value(twin, child, depth - 1, evaluate, path, **how)
        found[move] = gained * how.get("points", False) + below
    return found


def grid(probability):
    """The nearest number with two bits of fraction, halves away from zero; 0 stays 0."""
    if probability == 0:
        return 0.0
    fraction, exponent = math.frexp(probability)
    return math.ldexp(math.floor(fraction * 8 + 0.5), exponent - 3)
