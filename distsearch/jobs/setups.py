"""The game, board and evaluation of a setup."""

from typing import Any

import numpy as np

from .. import evaluation, games
from ..games.interface import Game


def rules_of(setup: dict[str, Any]) -> tuple[Game, np.ndarray]:
    """Return (game module, rules array) of a setup."""
    game = games.find(setup["game"])
    return game, game.rules(setup["board"], **setup["options"])


def evaluated(setup: dict[str, Any]) -> tuple[Game, np.ndarray, evaluation.Evaluation]:
    """Return (game module, rules array, Evaluation) of a setup."""
    game, rules = rules_of(setup)
    return game, rules, evaluation.find(game, setup["evaluation"], rules)
