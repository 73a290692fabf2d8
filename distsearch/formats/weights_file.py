"""Files of weights: what ``--evaluation FILE.json`` reads, and ``tune --json`` prints."""

import json
import math

from ..core.errors import UserError
from ..core.files import open_file
from ..evaluation.row_heuristic import Weights
from ..evaluation.weighted_sum import SumWeights, Term

_ENDING = ".json"
_LONGEST = 1 << 20  # bytes; what is longer is no file of weights


def named(text: str, game: str) -> str:
    """Return the name of an evaluation: ``text``, or that of the weights in the file it names; raises UserError.

    A file is a JSON object whose ``weights`` are the six of ``rows`` by name, or those of a sum by its terms' names;
    other fields say where they are from, of which ``game`` has to be this one.
    """
    if not text.endswith(_ENDING):
        return text
    shown = text[:200]
    content = _read(text)
    if not isinstance(content, dict) or not isinstance(content.get("weights"), dict):
        raise UserError(f"{shown} has no weights: it must be a JSON object with them")
    if content.get("game", game) != game:
        raise UserError(f"{shown} has weights for {str(content['game'])[:40]}, not for {game}")
    given = content["weights"]
    of_rows = set(given) == set(Weights._fields)
    only_of_rows = set(Weights._fields) - {"free"}  # that is a term of sums as well
    if not of_rows and (not given or only_of_rows & set(given)):
        raise UserError(f"{shown}: weights are {', '.join(Weights._fields)}, and no others, or those of a sum's terms")
    for name, weight in given.items():
        number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not number or abs(weight) > 1e300 or math.isnan(weight):
            raise UserError(f"{shown}: {name} is not a number")
    if of_rows:
        return Weights(**given).evaluation
    found = SumWeights(tuple(Term(*each) for each in given.items()))
    if not found.fit():
        raise UserError(f"{shown}: weights of a sum are above 0, and up to 1000000")
    return found.evaluation


def _read(path):
    try:
        with open_file(path, pipes=True) as file:
            text = file.read(_LONGEST + 1)
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        raise UserError(f"cannot read {path[:200]}: {getattr(error, 'strerror', None) or error}") from error
    try:
        return json.loads(text[:_LONGEST])
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path[:200]} is not JSON") from error
