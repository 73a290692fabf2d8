"""Positions of Connect 4 by class, as Pons sorts them: by stones on the board, and by plies that the game goes on."""

import functools
import hashlib
import random
import time
from typing import NamedTuple

import numpy as np

from ...core.errors import UserError
from ...engines.pvs import kernels
from ...engines.pvs import table as tt
from ...engines.pvs.exact_solver import ExactSolver
from ...engines.pvs.layout import REQUEST
from ...games import connect4
from ...games.random_play import random_position

CLASSES = {  # stones on the board, and plies to the end if both sides play as well as they can; no win at once
    "L3_R1": (range(29, 42), range(2, 14)),
    "L2_R1": (range(15, 29), range(2, 14)),
    "L2_R2": (range(15, 29), range(14, 28)),
    "L1_R1": (range(8, 15), range(2, 14)),
    "L1_R2": (range(8, 15), range(14, 28)),
    "L1_R3": (range(6, 10), range(28, 42)),
}
NAMES = {"L3": "end", "L2": "middle", "L1": "opening", "R1": "easy", "R2": "medium", "R3": "hard"}
_BUDGET = 1 << 22  # nodes, 0.3 s, after which a position that is drawn is dropped; hard ones have no such budget
MIB = 64  # of the table, which no easy search uses
_drawn = {}  # Positions by class, count and seed


class Positions(NamedTuple):
    """texts: of positions; scores: those that are known, None of others; source: for people."""

    texts: list
    scores: list
    source: str


def plies_to_end(left, score):
    """Return the plies that a game still takes by best play, by empty squares and the score of the side to move."""
    if score == 0:
        return left
    return left - 2 * (abs(score) - 1) - (left + (score > 0)) % 2


def drawn(name, count, seed, interrupted=lambda: False):
    """Return Positions of a class, of random games by the seed; their scores are the CPU's. Fewer if interrupted.

    Openings that take one rank more than a budget are dropped, but hard ones, so the hardest medium ones are missing.
    """
    if (name, count, seed) in _drawn:
        return _drawn[name, count, seed]
    stones, plies = CLASSES[name]
    rules, rng, texts, scores = connect4.rules(), random.Random(f"{name} {seed}"), [], []
    budget = 0 if name.endswith("R3") else _BUDGET
    while len(texts) < count and not interrupted():
        position = random_position(connect4, rules, stones, rng)
        played = int(position.state[1]).bit_count()
        if played in stones and (score := _score_in_class(position.state, 42 - played, plies, budget)) is not None:
            texts.append(connect4.text(position, rules))
            scores.append(score)
    found = Positions(texts, scores, f"{name}, random games, seed {seed}")
    if len(texts) == count:
        _drawn[name, count, seed] = found
    return found


def _score_in_class(state, left, plies, budget):
    """Return the score of a state if by best play its game takes a number of plies in ``plies``, None if not.

    left: empty squares; budget: nodes of a search after which it is given up. Null-window searches at the class's
    bounds decide first whether the score is in the class, for a small part of the work of an exact search, which
    follows only if it is.
    """
    high = (left + 1) // 2
    low = -high
    wanted = [score for score in range(low, high + 1) if plies_to_end(left, score) in plies]
    edges = [score for score in range(low, high) if (score in wanted) != (score + 1 in wanted)]
    for edge in sorted(edges, key=abs, reverse=True):  # wins and losses that come soon are found soon
        if not low <= edge < high:
            continue
        found, _ = solved(np.array([state], np.uint64), budget, (edge, edge + 1))
        if not found["complete"][0]:
            return None
        low, high = (edge + 1, high) if found["score"][0] > edge else (low, edge)
    if low not in wanted:
        return None
    found, _ = solved(np.array([state], np.uint64), budget)
    return int(found["score"][0]) if found["complete"][0] else None


def solved(states, budget=0, window=(-kernels.INFINITY, kernels.INFINITY)):
    """Return (what one core's solver finds of states, a row each, see ``engines.pvs.layout.ANSWER``; its CPU seconds).

    budget: nodes after which it gives one up, 0: none; window: of scores. It begins with empty tables.
    """
    solver = _solver()
    solver.clear()
    asked = np.zeros(len(states), REQUEST)
    asked["low"], asked["high"] = window
    asked["brief"], asked["budget"] = 1, budget
    began = time.process_time()
    found, _ = solver.batch(states, asked, 1 << 60)
    return found, time.process_time() - began


@functools.cache
def _solver():
    solver = ExactSolver(connect4, connect4.rules(), tt.new_shared_table(MIB))
    solver.compile()
    return solver


def of_file(path, count=None):
    """Return the first Positions of a file: columns, and a score behind them if it is known.

    Raises UserError, for lines by their number; a game that is over is no position to search.
    """
    rules, texts, scores = connect4.rules(), [], []
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read {path[:200]}: {getattr(error, 'strerror', None) or error}") from error
    for number, line in enumerate(lines, 1):
        text, _, score = line.strip().partition(" ")
        if not text:
            continue
        try:
            if connect4.kind(connect4.parse(text, rules).state, rules) == connect4.END:
                raise UserError("the game is over, there is nothing to search")
            scores.append(int(score) if score.strip() else None)
        except (UserError, ValueError) as error:
            raise UserError(f"{path[:200]} line {number}: {error}") from error
        texts.append(text)
        if len(texts) == count:
            break
    if not texts:
        raise UserError(f"{path[:200]} holds no position")
    return Positions(texts, scores, path)


def digest(found):
    """Return a name for what Positions hold, their known scores among it: another file has another one."""
    lines = "\n".join(f"{text} {score}" for text, score in zip(found.texts, found.scores, strict=True))
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def states(texts):
    """Return the states of texts, uint64, shape (n, 2)."""
    rules = connect4.rules()
    return np.array([connect4.parse(text, rules).state for text in texts], np.uint64)
