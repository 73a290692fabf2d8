"""Searches, perft and streams on virtual workers that die, lag and are wrongly taken for dead: the right answer."""

from collections import Counter

import pytest

from distsearch.api.options import Options
from distsearch.api.simulate import Machine
from distsearch.cluster.master import EveryWorkerLostError
from distsearch.cluster.messages import MessageType
from distsearch.cluster.simulated import Faults
from distsearch.games import connect4
from distsearch.tree.policies import POLICIES

from .faulty_cases import SAVES, WAYS, Case, Part, drawn
from .faulty_runs import answers, do

RARE = {"FORGET", "TT_UPDATE"}  # messages that a hundred runs may have none of
ABSENT = {"TOLD_TO_END"}  # by a signal, of which virtual ranks get none
RUNS = 300  # seeds that are always the same, so that each kind of fault is among them


@pytest.mark.parametrize("part", range(3))
def test_the_answer_is_that_of_one_worker_whatever_goes_wrong(part, full, seed):
    each = RUNS // 3
    first, count = (seed + part * 10**6, 2000) if full else (part * each, each)
    runs = [do(each) for each in range(first, first + count)]
    wrong = {done.seed: done.wrong for done in runs if done.wrong}
    assert not wrong, f"python -m tests.api.faulty_runs --runs 1 --seed {next(iter(wrong))}: {wrong}"
    messages = sum((done.messages for done in runs), Counter())
    assert {each.name for each in MessageType} - messages.keys() <= RARE | ABSENT


def test_faults_of_all_kinds_are_among_them():
    cases = [drawn(seed) for seed in range(RUNS)]
    for kind in ("deaths", "slow", "late"):
        assert sum(bool(getattr(case.parts[0].machine.faults, kind)) for case in cases) > RUNS / 5
    assert {case.options.policy for case in cases} == POLICIES.keys()
    assert {case.way for case in cases} == set(WAYS)
    assert sum(len(case.parts) > 1 for case in cases) > RUNS / 5


@pytest.mark.parametrize("way", sorted(set(WAYS)))
def test_a_seed_repeats_itself(way):
    seed = next(seed for seed in range(RUNS) if drawn(seed).way == way and len(drawn(seed).parts) > (way in SAVES))
    told = [[], []]
    for lines in told:
        done = do(seed, lines.append)
        lines += [done.counts, done.messages]
    assert told[0] == told[1]


@pytest.mark.parametrize("way", ["search", "perft", "solve"])
def test_without_any_worker_there_is_an_error_and_no_hang(way):
    options = Options("connect4", exact=True) if way != "perft" else Options("connect4", depth=1)
    machine = Machine(2, rate=1e4, table=1, faults=Faults(1.0, deaths={1: 0.01, 2: 0.02}))
    case = Case(way, options, [connect4.start(connect4.rules())], 7, 100, (Part(machine),))
    cluster = machine.cluster()
    with pytest.raises(EveryWorkerLostError):
        answers(case, cluster)
    assert [rank for rank, _ in cluster.lost] == [1, 2]
