"""What ranks do between two samples, from timers that a test moves."""

import pytest

from distsearch.server.load import Load
from distsearch.server.schema import RANK

from .fake_cluster import FakeCluster


def sampled(cluster, load):
    cluster.sample()
    return load.next()


def shares(lane):
    return tuple(lane[name] for name in ("busy", "communication", "idle"))


@pytest.fixture
def cluster():
    return FakeCluster()


@pytest.fixture
def load(cluster):
    cluster.work(1, wall=100, busy=90, nodes=10**9, jobs=5)
    cluster.sample()
    return Load(cluster)


def test_shares_and_rates_are_of_the_interval(cluster, load):
    cluster.now, cluster.master_seconds = 2.0, 0.5
    cluster.work(1, wall=2, busy=1.5, communication=0.1, idle=0.4, nodes=3000, jobs=2, table_full=0.25, at_work=1)
    cluster.work(2, wall=4, idle=4, queued=3, table_full=0.5)
    found = sampled(cluster, load)
    master, first, second = found["per_rank"]
    assert (found["seconds"], found["nodes_per_second"], found["table_full"]) == (2.0, 1500, 0.5)
    assert [lane["rank"] for lane in found["per_rank"]] == [0, 1, 2]
    assert (shares(master), master["nodes_per_second"], master["role"]) == ((0.0, 0.25, 0.75), None, "master")
    assert shares(first) == (0.75, 0.05, 0.2)
    assert (first["nodes_per_second"], first["jobs"], first["at_work"], first["table_full"]) == (1500, 7, 1, 0.25)
    assert (shares(second), second["nodes_per_second"], second["queued"]) == ((0.0, 0.0, 1.0), 0, 3)
    assert (master["host"], first["host"], first["role"], first["device"]) == ("here", "there", "worker", "cpu")
    for lane in found["per_rank"]:
        assert list(lane) == [field.name for field in RANK]


def test_the_next_interval_begins_where_this_one_ends(cluster, load):
    cluster.work(1, wall=1, busy=1, nodes=50)
    sampled(cluster, load)
    cluster.work(1, wall=2, busy=0, nodes=30)
    assert sampled(cluster, load)["per_rank"][1]["nodes_per_second"] == 15


def test_a_rank_without_an_answer_has_no_shares(cluster, load):
    cluster.work(1, wall=1, busy=1)
    cluster.silent, cluster.preparing = {2}, {2}
    _, first, second = sampled(cluster, load)["per_rank"]
    assert (first["state"], second["state"]) == ("ready", "compiling")
    assert shares(second) == (None, None, None)
    cluster.silent, cluster.preparing = set(), set()
    cluster.work(2, wall=1, busy=1)
    cluster.answer(2)
    assert shares(sampled(cluster, load)["per_rank"][2]) == (1.0, 0.0, 0.0)


def test_a_lost_rank_is_told(cluster, load):
    cluster.absent = {2}
    cluster.work(1, wall=1)
    cluster.work(2, wall=1, jobs=4, at_work=1, queued=3, table_full=0.9)
    found = sampled(cluster, load)
    assert [lane["state"] for lane in found["per_rank"]] == ["ready", "ready", "lost"]
    lost = found["per_rank"][2]
    assert (lost["jobs"], lost["at_work"], lost["queued"], found["table_full"]) == (0, 0, 0, 0.0)


def test_timers_that_begin_anew_count_from_then(cluster, load):
    cluster.restart(1)
    cluster.work(1, wall=2, busy=1, nodes=8)
    lane = sampled(cluster, load)["per_rank"][1]
    assert (lane["busy"], lane["nodes_per_second"]) == (0.5, 4)


def test_timers_that_begin_anew_twice_count_from_then(cluster, load):
    cluster.restart(1)
    cluster.work(1, wall=101, busy=2, nodes=8)  # longer than before, with less work
    lane = sampled(cluster, load)["per_rank"][1]
    assert (lane["busy"], lane["nodes_per_second"]) == (round(2 / 101, 4), 0)


def test_a_rank_on_a_gpu(cluster, load):
    cluster.work(1, wall=1, slots=4096)
    assert [lane["device"] for lane in sampled(cluster, load)["per_rank"]] == ["cpu", "gpu", "cpu"]


def test_submasters_have_no_shares():
    cluster = FakeCluster(workers=4, submasters=2)
    cluster.samples.latest.clear()
    roles = [lane["role"] for lane in sampled(cluster, Load(cluster))["per_rank"]]
    assert roles == ["master", "sub-master", "worker", "worker", "sub-master", "worker", "worker"]


def test_a_single_rank_is_all_of_it():
    cluster = FakeCluster(workers=1)
    cluster.ranks, cluster.host = 1, None
    cluster.sample()
    load = Load(cluster)
    cluster.work(1, wall=1, busy=0.5, communication=0.25)
    (lane,) = sampled(cluster, load)["per_rank"]
    assert (lane["rank"], lane["role"], lane["host"], shares(lane)) == (0, "alone", "there", (0.5, 0.25, 0.25))
