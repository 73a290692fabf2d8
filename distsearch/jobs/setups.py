"""The game, board and evaluation of a setup."""

from .. import evaluation, games


def rules_of(setup):
    """Return (game module, rules array) of a setup."""
    game = games.find(setup["game"])
    return game, game.rules(setup["board"], **setup["options"])


def evaluated(setup):
    """Return (game module, rules array, Evaluation) of a setup."""
    game, rules = rules_of(setup)
    return game, rules, evaluation.find(game, setup["evaluation"], rules)
