"""Learning on several hosts, which one machine is taken for: what merges keep, and what they make alike."""

import numpy as np
import pytest

from distsearch import games
from distsearch.cluster import shared
from distsearch.cluster.hosts import VARIABLE, of_this_host
from distsearch.errors import UserError
from distsearch.evaluation.network import sizes
from distsearch.learning import team as teams
from distsearch.learning.arrays import Arrays
from distsearch.learning.learner import Learner
from distsearch.learning.merging import Merger
from distsearch.learning.statistics import Statistics
from distsearch.learning.team import Team, shared_size
from distsearch.learning.training import Plan, Training

pytestmark = pytest.mark.mpi(min_size=2)
GAME = games.find("2048")
BOARD = 2, 3
TUPLES = ((0, 1, 2, 3), (2, 3, 4, 5))


class Rank:
    """One rank of a team that is taken for several hosts."""

    def __init__(self, comm, merge="sum", coherent=False):
        self.team, rules = Team(comm), GAME.rules(BOARD)
        team = self.team
        self.arrays = Arrays(comm, 1, sum(sizes(TUPLES, 16)), coherent, shared_size(max(team.on_host)), team.hosts)
        self.learner = Learner(GAME, rules, TUPLES, False, (), self.arrays, 0.1, 1, coherent=coherent)
        self.learner.compile()
        merger = Merger(team.leaders, self.arrays, merge) if team.hosts > 1 else None
        team.join(self.arrays, self.learner, merger)
        team.meet()

    def lead(self, body):
        """Rank 0 has body() tell the others what to do; they do it."""
        if self.team.first:
            body()
            self.team.finish()
        else:
            self.team.work()


@pytest.fixture(params=[1, 2, 3])
def hosts(request, comm, monkeypatch):
    """How many hosts there are, of which each has a rank or more."""
    if request.param > comm.Get_size():
        pytest.skip(f"{request.param} hosts need as many ranks")
    monkeypatch.setenv(VARIABLE, str(request.param))
    return request.param


def test_ranks_are_told_apart(comm, agree, hosts):
    host = of_this_host(comm)
    team, size = Team(comm), comm.Get_size()
    agree(team.hosts == hosts and sum(team.on_host) == size and len(team.on_host) == hosts, vars(team))
    agree(team.on_host[team.host] == host.Get_size() and team.place == host.Get_rank(), vars(team))
    agree((team.leaders is not None) == (team.place == 0), vars(team))
    places = comm.allgather((team.host, team.place))
    agree(len(set(places)) == size and max(map(max, places)) < size, places)
    host.Free()


def test_memory_is_of_a_host(comm, agree, hosts):
    team, words = Team(comm), shared.SharedWords(comm, 1, lambda mib: np.zeros(mib << 17, np.uint64)).words
    words[team.place] = 1 + team.host
    comm.Barrier()
    expected = [1 + team.host] * team.on_host[team.host]
    agree(words[: len(expected) + 1].tolist() == [*expected, 0], words[:9])
    comm.Barrier()


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_changes_made_by_hand_are_merged_as_they_should(mode, comm, agree, hosts):
    """Weights that one host has changed, two, and all; once more while the first changes are on their way."""
    if hosts == 1:
        pytest.skip("one host merges nothing")
    rank = Rank(comm, mode)
    team, arrays = rank.team, rank.arrays
    every = np.arange(hosts)
    first = np.zeros((hosts, 4), np.float32)  # what each host changes, of four weights
    first[0, 1], first[:2, 2], first[:, 3] = 8, (8, 2), 1 + every
    later = np.float32([[10.0 * (1 + host), 0, 0, 1] for host in range(hosts)])
    last = len(arrays.learnt) - 4  # and of the last ones, whose owner is another rank

    def change(by):
        if team.place == 0:
            for at in 0, last:
                arrays.learnt[at : at + 4] += by[team.host]

    def merged(changes):
        changed = (changes != 0).sum(0)
        return changes.sum(0) / (np.maximum(changed, 1) if mode == "mean" else 1)

    seen = []

    def do(kind):
        if team.first:
            team.phase(kind)
        else:
            told = team._heard()
            team._take_part(told, lambda: None)
        comm.Barrier()
        seen.append(arrays.learnt[[*range(4), *range(last, last + 4)]].reshape(2, 4).copy())
        comm.Barrier()

    if team.first:
        arrays.learnt[:] = 100
    do(teams.FETCH)
    change(first)
    do(teams.DIFFER)
    change(later)  # while the first ones are on their way
    do(teams.APPLY)
    do(teams.DIFFER)
    do(teams.APPLY)
    expected = [
        100 + 0 * first[0], 100 + first[team.host], 100 + merged(first) + later[team.host],
        100 + merged(first) + later[team.host], 100 + merged(first) + merged(later),
    ]  # fmt: skip
    for i, (found, right) in enumerate(zip(seen, expected, strict=True)):
        agree(np.allclose(found, right, rtol=1e-6), f"phase {i}: {found} is not {right}")
    agree(not team.merger.pending)
    rank.lead(lambda: None)


@pytest.mark.parametrize("mode", ["sum", "mean"])
@pytest.mark.parametrize("warm_up", [0, 250])
def test_training_ends_with_the_same_on_all_hosts(mode, warm_up, comm, agree, hosts):
    """Every game counts once; evaluations and saves come between merges; nothing that was learnt is lost."""
    rank = Rank(comm, mode)
    team, arrays, saved, lines, evaluations = rank.team, rank.arrays, [], [], []
    statistics = Statistics(100, GAME.VALUES, 11, lines.append)
    plan = Plan(2000, warm_up, 130 if hosts > 1 else 0, 500, 60, 700)
    training = Training(team, arrays, plan, statistics, GAME.VALUES, 11)

    def body():
        done = training.run(
            lambda: False, lambda: None, evaluations.append,
            lambda last: saved.append((training.games, last, arrays.learnt.copy())),
        )  # fmt: skip
        assert done

    rank.lead(body)
    everywhere = comm.allgather(arrays.learnt[:: 97 if comm.Get_size() > 3 else 7].copy())
    agree(all(np.allclose(each, everywhere[0], rtol=1e-4, atol=1e-2) for each in everywhere), "hosts differ")
    if hosts > 1:
        agree(np.allclose(arrays.learnt, arrays.base, rtol=1e-4, atol=1e-2), "base is not what was learnt")
    counted = ([line["games"] for line in lines], [each["games"] for each in evaluations], [each[:2] for each in saved])
    right = (list(range(100, 2001, 100)), [500, 1000, 1500, 2000], [(700, False), (1400, False), (2000, True)])
    agree(not team.first or counted == right, counted)
    agree(not team.first or [each["evaluated"] for each in evaluations] == [60] * 4, evaluations)
    played = comm.allreduce(rank.learner.moves)
    agree(not team.first or played > training.moves > 0, (played, training.moves))
    agree(np.isfinite(arrays.learnt).all() and arrays.learnt.any(), "weights")


def test_a_wish_to_end_is_heard_on_all_hosts(comm, agree, hosts):
    """However many games are left; and the next phase is as any."""
    rank, results = Rank(comm), []
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
            results.append(rank.team.phase(teams.LEARN, 0, 60_000, None, between))
        calls = 10
        results.append(rank.team.phase(teams.WATCH, 0, 200, None, between))

    rank.lead(body)
    counts = [int((each[:, 0] > 0).sum()) for each in results]
    agree(not rank.team.first or (max(counts[:3]) < 60_000 and counts[3] == 200), counts)


def test_hosts_without_room_say_so(comm, agree, hosts, monkeypatch):
    monkeypatch.setattr(shared, "_room", lambda: 0 if comm.Get_rank() == comm.Get_size() - 1 else 1 << 20)
    text = None
    try:
        Arrays(comm, 1, 1000, False, shared_size(comm.Get_size()), hosts)
    except UserError as error:
        text = str(error)
    alone = Team(comm).on_host[-1] == 1
    agree((text is None) == alone, text)
    agree(text is None or "weights" in text, text)


def test_two_teams_of_different_sizes_follow_each_other(comm, agree):
    """As a library would: nothing of the first one is left to the second."""
    for coherent in False, False:
        rank, found = Rank(comm, coherent=coherent), []
        rank.lead(lambda rank=rank, found=found: found.append(rank.team.phase(teams.LEARN, 0, 500)))
        agree(not rank.team.first or (found[0][:, 0] > 0).all(), "games are missing")
        agree(rank.arrays.weights.any(), "nothing was learnt")
        rank.arrays.close()
