"""Parts of a GPU's search that others search for it: the same scores, whatever is answered when and where, or never."""

import numpy as np
import pytest

from distsearch.gpu import offload
from distsearch.testing.emulated_gpu import EmulatedGpu

from .test_solver import cpu, cpu_score, solver, states_of

BOARDS = [((6, 7), range(16, 20)), ((4, 8), range(17, 21))]
LEFT = 11


def worth_sharing(board, left, count, rng):
    """Return states (uint64, shape (count, 2)) that take a thousand nodes or some more."""
    found = []
    while len(found) < count:
        for state in states_of(board, left, 8, rng):
            cpu_score(board, state)
            if 1000 < cpu(board).nodes < 4000:
                found.append(state)
    return np.array(found[:count], np.uint64)


def answered(board, number, out):
    """Return a bound of an offloaded position's score, as a CPU would tell it."""
    _, state, beta = out[number]
    return cpu_score(board, state, beta - 1, beta)


@pytest.mark.parametrize(("board", "left"), BOARDS, ids=str)
@pytest.mark.parametrize("how", ["some", "none"])
def test_scores_are_the_cpus_whoever_searched(board, left, how, gpus, full, seed, rng):
    taken = returned = 0
    for run in range(8 if full else 2):
        states = worth_sharing(board, left, rng.randrange(1, 3), rng)
        wanted = [cpu_score(board, state) for state in states]
        on_gpu = solver(gpus, seed + run, board, seconds=0.003)
        on_gpu.begin(states)
        known = {}
        while True:
            fresh, gone = on_gpu.offload(rng.randrange(3, 12), LEFT, known)
            taken, returned = taken + len(fresh), returned + len(set(known) & set(gone))
            assert set(known) <= set(gone)
            if on_gpu.advance():
                break
            known = {
                number: answered(board, number, on_gpu.offloaded)
                for number in on_gpu.offloaded
                if how == "some" and rng.random() < 0.3
            }
        scores, complete, _, _ = on_gpu.result()
        assert complete.all()
        assert scores.tolist() == wanted
    assert taken
    if how == "none":
        assert not returned
    elif isinstance(gpus(seed), EmulatedGpu):  # a GPU has solved such positions before a CPU answers
        assert returned


def test_no_position_is_offloaded_twice_and_counts_are_taken_back(gpus, seed, rng):
    board, left = BOARDS[0]
    on_gpu = solver(gpus, seed, board, seconds=0.002)
    while not on_gpu.offloaded:  # of some positions there is nothing to offload: all ways down are answered before LEFT
        on_gpu.begin(worth_sharing(board, range(17, 21), 1, rng))
        on_gpu.offload(offload.MOST, LEFT, {})
    counters = on_gpu._arrays["node_counters"]
    assert 0 < np.count_nonzero(counters.get() >> 20) <= len(on_gpu.offloaded)
    for _ in range(4):
        states = [state.tobytes() for _, state, _ in on_gpu.offloaded.values()]
        assert len(set(states)) == len(states)
        on_gpu.advance()
        known = {number: answered(board, number, on_gpu.offloaded) for number in list(on_gpu.offloaded)[::3]}
        on_gpu.offload(offload.MOST, LEFT, known)
    assert np.count_nonzero(counters.get() >> 20) <= len(on_gpu.offloaded)
    on_gpu.offload(0, LEFT, {number: answered(board, number, on_gpu.offloaded) for number in on_gpu.offloaded})
    assert not on_gpu.offloaded
    assert not (counters.get() >> 20).any()
