"""A program's function that is told how a session's work goes."""

import itertools
import re

import pytest

from distsearch.api.facts import Facts
from distsearch.api.progress import Hook
from distsearch.api.session import Session

SMALL = {"game": "othello", "board": "4x4"}
FIRST_MOVES = {"d3", "c4", "f5", "e6"}
LEAST_GAP = 0.1  # of the hook, seconds between two calls


class Ear:
    """A function that keeps what it is told."""

    def __init__(self):
        self.facts = []

    def __call__(self, facts):
        assert isinstance(facts, Facts)
        self.facts.append(facts)


def at_every_look(ear):
    """A hook for which as much time goes by between two looks at the clock as between two calls."""
    return Hook(ear, itertools.count(step=LEAST_GAP).__next__)


@pytest.fixture(scope="module")
def session():
    with Session(table=1, book="none") as session:
        session.search("othello", depth=2)  # loads the kernels
        yield session


def test_a_search_under_a_limit_of_time_tells_its_best_move_ever_deeper(session):
    ear = Ear()
    found = session.search("othello", time=1.0, progress=at_every_look(ear))
    *partial, last = ear.facts
    assert len(partial) >= 3 and partial[0].seconds_left > 0
    known = [facts for facts in partial if facts.move is not None]
    assert known and {facts.move for facts in known} <= FIRST_MOVES
    assert [facts.depth for facts in known] == sorted(facts.depth for facts in known)
    assert all(0 < facts.depth < facts.depth_at_work for facts in known)
    assert [facts.nodes for facts in partial] == sorted(facts.nodes for facts in partial)
    assert all(facts.nodes_per_second == round(facts.nodes / facts.seconds) for facts in partial if facts.seconds)
    assert all(facts.seconds_left == pytest.approx(max(0.0, 1.0 - facts.seconds), abs=1e-6) for facts in partial)
    assert {(facts.ranks, facts.busy_ranks) for facts in partial[1:]} == {(1, 1)}
    assert not any(facts.complete for facts in partial)
    assert (last.move, last.score, last.depth, last.nodes) == (found.move, found.score, found.depth, found.nodes)
    assert last.complete and last.unit == found.unit and last.meaning == found.meaning


def test_it_is_called_ten_times_a_second_at_most():
    now, ear, called = [7.0], Ear(), []
    hook = Hook(ear, lambda: now[0])
    for now[0] in (7 + tick / 64 for tick in range(256)):  # four seconds
        if hook.due():
            hook.tell(Facts(now[0]))
            called.append(now[0])
    assert [facts.seconds for facts in ear.facts] == called
    assert called == [7 + tick / 64 for tick in range(0, 256, 7)]  # 7/64 is the first that is no less than 0.1
    hook.end(Facts(now[0]))  # whatever the time
    assert len(ear.facts) == len(called) + 1


def test_an_exact_search_is_at_work_to_the_end(session):
    ear = Ear()
    session.search(**SMALL, exact=True, progress=at_every_look(ear))
    *partial, last = ear.facts
    assert partial and last.complete
    for facts in partial:
        assert facts.depth_at_work is None
        assert "to the end" in facts.line and "at work on depth" not in facts.line


def test_against_chance_too(session):
    ear = Ear()
    found = session.search("2048", "2,4,8,16,0,2,4,32,0,0,2,64,0,0,0,128", evaluation="rows", time=0.5, progress=ear)
    known = [facts for facts in ear.facts if facts.move is not None]
    assert {facts.move for facts in known} <= {"left", "right", "up", "down"}
    assert [facts.nodes for facts in ear.facts] == sorted(facts.nodes for facts in ear.facts)
    assert ear.facts[-1].move == found.move and ear.facts[-1].complete


def test_a_search_of_no_time_tells_its_end_alone_at_least(session):
    ear = Ear()
    found = session.search(**SMALL, exact=True, progress=ear)
    assert (ear.facts[-1].score, ear.facts[-1].move) == (found.score, found.move) == (-10, found.move)
    assert ear.facts[-1].seconds_left is None


def test_a_session_has_a_hook_for_all_that_it_does():
    ear = Ear()
    with Session(table=1, book="none", progress=at_every_look(ear)) as session:
        positions = ["startpos"] * 10_000  # several readings, so that the work does not end in its first turns
        assert len(list(session.solve(**SMALL, lines=positions, exact=True))) == 10_000
        assert ear.facts and all(facts.counted == "positions" for facts in ear.facts)
        assert [facts.done for facts in ear.facts] == sorted(facts.done for facts in ear.facts)
        ear.facts.clear()
        session.play("2048", 3, depth=3, evaluation="rows")
        assert ear.facts and {(facts.counted, facts.total) for facts in ear.facts} == {("games", 3)}


@pytest.mark.parametrize("share", ["games", "tree"])
def test_games_tell_what_they_came_to_so_far(share):
    ear = Ear()
    with Session(table=1, book="none", progress=ear) as session:
        ear.facts.clear()
        session.play("othello", 4, board="4x4", depth=1, share=share)
    if share == "games":
        assert {(facts.counted, facts.total) for facts in ear.facts} == {("games", 4)}
    else:
        assert re.fullmatch(r"game 1/4, move \d+", ear.facts[0].part)
        later = [facts.part for facts in ear.facts if not facts.part.startswith("game 1/4")]
        assert all(re.fullmatch(r"game \d/4 \(X won \d, drew \d, lost \d\), move \d+", part) for part in later)


def test_what_the_hook_raises_ends_the_search_and_not_the_session(session):
    def refuse(facts):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        session.search("othello", time=30.0, progress=refuse)
    assert session.search(**SMALL, exact=True).score == -10
