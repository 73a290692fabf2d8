"""The master as a state machine, spoken to by hand: many runs at once, and sources that run dry."""

import json
import pickle

import pytest

from distsearch.cluster.events import Drop, RequestMetrics
from distsearch.cluster.messages import MessageType

from .talk import Talk, jobs, metrics_payload, runs, started, summary, workers
from .toys import Source, Stream

OTHER = json.dumps({"kind": "toy", "rate": 1e5}).encode()


def prepared(count):
    """Return a Talk whose workers are ready for setup 1; no run is open."""
    talk, _ = started(count, Source([]))
    talk.metrics()
    return talk


def begin_all(talk, *sources, **how):
    """Begin a run for each source; return their numbers."""
    numbers = []
    for source in sources:
        talk.begin(source, **how)
        numbers.append(talk.run)
    return numbers


# --- side by side ---


def test_every_run_has_its_own_jobs_and_results():
    talk = prepared(2)
    sources = Source([1] * 3), Source([1] * 4), Source([1])
    first, second, third = begin_all(talk, *sources)
    talk.answer(1, [0], run=second)
    talk.answer(1, [0], run=first)
    talk.answer(2, [1], run=first)
    assert [source.finished for source in sources] == [[0, 1], [0], []]
    assert all(map(talk.master.is_open, (first, second, third)))


def test_each_run_keeps_so_many_jobs_at_a_worker():
    talk = prepared(2)
    for prefetch in (1, 2, 3):
        sent = talk.begin(Source([1] * 50), prefetch=prefetch)
        assert [worker for worker, _ in jobs(sent)] == [1, 2] * prefetch
        assert runs(sent) == {talk.run}


def test_a_new_run_goes_first_to_the_least_busy_worker():
    talk = prepared(3)
    sources = [Source([1]), Source([1]), Source([1]), Source([1])]
    receivers = [jobs(talk.begin(source))[0][0] for source in sources]
    assert sorted(receivers[:3]) == [1, 2, 3]
    talk.answer(receivers[1], [0], run=talk.run - 2)
    assert jobs(talk.begin(Source([1])))[0][0] == receivers[1]


def test_what_a_worker_was_sent_is_counted_once_and_taken_off_again():
    """Runs that end by results, by STOP, with and without a job at work; then all workers are equals again."""
    talk = prepared(3)
    first, second, third = begin_all(talk, Source([1] * 9), Source([1] * 5, enough=1), Source([1]))
    talk.halt(first)
    talk.answer(1, [0], run=first)
    talk.stopped([1, 2, 3], run=first)
    talk.answer(2, [1], run=second)
    talk.stopped([1, 2, 3], run=second)
    talk.answer(1, [0], run=third)
    assert not any(map(talk.master.is_open, (first, second, third)))
    assert [worker for worker, _ in jobs(talk.begin(Source([1] * 50)))] == [1, 2, 3] * 2


def test_a_halt_is_of_one_run_only():
    talk = prepared(2)
    first, second = begin_all(talk, Source([1] * 50), Source([1] * 50))
    sent = talk.halt(first)
    assert summary(sent) == [(MessageType.STOP, 1), (MessageType.STOP, 2)]
    assert runs(sent) == {first}
    sent = talk.answer(1, [0], run=second)
    assert (jobs(sent), runs(sent)) == ([(1, [4])], {second})
    assert talk.stopped([1], run=first) == []
    sent = talk.stopped([2], run=first)
    assert (summary(sent), runs(sent)) == ([(MessageType.END, 1), (MessageType.END, 2)], {first})
    assert not talk.master.is_open(first)
    assert talk.master.is_open(second)


def test_progress_is_counted_by_run():
    talk = prepared(2)
    first, second = begin_all(talk, Source([1] * 50), Source([1] * 50))
    talk.progress(1, 1000, run=first)
    talk.progress(1, 300, run=second)
    talk.progress(2, 70, run=second)
    talk.answer(1, [0], run=first)
    assert [talk.master.state(run).nodes_at_work for run in (first, second)] == [0, 370]


def test_the_size_of_batches_is_learned_by_run():
    talk = prepared(1)
    quick, slow = begin_all(talk, Source([1] * 10_000), Source([1] * 10_000))
    assert len(jobs(talk.answer(1, [0], seconds=1e-5, run=quick))[0][1]) > 50
    assert [nodes for _, nodes in jobs(talk.answer(1, [0], seconds=1.0, run=slow))] == [[2]]


def test_a_run_of_another_setup_waits_for_that_alone():
    talk = prepared(2)
    sent = talk.begin(Source([1] * 9), setup=OTHER)
    assert summary(sent) == [(MessageType.SETUP, 1)]
    assert sent[0].message.payload.tobytes() == OTHER
    waiting = talk.run
    assert {worker for worker, _ in jobs(talk.begin(Source([1] * 9)))} == {1, 2}
    assert not talk.master.state(waiting).started
    sent = talk.ready(1, setup=2)
    assert summary(sent) == [
        (MessageType.SETUP, 2),
        (MessageType.OPEN, 1),
        (MessageType.JOBS, 1),
        (MessageType.JOBS, 1),
    ]
    assert runs(sent[1:]) == {waiting}


def test_all_runs_of_a_setup_start_when_it_is_ready():
    talk = Talk(workers(2))
    sent = [talk.begin(Source([1] * 9)), talk.begin(Source([1] * 9)), talk.begin(Source([1] * 9), measured=True)]
    assert [summary(each) for each in sent] == [[(MessageType.SETUP, 1)], [], []]
    assert runs(talk.ready(1)[1:]) == {1, 2}
    assert runs(talk.ready(2)) == {1, 2, 3}


def test_a_run_begun_while_some_are_ready_uses_those_and_the_others_later():
    talk = Talk(workers(3))
    talk.begin(Source([1] * 90))
    talk.ready(1)
    assert {worker for worker, _ in jobs(talk.begin(Source([1] * 90)))} == {1}
    assert talk.begin(Source([1] * 90), measured=True) == []
    assert {worker for worker, _ in jobs(talk.ready(2))} == {2}
    assert not talk.state.started
    sent = talk.ready(3)
    assert {worker for worker, _ in jobs(sent)} == {1, 2, 3}
    assert talk.state.started


def test_measured_runs_may_end_in_any_order():
    talk = prepared(2)
    first, second, third = begin_all(talk, Source([]), Source([1]), Source([]), measured=True)
    talk.metrics(third)
    assert talk.master.is_open(first)
    assert set(talk.master.metrics) == {1, 2}
    talk.answer(1, [0], run=second)
    talk.metrics(first)
    talk.metrics(second)


def test_a_measured_run_that_begins_takes_no_metrics_from_one_that_ends():
    talk = prepared(2)
    source = Source([])
    (first,) = begin_all(talk, source, measured=True)
    talk.begin(Source([1] * 5), measured=True)
    talk.metrics(first)
    assert {rank: record["wall"] for rank, record in talk.master.metrics.items()} == {1: 1, 2: 2}


def ask(talk, run=None):
    return talk.master.handle(RequestMetrics(run or talk.run))


def test_a_measured_run_tells_where_its_time_goes_whenever_it_is_asked():
    talk, _ = started(2, Source([1] * 50))
    for wall in (1, 2):
        assert summary(ask(talk)) == [(MessageType.METRICS_REQUEST, 1), (MessageType.METRICS_REQUEST, 2)]
        assert talk.say(1, MessageType.METRICS, metrics_payload(wall=wall)) == []
        assert talk.master.awaits_metrics(talk.run)
        assert talk.say(2, MessageType.METRICS, metrics_payload(wall=wall)) == []
        assert not talk.master.awaits_metrics(talk.run)
        assert [record["wall"] for record in talk.master.metrics.values()] == [wall, wall]
    assert jobs(talk.answer(1, [0])) == [(1, [4])]


def test_a_run_that_is_asked_while_it_ends_ends_with_the_last_answer():
    talk, _ = started(2, Source([1] * 50))
    ask(talk)
    talk.halt()
    assert summary(talk.stopped([1, 2])) == [
        (MessageType.END, 1),
        (MessageType.END, 2),
        (MessageType.METRICS_REQUEST, 1),
        (MessageType.METRICS_REQUEST, 2),
    ]
    for worker, wall in ((1, 1), (2, 1), (2, 2), (1, 2)):
        assert talk.is_open
        assert talk.say(worker, MessageType.METRICS, metrics_payload(wall=wall)) == []
    assert not talk.is_open
    assert not talk.master.awaits_metrics(talk.run)
    assert {rank: record["wall"] for rank, record in talk.master.metrics.items()} == {1: 2, 2: 2}
    assert ask(talk) == []


def test_metrics_start_nothing():
    talk = Talk(workers(2))
    source = Source([1] * 50)
    talk.begin(source, measured=True)
    talk.ready(1)
    ask(talk)
    assert (
        talk.say(1, MessageType.METRICS, metrics_payload()) == talk.say(2, MessageType.METRICS, metrics_payload()) == []
    )
    assert source.taken == []
    assert {worker for worker, _ in jobs(talk.ready(2))} == {1, 2}


def test_a_run_halted_before_it_started_has_no_metrics_of_an_earlier_one():
    talk = prepared(2)
    assert set(talk.master.metrics) == {1, 2}
    talk.begin(Source([1]), setup=OTHER, measured=True)
    talk.halt()
    assert not talk.is_open
    assert talk.master.metrics == {}


def test_nothing_is_left_of_runs_and_setups_that_are_over():
    talk, sizes = Talk(workers(2)), set()
    for setup in range(1, 50):
        text = f"{setup:2}".encode()
        first, second, third = begin_all(talk, Source([1]), Source([1] * 9), Source([]), setup=text)
        talk.all_ready(setup)
        talk.answer(1, [0], run=first)
        talk.halt(second)
        talk.stopped([1, 2], run=second)
        assert not any(map(talk.master.is_open, (first, second, third)))
        talk.master.handle(Drop(text))
        sizes.add(len(pickle.dumps(talk.master)))
    assert len(sizes) == 1


# --- sources without jobs, and those that are done as they hand out the last one ---


def test_a_source_that_ran_dry_says_when_there_is_more():
    talk = prepared(2)
    source = Stream()
    assert talk.begin(source) == []
    assert talk.is_open
    source.add(*[1] * 3)
    assert [worker for worker, _ in jobs(talk.more())] == [1, 2]
    source.add(*[1] * 40)
    assert {worker for worker, _ in jobs(talk.more())} == {1, 2}
    assert talk.more() == []  # everybody has enough


def test_more_of_a_run_that_is_over_is_nothing():
    talk = prepared(1)
    talk.begin(Source([]))
    assert talk.more() == talk.more(run=99) == []


def test_a_closed_source_ends_its_run_when_it_says_so():
    talk = prepared(2)
    source = Stream()
    talk.begin(source)
    source.add(1)
    talk.more()
    assert talk.answer(1, [0]) == []
    source.close()
    assert talk.is_open
    assert summary(talk.more()) == [(MessageType.END, 1)]
    assert not talk.is_open


class LastNeedsNobody(Source):
    """A source whose last job turns out to be no work, when it is taken."""

    closed = False

    @property
    def done(self):
        return self.closed and len(self.finished) == len(self._sizes)

    @property
    def waiting(self):
        return super().waiting + (not self.closed)

    def take(self, count, worker):
        self.closed = not super().waiting
        return super().take(count, worker)


@pytest.mark.parametrize("measured", [False, True])
@pytest.mark.parametrize("prefetch", [1, 2])
@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_a_source_may_be_done_by_its_last_take(count, prefetch, measured):
    talk = prepared(1)
    source = LastNeedsNobody([1] * count)
    sent = talk.begin(source, prefetch=prefetch, measured=measured)
    while nodes := [node for _, nodes in jobs(sent) for node in nodes]:
        sent = talk.answer(1, nodes)
    assert source.done
    ends = [each for each in summary(sent) if each[0] != MessageType.START]
    assert ends == [(MessageType.END, 1)] * bool(count) + [(MessageType.METRICS_REQUEST, 1)] * measured
    if measured:
        talk.metrics()
    assert not talk.is_open


class EnoughAfterThree(Source):
    done = False

    def take(self, count, worker):
        self.done = len(self.taken) == 3
        return super().take(0 if self.done else count, worker)

    def finish(self, records):
        """Results change nothing."""


def test_a_take_that_brings_enough_stops_the_others():
    talk = prepared(3)
    source = EnoughAfterThree([1] * 9)
    sent = talk.begin(source)
    assert summary(sent)[-3:] == [(MessageType.STOP, 1), (MessageType.STOP, 2), (MessageType.STOP, 3)]
    assert summary(talk.stopped([1, 2, 3])) == [(MessageType.END, 1), (MessageType.END, 2), (MessageType.END, 3)]
