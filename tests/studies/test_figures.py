"""The figures of scaling, against figures worked out by hand."""

import itertools

import pytest

from distsearch.studies.figures import scaling, series
from distsearch.studies.scaling import summary

from .unmeasured import row


def points(panel, label=""):
    """Return {x: y} of a panel's line."""
    (line,) = [line for line in panel.lines if line.label == label]
    return {point.x: pytest.approx(point.y) for point in line.points}


def runs(*rows):
    return series.runs_of(rows)


WORK = runs(
    row(1, 12.0, NODES=1200),
    row(1, 10.0, 1, NODES=1200),
    row(1, 8.0, 2, NODES=1200),
    row(2, 10.0, NODES=2000),
    row(4, 4.0, NODES=1600),
    row(8, 2.5, NODES=3000),
)


def test_speedup_is_over_the_median_on_one_rank():
    (panel,) = scaling.speedup(WORK)
    assert points(panel) == {1: 1, 2: 1, 4: 2.5, 8: 4}
    first = panel.lines[0].points[0]
    assert (first.low, first.high) == pytest.approx((10 / 12, 10 / 8))
    (ideal,) = panel.ideal
    assert [(point.x, point.y) for point in ideal.points] == [(1, 1), (8, 8)]


def test_speedup_over_several_ranks_has_an_ideal_of_its_own():
    (panel,) = scaling.speedup(
        runs(*(row(n, 8 / n, policy="a") for n in (1, 2)), row(2, 8, policy="b"), row(6, 4, policy="b"))
    )
    assert points(panel, "b") == {2: 1, 6: 2}
    ideals = {line.label: [(point.x, point.y) for point in line.points] for line in panel.ideal}
    assert ideals == {"ideal, over 1 rank": [(1, 1), (2, 2)], "ideal, over 2 ranks": [(2, 1), (6, 3)]}


def test_efficiency_is_by_time_and_by_nodes():
    by_time, by_nodes = scaling.efficiency(WORK)
    assert points(by_time) == {1: 1, 2: 0.5, 4: 2.5 / 4, 8: 0.5}
    assert points(by_nodes) == {1: 1, 2: 200 / 120 / 2, 4: 400 / 120 / 4, 8: 1200 / 120 / 8}
    only_time = scaling.efficiency(runs(row(1, 2), row(2, 1)))
    assert [panel.title for panel in only_time] == ["by time"]


def test_balance_is_by_the_size_of_the_pool():
    measured = runs(
        *(
            row(n, 1, policy="pool", load_factor=f, LOAD_BALANCE=1 - n / 100 - f / 1000)
            for n in (1, 2, 5, 9)
            for f in (1, 4)
        ),
        row(9, 1, policy="split", load_factor=4, LOAD_BALANCE=0.1),
    )
    chosen = scaling.FIGURES["balance"].chosen
    (panel,) = scaling.balance(chosen(measured))
    assert points(panel, "5 ranks") == {4: 0.949, 16: 0.946}
    assert points(panel, "9 ranks") == {8: 0.909, 32: 0.906}
    assert len(panel.lines) == 2  # a single worker is always balanced
    (panel,) = scaling.balance(chosen([run for run in measured if run.asked["load_factor"] == 4]))
    assert points(panel) == {16: 0.946, 32: 0.906}
    usual = runs(*(row(n, 1, policy="pool", load_factor=None, LOAD_FACTOR=4.0, LOAD_BALANCE=0.5) for n in (3, 5)))
    assert points(scaling.balance(usual)[0]) == {8: 0.5, 16: 0.5}


def test_nodes_and_their_rates():
    searched, rates = scaling.nodes(WORK)
    assert points(searched) == {1: 1200, 2: 2000, 4: 1600, 8: 3000}
    assert points(rates) == {1: 120, 2: 200, 4: 400, 8: 1200}


def test_communication_is_told_or_worked_out():
    told = row(2, 1, COMMUNICATION_COMPUTATION=0.2, TIME_SHARE={"busy": 0.5, "communication": 0.05, "idle": 0.45})
    shares = row(4, 1, TIME_SHARE={"busy": 0.5, "communication": 0.05, "idle": 0.45})
    ratio, idle = scaling.communication(runs(told, shares, row(8, 1), row(16, 1, TIME_SHARE={"busy": 0})))
    assert points(ratio) == {2: 0.2, 4: 0.1}
    assert points(idle) == {2: 0.45, 4: 0.45}


def test_work_that_grows_is_a_figure_of_its_own():
    grown = runs(
        *(row(n, 5 + n, weak="positions", positions=10 * n, POSITIONS=10 * n, NODES=90 * n + 10) for n in (1, 2, 4))
    )
    times, by_positions, by_nodes = scaling.weak(grown)
    assert points(times) == {1: 6, 2: 7, 4: 9}
    assert points(by_positions) == {1: 1, 2: 6 / 7, 4: 6 / 9}
    assert points(by_nodes) == {1: 1, 2: 1.9 / 2 * 6 / 7, 4: 3.7 / 4 * 6 / 9}
    deeper = runs(*(row(n, 5 + n, weak="depth", depth=n, NODES=90 * n) for n in (1, 2)))
    assert [panel.title for panel in scaling.weak(deeper)] == ["work that grows with the ranks", "by nodes a second"]
    for name, mine in (("speedup", WORK), ("efficiency", WORK), ("weak", grown)):
        assert scaling.FIGURES[name].chosen(WORK + grown) == mine


def test_figures_tell_what_the_table_tells(rng):
    asked = {
        "board": "8x8",
        "depth": 7,
        "exact": False,
        "algorithm": "alphabeta",
        "evaluation": None,
        "ordering": None,
        "weak": None,
        "policy": "pool",
        "load_factor": 4,
        "prefetch": 2,
        "table": 64,
        "positions": 1,
    }
    rows = []
    for ranks, repeat in itertools.product((2, 3, 6, 11), range(3)):
        seconds, nodes = rng.uniform(1, 9), rng.randint(10**6, 10**7)
        shares = {"busy": rng.random(), "communication": rng.random(), "idle": rng.random()}
        result = {
            "NODES": nodes,
            "BOARDS_PER_SECOND": round(nodes / seconds),
            "SCORES": [0],
            "TIME_SHARE": shares,
            "LOAD_BALANCE": rng.random(),
        }
        rows.append(row(ranks, seconds, repeat, **asked, **result))
    lines = [line.split() for line in summary.table(rows).splitlines() if line.startswith(" ")]
    told = {float(line[0]): [float(cell) for cell in line[1:]] for line in lines}
    measured = series.runs_of(rows)
    searched, rates = scaling.nodes(measured)
    _, idle = scaling.communication(measured)
    panels = {
        3: rates,
        4: scaling.speedup(measured)[0],
        5: scaling.efficiency(measured)[0],
        6: scaling.efficiency(measured)[1],
        9: idle,
    }
    for column, panel in panels.items():
        scale, rounded = 100 if panel is idle else 1, 0.5 if panel is rates else 0.006
        for point in panel.lines[0].points:
            assert point.y * scale == pytest.approx(told[point.x][column - 1], rel=1e-6, abs=rounded), panel.title
    fewest = searched.lines[0].points[0].y
    assert [point.y / fewest for point in searched.lines[0].points] == pytest.approx(
        [line[-1] for line in told.values()], abs=0.001
    )
    balance = [point.y for point in scaling.balance(measured[3:])[0].lines[0].points]
    assert balance == pytest.approx([told[ranks][6] for ranks in (3, 6, 11)], abs=0.001)


@pytest.mark.parametrize("name", scaling.FIGURES)
def test_nothing_to_draw_is_no_panel(name):
    panels_of = scaling.FIGURES[name].panels
    assert panels_of([]) == []
    assert all(panel.lines for panel in panels_of(runs(row(3, 1.0))))
