"""How long a scaling study is said to take before it is measured."""

from types import SimpleNamespace

import pytest

from distsearch.studies.scaling import forecast
from distsearch.studies.scaling.grid import work_of

from .rows import row


def run(**point):
    return SimpleNamespace(point=row(**point)["point"])


def test_a_work_is_tried_once_and_by_split():
    runs = [run(policy="pool"), run(policy="pool", ranks=4), run(ranks=4), run(), run(depth=4)]
    found = forecast.untimed(runs, [])
    assert {work: each.point["policy"] for work, each in found.items()} == {
        work_of(runs[2].point): "split",
        work_of(runs[4].point): "split",
    }
    assert list(found.values())[1] is runs[4]


def test_what_rows_tell_is_not_tried():
    assert not forecast.untimed([run(ranks=4), run(ranks=4, policy="pool")], [row(2.0)])
    assert not forecast.untimed([run(ranks=4)], [row(2.0, ranks=4)])
    assert forecast.untimed([run(ranks=4)], [row(2.0, ranks=3)])


def test_bounds_of_time():
    runs = [run(ranks=ranks) for ranks in (1, 2, 5)]
    found = forecast.estimate(runs, [], {work_of(runs[0].point): (8.0, True)})
    assert found == {
        "runs": 3,
        "done": 0,
        "seconds_ideal": 8 + 8 + 2,
        "seconds_without_speedup": 24.0,
        "complete": True,
    }
    assert "about 0:18 with ideal" in forecast.text(found)
    assert "about 0:24 with none" in forecast.text(found)


def test_rows_of_a_point_count_before_those_of_its_work():
    rows = [row(8.0), row(9.0, policy="pool"), row(3.0, ranks=5), row(5.0, ranks=5, repeat=1)]
    found = forecast.estimate([run(ranks=5), run(ranks=3)], rows, {})
    assert (found["seconds_ideal"], found["seconds_without_speedup"]) == (4 + 4, 4 + 8)
    assert found["done"] == 4


@pytest.mark.parametrize(("done", "words"), [(True, "about 0:20 with"), (False, "more than 0:20 with")])
def test_a_trial_that_was_given_up_is_told_of(done, words):
    tried = {work_of(run().point): (20.0, done)}
    assert words in forecast.text(forecast.estimate([run()], [], tried))
