"""The same searches at several numbers of ranks, policies, load factors, prefetch depths and boards, in one launch.

One run is at work at a time, on the first ranks of the launch, while all others sleep. Every run has a session of its
own, with an empty table whose memory is there already; kernels are compiled and loaded before the first one. Runs are
in random order over the whole grid, repeats among them, so that what changes with time on a machine falls on all alike.
"""

import json
import os
import random
import time

from .. import metadata, results
from ..measure_search import measure
from ..progress import Countdown
from . import forecast, grid
from .summary import checked, disagreements, table

STUDY = "scaling"
SHORT = 1.0  # seconds: a shorter run is mostly its beginning and its end
_WARM = 0.3  # seconds of a search before any is measured
_TRIED = 20.0  # seconds of one rank for each work that a dry run knows nothing of


def run(args, stage):
    """Measure what is not in the file yet, print the table; return the exit status. See ``cli.study_arguments``."""
    with stage.ranks() as ranks:
        if ranks is None:
            return 0
        wanted = grid.runs(args, ranks.size)
        with stage.interrupts:
            sweep = _Sweep(args, stage, ranks, wanted)
            status = sweep.dry_run() if args.dry_run else sweep.run()
        return stage.interrupts.exit_status or status


def _kept(args):
    """Return the rows of the file; it is made if it is not there, but by a dry run."""
    if not args.dry_run:
        return results.begin(args.output)
    return results.read([args.output]) if os.path.exists(args.output) else []


def _identity(run):
    return results.identity({"study": STUDY, "point": run.point, "repeat": run.repeat})


class _Sweep:
    """The runs of a study on rank 0."""

    def __init__(self, args, stage, ranks, wanted):
        self._args, self._stage, self._ranks = args, stage, ranks
        known = {_identity(run) for run in wanted}
        before = _kept(args) if args.output else []
        self._rows = checked(row for row in before if results.identity(row) in known)
        done = results.done(self._rows)
        random.Random(args.seed).shuffle(wanted)
        self._todo = [run for run in wanted if _identity(run) not in done]
        self._sharing = results.Sharing(args.output if args.output and not args.dry_run else None, done)
        costs = [(json.dumps(run.point), run.point["ranks"]) for run in self._todo]
        self._countdown = Countdown(stage.progress, costs)

    def run(self):
        """Return the exit status."""
        if self._args.json:
            for row in self._rows:
                self._stage.write(json.dumps(row))
        self._warm_up()
        for run in self._todo:
            if self._interrupted():
                break
            with self._sharing.claimed(_identity(run)) as mine:
                if mine:
                    self._measure(run)
        self._countdown.clear()
        self._add_shared()
        if not self._args.json and self._rows:
            self._stage.write(table(self._rows))
        differences = disagreements(self._rows)
        for text in [*too_short(self._rows), *differences]:
            self._stage.print_error(text)
        return 1 if differences else 0

    def _add_shared(self):
        """Take in the rows of other jobs that share the file; say how many runs they are still making."""
        if not self._args.output:
            return
        wanted = {_identity(run) for run in self._todo} - results.done(self._rows)
        added = [row for row in results.read([self._args.output]) if results.identity(row) in wanted]
        self._rows += checked(added)
        if self._args.json:
            for row in added:
                self._stage.write(json.dumps(row))
        left = len(wanted) - len(added)
        if left and not self._interrupted():
            self._stage.print_error(f"runs that other jobs with this file are making: {left}")

    def dry_run(self):
        """Say how many runs there are to do and about how long they take; return the exit status."""
        tried = {}
        for work, run in forecast.untimed(self._todo, self._rows).items():
            if self._interrupted():
                return 0
            self._countdown.before(f"trying, {_name({**run.point, 'ranks': 1})}")
            tried[work] = self._try(run)
        self._countdown.clear()
        found = forecast.estimate(self._todo, self._rows, tried)
        self._stage.write(json.dumps(found) if self._args.json else forecast.text(found))
        return 0

    def _try(self, run):
        """Return (seconds, whether they were enough) of a run's work on one rank."""
        limit = _TimeLimit(_TRIED, self._interrupted)
        with self._session(run, limit, ranks=1) as session:
            limit.session = session
            result = measure(session, run.options, run.positions)
        return (result["seconds"], True) if result["complete"] else (_TRIED, False)

    def _interrupted(self):
        return self._stage.interrupts.signal is not None

    def _session(self, run, interrupted, ranks=None):
        shown = {"interrupted": interrupted, "progress": self._countdown}
        return self._ranks.session(ranks or run.point["ranks"], run.table, **shown)

    def _measure(self, run):
        self._countdown.start(_name(run.point))
        with self._session(run, self._interrupted) as session:
            result = measure(session, run.options, run.positions)
            result["table_mib"] = session.table_mib
        if not result["complete"]:  # which only an interrupt leaves so
            return
        self._countdown.finish()
        places = self._ranks.places[: run.point["ranks"]]
        meta = metadata.describe(places, self._args.seed, run.point["game"], self._stage.arguments)
        row = {"study": STUDY, "point": run.point, "repeat": run.repeat, "result": result, "meta": meta}
        if self._args.output:
            results.append(self._args.output, row)
        if self._args.json:
            self._stage.write(json.dumps(row))
        self._rows.append(row)

    def _warm_up(self):
        """Have every rank compile and load what the runs need: each kind of search at work for a moment."""
        kinds = {}
        for run in sorted(self._todo, key=lambda run: run.point["ranks"]):  # the largest of a kind is kept
            kinds[run.point["board"], run.point["policy"], run.point["ranks"] == 1] = run
        for run in kinds.values():
            if not self._interrupted():
                self._countdown.before(f"warming up, {_name(run.point)}")
                self._warm(run)

    def _warm(self, run):
        limit = _TimeLimit(_WARM, self._interrupted)
        with self._session(run, limit) as session:
            limit.session = session
            measure(session, run.options, run.positions[:1])
            if len(run.positions) > 1 and not self._interrupted():
                limit.begin()
                measure(session, run.options, run.positions)


class _TimeLimit:
    """Tells a session's search, whenever it asks, whether it has been at work for so many seconds, or is interrupted.

    ``session`` must be set. What comes before the search, as compiling does, does not count.
    """

    def __init__(self, seconds, interrupted):
        self._seconds, self._interrupted, self._until = seconds, interrupted, None
        self.session = None

    def __call__(self):
        if self._until is None and self._at_work():
            self.begin()
        return self._interrupted() or self._until is not None and time.monotonic() > self._until

    def begin(self):
        """The seconds begin now."""
        self._until = time.monotonic() + self._seconds

    def _at_work(self):
        cluster = self.session.cluster
        run = getattr(cluster, "current", None)
        return run and cluster.is_open(run) and cluster.state(run).started


def too_short(rows):
    """Return a list of a warning, or of none: how many runs of rows are too short to tell how a search scales."""
    times = [row["result"]["seconds"] for row in rows]
    short = [seconds for seconds in times if seconds < SHORT]
    if not short:
        return []
    return [
        f"{len(short)} of {len(times)} runs took less than {SHORT:g} s, the shortest {min(short):.2g} s, much of it "
        "the beginning and the end of a run: more depth or a harder position tells better how a search scales"
    ]


def _name(point):
    """Return a run's name for people."""
    factor = "" if point["load_factor"] is None else f" at load factor {point['load_factor']:g}"
    plural = "s" * (point["ranks"] > 1)
    return f"{point['game']} {point['board']}, {point['policy']}{factor}, {point['ranks']} rank{plural}"
