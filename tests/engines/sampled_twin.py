"""Searches by sampled runs once more, as plain Python over a plain twin of the game."""

import itertools
from fractions import Fraction

from distsearch.engines.player import splitmix64

from ..games.sliding_twin import merged_2584


def in_order(twin, position):
    """The twin's outcomes in the order of the game: 2584 has cells in two words, and goes through both at once."""

    def place(outcome):
        tile, at = outcome[0].split("@")
        cell = 4 * (int(at[1]) - 1) + "abcd".index(at[0])
        return int(tile), (cell % 8, cell // 8) if twin.merged is merged_2584 else (cell, 0)

    return sorted(twin.outcomes(position), key=place)


def likely(twin, position):
    """The outcomes that are at least half as likely as the likeliest: [(text, probability)]."""
    outcomes = in_order(twin, position)
    least = max(chance for _, chance in outcomes) / 2
    return [(move, chance) for move, chance in outcomes if chance >= least]


def drawn(twin, position, width, seed, key):
    """[(text, weight)] of what chance does in the run of a seed; key(position) -> the game's hash of it."""
    outcomes = likely(twin, position)
    if width < len(outcomes):
        stream = seed ^ key(position)
        for i in range(width):
            j = i + ((splitmix64(stream, i) >> 32) * (len(outcomes) - i) >> 32)
            outcomes[i], outcomes[j] = outcomes[j], outcomes[i]
        outcomes = outcomes[:width]
    total = sum(chance for _, chance in outcomes)
    return [(move, float(chance / total)) for move, chance in outcomes]


def value(twin, position, depth, evaluate, draw):
    """The value of a position to so many plies; draw(position): what chance does, with weights."""
    kind = twin.kind(position)
    if depth == 0 or kind == "end":
        return evaluate(position)
    if kind == "chance":
        return sum(
            weight * value(twin, twin.play(position, move)[0], depth - 1, evaluate, draw)
            for move, weight in draw(position)
        )
    return max(value(twin, twin.play(position, move)[0], depth - 1, evaluate, draw) for move in twin.moves(position))


class Spawns:
    """What comes in a run of IDA*: tiles: of the twin; seed: of the run."""

    def __init__(self, twin, seed):
        self.twin, self.seed = twin, seed

    def after(self, position, k):
        """The position after the k-th spawn."""
        point = (splitmix64(self.seed, k) >> 11) * 2.0**-53
        tiles = [tile for tile, _ in self.twin.tiles]
        below = itertools.accumulate(float(Fraction(chance)) for _, chance in self.twin.tiles)
        tile = next((tile for tile, limit in zip(tiles, below, strict=True) if point < limit), tiles[-1])
        free = [move for move, _ in in_order(self.twin, position) if move.startswith(f"{tile}@")]
        number = splitmix64(self.seed ^ 0x5851F42D4C957F2D, k)
        return self.twin.play(position, free[number % len(free)])[0]

    def children(self, position, k):
        """[(move, position after it and the k-th spawn)]"""
        return [(move, self.after(self.twin.play(position, move)[0], k)) for move in self.twin.moves(position)]


def largest(position):
    return max(tile for row in position[0] for tile in row)


def fewest_moves(spawns, position, most):
    """The fewest moves to a tile that is larger than any, by breadth-first search, or None within ``most``."""
    start, layer = largest(position), {position}
    for k in range(most):
        layer = {child for parent in layer for _, child in spawns.children(parent, k)}
        if any(largest(each) > start for each in layer):
            return k + 1
        if not layer:
            return None
    return None


def last_layer(spawns, position, depth):
    """{first move: positions after so many moves}, of moves that lead to some."""
    layers = {move: {child} for move, child in spawns.children(position, 0)}
    for k in range(1, depth):
        layers = {
            move: {child for parent in layer for _, child in spawns.children(parent, k)}
            for move, layer in layers.items()
        }
    return {move: layer for move, layer in layers.items() if layer}
