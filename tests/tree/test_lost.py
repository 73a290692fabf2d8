"""Workers that are lost while they have jobs: every source still comes to the right end."""

import numpy as np
import pytest

from distsearch.games import othello
from distsearch.jobs.two_player import TO_THE_END
from distsearch.tree.deepening import Deepening
from distsearch.tree.layout import NONE, SENT, WAITING
from distsearch.tree.perft_pool import PerftPool
from distsearch.tree.search_tree import SearchTree

from ..engines.positions import rules, unfinished_states
from ..jobs.driving import do, grower, runner
from .test_policies import DEEP, DrivenWorkers, Hand, check, policies, searches
from .test_position_stream import BOARD, array, expected, stream_of

PLIES = 4


class LosingWorkers(DrivenWorkers):
    """Workers of which some are lost, and begin anew."""

    def __init__(self, search, rng):
        super().__init__(search, rng)
        self._search = search

    def lose(self, source):
        name = self.rng.choice(list(self.hands))
        self.hands[name] = Hand(self._search.runners[name - 1], self.rng)
        self.out = {job: worker for job, worker in self.out.items() if worker != name}
        source.lost(name)

    def drive_with_losses(self, source, losses):
        for _ in range(losses):
            self.drive(source, most=int(10 ** self.rng.uniform(0, 2.5)))
            self.lose(source)
        self.drive(source)


@policies
@searches
def test_the_score_is_that_of_one_worker_whichever_workers_are_lost(search, policy, full, rng):
    for _ in range(100 if full else 3):
        position, depth, full_width_depth, source = search.case(rng, policy)
        team = LosingWorkers(search, rng)
        team.drive_with_losses(source, rng.randint(1, 20))
        check(search, source, position, depth, all_moves=full_width_depth)
        team.drain(source)
        assert source.out == 0
        assert (source.jobs_out["node"] == NONE).all()
        assert (source.jobs_out["remainder"] == NONE).all()
        assert source.job_updates(idle_workers=1) == []
        free = source._arrays.free_ids[: source._control.free_count.item()]
        assert sorted(free) == list(range(len(source.jobs_out)))
        assert source._control.splits_requested == source._control.preempted == 0


@policies
@DEEP
def test_deepening_goes_on_whichever_workers_are_lost(search, policy, full, rng):
    for _ in range(30 if full else 2):
        position, deepest = search.position(rng), rng.randint(2, 6)

        def make_pool(depth, previous=None, snapshot=None, state=position.state):
            return search.tree(rng, [state], depth, policy, previous=previous, snapshot=snapshot)

        source = Deepening(make_pool, deepest)
        LosingWorkers(search, rng).drive_with_losses(source, rng.randint(1, 20))
        if source.completed_depth == deepest:
            check(search, source.completed, position, deepest)
        else:
            assert source.proved


def test_a_tree_keeps_nothing_of_a_lost_worker(rng):
    (state,) = unfinished_states(rng, BOARD, 1, most_empties=12)
    source = SearchTree(grower(BOARD), [state], TO_THE_END, 16)
    first, second = source.take(3, worker=1), source.take(2, worker=2)
    waiting, nodes = source.waiting, source.jobs_out["node"][first["job_id"]]
    assert (source.nodes.status[nodes] == SENT).all()
    source.lost(1)
    assert (source.nodes.status[nodes] == WAITING).all()
    assert (source.out, source.waiting) == (len(second), waiting + len(first))
    source.lost(1)
    source.lost(7)
    assert source.out == len(second)


def test_a_lost_worker_waits_for_no_subtree(rng):
    late = unfinished_states(rng, BOARD, 100, most_empties=12)
    state = next(each for each in late if othello.moves_left(each, rules(BOARD)) > 1)  # of one move there are no parts
    source = SearchTree(grower(BOARD), [state], TO_THE_END, 16, policy="split")
    source._min_split_depth = 1
    jobs = source.take(1, worker=1)
    while len(more := source.take(1, worker=1)):
        jobs = np.concatenate((jobs, more))
    assert source.job_updates(idle_workers=0) == []
    assert {request[0] for request in source.job_updates(idle_workers=1)} == {1}
    source.lost(1)
    assert source.job_updates(idle_workers=1) == []
    assert len(source.take(1, worker=2)) == 1


def test_an_iteration_may_end_with_a_loss(rng):
    """The only job that is out is not wanted any more."""
    (state,) = unfinished_states(rng, BOARD, 1)

    class Ended:
        roots, waiting, none = 1, 0, ()
        done, by_host = True, False
        out, all_nodes = 1, 0
        nodes = SearchTree(grower(BOARD), [state], 1, 1).nodes

        def lost(self, worker):
            self.out = 0

        @staticmethod
        def totals():
            return {"evaluated": np.ones(1)}

    made = []

    def make_pool(depth, previous=None, snapshot=None):
        made.append(depth)
        return Ended()

    source = Deepening(make_pool, 2)
    assert made == [1]
    source.lost(1)
    assert (made, source.completed_depth) == ([1, 2], 1)


def test_perft_counts_all_once(rng, full):
    worker = runner("perft", BOARD)
    for _ in range(50 if full else 5):
        states = unfinished_states(rng, BOARD, 2)
        right = PerftPool(grower(BOARD), states, PLIES, 1)
        right.finish(np.concatenate([do(worker, job) for job in right.take(9, worker=1)]))
        pool, out = PerftPool(grower(BOARD), states, PLIES, 30), []
        while not pool.done:
            name = rng.randint(1, 3)
            match rng.choice(("take", "finish", "finish", "lose")):
                case "take":
                    out += [(name, job) for job in pool.take(rng.randint(1, 9), name)]
                case "finish" if out:
                    _, job = out.pop(rng.randrange(len(out)))
                    pool.finish(do(worker, job))
                case "lose" if rng.random() < 0.3:
                    out = [(holder, job) for holder, job in out if holder != name]
                    pool.lost(name)
        assert right.done
        assert (pool.counts == right.counts).all()
        assert pool.waiting == 0


@pytest.mark.parametrize("all_moves", [False, True])
@pytest.mark.parametrize("policy", ["pool", "window", "brothers", "split"])
def test_a_stream_answers_all_whichever_workers_are_lost(policy, all_moves, rng, full):
    worker = runner("solve", BOARD)
    for _ in range(20 if full else 3):
        states = unfinished_states(rng, BOARD, 12, most_empties=9)
        stream, out, lost = stream_of(all_moves=all_moves), [], set()  # names of jobs are never used again
        stream._make_pool = _pools(policy, all_moves)
        stream.add(array(states))
        stream.closed = True
        while not stream.done:
            name = rng.randint(1, 3)
            match rng.choice(("take", "finish", "finish", "update", "lose")):
                case "take":
                    out += [(name, job) for job in stream.take(rng.randint(1, 4), name)]
                case "finish" if out:
                    _, job = out.pop(rng.randrange(len(out)))
                    worker.begin(job)
                    worker.advance(int(job["budget"]) or 10**9)
                    stream.finish(worker.result(1.0, 1.0))
                case "update":
                    assert not lost & {job for _, job, *_ in stream.job_updates(idle_workers=1)}
                case "lose" if rng.random() < 0.3:
                    lost |= {int(job["job_id"]) for holder, job in out if holder == name and job["job_id"] < 0}
                    out = [(holder, job) for holder, job in out if holder != name]
                    stream.lost(name)
        assert [record["score"] for _, record in stream.collect_any()] == [expected(state) for state in states]
        for name in (1, 2, 3):
            stream.lost(name)
        assert not stream._subtree_jobs
        assert not stream._ids
        assert not stream._remainders


def _pools(policy, all_moves):
    def make_pool(state, window, shared):
        size = 6 if shared else 1
        made = SearchTree(
            grower(BOARD),
            [state],
            TO_THE_END,
            size,
            policy,
            full_width_depth=int(all_moves),
            window=window,
            min_job_seconds=0,
        )
        made._min_split_depth = 1
        return made

    return make_pool


def test_a_position_in_play_is_tried_again(rng):
    """With the budget of its try, by the next worker."""
    stream = stream_of()
    states = unfinished_states(rng, BOARD, 3, most_empties=9)
    stream.add(array(states))
    first = stream.take(2, worker=1)
    stream.lost(1)
    assert stream.waiting == 3
    again = np.concatenate([stream.take(1, worker=2) for _ in range(3)])
    assert sorted(again["job_id"]) == [0, 1, 2]
    assert set(again["budget"]) == set(first["budget"])
