"""Learning curves: what ``train --record`` wrote, as figures."""

import json
import os

from ...api.intervals import half_interval
from ...core.errors import UserError
from .style import Line, Panel, Point

_KINDS = "learning", "evaluation"
_MOST = 1e15  # of a number in a record


def is_record(line):
    """Return whether an object, of a line of JSON, is one of a record of training."""
    return isinstance(line, dict) and line.get("kind") in _KINDS and "games" in line


def read(path):
    """Return the lines of a record of training, dictionaries. Raises UserError; a torn last line is left out."""
    try:
        with open(path, encoding="utf-8") as file:
            texts = file.read().split("\n")
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read {path[:200]}: {getattr(error, 'strerror', None) or error}") from error
    found = []
    for number, text in enumerate(texts, 1):
        try:
            line = json.loads(text) if text.strip() else None
        except (ValueError, RecursionError):
            line = {} if number < len(texts) else None  # training goes on, or was killed
        if line is not None and not (
            is_record(line) and all(_is_number(line.get(name)) for name in ("games", "average"))
        ):
            raise UserError(f"{path[:200]}: line {number} is no line of a record of training")
        found += [] if line is None else [line]
    return found


def _is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _MOST  # nor is it NaN


def panels(records):
    """Return the Panels of average score, and of games won, by games learnt from; records: path → lines as of ``read``.

    What was played without learning (``--evaluate-every``) is a line of its own, with the 95% interval of the mean,
    where the record tells of how many games.
    """
    averages, wins = [], []
    for name, lines in zip(_names(list(records)), records.values(), strict=True):
        for kind, label in zip(_KINDS, (name, f"{name}, without learning"), strict=True):
            kept = [line for line in lines if line["kind"] == kind]
            averages.append(Line(label, [_average(line, kind == "evaluation") for line in kept]))
            rates = [(line["games"], line["win_rate"]) for line in kept if _is_number(line.get("win_rate"))]
            wins.append(Line(label, [Point(games, rate, rate, rate) for games, rate in rates]))
    averages, wins = ([line for line in lines if line.points] for lines in (averages, wins))
    found = [("average score", averages, False), ("games won", wins, True)]
    return [Panel("", "games learnt from", y, lines, percent=share, curve=True) for y, lines, share in found if lines]


def _names(paths):
    """Return what to call records: the names of their files, as far as these tell them apart."""
    names = [os.path.splitext(os.path.basename(path))[0] for path in paths]
    return names if len(set(names)) == len(names) else paths


def _average(line, barred):
    error, played, reach = line.get("average_error"), line.get("evaluated"), 0.0
    if barred and _is_number(error) and _is_number(played):
        reach = half_interval(error, played)
    return Point(line["games"], line["average"], line["average"] - reach, line["average"] + reach)
