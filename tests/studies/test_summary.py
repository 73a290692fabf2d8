"""The table of a scaling study, by rows whose figures are worked out by hand."""

from types import SimpleNamespace

import pytest

from distsearch.core.errors import UserError
from distsearch.studies import results
from distsearch.studies.scaling import summary
from distsearch.studies.scaling.summary import checked, disagreements, table

from .rows import columns, row


def test_speedup_efficiencies_and_overhead():
    (part,) = columns(table([row(8.0, 1000), row(2.0, 1500, ranks=4), row(4.0, 1000, ranks=2)]))
    assert [line["ranks"] for line in part] == [1, 2, 4]
    assert [line["workers"] for line in part] == [1, 1, 3]
    assert [line["time[s]"] for line in part] == [8, 4, 2]
    assert [line["speedup"] for line in part] == [1, 2, 4]
    assert [line["eff.time"] for line in part] == [1, 1, 1]
    assert [line["nodes/s"] for line in part] == [125, 250, 750]
    assert [line["eff.nodes"] for line in part] == [1, 1, 1.5]
    assert [line["overhead"] for line in part] == [1, 1, 1.5]
    assert [(line["balance"], line["comm[%]"], line["idle[%]"]) for line in part] == [(1, 6, 4)] * 3


def test_repeats_give_medians():
    text = table([row(seconds, repeat=i) for i, seconds in enumerate((1.0, 9.0, 2.0))])
    (((only),),) = columns(text)
    assert only["time[s]"] == 2
    assert "medians of 3 runs" in text


def test_without_one_rank_the_fewest_are_the_base_and_the_header_says_so():
    text = table([row(8.0, ranks=2), row(2.0, ranks=8)])
    ((first, last),) = columns(text)
    assert "over 2 ranks, the fewest there are" in text
    assert (first["speedup"], last["speedup"], last["eff.time"]) == (1, 4, 1)


def test_each_way_to_share_out_is_a_part_and_the_fastest_alone_is_named():
    text = table(
        [row(2.0), row(4.0, policy="pool", load_factor=4.0), row(1.0, policy="pool", load_factor=4.0, ranks=3)]
    )
    assert len(columns(text)) == 2
    assert "pool at load factor 4" in text
    assert text.count("the fastest here on 1 rank: policy split, prefetch 2, table 64 MiB, 2.0000 s") == 1


def test_a_table_smaller_than_asked_for_is_told():
    rows = [row(ranks=ranks) for ranks in (1, 2, 4)]
    for each, mib in zip(rows, (64, 30, 30), strict=True):
        each["result"] = {**each["result"], "table_mib": mib}
    told = "# the table was smaller for want of shared memory: 30 MiB on 2, 4 ranks"
    assert told in table(rows).splitlines()
    assert "smaller" not in table(rows[:1])


def test_weak_scaling_by_positions_is_told_in_positions():
    point = {"weak": "positions", "per_worker": 2, "file": "f", "position": None}
    text = table([row(4.0, 100, positions=2, **point), row(4.0, 350, ranks=4, positions=6, **point)])
    ((_, last),) = columns(text)
    assert (last["speedup"], last["eff.time"], last["overhead"]) == (3, 0.75, None)
    assert "2 positions a worker" in text


def test_weak_scaling_by_depth_tells_no_speedup():
    point = {"weak": "depth", "from_depth": 3}
    text = table([row(4.0, 100, depth=3, **point), row(4.0, 350, ranks=5, depth=5, **point)])
    ((_, last),) = columns(text)
    assert (last["speedup"], last["eff.time"], last["overhead"]) == (None, None, None)
    assert last["eff.nodes"] == pytest.approx(3.5 / 5, abs=0.011)
    assert "depth 3 and a ply for each doubling" in text


def test_only_numbers_stand_outside_the_header():
    for line in table([row(), row(ranks=2), row(board="6x6")]).splitlines():
        assert not line or line.startswith("#") or all(cell == "-" or float(cell) >= 0 for cell in line.split())


@pytest.mark.parametrize(
    ("point", "same"),
    [
        ({"ranks": 5}, True),
        ({"policy": "pool"}, True),
        ({"load_factor": 2.0}, True),
        ({"table": 1}, True),
        ({"prefetch": 1}, True),
        ({"depth": 4}, False),
        ({"board": "6x6"}, False),
        ({"evaluation": "discs"}, False),
        ({"position": "another"}, False),
    ],
)
def test_one_work_must_have_one_score(point, same):
    assert disagreements([row(scores=[3]), row(scores=[3], **point)]) == []
    assert len(disagreements([row(scores=[3]), row(scores=[4], **point)])) == same


def test_rows_that_lack_something_are_refused():
    wrong = row()
    del wrong["point"]["policy"], wrong["result"]["nodes"]
    with pytest.raises(UserError, match="no policy, nodes"):
        checked([row(), wrong])


def test_files_of_several_jobs_give_one_table(tmp_path):
    said, complaints = [], []
    stage = SimpleNamespace(is_first=True, write=said.append, print_error=complaints.append)
    for name, rows in (("a", [row(8.0)]), ("b", [row(2.0, ranks=4), row(9.0)])):
        for each in rows:
            results.append(tmp_path / name, each)
    files = [str(tmp_path / name) for name in "ab"]
    assert summary.run(SimpleNamespace(files=files), stage) == 0
    ((first, last),) = columns(said[0])
    assert (first["time[s]"], last["speedup"]) == (8, 4)
    assert complaints == []
    results.append(tmp_path / "b", row(1.0, ranks=3, scores=[7]))
    assert summary.run(SimpleNamespace(files=files), stage) == 1
    assert complaints == ["scores differ: 3 by 1 ranks with split, 7 by 3 ranks with split"]


@pytest.mark.parametrize(
    ("seconds", "ranks"), [("x", 1), (None, 1), (0, 1), (float("nan"), 1), (1.0, "three"), (1.0, 0)]
)
def test_rows_of_other_kinds_of_values_are_refused(seconds, ranks):
    wrong = row(1.0)
    wrong["result"]["seconds"], wrong["point"]["ranks"] = seconds, ranks
    with pytest.raises(UserError, match="a row of study scaling tells"):
        checked([wrong])


def test_rows_of_runs_that_were_interrupted_do_not_count():
    half = row(1.0)
    half["result"]["complete"] = False
    assert checked([half, row(2.0)]) == [row(2.0)]
