"""Sources of work whose snapshots tests change, by name, and one of each that is under way."""

import numpy as np

from distsearch.engines.saved_path import legal_part
from distsearch.games import othello
from distsearch.jobs.two_player import TO_THE_END
from distsearch.tree.deepening import Deepening
from distsearch.tree.perft_pool import PerftPool
from distsearch.tree.position_stream import Stream
from distsearch.tree.search_tree import ANY, SearchTree

from ..engines.positions import rules, unfinished_states
from ..jobs.driving import do, grower, runner

BOARD, DEPTH = (6, 6), 5
_EMPTIES = 8


def split(states, snapshot=None):
    return SearchTree(grower(BOARD), states, TO_THE_END, 8, "split", snapshot=snapshot)


def pool(states, snapshot=None):
    return SearchTree(grower(BOARD), states, DEPTH, 20, snapshot=snapshot)


def deepening(states, snapshot=None):
    def make_pool(depth, previous=None, snapshot=None):
        return SearchTree(grower(BOARD), states[:1], depth, 8, previous=previous, snapshot=snapshot)

    return Deepening(make_pool, DEPTH, snapshot=snapshot)


def perft(states, snapshot=None):
    return PerftPool(grower(BOARD), states, DEPTH, 20, snapshot=snapshot)


def stream(states, snapshot=None):
    def make_pool(state, window, shared, snapshot=None):
        return SearchTree(grower(BOARD), [state], TO_THE_END, 8 if shared else 1, window=window, snapshot=snapshot)

    def legal(state, line):
        return legal_part(othello, rules(BOARD), state, line)

    source = Stream(
        len(states[0]), TO_THE_END, 2, make_pool, ANY, first_try=20, snapshot=snapshot, capacity=16, legal_part=legal
    )
    source.add(np.array(states, np.uint64))
    source.closed = True
    return source


SOURCES = {"split": split, "pool": pool, "deepening": deepening, "perft": perft, "stream": stream}


def begun(name, rng):
    """States, and the snapshot of a source that has done some jobs while others are out."""
    states = unfinished_states(rng, BOARD, 2, most_empties=_EMPTIES)
    source = SOURCES[name](states)
    out = list(source.take(4, worker=1))
    for _ in range(6):
        out.extend(source.take(2, worker=1))
        if out and not source.done:
            source.finish(np.atleast_1d(do(worker(name), out.pop(rng.randrange(len(out))))))
    known = {int(job["job_id"]): np.zeros(30, np.uint8) for job in out[:2]}
    return states, source.snapshot(known)


def worker(name):
    """The runner of the jobs of a source."""
    return runner("perft" if name == "perft" else "subtree", BOARD)
