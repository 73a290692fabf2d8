"""Books that grow by searches: what is in them, goes on after an interrupt, is checked, and answers."""

import hashlib
import io
import json
import os

import numpy as np
import pytest

from distsearch.api import book_growth
from distsearch.api.book import WITHOUT, BookAnswers, opened
from distsearch.api.book_growth import check_grown, grow
from distsearch.api.book_maker import SUFFIX
from distsearch.api.options import Options, resolve
from distsearch.api.progress import Progress
from distsearch.api.rank_searches import RankSearches, RankSearchRunner, setup_of
from distsearch.api.session import Session
from distsearch.books.book import Content, load, save
from distsearch.books.solved_log import SolvedLog
from distsearch.core.errors import UserError
from distsearch.evaluation import find
from distsearch.games import connect4, othello
from distsearch.games.interface import Position, as_state, legal_moves

from ..cli.asking import without_news

BY_DEPTH = Options("othello", (4, 4), depth=3)
BY_NODES = Options("connect4", (4, 4), nodes=300)
RULES = othello.rules((4, 4))
POSITIONS = 200


@pytest.fixture(scope="module")
def plain():
    with Session(table=1, book=WITHOUT) as session:
        yield session


@pytest.fixture(scope="module", params=[BY_DEPTH, BY_NODES], ids=["depth", "nodes"])
def options(request):
    return request.param


@pytest.fixture(scope="module")
def path(options, plain, tmp_path_factory):
    """The file of a book."""
    path = str(tmp_path_factory.mktemp("book") / "book.npz")
    report = grow(plain, options, path, POSITIONS)
    total = sum(row["positions"] for row in report.plies)
    assert POSITIONS <= report.solved == total < POSITIONS + 12
    assert report.to_text().endswith(f"  {total:,} positions, {total:,} of them searched, 0 wrong")
    return path


@pytest.fixture(scope="module")
def of_depth(plain, tmp_path_factory):
    """The file of a book of searches to a depth."""
    path = str(tmp_path_factory.mktemp("book") / "depth.npz")
    grow(plain, BY_DEPTH, path, POSITIONS)
    return path


def rows_of(path):
    entries = load(path).entries
    return list(zip(*(entries[name].tolist() for name in ("key", "score", "depth")), strict=True))


# --- the searches ---


def expected(plain, options, state, bound):
    """The score of a session's search, as searches to a depth have it, and what it is of."""
    limits = {"nodes": options.nodes} if options.nodes else {"depth": options.depth}
    text = othello.text if options.game == "othello" else connect4.text
    rules = RULES if options.game == "othello" else connect4.rules((4, 4))
    found = plain.search(options.game, text(Position(state), rules), board="4x4", **limits)
    return int(found.score) + (int(np.sign(found.score)) * bound if found.proved else 0), found


@pytest.mark.parametrize("limits", [{"depth": 3}, {"nodes": 300}, {"time": 0.02}, {"depth": 60}], ids=str)
def test_a_runner_finds_what_a_session_finds(plain, limits, rng):
    options = Options("othello", (4, 4), **limits)
    runner, states = RankSearchRunner(setup_of(options)), []
    position = othello.start(RULES)
    while moves := legal_moves(othello, position, RULES):
        states.append(position.state)
        position = Position(as_state(othello.play(position.state, RULES, rng.choice(moves))[0]))
    found = {}
    source = RankSearches(np.array(states, np.uint64), lambda numbers, rows: found.update(zip(numbers, rows)))  # noqa: B905
    while not source.done:
        for job in source.take(2, 1):
            runner.begin(job)
            while not runner.advance(1000):
                pass
            source.finish(runner.result(0.0, 0.0))
    assert sorted(found) == list(range(len(states)))
    for number, state in enumerate(states):
        assert found[number]["move"] in legal_moves(othello, Position(state), RULES)
        if "time" not in limits:
            score, outcome = expected(plain, options, state, bound=100)
            assert found[number]["score"] == score
            assert found[number]["depth"] == outcome.depth


def test_a_search_that_is_stopped_is_done_by_another_worker():
    setup = setup_of(Options("othello", (8, 8), time=30.0, selective=1, evaluation="complex"))
    states, taken = np.array([othello.start(othello.rules()).state], np.uint64), []
    source, runner = RankSearches(states, lambda *each: taken.append(each)), RankSearchRunner(setup)
    runner.begin(source.take(1, 1)[0])
    assert not runner.advance(1000)
    record = runner.result(0.0, 0.0)
    assert not record["complete"][0]
    source.finish(record)
    assert (taken, source.done, source.waiting) == ([], False, 0)
    other = RankSearches(states, lambda *each: taken.append(each))
    other.take(1, 7)
    other.lost(7)
    assert other.waiting == 1


# --- making and checking ---


def test_leaves_have_the_scores_of_searches_and_others_follow(path, options, plain):
    book = opened(path, options)
    bound = 100 if options.game == "othello" else 0
    leaves = 0
    for level in book_growth._levels(book):
        for state, index, expanded in zip(level.states, level.index, level.expanded, strict=True):
            if expanded:
                moves = book.moves(as_state(state))
                assert book.score(int(index)) == max(score for _, score in moves)
            elif leaves < 25:
                leaves += 1
                score, found = expected(plain, options, as_state(state), bound)
                assert (book.score(int(index)), book.depth(int(index))) == (score, found.depth)
    assert leaves == 25


def test_a_check_finds_nothing_wrong(path, options, plain):
    report = check_grown(plain, options, opened(path, options), 20, seed=1)
    assert (report.wrong, report.solved) == (0, 20)
    assert sum(row["positions"] for row in report.plies) == len(load(path).entries["key"])
    assert all(row["positions"] == row["expanded"] + row["leaves"] for row in report.plies)
    assert json.loads(report.to_json())["searched"] == load(path).searched


@pytest.mark.parametrize("what", ["score", "move", "depth"])
@pytest.mark.parametrize("leaf", [False, True])
def test_a_wrong_entry_is_found(path, options, plain, tmp_path, what, leaf):
    book = opened(path, options)
    level = list(book_growth._levels(book))[-2 if leaf else 2]
    index = level.index[level.expanded != leaf][0]
    entries = {name: np.array(array) for name, array in book.entries.items()}
    entries[what][index] += 1 if what != "move" else 50
    save(str(tmp_path / "wrong"), load(path)._replace(entries=entries))
    assert check_grown(plain, options, opened(str(tmp_path / "wrong"), options), 1000, seed=0).wrong >= 1


def test_a_position_that_nothing_leads_to_is_found(path, options, plain, tmp_path):
    content = load(path)
    rows = {name: np.append(array, array[-1:]) for name, array in content.entries.items()}
    rows["key"][-1] += np.uint64(1)
    save(str(tmp_path / "more"), content._replace(entries=rows))
    assert check_grown(plain, options, opened(str(tmp_path / "more"), options), 1, seed=0).wrong == 1


def test_leaves_are_not_searched_again_under_a_limit_of_time(plain, tmp_path):
    options, path = Options("othello", (4, 4), time=0.005), str(tmp_path / "book")
    grow(plain, options, path, 20)
    report = check_grown(plain, options, opened(path, options), 20, seed=0)
    assert (report.solved, report.wrong) == (0, 0)


def test_a_book_is_gone_on_with_after_an_interrupt(path, options, tmp_path, monkeypatch):
    asked, append = [], book_growth.SolvedLog.append
    monkeypatch.setattr(book_growth.SolvedLog, "append", lambda log, *found: asked.append(append(log, *found)))
    new = str(tmp_path / "book")
    with Session(table=1, book=WITHOUT, interrupted=lambda: len(asked) >= 60) as session:
        assert grow(session, options, new, POSITIONS) is None
        assert not (tmp_path / "book").exists()
        log = tmp_path / f"book{SUFFIX}"
        so_far = len(log.read_text().splitlines()) - 1
        assert 60 <= so_far < POSITIONS
        log.write_bytes(log.read_bytes()[:-3])  # a kill in the middle of a line
        session.interrupted = lambda: False
        assert grow(session, options, new, POSITIONS).solved == len(load(path).entries["key"]) - so_far + 1
    assert not log.exists()
    assert rows_of(new) == rows_of(path)


def test_a_log_serves_a_larger_book(of_depth, plain, tmp_path, monkeypatch):
    small, large = str(tmp_path / "small"), str(tmp_path / "large")
    monkeypatch.setattr(book_growth.os, "unlink", lambda path: os.rename(path, large + SUFFIX))
    first = grow(plain, BY_DEPTH, small, 60).solved
    monkeypatch.undo()
    assert 60 <= first < 72
    assert grow(plain, BY_DEPTH, large, POSITIONS).solved < len(load(of_depth).entries["key"])
    assert rows_of(large) == rows_of(of_depth)


def test_a_small_game_becomes_a_whole_book(plain, tmp_path):
    options, path = Options("connect4", (2, 2), depth=2), str(tmp_path / "book")
    report = grow(plain, options, path, 1000)
    assert sum(row["leaves"] for row in report.plies) == 0
    assert check_grown(plain, options, opened(path, options), 10, seed=0).wrong == 0


def test_what_cannot_be_grown_is_refused(plain, of_depth, tmp_path):
    new = str(tmp_path / "book")
    with pytest.raises(UserError, match="exists"):
        grow(plain, BY_DEPTH, of_depth, 10)
    with pytest.raises(UserError, match="positions 0"):
        grow(plain, BY_DEPTH, new, 0)
    with pytest.raises(UserError, match="games of two players"):
        grow(plain, Options("2048", depth=3), new, 10)
    with pytest.raises(UserError, match="cannot write"):
        grow(plain, BY_DEPTH, str(tmp_path / "missing" / "book"), 10)
    (tmp_path / f"book{SUFFIX}").write_text('{"game": "othello"}\n')
    with pytest.raises(UserError, match="of another book"):
        grow(plain, BY_DEPTH, new, 10)


# --- answers ---


def answers(path, session, every=False, **asked):
    options = resolve("othello", "4x4", **asked)[0]
    return BookAnswers(opened(path, options), options, session.cluster, every)


def test_an_expanded_position_answers_searches_by_time(of_depth, plain):
    start = othello.start(RULES)
    found = answers(of_depth, plain, time=9.0, all_moves=True).outcome(start)
    book = opened(of_depth, BY_DEPTH)
    assert (found.nodes, found.book, found.proved, found.unit) == (0, "depth.npz", False, "evaluation")
    assert found.score == max(each["score"] for each in found.moves) == book.score(book.find(start.state))
    assert found.depth == book.depth(book.find(start.state)) > 3
    assert len(found.pv) > 1
    assert f"depth.npz has it, {found.depth} plies deep" in found.to_text()


def test_a_leaf_answers_where_a_search_would_not_see_more(of_depth, plain, tmp_path):
    content, book = load(of_depth), opened(of_depth, BY_DEPTH)
    level = list(book_growth._levels(book))[-1]
    leaf = Position(as_state(level.states[~level.expanded][0]))
    assert answers(of_depth, plain, time=0.001).outcome(leaf) is None
    timed = str(tmp_path / "timed")
    save(timed, content._replace(searched={"evaluation": "complex", "time": 0.5}))
    assert answers(timed, plain, time=0.5).outcome(leaf).nodes == 0
    assert answers(timed, plain, time=0.6).outcome(leaf) is None
    assert answers(timed, plain).outcome(leaf) is None  # 5 seconds
    assert answers(timed, plain, every=True).outcome(leaf).nodes == 0


def test_a_position_answers_for_the_time_of_all_searches_from_there_on(of_depth, plain, tmp_path):
    content, book, start = load(of_depth), opened(of_depth, BY_DEPTH), othello.start(RULES)
    count = len(book.entries["key"])
    assert [book.count_from(start.state, enough) for enough in (1, 7, 10**6)] == [1, 7, count]
    timed = str(tmp_path / "timed")
    save(timed, content._replace(searched={"evaluation": "complex", "time": 0.5}))
    assert answers(timed, plain, time=0.5 * count).outcome(start).nodes == 0
    assert answers(timed, plain, time=0.5 * count + 0.1).outcome(start) is None


def test_other_questions_are_searched(of_depth, plain):
    for asked in ({"exact": True}, {"depth": 4}, {"nodes": 100}, {"evaluation": "discs"}):
        assert not answers(of_depth, plain, **asked)
    with Session(table=1, book=of_depth) as session:
        assert session.search("othello", board="4x4", exact=True).nodes > 0
        assert session.search("othello", board="4x4", time=0.1).nodes == 0


def test_a_book_keeps_what_stands_for_the_weights_of_its_evaluation(of_depth):
    used = find(othello, "complex", RULES)
    digest = hashlib.sha256(f"{used.bound} ".encode() + used.tables.tobytes()).hexdigest()
    assert load(of_depth).weights == digest[:32]


@pytest.mark.parametrize("weights", ["0" * 32, None])
def test_a_book_of_other_weights_does_not_answer(weights, of_depth, tmp_path):
    other, told = str(tmp_path / "other"), io.StringIO()
    save(other, load(of_depth)._replace(weights=weights))
    with Session(table=1, book=other, progress=Progress(told)) as session:
        for _ in range(2):
            assert session.search("othello", board="4x4", time=0.1).nodes > 0
        assert session.search("othello", board="4x4", time=0.1, evaluation="discs").nodes > 0
    said = "the book other is not used: its scores are by other weights of complex\n"
    assert without_news(told.getvalue()) == said
    with pytest.raises(UserError, match="book other is not used: .*other weights of complex; make it again"):
        opened(other, BY_DEPTH)


def test_what_was_searched_by_other_weights_is_not_gone_on_with(of_depth, plain, tmp_path):
    content = load(of_depth)
    for weights in ("other", content.weights):
        path = str(tmp_path / f"of {weights}")
        of = {**content.heading, "searched": content.searched, "weights": weights}
        with SolvedLog(path + SUFFIX, of, ("score", "move", "depth")):
            pass
        if weights == "other":
            with pytest.raises(UserError, match="is of another book"):
                grow(plain, BY_DEPTH, path, 20)
        else:
            assert grow(plain, BY_DEPTH, path, 20).wrong == 0


def test_a_score_says_what_it_means(plain, tmp_path):
    options, path = Options("othello", (6, 6), depth=1), str(tmp_path / "book")
    grow(plain, options, path, 3)
    with Session(table=1, book=path) as session:
        found = session.search("othello", board="6x6", time=1.0)
    assert found.meaning == f"{found.score / 100:+.1f} discs expected"
    entries = {name: np.array(array) for name, array in load(path).entries.items()}
    entries["score"][:] = 6410  # what a search makes of a win by ten
    save(str(tmp_path / "won"), load(path)._replace(entries=entries))
    with Session(table=1, book=str(tmp_path / "won")) as session:
        assert session.search("othello", board="6x6", time=1.0).meaning == "wins"


def test_a_file_without_an_evaluation_is_refused(of_depth, tmp_path):
    content = load(of_depth)
    save(str(tmp_path / "none"), Content(content.heading, content.plies, content.entries, {"time": 1}))
    with pytest.raises(UserError, match="another version"):
        load(str(tmp_path / "none"))
