"""Learning on several copies of the weights: what merges keep, and what they make alike."""

import contextlib
import os
import time
from pathlib import Path

import numpy as np
import pytest

from distsearch import games
from distsearch.api.progress import Silent
from distsearch.cluster import shared_memory
from distsearch.core.errors import UserError
from distsearch.evaluation.tuple_network import sizes
from distsearch.learning import cpu_team as teams
from distsearch.learning import private_pages as private
from distsearch.learning import train as service
from distsearch.learning.cpu_team import Team, shared_size
from distsearch.learning.learner import Learner
from distsearch.learning.merging import Merger
from distsearch.learning.options import TrainOptions
from distsearch.learning.phases import Statistics, Training, TrainingPlan
from distsearch.learning.shared_arrays import Arrays

pytestmark = pytest.mark.mpi(min_size=2)
GAME = games.find("2048")
BOARD = 2, 3
TUPLES = ((0, 1, 2, 3), (2, 3, 4, 5))
RATE = 0.1


def team_of(comm, copies):
    """A Team with so many copies of the weights, or as many as can be."""
    return Team(comm, -(-comm.Get_size() // copies))


class Rank:
    """One rank of a team."""

    def __init__(self, comm, copies=1, merge="visits", coherent=False, paged=False):
        self.team, rules = team_of(comm, copies), GAME.rules(BOARD)
        team, several = self.team, self.team.copies > 1
        size = sum(sizes(TUPLES, 16))
        words = shared_size(max(team.sizes))
        self.arrays = Arrays(team.sharers, 1, size, coherent, words, several, team.here)
        sharers = team.sizes[team.copy]
        self.pages = private.PrivatePages(self.arrays, team.place, sharers, RATE, several) if paged else None
        self.learner = Learner(
            GAME, rules, TUPLES, False, (), self.arrays, RATE, 1, coherent=coherent, visiting=several, pages=self.pages
        )
        if comm.Get_rank() == 0:
            self.learner.compile()
        compiled = comm.Ibarrier()
        while not compiled.Test():  # the others load what the first one compiles, and leave it the cores until then
            time.sleep(0.01)
        self.learner.compile()
        merger = None
        if several and team.place == 0:
            merger = Merger(team.leaders, self.arrays, merge, RATE, self.pages.shared if paged else None)
        team.join(self.arrays, self.learner, merger, self.pages)
        team.meet()

    def lead(self, body):
        """Rank 0 has body() tell the others what to do; they do it."""
        if self.team.first:
            body()
            self.team.finish()
        else:
            self.team.work()


@pytest.fixture(params=[1, 2, 3])
def copies(request, comm):
    """How many copies there are, of which each has a rank or more."""
    if request.param > comm.Get_size():
        pytest.skip(f"{request.param} copies need as many ranks")
    return request.param


def test_ranks_are_told_apart(comm, agree, copies):
    team, size = team_of(comm, copies), comm.Get_size()
    agree(team.copies == copies and sum(team.sizes) == size and len(team.sizes) == copies, vars(team))
    agree((team.hosts, team.here) == (1, copies), vars(team))
    agree((team.leaders is not None) == (team.place == 0), vars(team))
    places = comm.allgather((team.copy, team.place))
    agree(len(set(places)) == size and max(map(max, places)) < size, places)


def test_memory_is_of_a_copy(comm, agree, copies):
    team = team_of(comm, copies)
    words = shared_memory.SharedWords(team.sharers, 1, lambda mib: np.zeros(mib << 17, np.uint64)).words
    words[team.place] = 1 + team.copy
    comm.Barrier()
    expected = [1 + team.copy] * team.sizes[team.copy]
    agree(words[: len(expected) + 1].tolist() == [*expected, 0], words[:9])
    comm.Barrier()


@pytest.mark.parametrize("mode", ["visits", "sum", "mean"])
def test_changes_made_by_hand_are_merged_as_they_should(mode, comm, agree, copies):
    """Weights that one copy has changed, two, and all; once more while the first changes are on their way."""
    if copies == 1:
        pytest.skip("one copy has nothing to merge")
    rank = Rank(comm, copies, mode)
    team, arrays, merger = rank.team, rank.arrays, rank.team.merger
    every = np.arange(copies)
    first = np.zeros((copies, 4), np.float32)  # what each copy changes, of four weights
    first[0, 1], first[:2, 2], first[:, 3] = 8, (8, 2), 1 + every
    later = np.float32([[10.0 * (1 + copy), 0, 0, 1] for copy in range(copies)])
    often = np.array([[1, 3, 200, 5 + copy] for copy in range(copies)])  # each visits a weight that it changes
    last = len(arrays.learnt) - 4

    def change(by):
        for at in 0, last:
            arrays.learnt[at : at + 4] += by[team.copy]
            arrays.visits[at : at + 4] += ((by[team.copy] != 0) * often[team.copy]).astype(np.uint8)

    def merged(changes):
        visits = (changes != 0) * often
        if mode == "mean":
            return changes.sum(0) / np.maximum((changes != 0).sum(0), 1)
        if mode == "sum":
            return changes.sum(0)
        left = 1 - RATE / 10  # of an error, by each visit
        apart = (1 - left**visits).sum(0)
        return changes.sum(0) * np.where(apart > 0, (1 - left ** visits.sum(0)) / np.where(apart > 0, apart, 1), 0)

    if team.place == 0:
        arrays.learnt[:] = 100 if team.first else 7
        merger.fetch()
        change(first)
        merger.begin(1, 1)
        merger.look(1)  # the first changes are read
        change(later)
        merger.end(lambda: None)
        expected = 100 + merged(first) + merged(later)
        found = arrays.learnt[[*range(4), *range(last, last + 4)]].reshape(2, 4)
        right, others = np.allclose(found, expected, rtol=1e-5), (arrays.learnt == 100).sum()
        done = right and others == len(arrays.learnt) - 8 and not arrays.visits.any() and merger.merges == 2
        message = f"{found} is not {expected}; {merger.merges} merges"
    else:
        done, message = True, ""
    agree(done, message)
    rank.lead(lambda: None)


@pytest.mark.parametrize("mode", ["visits", "mean"])
@pytest.mark.parametrize("warm_up", [0, 250])
def test_training_ends_with_the_same_on_all_copies(mode, warm_up, comm, agree, copies):
    """Every game counts once; evaluations and saves come between merges; nothing that was learnt is lost."""
    rank = Rank(comm, copies, mode)
    team, arrays, saved, lines, evaluations = rank.team, rank.arrays, [], [], []
    statistics = Statistics(100, GAME.VALUES, 11, lines.append)
    plan = TrainingPlan(2000, warm_up, 130 if copies > 1 else 0, 500, 60, 700)
    training = Training(team, arrays, plan, statistics, GAME.VALUES, 11)

    def body():
        done = training.run(
            lambda: False,
            lambda: None,
            evaluations.append,
            lambda last: saved.append((training.games, last, arrays.learnt.copy())),
        )
        assert done

    rank.lead(body)
    everywhere = comm.allgather(arrays.learnt[:: 97 if comm.Get_size() > 3 else 7].copy())
    agree(all(np.allclose(each, everywhere[0], rtol=1e-4, atol=1e-2) for each in everywhere), "copies differ")
    counted = ([line["games"] for line in lines], [each["games"] for each in evaluations], [each[:2] for each in saved])
    right = (list(range(100, 2001, 100)), [500, 1000, 1500, 2000], [(700, False), (1400, False), (2000, True)])
    agree(not team.first or counted == right, counted)
    agree(not team.first or [each["evaluated"] for each in evaluations] == [60] * 4, evaluations)
    played = comm.allreduce(rank.learner.moves)
    agree(not team.first or played > training.moves > 0, (played, training.moves))
    agree(np.isfinite(arrays.learnt).all() and arrays.learnt.any(), "weights")


def test_private_pages_end_with_the_same_on_all_ranks(comm, agree, monkeypatch):
    """Whatever the ranks of a copy had for themselves is in what all see, saved, evaluated and merged or not."""
    for name, value in (("_FIRST", 300), ("_SHORTEST", 50)):
        monkeypatch.setattr(private, name, value)
    for copies in (1, 2) if comm.Get_size() > 3 else (1,):  # of fewer ranks one would have no sharers
        rank = Rank(comm, copies, paged=True)
        team, arrays, saved, evaluations = rank.team, rank.arrays, [], []
        training = Training(
            team,
            arrays,
            TrainingPlan(4000, 300, 130 if copies > 1 else 0, 500, 60, 700),
            Statistics(100, GAME.VALUES, 11, lambda line: None),
            GAME.VALUES,
            11,
        )
        rank.lead(
            lambda training=training, saved=saved, evaluations=evaluations, arrays=arrays: training.run(
                lambda: False, lambda: None, evaluations.append, lambda last: saved.append(arrays.learnt.copy())
            )
        )
        everywhere = comm.allgather(arrays.learnt[::7].copy())
        agree(all(np.allclose(each, everywhere[0], rtol=1e-4, atol=1e-2) for each in everywhere), "ranks differ")
        agree(not team.first or (saved[-1] == arrays.learnt).all(), "something came after the end")
        agree(len(rank.pages.pages) == 0, "pages are left")
        merges = comm.allgather(rank.pages.merges)  # a rank that got no core may have come too late for one
        agree(sum(merges) > 0, merges)
        agree(np.isfinite(arrays.learnt).all() and arrays.learnt.any(), "weights")
        agree(not team.first or [each["evaluated"] for each in evaluations] == [60] * 8, evaluations)
        comm.Barrier()
        rank.pages.close()
        arrays.close()


@pytest.mark.parametrize("least", [1, 99])
def test_training_has_private_pages_where_enough_ranks_share(least, comm, agree, monkeypatch):
    """And gives them back; others learn as if there were no such thing."""
    made, closed = [], []
    begin, close = private.PrivatePages.begin, private.PrivatePages.close
    monkeypatch.setattr(private, "LEAST_RANKS", least)
    monkeypatch.setattr(private.PrivatePages, "begin", lambda pages: (made.append(pages), begin(pages)))
    monkeypatch.setattr(private.PrivatePages, "close", lambda pages: (closed.append(pages), close(pages)))
    options = TrainOptions("2048", board=BOARD, asymmetric=True, tuples="0,1,2/3,4,5", games=500)
    service.train(options, service.Files(), comm, Silent(), lambda: False, lambda line: None)
    agree(len(closed) == (1 if least == 1 else 0) and set(made) == set(closed), (len(made), len(closed)))


def test_a_wish_to_end_is_heard_on_all_copies(comm, agree, copies):
    """However many games are left; and the next phase is as any."""
    rank, results, merges = Rank(comm, copies), [], 50 if copies > 1 else None
    calls = 0

    def between():
        nonlocal calls
        calls += 1
        if calls == 5 and not rank.team.stopped:
            rank.team.stop()

    def body():
        nonlocal calls
        for _ in range(3):
            calls = 0
            results.append(rank.team.phase(teams.LEARN, 0, 60_000, merges=merges, between=between))
        calls = 10
        results.append(rank.team.phase(teams.WATCH, 0, 200, between=between))

    rank.lead(body)
    counts = [int((each[:, 0] > 0).sum()) for each in results]
    agree(not rank.team.first or (max(counts[:3]) < 60_000 and counts[3] == 200), counts)


def test_closing_the_arrays_gives_their_memory_back(comm, agree, copies):
    def files():
        found = []
        for each in Path("/proc/self/fd").iterdir():
            with contextlib.suppress(OSError):  # that of the folder itself
                found.append(os.readlink(each))
        return found

    before, team = files(), team_of(comm, copies)
    arrays = Arrays(team.sharers, 1, 1000, False, shared_size(max(team.sizes)))
    arrays.close()
    arrays.close()  # once more does no more
    left = [file for file in files() if "distsearch-" in file and file not in before]
    agree(not left, left)


def test_copies_without_room_say_so(comm, agree, copies, monkeypatch):
    monkeypatch.setattr(shared_memory, "_room", lambda: 0 if comm.Get_rank() == comm.Get_size() - 1 else 1 << 20)
    team, text = team_of(comm, copies), None
    try:
        Arrays(team.sharers, 1, 1000, False, shared_size(max(team.sizes)))
    except UserError as error:
        text = str(error)
    last = team.copy == copies - 1 and team.sizes[-1] > 1
    agree((text is not None) == last, text)
    agree(text is None or "weights" in text, text)


@pytest.mark.parametrize("short", ["first", "last"])
def test_training_says_on_all_ranks_that_a_copy_has_no_room(short, comm, agree, copies, monkeypatch):
    """No rank waits for those that have none."""
    team, text = team_of(comm, copies), None
    if team.copy == (0 if short == "first" else copies - 1):
        refused = UserError("no room for weights")

        def no_room(*_, **__):
            raise refused

        monkeypatch.setattr(service, "Arrays", no_room)
    network = {"board": BOARD, "asymmetric": True, "tuples": "0,1,2"}
    options = TrainOptions("2048", **network, games=1, ranks_per_copy=max(team.sizes))
    try:
        service.train(options, service.Files(), comm, Silent(), lambda: False, lambda line: None)
    except UserError as error:
        text = str(error)
    agree(text == "no room for weights", text)


def test_what_was_changed_but_not_counted_yet_is_merged_once(comm, agree):
    """A weight is written before its count: a merge in between leaves it to the next one."""
    if comm.Get_size() > 3:
        pytest.skip("3 copies are enough")
    rank = Rank(comm, comm.Get_size(), "sum")
    team, arrays, merger = rank.team, rank.arrays, rank.team.merger
    merger.fetch()
    arrays.learnt[0], arrays.visits[1] = (8, 1) if team.first else (0, 0)
    for count in 0, 1:
        arrays.visits[0] = count if team.first else 0
        merger.begin(0, 1)
        merger.end(lambda: None)
    agree(arrays.learnt[0] == 8 and merger.merges == 2, arrays.learnt[:4])
    rank.lead(lambda: None)


def test_two_teams_of_different_sizes_follow_each_other(comm, agree):
    """As a library would: nothing of the first one is left to the second."""
    for copies in 1, 2:
        rank, found = Rank(comm, copies), []
        rank.lead(lambda rank=rank, found=found: found.append(rank.team.phase(teams.LEARN, 0, 500)))
        agree(not rank.team.first or (found[0][:, 0] > 0).all(), "games are missing")
        agree(rank.arrays.weights.any(), "nothing was learnt")
        rank.arrays.close()
