"""Boards that programs move on, against the plain twins."""

from importlib.metadata import EntryPoint

import pytest

from distsearch import Board, games
from distsearch.api.session import Session
from distsearch.core.errors import UserError
from distsearch.server.exchange import look_message, search_message

from ..games import tictactoe
from ..games.plug_ins import installed
from ..games.replay import twin

SHAPES = [("othello", (4, 4)), ("othello", (8, 8)), ("connect4", (6, 7)), ("2048", (3, 4)), ("2584", (4, 4))]


def size(shape):
    return f"{shape[0]}x{shape[1]}"


def same(name, board, plain, position):
    """Check a Board against a twin's position."""
    kind = plain.kind(position)
    assert (board.over, board.chance_to_move) == (kind == "end", kind == "chance")
    if kind == "chance":
        outcomes = plain.outcomes(position)
        assert board.legal_moves == []
        assert board.outcomes.keys() == {text for text, _ in outcomes}
        assert all(board.outcomes[text] == pytest.approx(float(chance)) for text, chance in outcomes)
    else:
        assert sorted(board.legal_moves) == sorted(plain.moves(position))
        assert board.outcomes == {}
    two = games.find(name).PLAYERS == 2
    assert board.side == (position[1] if two and kind != "end" else None)
    if name == "othello":
        assert board.cells == position[0]
        assert board.position == plain.text(position)


@pytest.mark.parametrize(("name", "shape"), SHAPES, ids=str)
def test_a_random_game_is_that_of_the_twin(name, shape, rng):
    plain, board = twin(name, shape), Board(name, board=size(shape), position=start_of(name, shape))
    position, gone, points = plain.start(), [], 0
    for _ in range(300):
        same(name, board, plain, position)
        moves = plain.moves(position)
        if not moves:
            break
        move = rng.choice(moves)
        gone.append((board.copy(), position, points, move))
        board.push(move)
        position, brought = plain.play(position, move)
        points += brought
        assert board.points == points
    assert board.moves == [move for _, _, _, move in gone]
    assert (board.result is None) == (games.find(name).PLAYERS == 1 or not board.over)
    for before, position, points, move in reversed(gone):
        assert board != before
        assert board.pop() == move
        assert (board, hash(board), board.points, board.moves) == (before, hash(before), points, before.moves)
        same(name, board, plain, position)
    with pytest.raises(UserError, match="no move to take back"):
        board.pop()


def start_of(name, shape):
    """The text of the first position, before chance has done anything."""
    return "startpos" if games.find(name).PLAYERS == 2 else ",".join(["0"] * shape[0] * shape[1]) + " +2"


def test_chance_goes_by_the_seed():
    boards = [Board("2048", seed=seed) for seed in (1, 1, 2)]
    drawn = []
    for board in boards:
        assert not board.chance_to_move and board.moves == []
        for _ in range(20):
            board.push(board.legal_moves[0])
            assert board.chance_to_move
            assert len(board.spawn()) == 1
            assert board.spawn() == []
        drawn.append(board.moves)
    assert drawn[0] == drawn[1] != drawn[2]
    assert boards[0] == boards[1] != boards[2]
    copied = boards[0].copy()
    for each in (copied, boards[0]):
        each.push(each.legal_moves[0])
    assert copied.spawn() == boards[0].spawn()


def test_copies_go_their_own_way():
    board = Board("othello")
    copied = board.copy()
    copied.push("f5")
    assert (board.moves, copied.moves) == ([], ["f5"])
    assert board == Board("othello") != copied
    copied.pop()
    assert board == copied and len({board, copied}) == 1


def test_equal_boards_are_of_the_same_game_size_and_rules():
    others = [Board("othello", board="6x6"), Board("othello", empties="none"), Board("connect4"), "startpos"]
    assert not any(Board("othello") == other for other in others)
    assert Board("othello", empties="none") == Board("othello", rules={"empties": "none"})
    assert Board("othello", "f5d6") != Board("othello", "f5f6")
    assert Board("connect4", "123") == Board("connect4", "321") != Board("connect4", "213")


def test_results_are_words():
    board = Board("connect4", "121212")
    board.push("1")
    assert board.result == "O loses to the opponent's 4th stone"
    assert (board.side, board.legal_moves) == (None, [])
    with pytest.raises(UserError, match="move 1 is not legal here"):
        board.push("1")


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"game": "chess"}, "no game 'chess'"),
        ({"game": "othello", "board": "99x9"}, "board 99x9 is not from"),
        ({"game": "othello", "position": "nonsense"}, "position has 'n' where only"),
        ({"game": "othello", "komi": "7"}, "othello has no rule komi"),
        ({"game": "2048", "seed": -1}, "seed -1 is not a whole number"),
    ],
    ids=str,
)
def test_boards_that_cannot_be(asked, why):
    with pytest.raises(UserError, match=why):
        Board(**asked)


@pytest.mark.parametrize("move", ["a1", "z9", "", "up", "pass"])
def test_moves_that_cannot_be(move):
    board = Board("othello")
    with pytest.raises(UserError):
        board.push(move)
    assert board == Board("othello") and board.moves == []


@pytest.mark.parametrize(("name", "shape"), SHAPES, ids=str)
def test_how_it_is_shown(name, shape):
    board = Board(name, board=size(shape), seed=5)
    assert str(board) == board.text
    assert eval(repr(board), {"Board": Board}) == board
    html = board._repr_html_()
    assert html.startswith("<svg") and html.count("<rect") >= shape[0] * shape[1]


def test_a_game_of_another_package(monkeypatch):
    with installed(monkeypatch, tictactoe=EntryPoint("t", tictactoe.__name__, "")):
        board = Board("tictactoe")
        moves = len(board.legal_moves)
        board.push(board.legal_moves[0])
        assert len(board.legal_moves) == moves - 1 == 8
        assert (board.cells, board._repr_html_()[:5]) == (None, "<pre>")


def test_searches_take_it():
    board = Board("othello", board="4x4", empties="none")
    with Session(table=1, book="none") as session:
        assert session.search("othello", board, exact=True).score == -8
        board.push(board.legal_moves[0])
        found = session.search("othello", board, exact=True)
        assert (found.score, found.position) == (8, board.position)
        assert [
            each.score for each in session.solve("othello", [board, board.position], board="4x4", empties="none")
        ] == [8, 8]
        assert session.perft("othello", 1, board).counts == [1, len(board.legal_moves)]
        with pytest.raises(UserError, match="game connect4 is not that of the Board, othello"):
            session.search("connect4", board)
        with pytest.raises(UserError, match="position 7 is neither a text nor a Board"):
            session.search("othello", 7)


@pytest.mark.parametrize(
    ("rules", "given"),
    [
        ({}, {"board": "6x6"}),
        ({}, {"rules": {"empties": "none"}}),
        ({}, {"empties": "none"}),
        ({"empties": "none"}, {"empties": "winner"}),
        ({"empties": "none"}, {"rules": {}}),
        ({"empties": "none"}, {"rules": {"empties": "winner"}}),
        ({"empties": "none"}, {"rules": {"empties": "none"}, "empties": "winner"}),
    ],
    ids=str,
)
def test_searches_of_other_rules_or_sizes_refuse_it(rules, given):
    board = Board("othello", board="4x4", rules=rules)
    with Session(table=1, book="none") as session:
        for ask in (
            lambda: session.search("othello", board, exact=True, **given),
            lambda: session.perft("othello", 1, board, **given),
            lambda: list(session.solve("othello", [board], **{"board": "4x4", **given})),
            lambda: session.scores("othello", [board], **{"board": "4x4", **given}),
        ):
            with pytest.raises(UserError, match="(is not that|are not those) of the Board"):
                ask()
    with pytest.raises(UserError, match="of the Board"):
        search_message("othello", board, given)
    with pytest.raises(UserError, match="of the Board"):
        look_message("othello", board, given)


@pytest.mark.parametrize(
    ("rules", "given"),
    [
        ({}, {"board": "4X4"}),
        ({}, {"board": "04x4"}),
        ({}, {"rules": {"empties": "winner"}}),
        ({}, {"empties": "winner"}),
        ({"empties": "winner"}, {"rules": {}}),
        ({"empties": "none"}, {"empties": "none"}),
        ({"empties": "none"}, {"rules": {"empties": "winner"}, "empties": "none"}),
    ],
    ids=str,
)
def test_searches_that_say_the_same_in_other_words_take_it(rules, given):
    board = Board("othello", board="4x4", rules=rules)
    score = -8 if rules.get("empties") == "none" else -10
    with Session(table=1, book="none") as session:
        assert session.search("othello", board, exact=True, **given).score == score
        assert session.perft("othello", 1, board, **given).counts == [1, 4]
        assert [each.score for each in session.solve("othello", [board], **{"board": "4x4", **given})] == [score]
        assert session.scores("othello", [board], **{"board": "4x4", **given}).tolist() == [score]
    assert search_message("othello", board, {**given, "depth": 3})["board"] == "4x4"
    assert look_message("othello", board, given)["board"] == "4x4"


def test_boards_of_different_rules_are_not_one_request():
    boards = [Board("othello", empties=rule) for rule in ("winner", "none")] + [Board("othello")]
    for some in (boards, boards[::-1]):
        with pytest.raises(UserError, match="rules .* are not those of the Board"):
            search_message("othello", some, {})
    assert search_message("othello", boards[2], {}).keys() == {"op", "game", "position", "board"}
    assert len(search_message("othello", [boards[0], boards[2]], {})["positions"]) == 2
