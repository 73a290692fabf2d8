"""``study plot`` as a whole: what files become figures, and how these look."""

import builtins
import importlib.util
import json
import math
from pathlib import Path

import pytest

from distsearch.studies.figures import scaling, series, style

from ..cli.asking import ask, assert_refused
from .unmeasured import row

RECORD = Path(__file__).parents[2] / "docs" / "learning" / "2584.jsonl"
SHARES = {"TIME_SHARE": {"busy": 0.9, "communication": 0.02, "idle": 0.08}, "LOAD_BALANCE": 0.9, "NODES": 10**6}

draws = pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="figures take matplotlib")


def written(path, rows):
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


@pytest.fixture
def grid(tmp_path):
    """A file of two ways to search at four numbers of ranks, and its rows."""
    ways = ({"policy": "split"}, {"policy": "pool", "load_factor": 4}, {"policy": "pool", "load_factor": 16})
    rows = [
        row(ranks, 8 / ranks + repeat, repeat, **way, **SHARES)
        for way in ways
        for ranks in (1, 2, 4, 8)
        for repeat in range(2)
    ]
    return written(tmp_path / "runs.jsonl", rows), rows


@draws
def test_files_become_figures_that_repeat_themselves(grid, tmp_path):
    path, rows = grid
    half = written(tmp_path / "half.jsonl", rows[::2]), written(tmp_path / "rest.jsonl", rows[1::2])
    whole = ask("study", "plot", path, RECORD, "--output", tmp_path / "a", "--formats", "svg")
    parts = ask("study", "plot", *half, RECORD, "--output", tmp_path / "b" / "c", "--formats", "svg")
    assert (whole.status, whole.err, parts.status) == (0, "", 0)
    names = ["speedup", "efficiency", "balance", "nodes", "communication", "learning"]
    assert whole.out.splitlines() == [f"{tmp_path}/a/{name}.svg" for name in names]
    for name in names:
        content = (tmp_path / "a" / f"{name}.svg").read_bytes()
        assert b"<svg" in content
        assert content == (tmp_path / "b" / "c" / f"{name}.svg").read_bytes(), name


@draws
def test_a_timeline_becomes_a_figure(tmp_path):
    trace = tmp_path / "trace.json"
    assert ask("search", "othello", "--board", "4x4", "--depth", "6", "--trace", trace).status == 0
    answer = ask("study", "plot", "--timeline", trace, "--output", tmp_path, "--formats", "png")
    assert (answer.status, answer.out) == (0, f"{tmp_path}/timeline-trace.png\n")
    assert (tmp_path / "timeline-trace.png").stat().st_size > 10_000


@draws
@pytest.mark.parametrize("name", scaling.FIGURES)
@pytest.mark.parametrize(
    "rows",
    [
        [row(2, 1.0, **SHARES)],
        [row(3, 1.0)],
        [row(1, 1e-6, NODES=0), row(64, 1e6, NODES=10**15, LOAD_BALANCE=0)],
        [row(n, 1.0, depth=d, policy="pool", load_factor=2, weak=d > 6, **SHARES) for n in (1, 2) for d in range(12)],
    ],
    ids=["a point", "next to nothing", "far apart", "twelve series"],
)
def test_nasty_files_are_drawn_without_a_word(name, rows, recwarn):
    what, chosen, panels_of, _ = scaling.FIGURES[name]
    panels = panels_of(chosen(series.runs_of(rows)))
    if not panels:
        return
    with style.drawing():
        figure = style.chart(panels, what, "a note")
        figure.draw_without_rendering()
        width, height = figure.bbox.size
        for axes in figure.axes:
            box = axes.get_tightbbox()
            assert box.x0 >= -1
            assert box.y0 >= -1
            assert box.x1 <= width + 1
            assert box.y1 <= height + 1
    assert not recwarn.list


@draws
def test_too_many_series_make_several_figures(tmp_path):
    rows = [row(n, 1.0, depth=d, board=b) for n in (1, 2) for d in range(9) for b in ("6x6", "8x8")]
    answer = ask("study", "plot", written(tmp_path / "runs", rows), "--output", tmp_path, "--formats", "svg")
    assert answer.out.splitlines()[:2] == [f"{tmp_path}/speedup-1.svg", f"{tmp_path}/speedup-2.svg"]
    assert "no figure of load balance: no runs of the files have what it takes" in answer.err


def test_lines_differ_in_more_than_colour():
    markers, looks = set(style.MARKERS), set(zip(style.COLOURS * 12, style.DASHES * 12, strict=False))
    assert len(markers) == style.MOST_LINES
    assert len(looks) == len(style.COLOURS) * len(style.DASHES)
    assert all(contrast(colour) > 1.9 for colour in style.COLOURS)  # against white
    # neighbours in a legend are told apart in grey as well
    pairs = zip(style.COLOURS, style.COLOURS[1:] + style.COLOURS[:1], strict=True)
    assert all(abs(math.log(contrast(a) / contrast(b))) > 0.15 for a, b in pairs)


def contrast(colour):
    """Return the contrast of a colour with white, as the Web Content Accessibility Guidelines define it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 1.05 / (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "plot takes files"),
        (("none.jsonl",), "cannot read none.jsonl: No such file"),
        (("empty",), "empty holds neither results of a study nor a record of training"),
        (("bytes",), "cannot read bytes"),
        (("words",), "words holds neither"),
        (("deep",), "deep holds neither"),
        (("trace",), "trace is a timeline: --timeline trace"),
        (("no times",), "there is nothing to plot"),
        (("runs", "--formats", "jpg"), "format jpg is not one of png, svg, pdf"),
        (("runs", "--formats", ""), "formats"),
        (("--timeline", "none"), "cannot read the timeline none"),
        (("--timeline", "runs"), "runs is no timeline"),
        (("runs", "--output", "words"), "cannot write the figure words/speedup.png"),
        (("broken",), "broken: line 1 is no row of a study"),
    ],
)
@draws
def test_what_cannot_be_drawn_is_said_in_a_line(arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").touch()
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "words").write_text("words\n")
    (tmp_path / "deep").write_text("[" * 9999)
    (tmp_path / "trace").write_text('{"traceEvents":[]}')
    (tmp_path / "broken").write_text('{"study": "scaling", "result": 7}\n\n{}\n')
    written(tmp_path / "no times", [row(2, None)])
    written(tmp_path / "runs", [row(1, 2.0), row(2, 1.0)])
    assert_refused(ask("study", "plot", *arguments), said)


def test_without_matplotlib_it_is_said_what_to_install(grid, monkeypatch):
    there = builtins.__import__

    def missing(name, *rest, **more):
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(name)
        return there(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    assert_refused(ask("study", "plot", grid[0]), 'figures take matplotlib: pip install "distsearch[plot]"')
