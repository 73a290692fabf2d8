"""Jobs that several hosts search together: copies, and the answers of their owners."""

import numpy as np
import pytest

from distsearch.cluster.copies import _SUMMED, Copies
from distsearch.jobs.two_player import BRIEF_RESULT, SUBTREE_RESULT

HOSTS = {1: "a", 2: "a", 3: "b", 4: "b", 5: "c", 6: "d"}
EVERYBODY = set(HOSTS)
JOB = np.dtype([("job_id", np.int32), ("low", np.int32), ("high", np.int32), ("budget", np.int64)])


def job(node, budget=0):
    return np.array([(node, -10, 10, budget)], JOB)


def result(node, nodes=1, complete=1, score=0, dtype=BRIEF_RESULT):
    records = np.zeros(1, dtype)
    records["job_id"], records["complete"], records["score"] = node, complete, score
    for name in _SUMMED:
        if name in dtype.names:
            records[name] = nodes
    return records


@pytest.fixture
def copies():
    """Copies whose worker 1 was given job 0."""
    made = Copies(HOSTS)
    made.assigned(1, job(0))
    return made


def copy_to(copies, *ranks, alone=EVERYBODY):
    """The nodes of the jobs that workers get, None for none."""
    chosen = [copies.choose(rank, alone) for rank in ranks]
    return [None if each is None else int(each["job_id"]) for each in chosen]


def changed_owners(copies):
    return dict(copies.changed_owners())


# --- which job is copied ---


def test_a_host_without_a_job_gets_what_another_is_at(copies):
    chosen = copies.choose(3, EVERYBODY)
    assert chosen.tobytes() == job(0).tobytes()
    assert changed_owners(copies) == {0: [1, 3]}
    assert changed_owners(copies) == {}  # until it changes
    assert copy_to(copies, 5) == [0]
    assert changed_owners(copies) == {0: [1, 3, 5]}


def test_no_host_gets_a_copy_of_its_own_job(copies):
    assert copy_to(copies, 2, 3, 4) == [None, 0, None]
    assert changed_owners(copies) == {0: [1, 3]}


def test_jobs_with_a_budget_are_not_copied():
    copies = Copies(HOSTS)
    copies.assigned(1, job(0, budget=1))
    assert copy_to(copies, 3) == [None]


def test_only_a_workers_one_job_is_copied(copies):
    assert copy_to(copies, 3, alone={3}) == [None]
    assert copy_to(copies, 3, alone={1}) == [0]
    assert copy_to(copies, 5, alone={1}) == [None]
    assert copy_to(copies, 5, alone={1, 3}) == [0]


def test_the_job_of_the_fewest_hosts_comes_first(copies):
    copies.assigned(3, job(1))
    assert copy_to(copies, 5, 6) == [0, 1]
    assert changed_owners(copies) == {0: [1, 5], 1: [3, 6]}


def test_a_host_takes_part_in_one_such_search_at_a_time(copies):
    copies.assigned(2, job(1))
    assert copy_to(copies, 3, 5) == [0, 0]
    copies.take_in(3, result(0, complete=0))
    copies.take_in(5, result(0, complete=0))
    copies.take_in(1, result(0))
    assert copy_to(copies, 5) == [1]


def test_what_has_an_answer_is_not_copied(copies):
    copy_to(copies, 3)
    copies.take_in(3, result(0))
    assert copy_to(copies, 5) == [None]


# --- windows ---


def test_a_narrower_window_holds_for_later_copies_too(copies):
    copy_to(copies, 3)
    assert copies.narrow(0, -2, 3) == [1, 3]
    late = copies.choose(5, EVERYBODY)
    assert (late["low"], late["high"]) == (-2, 3)
    assert copies.narrow(0, 1, 1) == [1, 3, 5]
    assert copy_to(copies, 6) == [None]
    assert copies.narrow(7, 1, 2) == []


def test_records_of_assigned_jobs_are_kept(copies):
    records = job(1)
    copies.assigned(3, records)
    copies.narrow(1, 4, 5)
    assert records.tobytes() == job(1).tobytes()


# --- answers ---


def test_a_job_of_one_host_is_passed_on_as_it_is(copies):
    results = np.concatenate([result(0), result(5)])
    finished, stop = copies.take_in(1, results)
    assert (finished.tobytes(), stop) == (results.tobytes(), [])
    assert copy_to(copies, 3) == [None]


@pytest.mark.parametrize("dtype", [BRIEF_RESULT, SUBTREE_RESULT], ids=["brief", "full"])
def test_the_first_complete_answer_counts_and_the_others_are_told_to_stop_once(copies, dtype):
    copy_to(copies, 3, 5)
    finished, stop = copies.take_in(3, result(0, 100, score=7, dtype=dtype))
    assert (len(finished), stop) == (0, [(1, 0), (5, 0)])
    assert finished.dtype == dtype
    finished, stop = copies.take_in(5, result(0, 20, score=8, dtype=dtype))
    assert (len(finished), stop) == (0, [])
    finished, stop = copies.take_in(1, result(0, 3, complete=0, score=99, dtype=dtype))
    assert (len(finished), stop) == (1, [])
    assert finished["complete"][0] == 1
    assert finished["score"][0] == 8  # both are right: of bounds the higher one says more
    for name in _SUMMED:
        if name in dtype.names:
            assert finished[name][0] == 123


def test_of_incomplete_answers_the_best_one_counts(copies):
    copy_to(copies, 3, 5)
    for rank, score in ((5, -3), (1, 2), (3, -np.inf)):
        finished, stop = copies.take_in(rank, result(0, 10, complete=0, score=score))
        assert stop == []
    assert (finished["score"][0], finished["complete"][0], finished["nodes"][0]) == (2, 0, 30)


def test_a_complete_answer_beats_those_that_came_before(copies):
    copy_to(copies, 3, 5)
    copies.take_in(5, result(0, 1, complete=0, score=50))
    assert copies.take_in(1, result(0, 1, score=-4))[1] == [(3, 0)]
    (finished,), _ = copies.take_in(3, result(0, 1, complete=0, score=50))
    assert (finished["score"], finished["complete"], finished["nodes"]) == (-4, 1, 3)


def test_a_dropped_job_is_dropped_once(copies):
    copy_to(copies, 3)
    copies.narrow(0, 5, 5)
    assert copies.take_in(3, result(0))[1] == []
    assert len(copies.take_in(1, result(0, complete=0))[0]) == 1


def test_other_jobs_of_a_message_go_on_their_way(copies):
    copies.assigned(1, np.concatenate([job(1), job(2)]))
    copy_to(copies, 3)
    finished, _ = copies.take_in(1, np.concatenate([result(1), result(0), result(2)]))
    assert finished["job_id"].tolist() in ([1, 0, 2], [1, 2])
    left = {0, 1, 2} - set(finished["job_id"].tolist())
    assert all(len(copies.take_in(3, result(node, complete=0))[0]) == 1 for node in left)


def test_the_remaining_owners_are_told_of_one_another(copies):
    copy_to(copies, 3, 5)
    copies.changed_owners()
    copies.take_in(3, result(0, complete=0))
    assert changed_owners(copies) == {0: [1, 5]}
    copies.take_in(1, result(0, complete=0))
    assert changed_owners(copies) == {0: [5]}
    copies.take_in(5, result(0))
    assert changed_owners(copies) == {}


# --- workers that are lost ---


def test_the_others_go_on_without_one_that_is_lost(copies):
    copy_to(copies, 3, 5)
    copies.changed_owners()
    assert copies.lost(1) == ([], [(0, 3)])
    assert changed_owners(copies) == {0: [3, 5]}
    assert copies.lost(5) == ([], [(0, 3)])
    assert changed_owners(copies) == {0: [3]}
    finished, stop = copies.take_in(3, result(0, 9))
    assert (finished["nodes"].tolist(), stop) == ([9], [])


def test_a_host_may_come_in_for_one_that_is_lost(copies):
    copy_to(copies, 3)
    copies.lost(1)
    assert copy_to(copies, 2, 4) == [0, None]
    assert changed_owners(copies) == {0: [3, 2]}


def test_a_job_that_everybody_has_lost_waits_again(copies):
    copy_to(copies, 3)
    copies.lost(3)
    assert copies.lost(1) == ([], [])
    assert copy_to(copies, 5) == [None]
    copies.assigned(5, job(0))
    assert copy_to(copies, 6) == [0]


def test_no_owner_is_told_of_others_of_an_earlier_job_of_the_same_id(copies):
    assert copies.lost(1) == ([], [])
    copies.assigned(3, job(0))
    assert changed_owners(copies) == {}


def test_an_answer_counts_when_the_stopped_owner_is_lost(copies):
    copy_to(copies, 3, 5)
    copies.take_in(3, result(0, 100))
    assert copies.lost(1) == ([], [(0, 5)])
    (finished,), kept = copies.lost(5)
    assert (finished["job_id"].tolist(), finished["nodes"].tolist(), kept) == ([0], [100], [])


def test_an_owner_that_has_answered_is_lost_while_others_search(copies):
    """The source takes it for the worker of the job."""
    copy_to(copies, 3, 5)
    copies.take_in(1, result(0, 100))
    assert copies.lost(1) == ([], [(0, 3)])
    assert copies.lost(1) == ([], [])
    copies.take_in(3, result(0, 1, complete=0))
    (finished,), _ = copies.take_in(5, result(0, 1, complete=0))
    assert (finished["nodes"], finished["complete"]) == (102, 1)


def test_a_worker_without_a_job_is_lost_without_harm(copies):
    assert copies.lost(6) == ([], [])
    assert copy_to(copies, 3) == [0]


# --- at random ---


class Model:
    """What must follow: the owners of each job, those that have answered, and the jobs that must stop."""

    def __init__(self):
        self.holders, self.answers, self.stopped = {}, {}, set()
        self.known = {}  # node → worker that the source believes to have it

    def hosts(self, node):
        return [HOSTS[rank] for rank in self.holders[node]]

    def may_have(self, node, rank, alone):
        at_others = [other for other, ranks in self.holders.items() if other != node and len(ranks) > 1]
        taken = {host for other in at_others for host in self.hosts(other)}
        return (
            node not in self.stopped
            and not self.answers[node]
            and HOSTS[rank] not in self.hosts(node)
            and self.holders[node] <= alone
            and (len(self.holders[node]) > 1 or not taken.intersection(self.hosts(node)))
        )


def test_every_job_is_passed_on_once_with_the_nodes_of_all_that_answered(full, rng):
    for _ in range(1_000 if full else 100):
        a_run_at_random(rng, rng.randint(1, 60))


def a_run_at_random(rng, most):
    """Workers without a job are given one, or a copy; they answer, completely or not, or are lost and come back."""
    copies, model = Copies(HOSTS), Model()
    waiting, passed_on = list(range(most)), {}
    while len(passed_on) < most:
        busy = {rank for ranks in model.holders.values() for rank in ranks}
        rank = rng.choice(sorted(EVERYBODY))
        mine = [node for node, ranks in model.holders.items() if rank in ranks]
        finished = []
        if not mine and waiting and rng.random() < 0.7:
            for node in [waiting.pop(rng.randrange(len(waiting))) for _ in range(rng.randint(1, min(2, len(waiting))))]:
                copies.assigned(rank, job(node))
                model.holders[node], model.answers[node], model.known[node] = {rank}, [], rank
        elif not mine and HOSTS[rank] not in {HOSTS[each] for each in busy}:
            alone = {each for each in busy if sum(each in ranks for ranks in model.holders.values()) == 1}
            fit = [node for node in model.holders if model.may_have(node, rank, alone)]
            chosen = copies.choose(rank, alone)
            assert (chosen is None) == (not fit)
            if fit:
                node = int(chosen["job_id"])
                assert node in fit
                assert len(model.holders[node]) == min(len(model.holders[each]) for each in fit)
                model.holders[node].add(rank)
        elif rng.random() < 0.1:
            finished, kept = copies.lost(rank)
            for node in mine:
                model.holders[node].discard(rank)
                if not model.holders[node] and not model.answers[node]:
                    del model.holders[node]
                    model.stopped.discard(node)
                    waiting.append(node)
            believed = [node for node in model.holders if model.known[node] == rank]
            assert {node for node, _ in kept} == {node for node in {*mine, *believed} if model.holders.get(node)}
            assert all(other in model.holders[node] for node, other in kept)
            model.known.update(kept)
        elif mine:
            complete = int(rng.random() < 0.7)
            answered = rng.sample(mine, rng.randint(1, len(mine)))
            records = [result(node, rng.randint(1, 100), complete, rng.randint(-9, 9)) for node in answered]
            finished, stop = copies.take_in(rank, np.concatenate(records))
            finished = [finished[i : i + 1] for i in range(len(finished))]
            expected = set()
            for node, record in zip(answered, records):
                model.holders[node].discard(rank)
                model.answers[node].append(record)
                if complete and node not in model.stopped and model.holders[node]:
                    expected.update((other, node) for other in model.holders[node])
                    model.stopped.add(node)
            assert len(stop) == len(expected) and set(stop) == expected
        else:
            continue
        ended = {node for node, ranks in model.holders.items() if not ranks}
        assert sorted(int(each["job_id"][0]) for each in finished) == sorted(ended)
        for each in finished:
            node = int(each["job_id"][0])
            answers = model.answers.pop(node)
            del model.holders[node]
            assert node not in passed_on
            passed_on[node] = each
            assert each["nodes"] == sum(answer["nodes"] for answer in answers)
            best = max((answer["complete"][0], answer["score"][0]) for answer in answers)
            assert (each["complete"][0], each["score"][0]) == best
        for node, ranks in copies.changed_owners():
            assert set(ranks) == model.holders[node] and len(ranks) == len(set(ranks))
    assert not model.holders
    assert copies.choose(1, EVERYBODY) is None
