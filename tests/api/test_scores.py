"""Scores as an array are those of the lines one by one, in every form in which positions may be given."""

import numpy as np
import pytest

from distsearch.api.session import Session
from distsearch.core.errors import UserError
from distsearch.games import connect4, othello
from distsearch.games.interface import legal_moves, step

from .solving import HARD, RULES, late_lines


@pytest.fixture(scope="module")
def session():
    with Session(table=1, book="none") as session:
        yield session


def test_every_form_of_positions(session, rng):
    lines, scores = late_lines(rng, 300)
    content = "\n".join(lines).encode()
    states = np.array([connect4.parse(line, RULES).state for line in lines])
    forms = [lines, iter(lines), np.array(lines), np.array(lines, "S"), content, content + b"\n", bytearray(content)]
    spread = np.zeros(2 * len(content), np.uint8)
    spread[::2] = list(content)
    forms += [memoryview(content), np.frombuffer(content, np.uint8), spread[::2], memoryview(spread)[::2]]
    for form in [*forms, states, np.repeat(states, 2, axis=0)[::2], np.asfortranarray(states)]:
        found = session.scores("connect4", form)
        assert (found.dtype, found.tolist()) == (np.float64, scores)


def test_bytes_are_a_file_of_positions(session, rng):
    (first, second), scores = late_lines(rng, 2)
    content = f"% two\r\n\r\n{first} 99\r\n \n{second} ; the second\n% the end".encode()
    found = session.scores("connect4", content)
    assert np.isnan(found).tolist() == [True, True, False, True, False, True]
    assert found[[2, 4]].tolist() == scores


@pytest.mark.parametrize("form", [[], b"", np.zeros((0, 2), np.uint64)], ids=["texts", "bytes", "states"])
def test_no_positions(form, session):
    assert session.scores("connect4", form).shape == (0,)


@pytest.mark.parametrize(
    ("positions", "complaint"),
    [
        (["44", "49"], "position 2: move '9'"),
        (["44", "% a comment"], "position 2"),
        (["44 1"], "position 1"),
        ("44\n\n49\n", "line 3"),
        (b"44\n\n49\n", "line 3: move '9'"),
        (np.zeros((3, 3), np.uint64), r"shape \(n, 2\)"),
        (np.zeros(3, np.uint64), r"shape \(n, 2\)"),
    ],
    ids=repr,
)
def test_what_is_no_position(positions, complaint, session):
    with pytest.raises(UserError, match=complaint):
        session.scores("connect4", positions, depth=2)
    assert session.scores("connect4", ["44"], depth=2).shape == (1,)


@pytest.mark.parametrize(
    ("game", "lines", "options"),
    [
        ("connect4", ["1212", "startpos", "", "1"], {"board": "4x4", "window": (-1, 1)}),
        ("connect4", ["1212121", "121212"], {"depth": 3}),
        ("othello", ["startpos", "d3", "d3d2"], {"board": "4x4"}),
        ("othello", ["startpos", "d3", "d3d2"], {"board": "4x4", "nodes": 300}),
        ("2048", ["2,0,0,0,0,0,0,0,0,0,4,0,0,0,0,0", "2,4,8,16,0,2,4,32,0,0,2,64,0,0,0,128"], {"depth": 1}),
        ("2584", ["1,3,8,21,0,2,5,34,0,0,1,55,0,0,0,89"], {"depth": 1}),
    ],
    ids=lambda each: str(each)[:20],
)
def test_they_are_those_of_solve(game, lines, options, session):
    if game[0] == "2":
        options = {**options, "evaluation": "rows"}
    expected = [outcome.score for outcome in session.solve(game, lines, **options)]
    assert session.scores(game, lines, **options).tolist() == expected


def ends_of_games(game, rules, rng, games=12):
    """The last positions of random games as lines, ended ones among them, and the scores of those that are ended."""
    lines, scores = [], []
    for _ in range(games):
        position, played = game.parse("startpos", rules), []
        while moves := legal_moves(game, position, rules):
            played.append(position)
            position = step(game, position, rules, rng.choice(moves))
        lines += [game.text(each, rules) for each in (*played[-3:], position)]
        scores += [None] * len(played[-3:]) + [game.final(position.state, rules)]
    return lines, scores


@pytest.mark.parametrize(
    "limit",
    [{}, {"depth": 1}, {"depth": 2}, {"depth": 2, "all_moves": True}, {"nodes": 50}, {"window": (-2, 2)}],
    ids=str,
)
@pytest.mark.parametrize(("game", "board"), [(connect4, "4x4"), (connect4, "6x7"), (othello, "4x4"), (othello, "8x8")])
def test_they_are_those_of_solve_up_to_the_end_of_the_game(game, board, limit, session, rng):
    rules = game.rules(tuple(map(int, board.split("x"))))
    lines, ended = ends_of_games(game, rules, rng)
    solved = [outcome.score for outcome in session.solve(game.NAME, lines, board=board, **limit)]
    assert [score for score, end in zip(solved, ended) if end is not None] == [end for end in ended if end is not None]
    assert session.scores(game.NAME, lines, board=board, **limit).tolist() == solved


def test_an_interrupt_leaves_what_is_unanswered_without_a_score(rng):
    lines, scores = late_lines(rng, 5)
    looks = iter(range(50))
    with Session(table=1, book="none", interrupted=lambda: next(looks, None) is None) as session:
        found = session.scores("connect4", [*lines, HARD, *lines])
    assert found[:5].tolist() == scores
    assert np.isnan(found[5])


def test_a_solved_position_has_all_fields_of_one_that_is_searched(session, rng):
    lines, scores = late_lines(rng, 40)
    for line, score, found in zip(lines, scores, session.solve("connect4", lines), strict=True):
        alone = session.search("connect4", line, exact=True)
        assert found.to_dict().keys() == alone.to_dict().keys()
        same = "game", "board", "position", "score", "unit", "meaning", "bound", "proved", "complete", "depth", "asked"
        assert [getattr(found, name) for name in same] == [getattr(alone, name) for name in same]
        assert (found.score, found.move) == (score, found.pv[0])
