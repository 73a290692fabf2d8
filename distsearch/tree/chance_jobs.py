"""The kinds of job in games against chance: their records and their runners; see ``jobs`` for what a runner is."""

import numpy as np

from .. import evaluation
from ..evaluation.rows import Weights
from ..search.expectimax_engine import Expectimax
from ..search.expectiminimax_engine import Expectiminimax
from ..search.playing import Player
from .setups import evaluated

GAME_PART = 1024  # moves of a game in a record, the player's and chance's: 2 KiB

EXPECTIMAX_RESULT = np.dtype([
    ("node", np.int32), ("complete", np.int8), ("move", np.int16), ("value", np.float64), ("boards", np.int64),
    ("evaluated", np.int64), ("table_hits", np.int64), ("table_stores", np.int64), ("seconds", np.float64),
    ("cpu", np.float64),
])  # fmt: skip

EXPECTIMINIMAX_RESULT = np.dtype([
    ("node", np.int32), ("complete", np.int8), ("bound", np.int8), ("move", np.int16), ("value", np.float64),
    ("boards", np.int64), ("evaluated", np.int64), ("seconds", np.float64), ("cpu", np.float64),
])  # fmt: skip


def expectimax_job(words):
    """Record of a job in a game against chance: its node, plies to search, what ``expectimax`` calls likely, state."""
    return np.dtype([
        ("node", np.int32), ("depth", np.int32), ("likely", np.int64), ("state", np.uint64, words),
    ])  # fmt: skip


def expectiminimax_job(words):
    """Record of a job where chance has an adversary: its node, plies to search, chance's draw, window, state."""
    return np.dtype([
        ("node", np.int32), ("depth", np.int32), ("drawn", np.int32), ("alpha", np.float64), ("beta", np.float64),
        ("state", np.uint64, words),
    ])  # fmt: skip


def game_job(words):
    """Record of a part of a game against chance: its number, plies to search, its seed, turns of chance, state."""
    return np.dtype([
        ("node", np.int32), ("depth", np.int32), ("seed", np.uint64), ("drawn", np.int64),
        ("state", np.uint64, words),
    ])  # fmt: skip


def weighted_game_job(words):
    """Record of a part of a game that is played by weights of the evaluation of their own: ``rows.Weights``."""
    return np.dtype([*game_job(words).descr, ("weights", np.float64, len(Weights._fields))])


def game_result(words):
    """Record of how such a part went, and of where the game stands."""
    return np.dtype([
        ("node", np.int32), ("complete", np.int8), ("over", np.int8), ("score", np.int64), ("moves", np.int32),
        ("drawn", np.int64), ("boards", np.int64), ("expanded", np.int64), ("seconds", np.float64),
        ("cpu", np.float64), ("slowest", np.float32), ("state", np.uint64, words), ("length", np.int16),
        ("codes", np.int16, GAME_PART),
    ])  # fmt: skip


def _expectimax(setup):
    game, rules, chosen = evaluated(setup)
    return game, rules, Expectimax(game, rules, chosen, setup["points"], setup["least"], setup["alike"])


class EngineRunner:
    """What runners share that search by an engine, the second argument, and go on with nothing from job to job."""

    def __init__(self, job_dtype, engine):
        self.job_dtype, self._engine = job_dtype, engine
        self.name, self.compile, self.advance = engine.name, engine.compile, engine.advance

    def open(self, run):
        """Nothing is kept but a table, where its values hold in any run."""

    @property
    def boards(self):
        return self._engine.boards

    def save(self):
        """What is in the frames is cheap: a job begins again."""
        return int(self._node), b""

    def restore(self, job, content):
        self.begin(job)


class ExpectimaxRunner(EngineRunner):
    """Searches subtrees of games against chance."""

    result_dtype = EXPECTIMAX_RESULT

    def __init__(self, setup):
        game, rules, engine = _expectimax(setup)
        super().__init__(expectimax_job(game.words(rules)), engine)

    def begin(self, job):
        self._node = job["node"]
        self._engine.begin(tuple(job["state"]), int(job["depth"]), int(job["likely"]))

    def result(self, seconds, cpu):
        record, found = np.zeros(1, self.result_dtype), self._engine.result()
        move = -1 if found.move is None else found.move
        record[0] = (
            self._node, found.complete, move, found.value, found.boards, found.evaluated, found.hits, found.stores,
            seconds, cpu,
        )  # fmt: skip
        return record


class ExpectiminimaxRunner(EngineRunner):
    """Searches subtrees of games in which chance has an adversary."""

    result_dtype = EXPECTIMINIMAX_RESULT

    def __init__(self, setup):
        game, rules, chosen = evaluated(setup)
        engine = Expectiminimax(game, rules, chosen, setup["whole"], setup["pruned"])
        super().__init__(expectiminimax_job(game.words(rules)), engine)

    def begin(self, job):
        self._node = job["node"]
        window = float(job["alpha"]), float(job["beta"])
        self._engine.begin(tuple(job["state"]), int(job["depth"]), *window, int(job["drawn"]))

    def result(self, seconds, cpu):
        record, found = np.zeros(1, self.result_dtype), self._engine.result()
        move = -1 if found.move is None else found.move
        record[0] = (
            self._node, found.complete, found.bound, move, found.value, found.boards, found.evaluated, seconds, cpu,
        )  # fmt: skip
        return record


class GameRunner:
    """Plays games against chance, a part of one in each job; see ``games_pool``."""

    def __init__(self, setup):
        game, rules, self._engine = _expectimax(setup)
        self.job_dtype, self.result_dtype = game_job(game.words(rules)), game_result(game.words(rules))
        self._player = Player(game, rules, self._engine, setup["deeper"], setup["nodes"], setup["seconds"])
        self.name, self.compile, self.advance = f"game_{self._engine.name}", self._player.compile, self._player.advance

    def open(self, run):
        """Nothing is kept."""

    @property
    def boards(self):
        return self._player.boards

    def begin(self, job):
        self._node = job["node"]
        self._player.begin(tuple(job["state"]), int(job["depth"]), int(job["seed"]), int(job["drawn"]), GAME_PART)

    def result(self, seconds, cpu):
        record, player = np.zeros(1, self.result_dtype), self._player
        length = len(player.codes)
        record[0] = (
            self._node, player.complete, player.over, player.score, player.moves, player.drawn, player.boards,
            player.expanded, seconds, cpu, max(player.times, default=0.0), player.state, length, 0,
        )  # fmt: skip
        record["codes"][0, :length] = player.codes
        return record


class WeightedGameRunner(GameRunner):
    """Plays games by an evaluation of the setup with the weights of each job; see ``candidates_pool``."""

    def __init__(self, setup):
        super().__init__(setup)
        self.job_dtype = weighted_game_job(self.job_dtype["state"].shape[0])
        game, self._rules, chosen = evaluated(setup)
        self._tables_of, self._weights = evaluation.tables_of(game, chosen.name), None

    def begin(self, job):
        if (weights := Weights(*job["weights"].tolist())) != self._weights:
            self._engine.evaluate_by(self._tables_of(self._rules, weights))
            self._weights = weights
        super().begin(job)
