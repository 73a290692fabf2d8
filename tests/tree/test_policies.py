"""Every policy, driven by hand: whatever comes when, the score is that of a search by one worker."""

import functools
from collections import deque

import numpy as np
import pytest

from distsearch import evaluation
from distsearch.api.options import Options
from distsearch.engines.pvs.table import new_shared_table
from distsearch.games import connect4, othello
from distsearch.games.interface import END, legal_moves, step
from distsearch.games.random_play import random_position
from distsearch.jobs.two_player import TO_THE_END, kinds
from distsearch.tree.deepening import Deepening
from distsearch.tree.expansion import Grower
from distsearch.tree.layout import NONE
from distsearch.tree.policies import POLICIES
from distsearch.tree.search_tree import ANY, SearchTree

from ..engines.positions import NO_PAUSE
from ..jobs.driving import do

WORKERS = 5  # at most
MOST_STEPS = 300_000  # of a search: what takes more hangs
WITH_UPDATES = [name for name in POLICIES if name != "pool"]


class Search:
    """Searches of one game, board and kind: what runs them, positions, and their scores by one worker.

    plies: how many are played before, and depth: how many are searched (ranges).
    """

    def __init__(self, game, board, kind, plies, depth=None):
        self.game, self.board, self.kind, self._plies, self._depth = game, board, kind, plies, depth
        self._scores = {}

    def __repr__(self):
        return "{}-{}x{}-{}".format(self.game.NAME, *self.board, self.kind)

    @functools.cached_property
    def rules(self):
        return self.game.rules(self.board)

    @functools.cached_property
    def win_bonus(self):
        if self.kind == "solve":
            return 0
        return evaluation.find(self.game, evaluation.default(self.game, self.rules), self.rules).bound

    @functools.cached_property
    def _setup(self):
        limit = {"exact": True} if self.kind == "solve" else {"depth": 1}
        return Options(self.game.NAME, board=self.board, **limit).setup(self.kind)

    @functools.cached_property
    def runners(self):
        """Those of the workers, which share a table; most know that others search parts of the same tree."""
        make = kinds(new_shared_table(1))[self.kind]
        return [make({**self._setup, "part": i > 0}) for i in range(WORKERS)]

    @functools.cached_property
    def _alone(self):
        return kinds(new_shared_table(1))[self.kind](self._setup)  # with a table that no other search spoils

    @functools.cached_property
    def grower(self):
        grower = Grower(self.game, self.rules, self._alone.engine)
        grower.compile()
        return grower

    def score(self, state, depth):
        """The score of a state by one worker."""
        if (state, depth) not in self._scores:
            job = np.zeros((), self._alone.job_dtype)
            job["state"], job["depth"], job["low"], job["high"] = state, depth, *ANY
            self._scores[state, depth] = float(do(self._alone, job)["score"][0])
        return self._scores[state, depth]

    def score_after(self, position, move, depth):
        """The same of a move, for the side that makes it; None where the position after it is not searched."""
        after = step(self.game, position, self.rules, move)
        if depth == 1 or self.game.kind(after.state, self.rules) == END:
            return None
        return -self.score(after.state, depth if depth == TO_THE_END else depth - 1)

    def position(self, rng):
        """A random one that is not finished."""
        return random_position(self.game, self.rules, self._plies, rng)

    def depth(self, rng):
        return TO_THE_END if self._depth is None else rng.choice(self._depth)

    def tree(self, rng, states, depth, policy, **how):
        """A Schedule that shares out even small trees."""
        made = SearchTree(
            self.grower,
            states,
            depth,
            rng.choice((4, 16, 64)),
            policy,
            win_bonus=self.win_bonus,
            min_job_seconds=rng.choice((0, 1e-6, 1e-5, 1e-4)),
            **how,
        )
        made._min_split_depth = rng.choice((1, 2, 4))
        return made

    def case(self, rng, policy):
        """(position, plies to search it, plies down to which all moves get a score, a tree of these)."""
        position, depth, full_width_depth = self.position(rng), self.depth(rng), rng.choice((0, 0, 1))
        tree = self.tree(rng, [position.state], depth, policy, full_width_depth=full_width_depth)
        return position, depth, full_width_depth, tree


SEARCHES = [
    Search(othello, (4, 4), "solve", range(0, 7)),
    Search(othello, (6, 6), "solve", range(21, 31)),
    Search(othello, (6, 6), "deep", range(0, 26), range(1, 8)),
    Search(connect4, (4, 5), "solve", range(0, 11)),
    Search(connect4, (5, 6), "solve", range(12, 21)),
    Search(connect4, (6, 7), "deep", range(0, 31), range(1, 9)),
]
policies = pytest.mark.parametrize("policy", POLICIES)
with_updates = pytest.mark.parametrize("policy", WITH_UPDATES)
searches = pytest.mark.parametrize("search", SEARCHES, ids=repr)
EXACT = pytest.mark.parametrize("search", [each for each in SEARCHES if each.kind == "solve"], ids=repr)
DEEP = pytest.mark.parametrize("search", [each for each in SEARCHES if each.kind == "deep"], ids=repr)


class Hand:
    """A worker: jobs one after another, in small slices. What comes to it and from it keeps its order, and may wait."""

    def __init__(self, runner, rng):
        self._runner, self._rng = runner, rng
        self.mail, self.sent = deque(), deque()
        self._queue, self._split_requests = [], {}
        self._at_work = False  # on the first of the queue
        self.splits = 0

    @property
    def is_idle(self):
        return not (self.mail or self._queue)

    def progress(self):
        """How far it is: {number of the job at work: what it has saved, as uint8}."""
        return {self._runner.job_id: np.frombuffer(self._runner.save(), np.uint8)} if self._at_work else {}

    def step(self):
        if self.mail and (not self._queue or self._rng.random() < 0.5):
            kind, *what = self.mail.popleft()
            (self._take if kind == "job" else self._update)(*what)
        elif self._queue:
            self._work()

    def _take(self, job, progress):
        self._queue.append((job, progress))

    def _update(self, number, low, high, remainder, least):
        if self._at_work and self._runner.job_id == number:
            if low >= high:
                self._answer()
                return
            self._runner.narrow(low, high)
        else:
            queued = self._queue[self._at_work :]
            at = next((i for i, (job, _) in enumerate(queued, self._at_work) if job["job_id"] == number), None)
            if at is None:
                return
            if low >= high:
                job, _ = self._queue.pop(at)
                self.sent.append(("results", self._runner.unsearched(job.reshape(1))))
                self._split_requests.pop(number, None)
                return
            self._queue[at][0]["low"], self._queue[at][0]["high"] = low, high
        if remainder >= 0:
            self._split_requests[number] = remainder, least

    def _work(self):
        if not self._at_work:
            job, progress = self._queue[0]
            self._at_work = True
            if progress is not None and len(progress):
                self._runner.restore(job, progress.tobytes())
            else:
                self._runner.begin(job)
        if self._runner.advance(self._rng.choice((1, 10, 100, 1000, NO_PAUSE))):
            self._answer()
        elif request := self._split_requests.get(self._runner.job_id):
            number = self._runner.job_id
            subtree = self._runner.split_off(*request)
            if subtree is not None:
                del self._split_requests[number]
                self.sent.append(("split", number, request[0], subtree.copy()))
                self.splits += 1

    def _answer(self):
        self._split_requests.pop(self._runner.job_id, None)
        self.sent.append(("results", self._runner.result(1.0, 1.0)))
        self._queue.pop(0)
        self._at_work = False


class DrivenWorkers:
    """Some workers, and which jobs they have. heed: how often it is asked what has become of jobs that are out."""

    def __init__(self, search, rng, workers=None):
        workers = workers or rng.choice((1, 2, 3, WORKERS))
        self.rng, self._update_rate = rng, rng.choice((0.2, 1.0))
        self.hands = {i + 1: Hand(search.runners[i], rng) for i in range(workers)}
        self.out = {}  # number of a job → whose it is

    def drive(self, source, most=None):
        """Do the work of a source until it is done, or so many steps."""
        steps = 0
        while not source.done and steps != most:
            steps += 1
            assert steps < MOST_STEPS, "it goes on forever"
            name = self.rng.choice(list(self.hands))
            hand = self.hands[name]
            match self.rng.randrange(3):
                case 0:
                    if hand.is_idle or self.rng.random() < 0.1:
                        self._hand_out(source, name, self.rng.choice((1, 1, 3)))
                case 1:
                    self._receive(source, hand)
                case 2:
                    hand.step()
            self._check_that_nobody_waits(source)
            if self.rng.random() < self._update_rate:
                self._send_updates(source)

    def _hand_out(self, source, name, count):
        jobs = source.take(count, name)
        for job in jobs:
            number = int(job["job_id"])
            assert number not in self.out
            self.out[number] = name
            self.hands[name].mail.append(("job", job.copy(), source.progress.get(number)))

    def _receive(self, source, hand):
        """Take in some of what a worker has sent."""
        results = []
        for _ in range(self.rng.randint(1, 4)):
            if hand.sent and hand.sent[0][0] == "results":
                results.append(hand.sent.popleft()[1])
                del self.out[int(results[-1]["job_id"][0])]
        if results:
            source.finish(np.concatenate(results))
        elif hand.sent:
            _, number, remainder, subtree = hand.sent.popleft()
            assert remainder not in self.out
            self.out[remainder] = self.out.pop(number)
            source.on_split(number, remainder, subtree)

    def _send_updates(self, source):
        for name, number, *request in source.job_updates(sum(hand.is_idle for hand in self.hands.values())):
            assert self.out[number] == name
            self.hands[name].mail.append(("update", number, *request))

    def _check_that_nobody_waits(self, source):
        if source.done or any(not hand.is_idle or hand.sent for hand in self.hands.values()):
            return
        self._hand_out(source, 1, 1)
        self._send_updates(source)
        assert self.out or source.done, "nothing is out, and it is not done"

    def receive_all(self, source):
        """Take in all that was sent."""
        for hand in self.hands.values():
            while hand.sent:
                self._receive(source, hand)

    def progress(self):
        """How far the jobs at work are, as a master is told."""
        return {number: content for hand in self.hands.values() for number, content in hand.progress().items()}

    def drain(self, source):
        """Take in what is still out of a source that is done."""
        for _ in range(MOST_STEPS):
            if not self.out:
                break
            for hand in self.hands.values():
                hand.step()
                self._receive(source, hand)
        assert not self.out

    @property
    def splits(self):
        """Subtrees that were split off, and of which the source knows."""
        on_their_way = sum(kind == "split" for hand in self.hands.values() for kind, *_ in hand.sent)
        return sum(hand.splits for hand in self.hands.values()) - on_their_way


def check(search, source, position, depth, root=0, all_moves=False):
    """The score is that of one worker, and so is that of the line's first move; all_moves: of every one."""
    score = source.score(root)
    said = f"{search} {search.game.text(position, search.rules)} to {depth}"
    assert score == search.score(position.state, depth), said
    line = source.line(root)
    assert line, said
    assert line[0] in legal_moves(search.game, position, search.rules), said
    assert search.score_after(position, line[0], depth) in (None, score), said
    if all_moves:
        check_children(search, source, position, depth)


def check_children(search, source, position, depth):
    moves = []
    for move, score, known in source.children(0):
        moves.append(move)
        assert known
        assert search.score_after(position, move, depth) in (None, score)
    assert sorted(moves) == sorted(legal_moves(search.game, position, search.rules))


@policies
@searches
def test_the_score_is_that_of_one_worker(search, policy, full, rng):
    for _ in range(100 if full else 3):
        position, depth, full_width_depth, source = search.case(rng, policy)
        team = DrivenWorkers(search, rng)
        team.drive(source)
        check(search, source, position, depth, all_moves=full_width_depth)
        handed_out = source.jobs - team.splits
        team.drain(source)
        assert (source.out, source.jobs - team.splits) == (0, handed_out)
        check(search, source, position, depth)


@policies
@searches
def test_every_move_of_the_root_may_be_scored(search, policy, full, rng):
    for _ in range(30 if full else 1):
        position, depth = search.position(rng), search.depth(rng)
        source = search.tree(rng, [position.state], depth, policy, full_width_depth=1)
        DrivenWorkers(search, rng).drive(source)
        check_children(search, source, position, depth)


@pytest.mark.parametrize(
    "search", [*SEARCHES, pytest.param(Search(othello, (6, 6), "solve", range(18, 21)), id="earlier")], ids=repr
)
def test_workers_give_parts_away(search, full, rng):
    splits, may_have_none = 0, search in SEARCHES[:2]  # small boards, which may be done before a worker is asked
    least = 100 if full else 10
    for number in range(1000):
        if number >= least and (splits or may_have_none):
            break
        position, depth = search.position(rng), search.depth(rng)
        source, team = search.tree(rng, [position.state], depth, "split"), DrivenWorkers(search, rng, WORKERS)
        team.drive(source)
        check(search, source, position, depth)
        team.drain(source)
        assert source.out == 0
        splits += team.splits
    assert splits or may_have_none


@policies
@searches
def test_forests(search, policy, full, rng):
    for _ in range(20 if full else 1):
        positions, depth = [search.position(rng) for _ in range(rng.randint(2, 6))], search.depth(rng)
        source = search.tree(rng, [position.state for position in positions], depth, policy)
        team = DrivenWorkers(search, rng)
        team.drive(source)
        for root, position in enumerate(positions):
            assert source.is_answered(root)
            check(search, source, position, depth, root)
        team.drain(source)
        assert source.out == 0


@policies
@EXACT
def test_a_window_tells_scores_apart_within_it_alone(search, policy, full, rng):
    for _ in range(50 if full else 4):
        position = search.position(rng)
        expected = search.score(position.state, TO_THE_END)
        low = int(expected) + rng.randint(-6, 3)
        high = low + rng.randint(1, 6)
        source = search.tree(rng, [position.state], TO_THE_END, policy, window=(low, high))
        DrivenWorkers(search, rng).drive(source)
        score = source.score(0)
        if expected <= low:
            assert expected <= score <= low
        elif expected >= high:
            assert high <= score <= expected
        else:
            assert score == expected


# --- deepening ---


def deepening(search, rng, state, deepest, policy, snapshot=None, **how):
    def make_pool(depth, previous=None, snapshot=None):
        made = search.tree(rng, [state], depth, policy, previous=previous, snapshot=snapshot)
        pools.append(made)
        return made

    pools = []
    return Deepening(make_pool, deepest, snapshot=snapshot, **how), pools


def check_hints(pools):
    """A node's hint is the node of the same position in the search before."""
    for pool in pools:
        nodes = pool.nodes
        linked = np.flatnonzero(nodes.previous_iteration_node[: nodes.size] != NONE)
        if pool._previous is None:
            assert not len(linked)
            continue
        links = nodes.previous_iteration_node[linked]
        assert np.all(links < pool._previous.size)
        assert np.array_equal(nodes.state[linked], pool._previous.state[links])


@policies
@DEEP
def test_shallower_searches_come_first(search, policy, full, rng):
    for _ in range(50 if full else 5):
        position, deepest, first = search.position(rng), rng.randint(3, 7), rng.randint(1, 3)
        how = {"first": first, "step": rng.randint(1, 3)}
        source, pools = deepening(search, rng, position.state, deepest, policy, **how)
        DrivenWorkers(search, rng).drive(source)
        assert source.completed_depth == deepest or source.proved
        assert source.completed_depth == deepest or (source.completed_depth - first) % how["step"] == 0
        assert source.completed.score(0) == search.score(position.state, source.completed_depth)
        assert source.completed.score(0) == search.score(position.state, deepest)
        assert source.completed.out == 0
        check_hints(pools)


@policies
@DEEP
def test_deepening_goes_on_from_a_snapshot(search, policy, full, rng):
    for _ in range(50 if full else 3):
        position, deepest = search.position(rng), rng.randint(4, 7)
        how = {"first": 1, "step": rng.randint(1, 2)}
        source, pools = deepening(search, rng, position.state, deepest, policy, **how)
        while not source.done:
            team = DrivenWorkers(search, rng)
            team.drive(source, most=rng.choice((3, 30, 300)))
            team.receive_all(source)
            progress = {} if rng.random() < 0.5 else team.progress()
            if source.done:
                break
            source, pools = deepening(search, rng, position.state, deepest, policy, source.snapshot(progress), **how)
        assert source.completed.score(0) == search.score(position.state, deepest)
        check_hints(pools)


# --- snapshots ---


@policies
@searches
def test_another_schedule_goes_on_from_a_snapshot(search, policy, full, rng):
    for _ in range(50 if full else 3):
        position, depth, full_width_depth, source = search.case(rng, policy)
        resumed = 0
        while not source.done:
            team = DrivenWorkers(search, rng)
            team.drive(source, most=rng.choice((1, 10, 100)) << resumed)
            team.receive_all(source)
            if not source.done:
                progress = {} if rng.random() < 0.5 else team.progress()
                snapshot = source.snapshot(progress)
                source = search.tree(
                    rng, [position.state], depth, policy, full_width_depth=full_width_depth, snapshot=snapshot
                )
                assert source.out == 0
                resumed += 1
        check(search, source, position, depth, all_moves=full_width_depth)


# --- what is new of jobs that are out ---


@with_updates
@searches
def test_a_job_is_listed_once_however_late_anybody_looks(search, policy, full, rng):
    for _ in range(20 if full else 2):
        position, depth = search.position(rng), search.depth(rng)
        source, out = search.tree(rng, [position.state], depth, policy), []
        while not source.done:
            out.extend(source.take(rng.randint(1, 9), worker=rng.randint(1, 9)))
            rng.shuffle(out)
            some, out = out[:4], out[4:]
            if some:
                source.finish(np.concatenate([do(search.runners[0], job) for job in some]))
            else:
                assert source.done  # by what was grown
            count = source._control.update_count.item()
            listed = source._arrays.updates[:count].tolist()
            assert len(set(listed)) == len(listed) == count
        check(search, source, position, depth)
