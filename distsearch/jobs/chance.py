"""The kinds of job in games against chance: their records and their runners."""

import json
from typing import Any

import numpy as np

from .. import evaluation
from ..cluster.protocols import TABLE_COUNTS, JobRunner
from ..engines.expectimax import Expectimax
from ..engines.expectiminimax import Expectiminimax
from ..engines.player import Player
from ..engines.self_play import MAX_PLIES, SelfPlay
from .joinable import Joinable
from .records import record
from .setups import evaluated

GAME_PART = 1024  # moves of a game in a record, the player's and chance's: 2 KiB
# Parts of a game in a job whose moves are not recorded, by plies that are searched: some 50 to 500 ms with a learnt
# network. Jobs that end with the part would be mostly messages: half a millisecond each without a search.
PARTS = 0, 64, 64, 8, 8, 1

EXPECTIMAX_RESULT = record("job_id", "complete", "move", "value", "nodes", "evaluated", *TABLE_COUNTS, "seconds", "cpu")

EXPECTIMINIMAX_RESULT = record(
    "job_id", "complete", ("bound", np.int8), "move", "value", "nodes", "evaluated", "seconds", "cpu"
)


def expectimax_job(words: int) -> np.dtype:
    """Record of a job in a game against chance: its id, plies to search, probability of its path, state."""
    return record("job_id", "depth", ("path_probability", np.int64), ("state", np.uint64, words))


def expectiminimax_job(words: int) -> np.dtype:
    """Record of a job where an adversary places what chance draws: its id, plies to search, draw, window, state."""
    return record(
        "job_id", "depth", ("draw", np.int32), ("alpha", np.float64), ("beta", np.float64), ("state", np.uint64, words)
    )


def game_job(words: int) -> np.dtype:
    """Record of a part of a game against chance: its id, plies to search, its seed, turns of chance so far, state."""
    return record("job_id", "depth", "seed", "chance_steps", ("state", np.uint64, words))


def weighted_game_job(words: int, weights: int) -> np.dtype:
    """Record of a part of a game with numbers of its own, so many, for the weights of the evaluation."""
    return np.dtype([*game_job(words).descr, ("weights", np.float64, weights)])


def game_result(words: int, recorded: bool) -> np.dtype:
    """Record of the result of such a part, with the game's state; recorded: with the codes of its moves."""
    codes = [("length", np.int16), ("codes", np.int16, GAME_PART)] if recorded else []
    counts = "moves", "chance_steps", "nodes", "expanded", "seconds", "cpu", "slowest"
    return record("job_id", "complete", "over", ("score", np.int64), *counts, ("state", np.uint64, words), *codes)


# Of a setup: all that values depend on.
_VALUED_BY = "game", "board", "options", "evaluation", "points", "min_probability", "uniform_chance"


def _expectimax(setup, far=None):
    game, rules, chosen = evaluated(setup)
    tag = json.dumps([*(setup[name] for name in _VALUED_BY), chosen.version])
    engine = Expectimax(
        game,
        rules,
        chosen,
        points=setup["points"],
        min_probability=setup["min_probability"],
        uniform_chance=setup["uniform_chance"],
        table=far,
        tag=tag,
        part=setup.get("part", False),
    )
    return game, rules, engine


class EngineRunner(JobRunner):
    """Base of runners that search by an engine and keep nothing from job to job."""

    def __init__(self, job_dtype: np.dtype, engine: Any):
        self.job_dtype, self._engine = job_dtype, engine
        self.name, self.compile = engine.name, engine.compile

    def advance(self, budget: int) -> bool:
        return self._engine.advance(budget)

    @property
    def nodes(self) -> int:
        return self._engine.nodes

    def result(self, seconds: float, cpu: float) -> np.ndarray:
        record, found = np.zeros(1, self.result_dtype), self._engine.result()._asdict()
        found |= {"job_id": self.job_id, "seconds": seconds, "cpu": cpu}
        found["move"] = -1 if found["move"] is None else found["move"]
        record[0] = tuple(found[name] for name in self.result_dtype.names or ())
        return record


class ExpectimaxRunner(Joinable, EngineRunner):
    """Searches subtrees of games against chance; far: the shared table."""

    result_dtype = EXPECTIMAX_RESULT

    def __init__(self, setup: dict[str, Any], far: Any | None = None):
        game, rules, engine = _expectimax(setup, far)
        super().__init__(expectimax_job(game.words(rules)), engine)

    def open(self, run: int) -> None:
        """Make values of earlier runs the first to be replaced."""
        self._engine.age(run)

    def begin(self, job: np.void) -> None:
        self.job_id, self._job = int(job["job_id"]), job
        self._engine.begin(tuple(job["state"]), int(job["depth"]), int(job["path_probability"]))

    def job_now(self) -> np.ndarray:
        """Return the record of the job begun last."""
        return np.array([self._job], self.job_dtype)


class ExpectiminimaxRunner(EngineRunner):
    """Searches subtrees of games in which chance has an adversary."""

    result_dtype = EXPECTIMINIMAX_RESULT

    def __init__(self, setup: dict[str, Any]):
        game, rules, chosen = evaluated(setup)
        engine = Expectiminimax(game, rules, chosen, setup["adversary_chooses_all"], setup["prune"])
        super().__init__(expectiminimax_job(game.words(rules)), engine)

    def begin(self, job: np.void) -> None:
        self.job_id = int(job["job_id"])
        window = float(job["alpha"]), float(job["beta"])
        self._engine.begin(tuple(job["state"]), int(job["depth"]), *window, int(job["draw"]))


class GameRunner(JobRunner):
    """Plays games against chance, a part of one in each job; see ``self_play``.

    Searches of a few plies are played in compiled code, many jobs in one call; others move by move.
    """

    def __init__(self, setup: dict[str, Any]):
        game, rules, self._engine = _expectimax(setup)
        self._recorded = setup.get("recorded", False)
        self.job_dtype, self.result_dtype = game_job(game.words(rules)), game_result(game.words(rules), self._recorded)
        limits = {"depth_by_empty": setup["depth_by_empty"], "node_limit": setup["nodes"], "seconds": setup["seconds"]}
        self._player, self._games = Player(game, rules, self._engine, **limits), SelfPlay(game, rules, self._engine)
        self._to_a_depth, self._is_shallow = not any(limits.values()), False
        self.batches, self.name = True, f"game_{self._engine.name}"

    def compile(self) -> None:
        """Compile, or load from disk, all that games need."""
        self._player.compile()
        self._games.compile()

    @property
    def nodes(self) -> int:
        return self._games.nodes if self._is_shallow else self._player.nodes

    def batch(self, jobs: np.ndarray, budget: int) -> np.ndarray:
        """See ``JobRunner.batch``; of jobs with deep searches, only begin the first."""
        if not self._begin_shallow(jobs):
            self.begin(jobs[0])
            return np.zeros(0, self.result_dtype)
        self._games.advance(budget)
        self._games.drop_waiting()
        return self._played(0, self._games.at)

    def begin(self, job: np.void) -> None:
        self._job_ids = [job["job_id"]]
        if not self._begin_shallow(np.array([job], job.dtype)):
            start = tuple(job["state"]), int(job["depth"]), int(job["seed"]), int(job["chance_steps"])
            self._player.begin(*start, GAME_PART)

    def _begin_shallow(self, jobs):
        deepest = int(jobs["depth"].max())
        self._is_shallow = self._to_a_depth and deepest <= MAX_PLIES
        if self._is_shallow:
            self._job_ids = jobs["job_id"]
            most = GAME_PART * (1 if self._recorded else PARTS[deepest])
            start = jobs["state"], jobs["depth"], jobs["seed"], jobs["chance_steps"]
            self._games.begin(*start, most, GAME_PART, self._recorded)
        return self._is_shallow

    def advance(self, budget: int) -> bool:
        return (self._games if self._is_shallow else self._player).advance(budget)

    def result(self, seconds: float, cpu: float) -> np.ndarray:
        if self._is_shallow:
            record = self._played(self._games.last, self._games.last + 1)
            record["seconds"], record["cpu"] = seconds, cpu
            return record
        record, player = np.zeros(1, self.result_dtype), self._player
        for name in ("complete", "over", "score", "moves", "chance_steps", "nodes", "expanded", "state"):
            record[name] = getattr(player, name)
        record["job_id"], record["seconds"], record["cpu"] = self._job_ids[0], seconds, cpu
        record["slowest"] = max(player.times, default=0.0)
        if self._recorded:
            record["length"] = len(player.codes)
            record["codes"][0, : len(player.codes)] = player.codes
        return record

    def _played(self, first, end):
        """Return records of some of the jobs that are played in compiled code."""
        records, table = np.zeros(end - first, self.result_dtype), self._games.table[first:end]
        records["job_id"], records["state"] = self._job_ids[first:end], table["state"]
        records["complete"] = self._games.complete[first:end]
        records["chance_steps"] = table["chance_steps"]
        for name in ("over", "score", "moves", "nodes", "expanded"):
            records[name] = table[name]
        if self._recorded:
            records["length"], records["codes"] = table["count"], self._games.codes[first:end]
        return records


class WeightedGameRunner(GameRunner):
    """Plays games by an evaluation of the setup with the weights of each job; see ``CandidatesPool``."""

    def __init__(self, setup: dict[str, Any]):
        super().__init__(setup)
        game, rules, _ = evaluated(setup)
        count = len(evaluation.weights(game, setup["evaluation"]).numbers)
        self.job_dtype = weighted_game_job(self.job_dtype["state"].shape[0], count)
        self._tables_of = evaluation.tables_by_weights(game, setup["evaluation"], rules)
        self._weights = None

    def batch(self, jobs: np.ndarray, budget: int) -> np.ndarray:
        others = np.flatnonzero((jobs["weights"] != jobs["weights"][0]).any(axis=1))
        same = int(others[0]) if len(others) else len(jobs)
        self._take_weights(jobs[0])
        records = super().batch(jobs[:same], budget)
        if len(records) == same < len(jobs):
            self.begin(jobs[same])
        return records

    def begin(self, job: np.void) -> None:
        self._take_weights(job)
        super().begin(job)

    def _take_weights(self, job):
        if (weights := tuple(job["weights"].tolist())) != self._weights:
            self._engine.evaluate_by(self._tables_of(weights))
            self._weights = weights
