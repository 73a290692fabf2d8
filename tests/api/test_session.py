"""Sessions of one process as programs use them: searches of all kinds, streams that are left half-way, errors."""

import gc
from collections import Counter

import pytest

from distsearch.api.result import Outcome
from distsearch.api.session import Session, search
from distsearch.core.errors import UserError
from distsearch.games import connect4

from .solving import HARD, late_lines

SMALL = {"game": "othello", "board": "4x4"}
SCORE = -10  # of its start


@pytest.fixture(scope="module")
def session():
    with Session(table=1, book="none") as session:
        yield session


def test_a_search_of_one_process_needs_no_session():
    found = search("othello", board="4x4", exact=True)
    assert isinstance(found, Outcome)
    assert (found.score, found.proved, found.ranks) == (SCORE, True, 1)


def tree_objects():
    """How many objects of each class of distsearch.tree there are."""
    return Counter(type(each) for each in gc.get_objects() if "distsearch.tree" in str(type(each)))


@pytest.mark.parametrize(
    "limit", [{"exact": True}, {"depth": 4}, {"nodes": 2000}, {"exact": True, "all_moves": True}], ids=str
)
def test_a_search_leaves_no_tree_to_the_garbage_collector(session, limit):
    session.search(**SMALL, **limit)  # what is loaded once stays
    gc.collect()
    before = tree_objects()
    gc.disable()
    try:
        session.search(**SMALL, **limit)
        assert tree_objects() - before == Counter()
    finally:
        gc.enable()


def test_searches_of_all_kinds(session):
    assert session.ranks == 1
    assert session.search(**SMALL, exact=True).score == SCORE
    assert session.search(**SMALL, exact=True, empties="none").score == -8
    assert session.search(**SMALL, exact=True, rules={"empties": "none"}).score == -8
    assert session.search(**SMALL, position="d3", exact=True).score == -SCORE
    assert session.search(**SMALL, exact=True, window=(-1, 1)).bound == "upper"
    assert session.search(**SMALL, depth=3).depth == 3
    assert session.search(**SMALL, time=5.0).proved
    assert session.search(**SMALL, nodes=1000).nodes <= 1000
    assert len(session.search(**SMALL, exact=True, all_moves=True).moves) == 4
    assert session.search(**SMALL, exact=True, algorithm="minimax").score == SCORE


def test_perft(session):
    found = session.perft("othello", 6)
    assert (found.counts, found.complete) == ([1, 4, 12, 56, 244, 1396, 8200], True)
    assert session.perft("othello", 2, "f5").counts == [1, 3, 14]
    assert session.perft("othello", 2, board="6x6").counts == [1, 4, 12]


def test_games_are_played(session, tmp_path):
    found = session.play("2048", 3, "2x2", seed=5, depth=3, record=str(tmp_path / "games"))
    assert (len(found.scores), found.complete, found.seed) == (3, True, 5)
    assert len((tmp_path / "games").read_text().splitlines()) == 3
    assert session.play("2048", 3, "2x2", seed=5, depth=3).scores == found.scores
    assert session.play("2048", 3, "2x2", spawn="4:1", seed=5, nodes=100).scores != found.scores
    with pytest.raises(UserError, match="play needs depth"):
        session.play("2048")
    pairs = 5, ((1, "5"),)
    depths = [{"depth_by_empty": each} for each in pairs]
    for wrong in ({"seed": -1}, {"seed": "1"}, {"games": 1.5}, {"games": 0}, *depths):
        with pytest.raises(UserError, match=f"^{next(iter(wrong)).replace('_', '-')} .* not"):
            session.play("2048", **{"games": 1, "depth": 1, **wrong})


def test_runs_need_no_limit(session):
    (found,) = session.solve("2048", ["2,4,8,16,0,2,4,32,0,0,2,64,0,0,0,128"], algorithm="ida", runs=2)
    assert (found.runs, found.complete) == (2, True)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        *(({"seed": seed}, "seed .* is not a whole number") for seed in (-1, "x", 1.5, None, True)),
        *(({"depth_by_empty": pairs}, "empty .* is not pairs") for pairs in ("2:5", (2, 5), ((2.5, 3),), None)),
    ],
    ids=str,
)
def test_what_makes_no_sense_against_chance(given, why, session):
    for ask in (session.search, session.play):
        with pytest.raises(UserError, match=why):
            ask("2048", board="2x2", depth=1, **given)


@pytest.mark.parametrize("count", ["x", 1.5, "3"])
def test_games_are_counted_in_whole_numbers(count, session):
    with pytest.raises(UserError, match="is not a number of games"):
        session.play("2048", count, "2x2", depth=1)


def test_a_record_may_be_a_path(session, tmp_path):
    session.play("2048", 1, "2x2", depth=1, record=tmp_path / "games")
    with pytest.raises(UserError, match="cannot write .*games: File exists"):
        session.play("2048", 1, "2x2", depth=1, record=tmp_path / "games")


def test_ida_needs_no_limit(session):
    (found,) = session.solve("2048", ["2,2,0,0"], board="2x2", algorithm="ida", runs=2)
    assert found.score == session.search("2048", "2,2,0,0", board="2x2", algorithm="ida", runs=2).score


def test_answers_keep_the_text_that_was_asked(session):
    lines = ["4453222366", "6644532223", "startpos"]
    found = list(session.solve("connect4", lines, depth=1))
    assert [outcome.position for outcome in found] == ["6644532223", "6644532223", "startpos"]
    assert [outcome.asked for outcome in found] == ["4453222366", None, None]
    assert session.search("connect4", lines[0], depth=1).asked == lines[0]


def test_positions_are_solved_in_order(session, rng):
    lines, scores = late_lines(rng, 200)
    found = list(session.solve("connect4", lines))
    assert [outcome.score for outcome in found] == scores
    assert all(outcome.proved and outcome.complete for outcome in found)
    assert [outcome.score for outcome in session.solve("connect4", iter(lines))] == scores
    assert list(session.solve("connect4", [])) == []


@pytest.mark.parametrize("limit", [{"depth": 20}, {"nodes": 10**6}, {"time": 60.0}], ids=str)
def test_positions_may_be_solved_within_limits(limit, session, rng):
    lines, scores = late_lines(rng, 20)
    found = list(session.solve("connect4", lines, **limit))
    assert [outcome.score for outcome in found] == scores


def test_every_move_of_every_position(session):
    first, second = session.solve("othello", ["startpos", "d3"], board="4x4", all_moves=True)
    assert {entry["score"] for entry in first.moves} == {SCORE}
    assert max(entry["score"] for entry in second.moves) == second.score == -SCORE


def test_figures_of_a_position_are_its_own(rng):
    lines, _ = late_lines(rng, 50)
    with Session(table=1) as fresh:
        found = list(fresh.solve("connect4", lines))
    with Session(table=1) as fresh:
        alone = [fresh.search("connect4", line, exact=True) for line in lines]
    assert [outcome.nodes for outcome in found] == [outcome.nodes for outcome in alone]
    assert all(outcome.cpu_seconds > 0 and outcome.jobs == 1 for outcome in found)


# --- generators ---


def test_a_stream_may_be_left_half_way(session, rng):
    lines, scores = late_lines(rng, 30)
    answers = session.solve("connect4", [*lines, HARD])
    assert [next(answers).score for _ in range(10)] == scores[:10]
    answers.close()
    assert session.search(**SMALL, exact=True).score == SCORE
    assert [outcome.score for outcome in session.solve("connect4", lines)] == scores


def test_a_loop_over_answers_may_be_left(session, rng):
    lines, scores = late_lines(rng, 5)
    for outcome in session.solve("connect4", [*lines, HARD]):
        assert outcome.score == scores[0]
        break
    assert session.search("connect4", lines[1], exact=True).score == scores[1]


def test_each_answer_may_lead_to_a_search(session, rng):
    """In the same session, while the stream goes on."""
    lines, scores = late_lines(rng, 20)
    answers = zip(session.solve("connect4", lines), lines, scores, strict=True)
    for outcome, line, score in answers:
        assert outcome.score == score
        assert session.search("connect4", line, exact=True).score == score


def test_nothing_is_done_before_the_first_answer_is_wanted(session):
    session.solve("chess", ["e4"])
    lines = iter(["4453"])
    session.solve("connect4", lines)
    assert next(lines) == "4453"


def test_a_stream_does_not_outlive_its_session(rng):
    lines, scores = late_lines(rng, 3)
    with Session(table=1, book="none") as session:
        answers = session.solve("connect4", [*lines, HARD])
        assert next(answers).score == scores[0]
    with pytest.raises(UserError, match="closed"):
        list(answers)
    assert list(answers) == []


# --- errors ---


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"game": "chess"}, "chess"),
        ({"game": "othello", "board": "3x3"}, "3x3"),
        ({"game": "othello", "board": "large"}, "large"),
        ({"game": "othello", "position": "nowhere"}, "position"),
        ({"game": "connect4", "position": "8"}, "column"),
        ({"game": "connect4", "empties": "none"}, "empties"),
        ({"game": "othello", "empties": "loser"}, "loser"),
        ({"game": "othello", "depth": 0}, "depth"),
        ({"game": "othello", "time": float("nan")}, "time"),
        ({"game": "othello", "nodes": -1}, "nodes"),
        ({"game": "othello", "exact": True, "depth": 3}, "exact"),
        ({"game": "othello", "depth": 3, "window": (-1, 1)}, "window"),
        ({"game": "othello", "depth": 3, "algorithm": "guess"}, "guess"),
        ({"game": "othello", "depth": 3, "evaluation": "best"}, "best"),
        ({"game": "othello", "depth": 3, "load_factor": 0}, "load"),
        ({"game": "othello", "depth": 3, "prefetch": 0}, "prefetch"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_and_the_session_goes_on(asked, named, session):
    with pytest.raises(UserError, match=named):
        session.search(**asked)
    if "position" not in asked:
        with pytest.raises(UserError, match=named):
            list(session.solve(asked.pop("game"), ["startpos"], **asked))
    assert session.search(**SMALL, exact=True).score == SCORE


def test_perft_of_too_many_plies_is_refused(session):
    with pytest.raises(UserError, match="depth 33"):
        session.perft("othello", 33)


def test_a_line_that_is_no_position_is_refused(session, rng):
    lines, scores = late_lines(rng, 3)
    with pytest.raises(UserError, match="column"):
        list(session.solve("connect4", [*lines, "9", *lines]))
    assert [outcome.score for outcome in session.solve("connect4", lines)] == scores


def test_an_error_of_whoever_gives_the_lines_is_theirs(session):
    def lines():
        yield "4453"
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        list(session.solve("connect4", lines()))
    assert session.search(**SMALL, exact=True).score == SCORE


# --- beginning and end ---


def test_a_session_is_entered_before_it_searches():
    session = Session(table=1)
    for ask in (
        lambda: session.search(**SMALL),
        lambda: list(session.solve("connect4", [""])),
        lambda: session.perft("othello", 2),
    ):
        with pytest.raises(UserError, match="not open"):
            ask()
    with session:
        assert session.search(**SMALL, exact=True).score == SCORE
    with pytest.raises(UserError, match="not open"):
        session.search(**SMALL)


def test_a_session_may_be_used_again_and_closed_more_than_once():
    session = Session(table=2)
    for _ in range(2):
        with session:
            assert session.table_mib == 2
            assert session.search(**SMALL, exact=True).score == SCORE
            session.close()
            session.close()
        assert session.table_mib == 0


def test_a_session_may_do_without_a_table():
    with Session(table=0) as session:
        assert session.table_mib == 0
        assert session.search(**SMALL, exact=True, algorithm="minimax").score == SCORE


def test_an_error_within_closes_it():
    with pytest.raises(RuntimeError, match="mine"), Session(table=1) as session:
        raise RuntimeError("mine")
    assert session.cluster is None


def test_after_an_interrupt_answers_still_have_their_own_text(rng):
    lines, _ = late_lines(rng, 40)
    ended = []
    with Session(table=1, interrupted=lambda: bool(ended), book="none") as session:
        found = session.solve("connect4", [*lines[:20], "startpos", *lines[20:]])
        answers = [next(found)]
        ended.append(True)
        answers += found
    rules = connect4.rules()
    texts = [connect4.text(connect4.parse(each.asked or each.position, rules), rules) for each in answers]
    assert texts == [each.position for each in answers]


def test_interrupted_searches_end_with_what_they_know():
    with Session(table=1, interrupted=lambda: True, book="none") as session:
        found = session.search("othello", exact=True)
        assert (found.complete, found.proved) == (False, False)
        assert found.move
        assert not session.perft("othello", 12).complete
        assert [outcome.complete for outcome in session.solve("connect4", [HARD] * 3)] == [False]


def test_what_ends_the_block_is_told_and_not_what_closing_says_then():
    def fail():
        raise RuntimeError("while closing")

    with pytest.raises(RuntimeError, match="in the block") as raised, Session() as session:
        session.cluster.close = fail
        raise RuntimeError("in the block")
    assert raised.value.__context__ is None


def test_a_failure_to_close_is_told():
    def fail():
        raise RuntimeError("while closing")

    with pytest.raises(RuntimeError, match="while closing"), Session() as session:
        session.cluster.close = fail
