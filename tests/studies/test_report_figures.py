"""Figures of reports as files."""

import importlib.util
import sys

import pytest

from distsearch.core.errors import UserError
from distsearch.studies.reports import tables
from distsearch.studies.reports.tables import Figure

FIGURE = Figure(
    "Speedup of a search with a long heading, " * 3,
    "ranks",
    "speedup",
    {"pool": [(1, 1.0), (2, 1.5, 1.2, 1.9), (4, 9.0)], "nothing": []},
    ideal=True,
)


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="figures take matplotlib")
@pytest.mark.parametrize("more", [{}, {"ideal": False, "share": True}], ids=str)
def test_a_figure_is_drawn_alike_every_time(more, tmp_path):
    contents = []
    for name in "ab":
        paths = tables.draw(FIGURE._replace(**more), tmp_path, name, ("svg", "png"))
        assert paths == [str(tmp_path / f"{name}.svg"), str(tmp_path / f"{name}.png")]
        contents.append((tmp_path / f"{name}.svg").read_bytes())
    assert contents[0] == contents[1]
    assert b"<svg" in contents[0]


def test_without_matplotlib_it_says_so(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UserError, match="matplotlib"):
        tables.draw(FIGURE, tmp_path, "a", ("svg",))
