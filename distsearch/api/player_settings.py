"""Settings of players as texts: ``depth=4,evaluation=patterns``, ``exact``, ``random``."""

import re
from typing import Any

from .. import games
from ..core.errors import UserError
from ..formats.weights_file import named
from .applicability import SAMPLED, check
from .declarations import of_command, shown, suggestion
from .options import Options, resolve
from .players import RANDOM

DEFAULT_SECONDS = 1.0  # of a move in a game of two players, where no limit is given
_LIMITS = "depth", "time", "nodes", "clock", "exact", "layers"


def player_options(game: str, board: str | None, rules: dict, seed: int, given: dict[str, Any]) -> Options | None:
    """Return the Options of a player, None for the random one; raises UserError.

    given: options by name; without a limit a move of a game of two players takes a second. seed: of sampled runs.
    """
    if given.get("algorithm") == RANDOM:
        for name in given.keys() - {"algorithm"}:
            raise UserError(f"{shown(name)} goes without {RANDOM}, which searches nothing")
        return None
    if not given.keys() & set(_LIMITS) and games.find(game).PLAYERS == 2:
        given = given | {"time": DEFAULT_SECONDS}
    if "evaluation" in given:
        given = given | {"evaluation": named(given["evaluation"], game)}
    if given.get("algorithm") in SAMPLED:
        given = given | {"seed": seed}
    options, _, _ = resolve(game, board, rules, **given)
    check(options, {"play": True})
    return options


def parse_settings(text: str) -> dict[str, Any]:
    """Return the options of a text by name; raises UserError, with the option that a misspelt one resembles."""
    if text == RANDOM:
        return {"algorithm": RANDOM}
    known, found = of_command(Options, "play"), {}
    for name, value in _parts(text):
        declared = known.get(name.replace("-", "_"))
        if declared is None:
            names = [shown(each) for each in known]
            raise UserError(f"'{text[:60]}': {name[:40]} is no option of a player{suggestion(name, names)}")
        if (value is None) != (declared.type is bool):
            needs = "takes no value" if declared.type is bool else "needs a value, as in NAME=VALUE"
            raise UserError(f"'{text[:60]}': {name} {needs}")
        if declared.name in found:
            raise UserError(f"'{text[:60]}': {name} is there twice")
        found[declared.name] = True if value is None else declared.parse(value)
    return found


def _parts(text):
    """Return (name, value or None) of the parts of a text; a comma may belong to a value, such as a list of numbers."""
    found = []
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if equals:
            found.append((name, value))
        elif re.fullmatch("[a-z][a-z-]*", part) or not found or found[-1][1] is None:
            found.append((part, None))
        else:
            found[-1] = found[-1][0], f"{found[-1][1]},{part}"
    return found
