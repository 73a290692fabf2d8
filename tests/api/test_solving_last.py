"""Searches under a limit of time end with an exact search, if what is left of the time is enough for one."""

import pytest

from distsearch.api.options import Options
from distsearch.api.players import SearchPlayer
from distsearch.api.result import Outcome
from distsearch.api.session import Session
from distsearch.formats.checkpoint import CheckpointHandle
from distsearch.games import connect4, othello
from distsearch.games.random_play import random_position


@pytest.fixture(scope="module")
def session():
    with Session(table=8, book="none") as made:
        yield made


def test_options_of_the_exact_search():
    asked = Options("othello", board=(6, 6), rules={"empties": "none"}, time=1.0, all_moves=True)
    last = asked.solving_last
    assert (last.exact, last.time, last.selective, last.evaluation) == (True, None, None, "patterns")
    assert (last.board, last.rules, last.all_moves) == ((6, 6), {"empties": "none"}, True)
    assert Options("connect4").solving_last is not None  # for five seconds


@pytest.mark.parametrize(
    "given", [{"depth": 3}, {"exact": True}, {"nodes": 9}, {"time": 1.0, "depth": 9}, {"time": 1.0, "ordering": "none"}]
)
def test_other_searches_have_none(given):
    assert Options("othello", **given).solving_last is None


def test_the_middle_game_of_connect4_is_exact(session, rng):
    rules = connect4.rules()
    for _ in range(5):
        text = connect4.text(random_position(connect4, rules, range(18, 30), rng), rules)
        found, exact = session.search("connect4", text, time=20.0), session.search("connect4", text, exact=True)
        assert (found.score, found.unit, found.proved, found.complete) == (exact.score, "stones", True, True), text
        assert found.meaning == exact.meaning
        assert found.seconds < 20


def test_an_ending_of_othello_is_exact(session, rng):
    rules = othello.rules()
    for _ in range(5):
        text = othello.text(random_position(othello, rules, range(46, 60), rng), rules)
        found, exact = session.search("othello", text, time=20.0), session.search("othello", text, exact=True)
        assert (found.score, found.unit, found.proved) == (exact.score, "discs", True), text


def test_the_solver_is_only_made_where_the_search_may_come_near_the_end(session, rng):
    rules = othello.rules()
    searcher = session.searcher(Options("othello", time=0.05))
    made = []
    for empties in (50, 41, 40, 34):
        position = random_position(othello, rules, (60 - empties,), rng)
        while othello.moves_left(position.state, rules) != empties:  # a pass among the plies leaves one more
            position = random_position(othello, rules, (60 - empties,), rng)
        next(searcher.search([position]))
        made.append(searcher._solver is not None)
    assert made == [False, False, True, True]


def test_what_plays_games_has_the_solver_at_once(session):
    player = SearchPlayer(Options("othello", time=0.05), session.cluster)
    assert player._searcher._solver is not None


def test_every_move_has_its_score(session, rng):
    rules = connect4.rules()
    text = connect4.text(random_position(connect4, rules, (26,), rng), rules)
    found, exact = (
        session.search("connect4", text, all_moves=True, **limit) for limit in ({"time": 20.0}, {"exact": True})
    )
    by_move = [{each["move"]: each["score"] for each in one.moves} for one in (found, exact)]
    assert by_move[0] == by_move[1]


def test_where_the_time_ends_first_the_deepening_answers(session):
    found = session.search("connect4", time=0.2)
    assert (found.move, found.proved, found.complete, found.bound) == ("4", False, True, "exact")
    assert 0.2 <= found.seconds < 0.5
    assert found.meaning.startswith(f"undecided: no win is forced within {found.depth} plies")


def test_what_both_took_is_counted(session):
    found = session.search("connect4", "444444", time=0.2)
    (worker,) = found.per_worker
    assert found.cpu_seconds == pytest.approx(worker["cpu"], rel=0.3)
    assert found.jobs >= 2
    assert found.jobs > worker["jobs"]


def test_a_solver_that_knows_nothing_does_not_replace_a_loss(session):
    searcher = session.searcher(Options("connect4", time=1.0))
    known = {"game": "connect4", "board": "6x7", "position": "", "unit": "stones"}
    lost = Outcome(**known, move="4", score=-2, depth=5)
    nothing = Outcome(**known, move=None, score=None, bound="lower", complete=False)
    assert searcher.solved(lost, nothing, False) is lost
    better = Outcome(**known, move="3", score=1, bound="lower", complete=False)
    assert searcher.solved(lost, better, False) is better


def test_a_checkpoint_is_of_one_search(session):
    searcher = session.searcher(Options("connect4", time=0.1))
    (found,) = searcher.search([connect4.start(searcher.rules)], CheckpointHandle(path="somewhere"))
    assert (found.move, found.proved, found.seconds >= 0.1) == ("4", False, True)
