"""Streams of positions on virtual clusters of several hosts, whatever they are searched by."""

import numpy as np
import pytest

from distsearch.games import othello
from distsearch.service.options import Options
from distsearch.service.search import Searcher
from distsearch.service.simulate import Machine

from ..search.positions import unfinished_states

BOARD = 6, 6
SEARCHES = [
    {"exact": True}, {"depth": 6}, {"depth": 6, "policy": "pool"}, {"depth": 5, "ordering": "static"},
    {"depth": 4, "algorithm": "minimax"}, {"exact": True, "ordering": "none"},
]  # fmt: skip
searches = pytest.mark.parametrize("asked", SEARCHES, ids=str)


def found(states, asked, **machine):
    """(scores, boards) of a stream of states."""
    cluster = Machine(rate=1e4, **machine).cluster()
    searcher = Searcher(Options(othello.NAME, board=BOARD, evaluation="static", **asked), cluster)
    stream = searcher.stream(capacity=8)
    stream.add(np.array(states, np.uint64))
    stream.closed = True
    cluster.finish(cluster.begin(searcher.setup(), stream, measured=True))
    assert stream.done
    records = dict(stream.collect_any())
    return [records[i]["score"] for i in range(len(states))], [records[i]["boards"] for i in range(len(states))]


@searches
@pytest.mark.parametrize("table", [0, 1])
def test_scores_are_those_of_one_worker(asked, table, rng, seed):
    states = unfinished_states(rng, BOARD, 3, most_empties=9 if "exact" in asked else 30)
    alone, _ = found(states, asked, workers=1, table=1)
    workers, hosts = rng.choice([(2, 2), (5, 2), (8, 4), (7, 7)])
    assert found(states, asked, workers=workers, hosts=hosts, table=table, seed=seed)[0] == alone


@pytest.mark.parametrize("groups", [2, 3])
def test_sub_masters_are_of_hosts_as_well(groups, rng, seed):
    states = unfinished_states(rng, BOARD, 3, most_empties=14)
    alone, _ = found(states, {"exact": True}, workers=1, table=1)
    assert found(states, {"exact": True}, workers=9, hosts=2, groups=groups, table=1, seed=seed)[0] == alone


@pytest.mark.parametrize("asked", [each for each in SEARCHES if "ordering" in each or "algorithm" in each], ids=str)
def test_nobody_searches_twice_what_ranks_cannot_share(asked, rng):
    states = unfinished_states(rng, BOARD, 3, most_empties=9 if "exact" in asked else 30)
    boards = [found(states, asked, workers=4, hosts=hosts, table=1)[1] for hosts in (1, 2)]
    assert boards[0] == boards[1]
