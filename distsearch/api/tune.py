"""Weights of an evaluation by playing: generations of candidates, all games of one spread over the cluster there is."""

import json
import math
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from .. import __version__, evaluation, games
from ..core.errors import UserError
from ..engines.player import seed_of
from ..evaluation.row_heuristic import Weights
from ..evaluation.weighted_sum import SumWeights
from ..formats.game_records import RecordFile
from ..jobs.self_play import HANDED_OUT, CandidatesPool
from ..jobs.two_player import KINDS
from .applicability import check
from .compiling import Recipe, compile_with_notice
from .declarations import Option, check_values
from .facts import Facts, compact
from .options import CHANCES
from .play_summary import depth_text
from .run import run
from .weights_search import WeightsSearch, space_of

_MOST_GAMES = 10**6  # of a generation, and generations


@dataclass
class TuneBudget:
    """How much to play. Creating one raises UserError if it makes no sense."""

    games: Annotated[
        int, Option("games of every candidate in each generation (default 100)", "N", low=1, high=_MOST_GAMES)
    ] = 100
    generations: Annotated[int, Option("generations to play (default 20)", "N", low=1, high=_MOST_GAMES)] = 20
    population: Annotated[int, Option("candidates of a generation (default 12)", "N", low=4, high=_MOST_GAMES)] = 12
    sigma: Annotated[
        float, Option("first step size, relative to the weights (default 0.3, about a third)", "X", above=0, high=2)
    ] = 0.3

    def __post_init__(self):
        check_values(self)
        if self.games * self.population > _MOST_GAMES:
            raise UserError(f"games {self.games} of {self.population} candidates are more than {_MOST_GAMES}")


@dataclass
class TuneResult:
    """What was found. asked: how, by name; weights: the middle of where the last generation led."""

    asked: dict
    generations: int  # that were played to their end
    weights: Weights | SumWeights
    value: float | None  # mean log score of the last generation's best candidate
    average: float | None  # its mean score
    played: int  # games
    moves: int
    seconds: float
    cpu_seconds: float
    ranks: int

    @property
    def complete(self):
        """Whether all generations that were asked for have been played."""
        return self.generations == self.asked["generations"]

    def to_json(self):
        """Return all of it as one line of JSON, which ``--evaluation`` reads as a file."""
        return json.dumps(
            {
                "game": self.asked["game"],
                "evaluation": self.weights.evaluation,
                "weights": self.weights.by_name(),
                "asked": self.asked,
                "complete": self.complete,
                "generations": self.generations,
                "value": self.value,
                "average": self.average,
                "games": self.played,
                "moves": self.moves,
                "seconds": round(self.seconds, 6),
                "cpu_seconds": round(self.cpu_seconds, 6),
                "ranks": self.ranks,
                "version": __version__,
            }
        )

    def to_text(self):
        """Return the same for people."""
        asked, rate = self.asked, compact(self.moves / max(self.seconds, 1e-9))
        stopped = "" if self.complete else f" (stopped early: {asked['generations']} generations were asked for)"
        how = f"{asked['population']} candidates, {asked['games']} games each, "
        how += f"depth {depth_text(asked['depth'], asked.get('depth_by_empty', ()))}"
        how += f", min-probability {asked['min_probability']}" if asked["min_probability"] else ""
        how += "" if asked["chance"] == CHANCES[0] else f", chance {asked['chance']}"
        best = "" if self.average is None else f"  last best  average {self.average:,.0f}\n"
        return (
            f"{asked['game']} {asked['board']}  {self.generations} generations of {how}, seed {asked['seed']}\n"
            f"  found      {self.weights.evaluation}\n  start      {asked['start']}\n{best}"
            f"{self.seconds:.2f} s, {self.ranks} rank{'s' * (self.ranks > 1)}, {self.played:,} games, "
            f"{rate} moves/s{stopped}"
        )


def tune(options, budget, seed, cluster, progress, interrupted, record=None):
    """Search for weights that play well, from those of ``options.evaluation`` on; return a TuneResult.

    Raises UserError for what makes no sense. The same options, budget and seed (a whole number from 0 on) give the same
    weights. record: the name of a file to make, with a line of JSON for each generation.
    """
    game: Any = games.find(options.game)  # a ``ChanceGame`` with VALUES
    check(options, {"tune": True})
    start = evaluation.weights(game, options.evaluation)
    rules = game.rules(options.board, **options.rules)
    asked = {
        "game": game.NAME,
        "board": "{}x{}".format(*options.board),
        **options.rules,
        "depth": options.depth,
        "min_probability": options.min_probability or 0.0,
        "chance": options.chance or CHANCES[0],
        **vars(budget),
        "seed": seed,
        "start": start.evaluation,
        **({"depth_by_empty": options.depth_by_empty} if options.depth_by_empty else {}),
    }
    space = space_of(start, len(game.VALUES) - 1)
    search = WeightsSearch(start, space, budget.population, budget.sigma, seed)
    setup = options.setup("weighted_game")
    runner = KINDS["weighted_game"](setup)
    found = TuneResult(
        asked,
        generations=0,
        weights=start,
        value=None,
        average=None,
        played=0,
        moves=0,
        seconds=0.0,
        cpu_seconds=0.0,
        ranks=cluster.ranks,
    )
    with nullcontext() if record is None else RecordFile(record) as lines:
        compile_with_notice(options.game, runner.compile, progress, Recipe.of_setup(setup), interrupted)
        while not found.complete:
            candidates, games_seed = search.ask(), seed_of(seed, found.generations)
            pool = CandidatesPool(game, rules, options.depth, _numbers(candidates), budget.games, games_seed)
            took = run(
                cluster,
                setup,
                pool,
                progress,
                interrupted,
                _describe(pool, found),
                prefetch=options.prefetch,
                **HANDED_OUT,
            )
            _count(found, pool, took)
            if not pool.done:
                break
            scores = pool.scores()
            values = mean_logs(scores)
            search.tell(values)
            best = int(np.argmax(values))
            found.weights, found.generations = search.mean_weights, found.generations + 1
            found.value, found.average = values[best], float(scores[best].mean())
            if lines is not None:
                line = {
                    "generation": found.generations,
                    "games_seed": games_seed,
                    "candidates": [weights.evaluation for weights in candidates],
                    "values": values,
                    "averages": scores.mean(axis=1).tolist(),
                    "mean_weights": found.weights.evaluation,
                    "step": search.sigma,
                }
                lines.write(json.dumps({**asked, **line, "version": __version__}))
    return found


def _numbers(candidates):
    """Return the weights of candidates, float64, a row each."""
    return np.array([weights.numbers for weights in candidates])


def mean_logs(scores):
    """Return for each candidate (a row of scores) the mean of log(1 + score), a list.

    The mean score itself is ruled by the few games that go very far: their luck would hide what candidates are worth.
    """
    return [math.fsum(map(math.log1p, row)) / len(row) for row in scores.tolist()]


def _count(found, pool, took):
    found.played += len(pool.over)
    found.moves += pool.moves
    found.seconds += took.seconds
    found.cpu_seconds += pool.cpu


def _describe(pool, found):
    def describe(_, seconds):
        rate, last = compact(pool.moves / max(seconds, 1e-9)), found.average
        best = "" if last is None else f", the last one's best averages {last:,.0f}"
        which = f"generation {found.generations + 1}/{found.asked['generations']}"
        more = f"{rate} moves/s{best}"
        return Facts(seconds, part=which, counted="games", done=len(pool.over), total=pool.games, more=more)

    return describe
