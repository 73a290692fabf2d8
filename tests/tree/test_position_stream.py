"""Streams of positions driven by hand, without a cluster."""

from collections import defaultdict

import numpy as np
import pytest

from distsearch.api.options import Options
from distsearch.games import othello
from distsearch.games.interface import Position, legal_moves, step
from distsearch.jobs.two_player import BRIEF_RESULT, KINDS, TO_THE_END
from distsearch.tree.position_stream import Stream
from distsearch.tree.search_tree import ANY, SearchTree

from ..engines.positions import engine, evaluate, rules, search, state_of, unfinished_states
from ..jobs.driving import check_line, do, grower, runner, stop, stop_with_a_score

BOARD = (6, 6)
OVER = ([["X"] * 6] * 6, "O")  # 36 discs to nothing, for the other side
DEPTH = 4
EMPTIES = 9  # at most: hundreds of nodes to the end
HARD = 20  # nodes of a first try, which many such positions need more than

kinds = pytest.mark.parametrize(("kind", "depth"), [("solve", TO_THE_END), ("subtree", TO_THE_END), ("deep", DEPTH)])


def stream_of(depth=TO_THE_END, workers=3, wanted_subtrees=6, policy="pool", min_job_seconds=0.01, **options):
    """A Stream of positions of Othello; target, policy and grain: of the pools that all workers share."""
    win_bonus = 0 if depth == TO_THE_END else evaluate(BOARD, "static").bound

    def make_pool(state, window, shared):
        full_width_depth = int(options.get("all_moves", False))
        size = wanted_subtrees if shared else 1
        return SearchTree(
            grower(BOARD),
            [state],
            depth,
            size,
            policy,
            full_width_depth=full_width_depth,
            win_bonus=win_bonus,
            window=window,
            min_job_seconds=min_job_seconds,
        )

    words = othello.words(rules(BOARD))
    return Stream(words, depth, workers, make_pool, **{"capacity": 1 << 8, "first_try": HARD, **options})


def array(states):
    return np.array(states, np.uint64).reshape(len(states), othello.words(rules(BOARD)))


def expected(state, depth=TO_THE_END):
    """The score by plain alpha-beta."""
    return search(engine(BOARD), state, None if depth == TO_THE_END else depth).score


class Driver:
    """Has a stream done by as many jobs at a time as there are workers; results come back in random order.

    answers: (number, record) of all that was collected, in order; jobs: every job handed out.
    """

    def __init__(self, stream, kind, rng, workers=3):
        self.stream, self._worker, self._rng, self._workers = stream, runner(kind, BOARD), rng, workers
        self.out, self.answers, self.jobs = [], [], []

    def feed(self, states, done=lambda: False):
        """Add states a few at a time, as there is room, and do all of them, or until ``done()``."""
        left = list(states)
        while not self.stream.done and not done():
            count = min(self._rng.randint(0, 6), self.stream.free, len(left))
            self.stream.add(array(left[:count]))
            left = left[count:]
            self.stream.closed = not left
            self.turn()
        if self.stream.done:
            self.collect()
            assert self.stream.in_flight == self.stream.waiting == len(self.out) == 0

    def use(self, worker):
        """Have another runner do the jobs."""
        self._worker = worker

    def turn(self):
        """Hand out jobs, take some results in, and collect now and then."""
        while len(self.out) < self._workers:
            waiting = self.stream.waiting
            jobs = self.stream.take(self._rng.randint(1, 3), worker=1)
            assert len(jobs) <= 3
            if not len(jobs):
                break
            assert waiting
            self.out += list(jobs)
            self.jobs += list(jobs)
        self._rng.shuffle(self.out)
        count = self._rng.randint(0, len(self.out))
        if count:
            self.stream.finish(np.concatenate([do(self._worker, job) for job in self.out[:count]]))
            self.out = self.out[count:]
        if self._rng.random() < 0.3:
            self.collect()

    def collect(self):
        """Take the answers that are next in order: in two parts, where the ring ends between them."""
        for _ in range(2):
            number, records = self.stream.collect()
            self.answers += [(number + i, record.copy()) for i, record in enumerate(records)]

    def halt(self):
        """Stop the jobs that are out: most of them have begun, and some end just then."""
        self.stream.halted = True
        for job in self.out[: self._rng.randint(0, len(self.out))]:
            self._worker.begin(job)
            self._worker.advance(1)
            self.stream.finish(self._worker.result(seconds=2.0, cpu=1.0))
        self.out = []

    def tries(self):
        """The budgets of the jobs of each position that was handed out as one, in order, by its state."""
        found = defaultdict(list)
        for job in self.jobs:
            if job["job_id"] >= 0:
                found[tuple(job["state"].tolist())].append(int(job["budget"]))
        return found


def answers(stream, kind, states, rng, workers=3):
    """The records of states, which are answered in their order."""
    driver = Driver(stream, kind, rng, workers)
    driver.feed(states)
    assert [number for number, _ in driver.answers] == list(range(len(states)))
    return driver, [record for _, record in driver.answers]


# --- answers ---


@kinds
@pytest.mark.parametrize("first_try", [0, HARD, 10**6])
@pytest.mark.parametrize("workers", [1, 4])
def test_answers_are_the_sequential_scores_in_order(kind, depth, first_try, workers, rng):
    states = [*unfinished_states(rng, BOARD, 12, EMPTIES), state_of(BOARD, OVER)]
    rng.shuffle(states)
    stream = stream_of(depth, workers, first_try=first_try)
    _, records = answers(stream, kind, states, rng, workers)
    for state, record in zip(states, records, strict=True):
        score = expected(state, depth)
        assert record["complete"]
        assert record["score"] == score
        check_line(record["line"][: record["line_length"]].tolist(), state, score, BOARD, None if depth < 0 else depth)


@pytest.mark.parametrize("first_try", [0, HARD])
def test_a_brief_stream_has_scores_alone(first_try, rng):
    states = unfinished_states(rng, BOARD, 10, EMPTIES)
    driver = Driver(stream_of(brief=True, first_try=first_try), "solve", rng, workers=3)
    driver.use(KINDS["solve"](Options("othello", board=BOARD, exact=True).setup() | {"brief": True}))
    driver.feed(states)
    assert driver.stream.result_dtype == BRIEF_RESULT
    assert [record["score"] for _, record in driver.answers] == [expected(state) for state in states]
    assert all(record["nodes"] for _, record in driver.answers)


def test_scores_are_told_apart_within_the_window_only(rng):
    states = [*unfinished_states(rng, BOARD, 20, EMPTIES), state_of(BOARD, OVER)]
    for low, high in ((-1, 1), (-10, 3), (5, 6)):
        _, records = answers(stream_of(window=(low, high)), "solve", states, rng)
        scores = [record["score"] for record in records]
        assert scores[:-1] == [min(max(expected(state), low), high) for state in states[:-1]]
        assert scores[-1] == -36  # what is over is told as it is


def test_every_move_is_scored_where_that_is_asked_for(rng):
    states = [*unfinished_states(rng, BOARD, 6, EMPTIES), state_of(BOARD, OVER)]
    rng.shuffle(states)
    stream = stream_of(all_moves=True)
    driver, records = answers(stream, "solve", states, rng)
    assert all(job["job_id"] < 0 for job in driver.jobs)
    for number, state in enumerate(states):
        position, children = Position(state), stream.grown[number].children(0)
        assert sorted(m for m, _, _ in children) == legal_moves(othello, position, rules(BOARD))
        for m, score, exact in children:
            assert exact
            assert score == -expected(step(othello, position, rules(BOARD), m).state)
        assert records[number]["score"] == expected(state)


def test_finished_games_alone_need_no_jobs(rng):
    stream = stream_of(all_moves=True)
    stream.add(array([state_of(BOARD, OVER)] * 3))
    stream.closed = True
    assert stream.waiting == 3
    assert len(stream.take(5, worker=1)) == 0
    assert stream.done
    number, records = stream.collect()
    assert (number, records["score"].tolist(), records["line_length"].tolist()) == (0, [-36] * 3, [0] * 3)


def test_nothing_to_do_is_done_when_the_stream_is_closed():
    stream = stream_of()
    assert (stream.done, stream.waiting, stream.in_flight, len(stream.take(3, worker=1))) == (False, 0, 0, 0)
    stream.closed = True
    assert stream.done
    assert len(stream.collect()[1]) == 0
    assert list(stream.unanswered()) == []


# --- hard positions ---


def test_hard_positions_are_tried_again_while_others_wait_and_grown_when_none_do(rng):
    states = unfinished_states(rng, BOARD, 40, EMPTIES)
    driver = Driver(stream_of(workers=2), "subtree", rng)
    driver.stream.add(array(states))
    driver.stream.closed = True
    while not driver.stream.done:
        driver.turn()
    tries = driver.tries()
    assert all(budgets[0] == HARD for budgets in tries.values())
    again = [budgets for budgets in tries.values() if len(budgets) > 1]
    assert again
    for budgets in again:  # a try may exceed its budget by some nodes, of which there are four times as many then
        assert all(later >= 4 * earlier for earlier, later in zip(budgets, budgets[1:]))
    assert driver.stream.grown
    grown = set(driver.stream.grown)
    assert max(grown) == max(i for i, state in enumerate(states) if len(tries[state]) > 1 or i in grown)


def test_a_single_worker_shares_nothing(rng):
    states = unfinished_states(rng, BOARD, 10, EMPTIES)
    driver, _ = answers(stream_of(workers=1), "solve", states, rng, workers=1)
    assert [job["budget"] for job in driver.jobs] == [0] * 10
    assert not driver.stream.grown


@pytest.mark.parametrize("kind", ["solve", "subtree"])
def test_figures_of_a_hard_position_are_those_of_all_its_tries(kind, rng):
    states = unfinished_states(rng, BOARD, 20, EMPTIES)
    driver, records = answers(stream_of(), kind, states, rng)
    stream = driver.stream
    assert stream.grown
    grown = sum(pool.nodes.size - 1 for pool in stream.grown.values())  # nodes, which no job has searched
    assert sum(record["nodes"] for record in records) == stream.nodes + grown
    assert sum(record["cpu"] for record in records) == len(driver.jobs)  # a second each
    assert sum(record["seconds"] for record in records) == 2 * len(driver.jobs)


def test_subtrees_of_several_positions_and_easy_ones_take_turns(rng):
    stream = stream_of(workers=2, first_try=10**6)
    stream.add(array([hard_position(rng) for _ in range(3)]))
    worker = runner("subtree", BOARD)
    for job in stream.take(3, worker=1):
        stream.finish(stop(worker, job, nodes=3))
    assert stream.waiting > 6  # all are grown, since no other one waits
    stream.add(array(unfinished_states(rng, BOARD, 4, EMPTIES)))
    sorts = ["subtree" if stream.take(1, worker=1)["job_id"][0] < 0 else "position" for _ in range(6)]
    assert set(sorts[::2]) != set(sorts[1::2])
    assert set(sorts) == {"subtree", "position"}


# --- the ring ---


def untried(stream, jobs):
    """Records of jobs that are handed back."""
    records = np.zeros(len(jobs), stream.result_dtype)
    records["job_id"], records["score"] = jobs["job_id"], -np.inf
    return records


def test_a_worker_that_has_lost_its_gpu_takes_what_it_handed_back(rng):
    stream = stream_of(workers=2, first_try=0)
    stream.add(array(unfinished_states(rng, BOARD, 2, EMPTIES)))
    stream.finish(untried(stream, stream.take(2, worker=1)))
    assert (len(stream.take(2, worker=1)), stream.reserved) == (0, 2)
    stream.takes_any(1)
    assert len(stream.take(2, worker=1)) == 1


@pytest.mark.parametrize("gone", [False, True])
def test_positions_that_a_worker_hands_back_are_for_others(gone, rng):
    """And for it as well if no other is left; one at a time, and before those that are new."""
    states = unfinished_states(rng, BOARD, 6, EMPTIES)
    stream = stream_of(workers=2, first_try=0)
    stream.add(array(states))
    first = stream.take(4, worker=1)
    stream.finish(untried(stream, first[:3]))
    assert stream.waiting == 5
    other = 1 if gone else 2
    if gone:
        stream.lost(2)
    else:
        assert stream.take(1, worker=1)["state"].tolist() == array(states)[4:5].tolist()
    for job in first[:3]:
        (taken,) = stream.take(2, worker=other)
        assert taken.tobytes() == job.tobytes()
    if not gone:
        assert len(stream.take(9, worker=1)) == 1
        assert not len(stream.take(9, worker=1))


@pytest.mark.parametrize("capacity", [1, 4, 16])
def test_places_are_used_again(capacity, rng):
    states = unfinished_states(rng, BOARD, 70, most_empties=7)
    stream = stream_of(capacity=capacity)
    assert stream.free == capacity
    _, records = answers(stream, "solve", states, rng)
    assert [record["score"] for record in records] == [expected(state) for state in states]
    assert stream.free == capacity


def test_there_is_room_for_as_many_as_were_collected(rng):
    stream = stream_of(capacity=8, first_try=0)
    stream.add(array(unfinished_states(rng, BOARD, 8, most_empties=4)))
    jobs = stream.take(8, worker=1)
    worker = runner("solve", BOARD)
    last = [do(worker, job) for job in jobs[1:]]
    stream.finish(np.concatenate(last))
    assert (stream.free, stream.in_flight, stream.answered) == (0, 1, 7)
    assert len(stream.collect()[1]) == 0  # the first one is missing
    stream.finish(do(worker, jobs[0]))
    number, records = stream.collect()
    assert (number, len(records), stream.free, stream.in_flight) == (0, 8, 8, 0)


def test_answers_in_any_order_are_collected_once_each(rng):
    states = unfinished_states(rng, BOARD, 16, most_empties=7)
    stream = stream_of(capacity=16)
    stream.add(array(states))
    stream.closed = True
    driver, found = Driver(stream, "solve", rng), {}
    driver.collect = lambda: None
    while len(found) < len(states):
        driver.turn()
        for number, record in stream.collect_any():
            assert number not in found
            found[number] = record["score"]
    assert found == {number: expected(state) for number, state in enumerate(states)}
    assert list(stream.collect_any()) == []


# --- halts ---


@pytest.mark.parametrize("kind", ["solve", "subtree"])
@pytest.mark.parametrize("all_moves", [False, True])
def test_a_halt_leaves_what_is_known_in_order(kind, all_moves, rng):
    for _ in range(10):
        states = unfinished_states(rng, BOARD, 20, EMPTIES)
        stream, results = stream_of(all_moves=all_moves), rng.randrange(40)
        driver = Driver(stream, kind, rng)
        driver.feed(states, done=lambda stream=stream, results=results: stream.answered >= results // 2)
        driver.halt()
        driver.collect()
        added = stream.in_flight + stream.answered
        found = [*driver.answers, *((number, record.copy()) for number, record in stream.unanswered())]
        assert [number for number, _ in found] == list(range(added))
        assert sum(bool(record["complete"]) for _, record in found) == stream.answered
        for number, record in found:
            score = expected(states[number])
            assert record["score"] == score if record["complete"] else record["score"] <= score
        grown = sum(pool.nodes.size - 1 for pool in stream.grown.values())
        assert sum(record["nodes"] for _, record in found) == stream.nodes + grown


def hard_position(rng):
    """A state of several moves and many nodes, of which a search knows something soon."""
    while True:
        (state,) = unfinished_states(rng, BOARD, 1, most_empties=12)
        moves = legal_moves(othello, Position(state), rules(BOARD))
        if len(moves) > 2 and search(engine(BOARD), state).nodes > 2000:
            return state


def test_what_a_try_knew_outlives_a_halt(rng):
    """Of positions that wait for another try, and of those whose next one came less far."""
    state, worker = hard_position(rng), runner("subtree", BOARD)
    stream = stream_of(workers=2, first_try=10**6)
    stream.add(array([state, *unfinished_states(rng, BOARD, 20, EMPTIES)]))
    known = stop_with_a_score(worker, stream.take(1, worker=1)[0])
    stream.finish(known)
    (job,) = stream.take(1, worker=1)
    assert tuple(job["state"]) == state
    stream.halted = True
    stream.finish(stop(worker, job, nodes=1))
    _, record = next(iter(stream.unanswered()))
    assert not record["complete"]
    assert record["score"] == known["score"][0] <= expected(state)
    assert record["line"][0] == known["line"][0][0]
    assert record["nodes"] > known["nodes"][0]


def test_what_subtrees_knew_outlives_a_halt(rng):
    state, worker = hard_position(rng), runner("subtree", BOARD)
    stream = stream_of(workers=2, wanted_subtrees=2)
    stream.add(array([state]))
    stream.finish(stop(worker, stream.take(1, worker=1)[0], nodes=1))
    jobs = []
    while len(more := stream.take(1, worker=1)):
        jobs += list(more)
    assert len(jobs) > 1
    stream.finish(do(worker, jobs[0]))
    pool = stream.pool(0)
    assert not pool.done
    stream.halted = True
    for job in jobs[1:]:
        stream.finish(stop(worker, job, nodes=1))
    ((number, record),) = stream.unanswered()
    (score,) = [score for _, score, exact in pool.children(0) if exact] or [-np.inf]
    assert (number, record["complete"], record["score"]) == (0, 0, score)
    assert stream.grown[0] is pool
    assert record["nodes"] == stream.nodes + pool.nodes.size - 1


def test_a_halt_before_anything_was_known_says_so(rng):
    stream = stream_of()
    stream.add(array(unfinished_states(rng, BOARD, 3)))
    stream.halted = True
    assert [(number, record["score"], record["complete"]) for number, record in stream.unanswered()] == [
        (number, -np.inf, 0) for number in range(3)
    ]
    assert list(stream.unanswered()) == []


class Sharing:
    """Three workers at the subtrees of one position, which split them; the first subtree split off is ``held`` back.

    Its giver neither ends a job nor is told anything in the meantime: what it is told, it is told of the old name.
    """

    def __init__(self, state, rng):
        self.stream, self._rng = stream_of(first_try=HARD, policy="split", min_job_seconds=1e-5), rng
        self.stream.add(array([state]))
        self._runners = [KINDS["solve"](Options("othello", board=BOARD, depth=1).setup("solve")) for _ in range(3)]
        self._at_work, self._split_requests = {}, {}
        self.held = None  # (worker, name, name of the rest, part)

    def play(self):
        """Work until the position is answered; return whether a part is held then."""
        while self.stream.answered == 0:
            for worker in {1, 2, 3} - set(self._at_work):
                for job in self.stream.take(1, worker):
                    self._at_work[worker] = self._runners[worker - 1]
                    self._at_work[worker].begin(job)
            self._send_updates()
            free = [worker for worker in self._at_work if not (self.held and worker == self.held[0])]
            if free:
                self._work(self._rng.choice(free))
            else:
                self.stream.on_split(*self.held[1:])
                self.held = None
        return self.held is not None

    def _send_updates(self):
        for worker, name, low, high, remainder, least in self.stream.job_updates(idle_workers=3 - len(self._at_work)):
            at_work = self._at_work.get(worker)
            if at_work is None or at_work.job_id != name:
                continue
            if low >= high:
                self._end(worker)
                continue
            at_work.narrow(low, high)
            if least:
                self._split_requests[worker] = remainder, least

    def _work(self, worker):
        at_work = self._at_work[worker]
        name = at_work.job_id
        if at_work.advance(self._rng.choice((5, 20, 100))):
            self._end(worker)
        elif worker in self._split_requests and self.held is None:
            remainder, least = self._split_requests[worker]
            subtree = at_work.split_off(remainder, least)
            if subtree is not None:
                del self._split_requests[worker]
                self.held = worker, name, remainder, subtree

    def _end(self, worker):
        self._split_requests.pop(worker, None)
        self.stream.finish(self._at_work.pop(worker).result(seconds=1.0, cpu=1.0))


def test_the_remainder_of_an_answered_position_is_dropped(rng):
    """What it was told when the position was answered, it was told of a name that its job no longer had."""
    sharing = None
    while sharing is None or not sharing.play():
        (state,) = unfinished_states(rng, BOARD, 1, most_empties=18)
        sharing = Sharing(state, rng)
    worker, name, remainder, subtree = sharing.held
    sharing.stream.job_updates(idle_workers=0)
    sharing.stream.on_split(name, remainder, subtree)
    ((holder, node, low, high, _, least),) = sharing.stream.job_updates(idle_workers=0)
    assert (holder, node, low >= high, least) == (worker, remainder, True, 0)


def test_jobs_of_any_window_say_so():
    stream = stream_of(window=(-3, 4))
    stream.add(array([othello.start(rules(BOARD)).state]))
    (job,) = stream.take(1, worker=1)
    assert (job["low"], job["high"], job["depth"]) == (-3, 4, TO_THE_END)
    stream = stream_of(depth=7)
    stream.add(array([othello.start(rules(BOARD)).state]))
    (job,) = stream.take(1, worker=1)
    assert ((job["low"], job["high"]), job["depth"]) == (ANY, 7)
