"""The same searches at several numbers of ranks, policies, load factors, prefetch depths and boards, in one launch.

One run is at work at a time, on the first ranks of the launch, while all others sleep. Every run has a session of its
own, with an empty table whose memory is there already; kernels are compiled and loaded before the first one. Runs are
in random order over the whole grid, repeats among them, so that what changes with time on a machine falls on all alike.
"""

import json
import random
import time

from . import grid, metadata, results
from .countdown import Countdown
from .measure import measure
from .summary import checked, disagreements, table

STUDY = "scaling"
_WARM = 0.3  # seconds of a search before any is measured


def run(args, stage):
    """Measure what is not in the file yet, print the table; return the exit status. See ``study_arguments``."""
    with stage.ranks() as ranks:
        if ranks is None:
            return 0
        wanted = grid.runs(args, ranks.size)
        with stage.interrupts:
            status = _Sweep(args, stage, ranks, wanted).run()
        return stage.interrupts.exit_status or status


def _identity(run):
    return results.identity({"study": STUDY, "point": run.point, "repeat": run.repeat})


class _Sweep:
    """The runs of a study on rank 0."""

    def __init__(self, args, stage, ranks, wanted):
        self._args, self._stage, self._ranks = args, stage, ranks
        known = {_identity(run) for run in wanted}
        before = results.begin(args.output) if args.output else []
        self._rows = checked(row for row in before if results.identity(row) in known)
        done = results.done(self._rows)
        random.Random(args.seed).shuffle(wanted)
        self._todo = [run for run in wanted if _identity(run) not in done]
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
            self._measure(run)
        self._countdown.clear()
        if not self._args.json and self._rows:
            self._stage.write(table(self._rows))
        differences = disagreements(self._rows)
        for text in differences:
            self._stage.complain(text)
        return 1 if differences else 0

    def _interrupted(self):
        return self._stage.interrupts.signal is not None

    def _session(self, run, interrupted):
        shown = {"interrupted": interrupted, "progress": self._countdown}
        return self._ranks.session(run.point["ranks"], run.table, **shown)

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
                self._countdown.warm_up(_name(run.point))
                self._warm(run)

    def _warm(self, run):
        until = None

        def enough():
            nonlocal until
            cluster = session.cluster
            at_work = getattr(cluster, "current", None)
            if until is None and at_work and cluster.is_open(at_work) and cluster.state(at_work).started:
                until = time.monotonic() + _WARM
            return self._interrupted() or until is not None and time.monotonic() > until

        with self._session(run, enough) as session:
            measure(session, run.options, run.positions[:1])
            if len(run.positions) > 1 and not self._interrupted():
                until = time.monotonic() + _WARM
                measure(session, run.options, run.positions)


def _name(point):
    """Return a run's name for people."""
    factor = "" if point["load_factor"] is None else f" at load factor {point['load_factor']:g}"
    plural = "s" * (point["ranks"] > 1)
    return f"{point['game']} {point['board']}, {point['policy']}{factor}, {point['ranks']} rank{plural}"
