"""A report's study: its tables and figures (exhibits), each computed from what one or more plans measure."""

from argparse import Namespace
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

from ...core.errors import UserError
from .. import results
from .directions import Direction

VALUES, DIRECTIONS, NOTHING = "values", "directions", "no value survives"  # of an exhibit, in the report


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


class Plan(NamedTuple):
    """Measurements that belong together.

    measurements(study_size) -> an iterable of Measurement; minutes: about how long all take, compiling included: on a
    laptop of two cores without a GPU, and with --full on 16 cores and a GPU.
    """

    measurements: Callable
    minutes: tuple[float, float]


class Exhibit(NamedTuple):
    """A table or a figure of a report made again.

    name: as ``--only`` takes it; place: where the report has it, "" for what only this study has; shows: what, in a
    line; plans: what it is made of; sections(found, study_size) -> an iterable of Table and Figure, of MeasuredRows;
    theirs: VALUES, DIRECTIONS or NOTHING; directions(found) -> list of Direction, what the report says of it.
    """

    name: str
    place: str
    shows: str
    plans: tuple[Plan, ...]
    sections: Callable
    theirs: str = NOTHING
    directions: Callable[..., list[Direction]] = lambda found: []


class Study(NamedTuple):
    """A report's study.

    name: as on the command line; title: of the report; content: its exhibits, in the order in which they are shown;
    complaints(found) -> lines that say what is wrong with what was measured, such as two scores of one position;
    source: where what ours is compared with was published.
    """

    name: str
    title: str
    content: tuple[Exhibit, ...]
    complaints: Callable = lambda found: []
    source: str = "the report"

    def only(self, names: Iterable[str]) -> "Study":
        """Return the study of some of its exhibits; raises UserError for a name that none has."""
        known = {each.name: each for each in self.content}
        for name in names:
            if name not in known:
                raise UserError(f"{self.name} has no exhibit {name[:40]}, but {', '.join(known)}")
        return self._replace(content=tuple(each for each in self.content if each.name in set(names)))

    @property
    def plans(self) -> list[Plan]:
        """All plans of its exhibits, each once."""
        return list(dict.fromkeys(plan for each in self.content for plan in each.plans))

    def measurements(self, study_size) -> list[Measurement]:
        """Return all there is to measure, each once: first everything, then repeats."""
        found = {}
        for plan in self.plans:
            for each in plan.measurements(study_size):
                found.setdefault(self.identity(each), each)
        return sorted(found.values(), key=lambda each: each.repeat)

    def identity(self, measurement: Measurement) -> str:
        """Return what tells a measurement from all others, as ``results.identity`` does."""
        return results.identity({"study": self.name, "point": measurement.point, "repeat": measurement.repeat})

    def sections(self, found, study_size) -> list:
        """Return the Tables and Figures of all exhibits."""
        return [section for each in self.content for section in each.sections(found, study_size)]


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

    def can(self, measurement: Measurement) -> bool:
        """Whether this launch has what a measurement takes."""
        return measurement.ranks <= self.ranks and measurement.gpus <= self.gpus

    def command(self, study, only=""):
        """Return the command line of a study with this study_size; only: of an exhibit."""
        launch = f"mpirun -n {self.ranks} " if self.ranks > 1 else ""
        repeats = f" --repeats {self.repeats}" if self.repeats else ""
        positions = "" if (path := getattr(self.asked, "positions", None)) is None else f" --positions {path}"
        rule = " --value-dead-boards" * self.value_dead_boards
        part = f" --only {only}" * bool(only) + " --full" * self.full
        return f"{launch}distsearch study {study}{part}{repeats} --seed {self.seed}{positions}{rule}"

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
