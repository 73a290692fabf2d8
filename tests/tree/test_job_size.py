"""How many nodes jobs are estimated to take: before anything is known, and after results."""

import pytest

from distsearch.tree.job_size import largest_depth_left, new_sizes, rate, record_job


def test_a_rank_with_a_gpu_begins_with_larger_jobs():
    core, gpu = new_sizes(), new_sizes(on_gpus=True)
    assert rate(gpu) == pytest.approx(200 * rate(core))
    deepest = [largest_depth_left(sizes, 0.01 * rate(sizes), False) for sizes in (core, gpu)]
    assert deepest[0] < deepest[1]


@pytest.mark.parametrize("on_gpus", [False, True])
def test_results_take_the_place_of_the_guess(on_gpus):
    sizes = new_sizes(on_gpus)
    for _ in range(100):
        record_job(sizes, 8, 3_000_000, 1.0)
    assert rate(sizes) == pytest.approx(3e6, rel=0.1)
    assert largest_depth_left(sizes, 3_000_000, False) == 8
