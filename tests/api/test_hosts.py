"""Streams of positions on virtual clusters of several hosts, whatever they are searched by."""

import numpy as np
import pytest

from distsearch.api.options import Options
from distsearch.api.progress import Progress
from distsearch.api.simulate import Machine, simulate
from distsearch.api.two_player import TwoPlayerSearcher
from distsearch.cluster.copies import Copies
from distsearch.cluster.messages import MessageType
from distsearch.cluster.worker import Worker
from distsearch.games import othello

from ..engines.positions import unfinished_states

BOARD = 6, 6
SEARCHES = [
    {"exact": True},
    {"depth": 6},
    {"depth": 6, "policy": "pool"},
    {"depth": 5, "ordering": "static"},
    {"depth": 4, "algorithm": "minimax"},
    {"exact": True, "ordering": "none"},
]
searches = pytest.mark.parametrize("asked", SEARCHES, ids=str)


def found(states, asked, **machine):
    """(scores, nodes) of a stream of states."""
    cluster = Machine(rate=1e4, **machine).cluster()
    searcher = TwoPlayerSearcher(Options(othello.NAME, board=BOARD, evaluation="static", **asked), cluster)
    stream = searcher.stream(capacity=8)
    stream.add(np.array(states, np.uint64))
    stream.closed = True
    cluster.finish(cluster.begin(searcher.setup(), stream, measured=True))
    assert stream.done
    records = dict(stream.collect_any())
    return [records[i]["score"] for i in range(len(states))], [records[i]["nodes"] for i in range(len(states))]


@searches
@pytest.mark.parametrize("table", [0, 1])
def test_scores_are_those_of_one_worker(asked, table, rng, seed):
    states = unfinished_states(rng, BOARD, 3, most_empties=9 if "exact" in asked else 30)
    alone, _ = found(states, asked, workers=1, table=1)
    workers, hosts = rng.choice([(2, 2), (5, 2), (8, 4), (7, 7)])
    assert found(states, asked, workers=workers, hosts=hosts, table=table, seed=seed)[0] == alone


@pytest.mark.parametrize("submasters", [2, 3])
def test_sub_masters_are_of_hosts_as_well(submasters, rng, seed):
    states = unfinished_states(rng, BOARD, 3, most_empties=14)
    alone, _ = found(states, {"exact": True}, workers=1, table=1)
    assert found(states, {"exact": True}, workers=9, hosts=2, submasters=submasters, table=1, seed=seed)[0] == alone


@pytest.mark.parametrize("asked", [each for each in SEARCHES if "ordering" in each or "algorithm" in each], ids=str)
def test_nobody_searches_twice_what_ranks_cannot_share(asked, rng):
    states = unfinished_states(rng, BOARD, 3, most_empties=9 if "exact" in asked else 30)
    nodes = [found(states, asked, workers=4, hosts=hosts, table=1)[1] for hosts in (1, 2)]
    assert nodes[0] == nodes[1]


def test_where_hosts_search_jobs_together_no_parts_are_given(monkeypatch):
    """Not even of jobs that are more doubtful than others, as those of all moves are; what is copied is still a job."""
    sent, requested, work, update_jobs = [], [], Worker.work, Worker._update_jobs

    def noted(self):
        sent.extend(out := work(self))
        return out

    def updated(self, run, records):
        requested.extend(records["min_depth_left"].tolist())
        return update_jobs(self, run, records)

    monkeypatch.setattr(Worker, "work", noted)
    monkeypatch.setattr(Worker, "_update_jobs", updated)
    copied, choose = [], Copies.choose
    monkeypatch.setattr(Copies, "choose", lambda self, *how: copied.append(choose(self, *how)) or copied[-1])
    position = othello.parse("b3b4b5b2c2a4a2c6d5e4a6d2e2a3", othello.rules((6, 6)))
    options = Options("othello", board=(6, 6), exact=True, all_moves=True)
    for hosts in (2, 4):
        found = simulate(options, Machine(workers=8, hosts=hosts, rate=1e6), position, Progress(), lambda: False)
        assert found.outcome.score == found.sequential.score
    assert any(job is not None for job in copied)
    assert not any(requested)
    assert MessageType.SPLIT not in {message.type for message in sent}
