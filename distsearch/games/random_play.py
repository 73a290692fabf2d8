"""Positions of random play, of any game of two players."""

from ..games.interface import legal_moves, step


def random_position(game, rules, plies, rng):
    """Return a Position so many plies (one of a range) from the start where the game goes on.

    rules: the rules array (uint64) of ``game``; rng: a seeded ``random.Random``.
    """
    while True:
        position = game.start(rules)
        for _ in range(rng.choice(plies)):
            if moves := legal_moves(game, position, rules):
                position = step(game, position, rules, rng.choice(moves))
        if legal_moves(game, position, rules):
            return position


def random_positions(game, rules, plies, count, rng):
    """Return a list of so many of them."""
    return [random_position(game, rules, plies, rng) for _ in range(count)]
