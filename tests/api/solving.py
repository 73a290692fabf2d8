"""Positions of Connect 4 as lines, for the tests of solving streams of them."""

from distsearch.games import connect4

from ..games.connect4_twin import Connect4Twin, random_game

RULES = connect4.rules((6, 7))
HARD = "startpos"  # the empty board, minutes from its answer
_EMPTIES = range(1, 15)


def late_lines(rng, n):
    """n positions that are solved at once, as the columns played, and their scores."""
    twin = Connect4Twin(6, 7)
    positions = []
    while len(positions) < n:
        game = random_game(rng, twin, quiet=1.0)
        positions += [position for position in game[:-1] if twin.empties(position) in _EMPTIES]
    positions = rng.sample(positions, n)
    return [twin.text(plain) for plain in positions], [twin.score(plain) for plain in positions]


def with_bad_lines(rng, lines, scores):
    """The same with some bad lines among them, whose scores are None."""
    mixed = [pair for pair in zip(lines, scores) for pair in [("44444444", None)] * (rng.random() < 0.2) + [pair]]
    return [line for line, _ in mixed], [score for _, score in mixed]
