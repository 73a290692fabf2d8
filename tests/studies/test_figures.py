"""The figures of scaling, against figures worked out by hand."""

import pytest

from distsearch.studies import figures, series

from .rows import row


def points(panel, label=""):
    """Return {x: y} of a panel's line."""
    (line,) = [line for line in panel.lines if line.label == label]
    return {point.x: pytest.approx(point.y) for point in line.points}


def runs(*rows):
    return series.runs_of(rows)


WORK = runs(
    row(1, 12.0, BOARDS=1200), row(1, 10.0, 1, BOARDS=1200), row(1, 8.0, 2, BOARDS=1200),
    row(2, 10.0, BOARDS=2000), row(4, 4.0, BOARDS=1600), row(8, 2.5, BOARDS=3000),
)  # fmt: skip


def test_speedup_is_over_the_median_on_one_rank():
    (panel,) = figures.speedup(WORK)
    assert points(panel) == {1: 1, 2: 1, 4: 2.5, 8: 4}
    first = panel.lines[0].points[0]
    assert (first.low, first.high) == pytest.approx((10 / 12, 10 / 8))
    (ideal,) = panel.ideal
    assert [(point.x, point.y) for point in ideal.points] == [(1, 1), (8, 8)]


def test_speedup_over_several_ranks_has_an_ideal_of_its_own():
    (panel,) = figures.speedup(runs(*(row(n, 8 / n, policy="a") for n in (1, 2)), row(2, 8, policy="b"),
                                    row(6, 4, policy="b")))  # fmt: skip
    assert points(panel, "b") == {2: 1, 6: 2}
    ideals = {line.label: [(point.x, point.y) for point in line.points] for line in panel.ideal}
    assert ideals == {"ideal, over 1 rank": [(1, 1), (2, 2)], "ideal, over 2 ranks": [(2, 1), (6, 3)]}


def test_efficiency_is_by_time_and_by_boards():
    by_time, by_boards = figures.efficiency(WORK)
    assert points(by_time) == {1: 1, 2: 0.5, 4: 2.5 / 4, 8: 0.5}
    assert points(by_boards) == {1: 1, 2: 200 / 120 / 2, 4: 400 / 120 / 4, 8: 1200 / 120 / 8}
    only_time = figures.efficiency(runs(row(1, 2), row(2, 1)))
    assert [panel.title for panel in only_time] == ["by time"]


def test_balance_is_by_the_size_of_the_pool():
    measured = runs(*(row(n, 1, policy="pool", load_factor=f, LOAD_BALANCE=1 - n / 100 - f / 1000)
                      for n in (1, 2, 5, 9) for f in (1, 4)),
                    row(9, 1, policy="split", load_factor=4, LOAD_BALANCE=0.1))  # fmt: skip
    (panel,) = figures.balance(measured)
    assert points(panel, "5 ranks") == {4: 0.949, 16: 0.946}
    assert points(panel, "9 ranks") == {8: 0.909, 32: 0.906}
    assert len(panel.lines) == 2  # a single worker is always balanced
    (panel,) = figures.balance([run for run in measured if run.asked["load_factor"] == 4])
    assert points(panel) == {16: 0.946, 32: 0.906}


def test_boards_and_their_rates():
    searched, rates = figures.boards(WORK)
    assert points(searched) == {1: 1200, 2: 2000, 4: 1600, 8: 3000}
    assert points(rates) == {1: 120, 2: 200, 4: 400, 8: 1200}


def test_communication_is_told_or_worked_out():
    told = row(2, 1, COMMUNICATION_COMPUTATION=0.2, TIME_SHARE={"busy": 0.5, "communication": 0.05, "idle": 0.45})
    shares = row(4, 1, TIME_SHARE={"busy": 0.5, "communication": 0.05, "idle": 0.45})
    ratio, idle = figures.communication(runs(told, shares, row(8, 1), row(16, 1, TIME_SHARE={"busy": 0})))
    assert points(ratio) == {2: 0.2, 4: 0.1}
    assert points(idle) == {2: 0.45, 4: 0.45}


def test_work_that_grows_is_a_figure_of_its_own():
    grown = runs(*(row(n, 5 + n, weak="positions", positions=10 * n, BOARDS=100 * n) for n in (1, 2, 4)))
    times, rates = figures.weak(grown)
    assert points(times) == {1: 6, 2: 7, 4: 9}
    assert points(rates) == {1: 1, 2: 6 / 7, 4: 6 / 9}
    assert figures.speedup(grown) == figures.efficiency(grown) == figures.weak(WORK) == []


@pytest.mark.parametrize("name", figures.FIGURES)
def test_nothing_to_draw_is_no_panel(name):
    _, panels_of, _ = figures.FIGURES[name]
    assert panels_of([]) == []
    assert all(panel.lines for panel in panels_of(runs(row(3, 1.0))))
