"""Files of JSON and of lines: weights, fits, results of studies, records of training, timelines, logs of a book."""

import contextlib
import functools
import io
import json

import numpy as np

from distsearch import evaluation, games
from distsearch.books.solved_log import SolvedLog
from distsearch.cluster import trace
from distsearch.engines.pvs import probcut
from distsearch.evaluation import probcut_fit
from distsearch.evaluation.probcut_fit import Fit, Pair
from distsearch.evaluation.row_heuristic import Weights
from distsearch.formats import timeline as timeline_file
from distsearch.formats import weights_file
from distsearch.learning.report import LearningCurve
from distsearch.studies import results
from distsearch.studies.figures import curves, plot, scaling, series, style, timeline

from ...studies.rows import row
from .. import files, mutation
from ..target import Target

# --- weights and fits ---

_WEIGHTS_OF = "2048", "2584"


def _read_weights(data):
    """A file of weights: the evaluation that it names is one of the game. The first byte chooses the game."""
    name = _WEIGHTS_OF[data[0] % 2 if data else 0]
    found = weights_file.named(files.written(data[1:], "weights.json"), name)
    evaluation.check(games.find(name), found)
    assert evaluation.weights(games.find(name), found).numbers


def _weights_seeds():
    usual = Weights(1, 2, 3, 1, 1, 1.5)._asdict()
    terms = {"monotonicity": 1.0, "smoothness": 0.1, "free": 2.7}
    asked = (0, usual), (0, terms), (1, usual)
    return [bytes([i]) + json.dumps({"game": _WEIGHTS_OF[i], "weights": weights}).encode() for i, weights in asked]


def _read_fit(data):
    """A fit, from which the table is made that searches read."""
    fit = probcut_fit.parse(data, "a file")
    table = probcut.table(0.95, fit.stage, fit.pairs, 6400)
    assert np.isfinite(table[: len(probcut.HEAD)]).all()
    assert probcut_fit.parse(fit.to_json().encode(), "again") == fit


def _fit_seeds():
    pairs = [Pair(3, 8, 4, 0.98, 1.5, 30.25, 180), Pair(3, 6, 2, 1.02, -1.5, 40.0, 180), Pair(4, 8, 4, 1.0, 0.0, 25, 9)]
    return [Fit("othello", (8, 8), "static", "0" * 32, 4, pairs, {"by": "a test"}).to_json().encode()]


# --- results of studies, records of training, timelines ---


def _read_rows(data):
    """Rows of a study: their runs, and what the figures tell of them."""
    path = files.written(data)
    kind = plot._kind(path)
    with contextlib.redirect_stderr(io.StringIO()):  # which is told of a torn line
        rows = results.read([path])
    assert len(results.done(rows)) == len(rows)
    runs = series.runs_of(rows)
    series.common(runs)
    if runs and kind == "rows":
        _told(runs)
    results.append(path, row(repeat=77))
    assert results.identity(row(repeat=77)) in results.done(results.begin(path))


def _told(runs):
    for _, chosen, panels_of, within in scaling.FIGURES.values():
        for _, few in series.parts(chosen(runs), style.MOST_LINES, within):
            panels_of(few)


def _row_seeds():
    rows = [row(2.0 / ranks, ranks=ranks, repeat=repeat) for ranks in (1, 2, 4) for repeat in (0, 1)]
    lines = [json.dumps(each).encode() for each in rows]
    return [lines[0] + b"\n", b"\n".join(lines), b"\n".join([*lines[:2], lines[3][:40]])]


def _read_training(data):
    """A record of training: its panels, and its lines as a training that goes on with 3 games keeps them."""
    path = files.written(data)
    if plot._kind(path) == "record":
        curves.panels({path: curves.read(path)})
    LearningCurve(path, 3).close()


def _training_seeds():
    lines = [{"kind": "learning", "games": games_, "average": 700.5 * games_, "win_rate": 0.1} for games_ in (1, 2, 4)]
    lines.append({"kind": "evaluation", "games": 4, "average": 900, "average_error": 4.5, "evaluated": 100})
    return [b"".join(json.dumps(line).encode() + b"\n" for line in lines[:count]) for count in (1, 4)]


def _read_timeline(data):
    """A timeline: every rank's times."""
    for track in timeline.read(files.written(data)):
        assert track.wall >= 0 or track.wall < 0
        for kind in timeline.KINDS:
            timeline.shares(track.slices[kind], np.linspace(0, 1, 5))
            track.spent(kind)


def _timeline_seeds():
    events = np.zeros(3, trace.EVENT)
    events["kind"] = trace.WORK, trace.IDLE, trace.JOB
    events["began"], events["ended"] = (0.0, 0.5, 0.1), (0.5, 0.75, 0.4)
    path = files.written(b"")
    timeline_file.write(path, {0: ("here", events[:2]), 1: ("here", events)}, lambda state: None)
    with open(path, "rb") as file:
        return [json.dumps(json.load(file)).encode()]  # in one line


# --- the log of a book that is being made ---

_HEADING = {"game": "connect4"}


def _read_log(data):
    """A log: every position is one that a book's arrays have room for."""
    with SolvedLog(files.written(data), _HEADING) as log:
        np.array(list(log.known), np.uint64)
        np.array(list(log.known.values()), np.int64)
        log.append(np.array([5], np.uint64), [1], [2])


def _log_seeds():
    path = files.written(b"")
    with SolvedLog(path, _HEADING) as log:
        log.append(np.array([5, 1 << 63], np.uint64), [-3, 2], [0, 6])
    with open(path, "rb") as file:
        return [file.read()]


_STUDIES = "distsearch.studies.results", "distsearch.studies.figures.series", "distsearch.studies.figures.scaling"


def _with_a_byte(mutate, data, rng):
    """Change what follows an input's first byte."""
    return data[:1] + mutate(data[1:], rng)


TARGETS = {
    "weights-json": Target(
        _read_weights,
        _weights_seeds,
        (
            "distsearch.formats.weights_file",
            "distsearch.evaluation",
            "distsearch.evaluation.weighted_sum:parse",
            "distsearch.evaluation.row_heuristic:parse",
        ),
        functools.partial(_with_a_byte, mutation.of_json),
    ),
    "probcut-fit": Target(
        _read_fit,
        _fit_seeds,
        ("distsearch.evaluation.probcut_fit", "distsearch.engines.pvs.probcut:table"),
        mutation.of_json,
    ),
    "study-rows": Target(_read_rows, _row_seeds, (*_STUDIES, "distsearch.studies.figures.plot"), mutation.of_json),
    "training-record": Target(
        _read_training,
        _training_seeds,
        ("distsearch.studies.figures.curves", "distsearch.learning.report", "distsearch.studies.figures.plot"),
        mutation.of_json,
    ),
    "timeline": Target(_read_timeline, _timeline_seeds, ("distsearch.studies.figures.timeline",), mutation.of_json),
    "book-log": Target(_read_log, _log_seeds, ("distsearch.books.solved_log",)),
}
