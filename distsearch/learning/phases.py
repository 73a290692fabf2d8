"""Training: the phases that a Team goes through on its way to so many games, and the figures of games."""

import time
from dataclasses import dataclass

import numpy as np

from . import cpu_team as teams
from .shared_arrays import RESULTS

_AT_FIRST, _LONG = 1000, 0.5  # games after which copies wait for one another; twice as many next, if in so few seconds
COLUMNS = 3  # of a game kept: its score, the code of its largest tile, its moves
_EVALUATION_SEED = 1 << 62  # games without learning have numbers from here on, the same ones every time


@dataclass
class TrainingPlan:
    """What happens when, in games; 0: never.

    games: to the end; warm_up: until which rank 0 learns alone; evaluated: games of an evaluation.
    """

    games: int
    warm_up: int = 0
    merge_every: int = 0
    evaluate_every: int = 0
    evaluated: int = 0
    save_every: int = 0


class Training:
    """Has a Team learn, on rank 0.

    plan: a TrainingPlan; statistics: ``Statistics``; interrupted(): whether to end early; described(text of what is
    going on): called every few milliseconds; evaluated(dictionary): takes each evaluation; save(last): keeps it all,
    last: for the last time. begun: number of the next game; due: whether an evaluation comes first; seconds:
    of learning so far; moves, cpu_seconds: of learning by all ranks, here and now.
    """

    def __init__(self, team, arrays, plan, statistics, values, win, begun=0, seconds=0.0, due=False):
        self._team, self._arrays, self._plan, self._statistics = team, arrays, plan, statistics
        self._values, self._win, self.due = values, win, due and plan.evaluate_every > 0
        self._together = _AT_FIRST
        self.begun, self.seconds, self.moves, self.cpu_seconds = begun, seconds, 0, 0.0

    @property
    def games(self):
        """How many have been learnt from."""
        return self._statistics.games

    def run(self, interrupted, described, evaluated, save):
        """Learn until all games are played or the user wants an end; return whether they are."""
        plan, saved = self._plan, (self.games, self.due) if self.games else None
        self._spread()
        while (self.games < plan.games or self.due) and not interrupted():
            before = self.games
            if not self.due:
                self._learn(self._until(), interrupted, described)
                self.due = _passed(before, self.games, plan.evaluate_every)
            if self.due and not interrupted():
                self._evaluate(interrupted, evaluated)
            if _passed(before, self.games, plan.save_every) and self.games < plan.games and not interrupted():
                save(False)
                saved = self.games, self.due
        if (self.games, self.due) != saved:
            save(True)
        return self.games >= plan.games and not self.due

    def _until(self):
        """Return how many games will be over when the next thing happens."""
        plan, games = self._plan, self.games
        most = RESULTS if self._team.copies == 1 else self._together
        every = [each for each in (plan.evaluate_every, plan.save_every, most) if each]
        ends = [games - games % each + each for each in every] + [plan.games]
        return min([*ends, *([plan.warm_up] if games < plan.warm_up else [])])

    def _learn(self, until, interrupted, described):
        """Learn from games until there are so many."""
        team, alone = self._team, self.games < self._plan.warm_up
        began, before, read = time.perf_counter(), self.seconds, 0
        cpu = team.cpu_seconds() + team.others_cpu
        count, results = until - self.games, self._arrays.results

        def between():
            nonlocal read
            self.seconds = before + time.perf_counter() - began
            if interrupted() and not team.stopped:
                team.stop()
            if team.copies == 1:
                ended = read + int((np.cumprod(results[read : min(read + 4096, count), 0] > 0)).sum())
                if ended > read:
                    self._take(results[read:ended].copy())
                    read = ended
            described()

        merges = None if alone or team.copies == 1 else count // self._plan.merge_every
        found = team.phase(teams.LEARN, self.begun, count, 1 if alone else None, merges, between)
        self.seconds = before + time.perf_counter() - began
        if self.seconds - before < _LONG:
            self._together = min(2 * self._together, RESULTS)
        self._take(found[read:])
        finished = np.flatnonzero(found[:, 0] > 0)
        self.begun += int(finished[-1]) + 1 if len(finished) else 0
        self.cpu_seconds += team.cpu_seconds() + team.others_cpu - cpu
        if alone and self.games >= self._plan.warm_up:
            self._spread()

    def _take(self, results):
        self.moves += int(results[results[:, 0] > 0, 2].sum())
        self._statistics.add(results, self.seconds)

    def _spread(self):
        """Have all copies go on as this one."""
        if self._team.copies > 1:
            self._team.phase(teams.FETCH)

    def _evaluate(self, interrupted, evaluated):
        """Play games without learning; it stays due if it is interrupted."""

        def between():
            if interrupted() and not self._team.stopped:
                self._team.stop()

        began = time.perf_counter()
        found = self._team.phase(teams.WATCH, _EVALUATION_SEED, self._plan.evaluated, between=between)
        if (found[:, 0] > 0).all():
            self.due, took = False, time.perf_counter() - began
            rows = found[:, :3] - np.array([1, 0, 0])
            evaluated(
                {
                    "games": self.games,
                    "evaluated": len(rows),
                    **figures(rows, self._values, self._win),
                    "evaluation_seconds": round(took, 3),
                }
            )


def _passed(before, after, every):
    return bool(every) and before // every < after // every


class Statistics:
    """Sums games up in windows of ``size``.

    values: of the codes; win: the code that wins; told(line): takes each line, a dictionary. games: how many there were
    so far. window: int64, shape (n, 3), see COLUMNS: those of the window at work; since: seconds of learning before it.
    """

    def __init__(self, size, values, win, told, games=0, since=0.0, window=None):
        self._size, self._values, self._win, self._told, self.since = size, values, win, told, since
        self.games, self.window = games, np.zeros((0, COLUMNS), np.int64) if window is None else np.array(window)

    def add(self, results, seconds):
        """Take results in, see ``td``; seconds: of learning so far."""
        rows = results[results[:, 0] > 0][:, :COLUMNS] - np.array([1, 0, 0])
        self.games += len(rows)
        rows = np.concatenate([self.window, rows])
        full, after = len(rows) // self._size, self.games - len(rows)
        each = (seconds - self.since) / max(1, full)
        for i in range(full):
            window = rows[i * self._size : (i + 1) * self._size]
            found = figures(window, self._values, self._win)
            self.since += each
            self._told(
                {
                    "games": after + (i + 1) * self._size,
                    **found,
                    "moves_per_second": round(found["moves"] / max(each, 1e-6)),
                    "seconds": round(self.since, 3),
                }
            )
        self.window = rows[full * self._size :]


def figures(window, values, win):
    """Return the figures of games by name; window: int64, shape (n, 3), see COLUMNS, n > 0.

    average_error: the standard error of the average.
    """
    scores, largest = window[:, 0], window[:, 1]
    reached = {str(values[code]): float((largest >= code).mean()) for code in np.unique(largest)[::-1].tolist()}
    return {
        "average": float(scores.mean()),
        "average_error": float(scores.std(ddof=1) / np.sqrt(len(scores))) if len(scores) > 1 else 0.0,
        "maximum": int(scores.max()),
        "win_rate": float((largest >= win).mean()),
        "reached": reached,
        "moves": int(window[:, 2].sum()),
    }
