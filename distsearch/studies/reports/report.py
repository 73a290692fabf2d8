"""A report's study: what it measures, and how that becomes tables and figures, ours next to theirs.

A study lists what it measures, and makes its tables of the results. Each measurement is a row of a file
of results as soon as it is done, so a study that was cut off goes on where it stopped.
"""

import json
import os
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import NamedTuple

from ...api.options import resolve
from ...core.errors import UserError
from .. import metadata, results
from ..measure_search import measure
from ..progress import Countdown
from .tables import Figure, draw, to_markdown, to_text

_FORMATS = "png", "svg"


class Study(NamedTuple):
    """A report's study.

    name: as on the command line; title: of the report; measurements(study_size) -> list of Measurement, in the order in
    which they are made; sections(found, study_size) -> list of Table and Figure, of MeasuredRows; complaints(found) ->
    lines that say what is wrong with it, such as two scores of one position.
    """

    name: str
    title: str
    measurements: Callable
    sections: Callable
    complaints: Callable = lambda found: []


class Measurement(NamedTuple):
    """One thing to measure.

    point: what it is of, by name, all of it JSON scalars; it must tell this measurement from all others of the study,
    those of another study_size included; body(bench) -> the figures, a dictionary of JSON values, called on rank 0
    with a ``Bench``; repeat: 0, 1 ... of the same point; ranks, gpus: how many of each it takes.
    """

    point: dict
    body: Callable
    repeat: int = 0
    ranks: int = 1
    gpus: int = 0


@dataclass
class StudySize:
    """How much a study is to measure, and with what.

    full: for a cluster, else minutes on a laptop; ranks: of this launch; gpus: of rank 0's host; repeats: None
    for what the study thinks right; asked: the arguments of the command line, for what is a study's own.
    """

    full: bool = False
    ranks: int = 1
    gpus: int = 0
    seed: int = 1
    repeats: int | None = None
    asked: Namespace = field(default_factory=Namespace)

    def choose(self, laptop, cluster):
        """Return what this study_size takes of two values."""
        return cluster if self.full else laptop

    def command(self, study, ranks=None):
        """Return the command line of a study with this study_size."""
        ranks = self.ranks if ranks is None else ranks
        launch = f"mpirun -n {ranks} " if ranks > 1 else ""
        repeats = f" --repeats {self.repeats}" if self.repeats else ""
        positions = "" if (path := getattr(self.asked, "positions", None)) is None else f" --positions {path}"
        rule = " --value-dead-boards" * self.value_dead_boards
        return f"{launch}distsearch study {study}{' --full' * self.full}{repeats} --seed {self.seed}{positions}{rule}"

    @property
    def value_dead_boards(self):
        """Whether searches of a study of 2584 take the network's word for boards without a move."""
        return getattr(self.asked, "value_dead_boards", False)


class MeasuredRows:
    """What was measured: rows of results, by what their points have."""

    def __init__(self, rows):
        self._rows = list(rows)

    def rows(self, **point):
        """Return the rows whose points have these values."""
        return [row for row in self._rows if all(row["point"].get(name) == value for name, value in point.items())]

    def points(self, name, **point):
        """Return the values of ``name`` among the rows whose points have these values, each once, in order."""
        found = list(dict.fromkeys(row["point"][name] for row in self.rows(**point) if name in row["point"]))
        return sorted(found) if all(isinstance(each, int | float) for each in found) else found

    def values(self, name, **point):
        """Return a figure of those rows, one for each repeat; of one in another: ``time_share.idle``."""
        found = []
        for row in self.rows(**point):
            value = row["result"]
            for part in name.split("."):
                value = value.get(part) if isinstance(value, dict) else None
            if value is not None:
                found.append(value)
        return found

    def median(self, name, **point):
        """Return the median of ``values``, None of nothing."""
        found = self.values(name, **point)
        return median(found) if found else None

    def spread(self, x, name, **point):
        """Return (x, median, lowest, highest) of ``values`` as a list of one point of a figure, [] of nothing."""
        found = self.values(name, **point)
        return [(x, median(found), min(found), max(found))] if found else []


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

    args: of the command line: full, repeats, seed, and output, a folder for results, Markdown and figures, or None for
    tables on stdout alone. Raises UserError.
    """
    study_size = StudySize(args.full, seed=args.seed, repeats=args.repeats, asked=args)
    with stage.ranks() as ranks:
        if ranks is None:
            return 0
        study_size.ranks, study_size.gpus = ranks.size, _gpus()
        folder = None if args.output is None else _made(args.output)
        planned = study.measurements(study_size)
        with stage.interrupts:
            rows = _measure(study, planned, study_size, ranks, folder, stage)
        found, have = MeasuredRows(rows), results.done(rows)
        missing = [each for each in planned if _identity(study, each) not in have]
        command = study_size.command(study.name)
        sections = [each._replace(command=command) for each in study.sections(found, study_size) if not each.empty]
        left_out = [f"# {line}" for line in _left_out(missing, study_size)]
        stage.write("\n\n".join([f"# {study.title}", *map(to_text, sections), *left_out]))
        if folder is not None:
            _write(study, sections, missing, study_size, folder, stage.print_error)
        for wrong in (complaints := study.complaints(found)):
            stage.print_error(f"{study.name}: {wrong}")
        return stage.interrupts.exit_status or int(bool(complaints))


def _measure(study, planned, study_size, ranks, folder, stage):
    """Return the rows of what is planned: those in the folder's file, by whatever launch, and what can be had here."""
    path = None if folder is None else folder / f"{study.name}.jsonl"
    rows = {} if path is None else {results.identity(row): row for row in results.begin(path)}
    wanted = {_identity(study, each): each for each in planned}
    todo = {key: each for key, each in wanted.items() if key not in rows and _can(each, study_size)}
    progress = Countdown(stage.progress, [_likenesses(each) for each in todo.values()])
    bench = Bench(ranks, stage.interrupts, progress)
    for key, each in todo.items():
        if bench.interrupted():
            break
        progress.start(f"{study.name}, {_described(each.point)}")
        result = each.body(bench)
        if bench.interrupted():  # what was cut short is no measurement
            break
        progress.finish()
        places, game = ranks.places[: each.ranks], each.point.get("game")
        meta = metadata.describe(places, study_size.seed, game, stage.arguments)
        rows[key] = {"study": study.name, "point": each.point, "repeat": each.repeat, "result": result, "meta": meta}
        if path is not None:
            results.append(path, rows[key])
    progress.clear()
    return [rows[key] for key in wanted if key in rows]


def _identity(study, measurement):
    return results.identity({"study": study.name, "point": measurement.point, "repeat": measurement.repeat})


def _likenesses(measurement):
    """Return what measurements take alike long by, from the closest likeness to the loosest, for ``Countdown``."""
    point = measurement.point
    return json.dumps(point), json.dumps({name: value for name, value in point.items() if name != "ranks"}), "any"


def _can(measurement, study_size):
    return measurement.ranks <= study_size.ranks and measurement.gpus <= study_size.gpus


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


def _made(output):
    folder = Path(output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UserError(f"cannot make the folder {str(output)[:200]}: {reason}") from error
    return folder


def _write(study, sections, missing, study_size, folder, print_error):
    """Write the Markdown, and the figures where there is matplotlib."""
    parts, drawing = [f"# {study.title}"], True
    for count, section in enumerate(sections, 1):
        pictures = []
        if isinstance(section, Figure) and drawing:
            try:
                paths = draw(section, folder, f"{study.name}-{count}", _FORMATS)
                pictures = [os.path.basename(path) for path in paths]
            except UserError as error:
                print_error(error)
                drawing = False
        parts.append(to_markdown(section, pictures))
    parts += _left_out(missing, study_size)
    path = folder / f"{study.name}.md"
    try:
        path.write_text("\n\n".join(parts) + "\n")
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from error
