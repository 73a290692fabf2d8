"""Run a report's study: say how long it takes, measure, keep each result, and write ours next to theirs.

Each measurement is a row of a file of results as soon as it is done, so a study that was cut off goes on where it
stopped.
"""

import json

from ...api.facts import clock_time
from ...api.options import resolve
from ...core.errors import UserError
from .. import metadata, results
from ..measure_search import measure
from ..progress import Countdown
from . import files
from .study import MeasuredRows, StudySize
from .tables import Table, to_text


class Bench:
    """What measurements are made with: the ranks of a launch, of which the first few work and the others sleep.

    ``interrupted()``: whether the user wants an end; what a body returns after that is not kept; progress: where to
    tell how a measurement goes.
    """

    def __init__(self, ranks, interrupts, progress):
        self._ranks, self._interrupts, self.progress = ranks, interrupts, progress
        self._gpu = None

    def interrupted(self):
        return self._interrupts.signal is not None

    def session(self, ranks=1, table=None, device="cpu"):
        """A context that gives a new ``Session`` of the first ranks; table: MiB a host, 0 for none."""
        shown = {"interrupted": self.interrupted, "progress": self.progress}
        return self._ranks.session(ranks, table, device=device, **shown)

    @property
    def gpu(self):
        """This host's first GPU, a ``device.Gpu``; raises UserError."""
        if self._gpu is None:
            from ...gpu import device

            self._gpu = device.Gpu(0)
        return self._gpu

    def search(self, texts, ranks=1, table=None, device="cpu", **options):
        """Search positions by a new session of the first ranks; return figures as ``measure`` has them.

        options: game, board and more, as ``options.resolve`` takes them.
        """
        checked, game, rules = resolve(**options)
        with self.session(ranks, table, device) as session:
            return measure(session, checked, [game.parse(text, rules) for text in texts])

    def call(self, function, ranks=1, **given):
        """Have the first ranks call a function of a module; return what it returns here.

        It is called with their communicator (None for one rank) and given, plain values; and here, on rank 0, with
        ``interrupted``, which it must have a default for.
        """
        return self._ranks.call(ranks, function, given, interrupted=self.interrupted)


def run(study, args, stage):
    """Make a study on the ranks of a ``stage.Stage``, all of which call this; return the exit status.

    args: of the command line: full, repeats, seed, only, list, and output, a folder for results, tables and figures, or
    None for tables on stdout alone. Raises UserError.
    """
    whole, study = study, study.only(args.only) if args.only else study
    study_size = StudySize(args.full, seed=args.seed, repeats=args.repeats, asked=args)
    with stage.ranks() as ranks:
        if ranks is None:
            return 0
        study_size.ranks, study_size.gpus = ranks.size, _gpus()
        if args.list:
            stage.write(to_text(_contents(study, study_size)))
            return 0
        folder = None if args.output is None else files.made_folder(args.output)
        planned = study.measurements(study_size)
        with stage.interrupts:
            kept = _measure(study, planned, study_size, ranks, folder, stage)
        rows = [kept[study.identity(each)] for each in planned if study.identity(each) in kept]
        found, have = MeasuredRows(rows), results.done(rows)
        missing = [each for each in planned if study.identity(each) not in have]
        only = ",".join(args.only or ())
        shown = files.Shown(study, study_size, found, _left_out(missing, study_size), only)
        stage.write(shown.text())
        if folder is not None:  # also what runs before this one have measured
            known = [kept[key] for key in map(whole.identity, whole.measurements(study_size)) if key in kept]
            files.Shown(whole, study_size, MeasuredRows(known), _left_out(missing, study_size)).write(
                folder, stage.print_error
            )
        for wrong in (complaints := study.complaints(found)):
            stage.print_error(f"{study.name}: {wrong}")
        return stage.interrupts.exit_status or int(bool(complaints))


def _contents(study, study_size):
    """Return the Table of a study's exhibits, and of how long each takes alone."""
    rows = []
    for each in study.content:
        alone = study.only([each.name])
        minutes = forecast(alone, study_size, alone.measurements(study_size))
        rows.append((each.name, each.place or "this study's own", each.shows, each.theirs, clock_time(60 * minutes)))
    note = (
        "Time: about, each alone, of what this launch has ranks and GPUs for; exhibits share what is measured. --only "
        "NAME,... makes some of them."
    )
    return Table(study.title, ("name", f"in {study.source}", "shows", "of theirs", "time"), rows, note)


def forecast(study, study_size, todo):
    """Return about how many minutes the Measurements ``todo`` of a study take: their shares of what plans take."""
    wanted, minutes = {study.identity(each) for each in todo}, 0.0
    for plan in study.plans:
        made = {study.identity(each) for each in plan.measurements(study_size) if study_size.can(each)}
        if made:
            minutes += study_size.choose(*plan.minutes) * len(made & wanted) / len(made)
            wanted -= made
    return minutes


def _measure(study, planned, study_size, ranks, folder, stage):
    """Return {identity: row} of the folder's file, by whatever launch, and of what is planned and can be had here."""
    path = None if folder is None else folder / f"{study.name}.jsonl"
    rows = {} if path is None else {results.identity(row): row for row in results.begin(path)}
    wanted = {study.identity(each): each for each in planned}
    todo = {key: each for key, each in wanted.items() if key not in rows and study_size.can(each)}
    if todo:
        when = clock_time(60 * forecast(study, study_size, todo.values()))
        machine = study_size.choose("two cores", "16 cores and a GPU")
        stage.print_error(f"{study.name}: measurements to make: {len(todo)}; on {machine} they take about {when}")
    progress = Countdown(stage.progress, [_likenesses(each) for each in todo.values()])
    bench = Bench(ranks, stage.interrupts, progress)
    sharing = results.Sharing(path, rows)
    for key, each in todo.items():
        with sharing.claimed(key) as mine:
            if mine and not bench.interrupted():
                row = _row(study, each, study_size, bench, ranks, stage)
                if bench.interrupted():  # what was cut short is no measurement
                    break
                rows[key] = row
                if path is not None:
                    results.append(path, row)
    progress.clear()
    if path is None:
        return rows
    made = {results.identity(row): row for row in results.read([path])}  # by jobs that share the folder, too
    left = len(todo.keys() - made.keys())
    if left and not bench.interrupted():
        stage.print_error(f"{study.name}: measurements that other jobs with this folder are making: {left}")
    return rows | made


def _row(study, each, study_size, bench, ranks, stage):
    """Return the row of a Measurement that is made now."""
    bench.progress.start(f"{study.name}, {_described(each.point)}")
    result = each.body(bench)
    bench.progress.finish()
    places, game = ranks.places[: each.ranks], each.point.get("game")
    meta = metadata.describe(places, study_size.seed, game, stage.arguments)
    return {"study": study.name, "point": each.point, "repeat": each.repeat, "result": result, "meta": meta}


def _likenesses(measurement):
    """Return what measurements take alike long by, from the closest likeness to the loosest, for ``Countdown``."""
    point = measurement.point
    return json.dumps(point), json.dumps({name: value for name, value in point.items() if name != "ranks"}), "any"


def _described(point):
    """Return a point as a line for people, without what is the same for most and long."""
    return ", ".join(f"{name} {value}" for name, value in point.items() if name not in ("game", "position"))


def _left_out(missing, study_size):
    """Return lines that say what of the missing Measurements could not be made here."""
    lines = []
    if more := {each.ranks for each in missing if each.ranks > study_size.ranks}:
        lines.append(
            f"left out, for this launch has {study_size.ranks} rank{'s' * (study_size.ranks > 1)}: what takes "
            f"{', '.join(map(str, sorted(more)))}"
        )
    if not study_size.gpus and any(each.gpus for each in missing):
        lines.append("left out: what takes a GPU, for there is none here (or no PyCUDA; see docs/gpu)")
    elif more := {each.gpus for each in missing if each.gpus > study_size.gpus}:
        lines.append(f"left out, for this host has too few GPUs: what takes {', '.join(map(str, sorted(more)))}")
    return lines


def _gpus():
    """Return how many GPUs this host has."""
    from ...gpu import device

    try:
        return device.count()
    except UserError:
        return 0
