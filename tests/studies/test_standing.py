"""What must not get worse unseen: what does not depend on time, against the figures of benchmarks/standing.toml."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import standing_figures as figures
from benchmarks import standing_rates as rates
from benchmarks.standing_counts import groups

KEPT = figures.read()
CASES = [
    pytest.param(name, id=name.replace(" ", "_"), marks=pytest.mark.full if group.full else ())
    for name, group in groups().items()
    if name != "bench"  # test_bench.py has the same searches
]


@pytest.mark.parametrize("name", CASES)
def test_nothing_fell_back(name):
    found = groups()[name].measure()
    regressions = figures.regressions(figures.figures(KEPT[name]), found)
    assert not regressions, "if that is meant: benchmarks/standing --update, and say why\n" + "\n".join(regressions)


def test_the_file_is_as_the_program_writes_it(tmp_path):
    figures.write(KEPT, tmp_path / "file")
    assert (tmp_path / "file").read_text() == figures.FILE.read_text()
    assert list(KEPT) == list(groups())
    assert all(KEPT[name]["how"] == group.how for name, group in groups().items())


@pytest.mark.parametrize(
    ("kept", "found", "words"),
    [
        (figures.most(100), 110, ""),
        (figures.most(100), 111, "111 instead of at most 110 (it was 100)"),
        (figures.most(1.5), 1.66, "1.66 instead of at most 1.65 (it was 1.5)"),
        (figures.least(2.0), 1.8, ""),
        (figures.least(2.0), 1.79, "1.79 instead of at least 1.8 (it was 2.0)"),
        (figures.exact(7), 7, ""),
        (figures.exact(7), 6, "6 instead of 7"),
    ],
)
def test_how_far_a_figure_may_fall_back(kept, found, words):
    assert figures.regressions({"it": kept}, {"it": figures.most(found)}) == ([f"it: {words}"] if words else [])


def test_a_figure_on_one_side_only_has_fallen_back():
    assert figures.regressions({"old": figures.most(1)}, {"new": figures.most(2)}) == [
        "old: not measured any more",
        "new: 2, of which no figure is kept",
    ]


@pytest.mark.parametrize(
    ("kept", "found", "better"),
    [
        (figures.most(100), 89, True),
        (figures.most(100), 90, False),
        (figures.least(10), 12, True),
        (figures.least(10), 11, False),
        (figures.exact(10), 5, False),
    ],
)
def test_what_is_better_is_worth_an_update(kept, found, better):
    assert bool(figures.improvements({"it": kept}, {"it": figures.most(found)})) is better


def test_an_update_keeps_the_commit_of_what_is_as_it_was():
    kept = figures.updated({}, {"a": ("how", {"it": figures.most(1)}), "b": ("how", {"it": figures.most(1)})}, "first")
    now = figures.updated(kept, {"a": ("how", {"it": figures.most(1)}), "b": ("how", {"it": figures.most(2)})}, "then")
    assert [now[name]["commit"] for name in "ab"] == ["first", "then"]
    assert figures.figures(now["b"]) == {"it": figures.most(2)}


def test_rates_are_compared_by_turns():
    asked = []

    def side(name, values):
        left = iter(values)
        return SimpleNamespace(rate=lambda rate: asked.append(name) or next(left))

    now, then = side("now", [0.1, 2.0, 9.0, 1.0]), side("then", [0.1, 1.0, 3.0, 2.0])
    found = rates.compare(now, then, None, 3)
    assert asked == ["now", "then"] + ["now", "then", "then", "now", "now", "then"]
    assert found == (2.0, 2.0, 2.0, (0.5, 3.0))
    assert rates.compare(side("now", [1.0]), side("then", [None]), None, 3) is None
    with pytest.raises(RuntimeError, match="distsearch perft othello"):
        rates.compare(side("now", [None]), side("then", [1.0]), rates.RATES["perft"], 3)


def test_a_side_runs_the_program_of_its_folder_and_no_other(tmp_path):
    with pytest.raises(SystemExit, match="would run instead"):
        rates.Program(tmp_path, tmp_path)
    here = rates.Program(rates.HERE, tmp_path, cache=tmp_path / "cache")
    result, seconds = here.run(["perft", "connect4", "--depth", "2"])
    assert result["counts"] == [1, 7, 49]
    assert seconds > 0
    assert any(Path(tmp_path, "cache").iterdir())
    assert here.run(["perft", "chess", "--depth", "2"]) is None
