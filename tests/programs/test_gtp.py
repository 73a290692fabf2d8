"""The Go Text Protocol: sessions as the specification has them, and moves as good as those of a search."""

import re

import pytest

import distsearch
from distsearch.games import othello
from distsearch.games.interface import legal_moves
from distsearch.programs.gtp import Gtp, Stopped

from ..cli.asking import PASS
from ..games.othello_twin import OthelloTwin

RULES = othello.rules()
SMALL = "boardsize 4"


def answers(gtp, *lines):
    """The responses to lines, None for those that have none."""
    return [gtp.answer(line) for line in lines]


def said(response):
    """What a response that tells of success says."""
    found = re.fullmatch(r"= ?(.*?)\n\n", response, re.DOTALL)
    assert found, response
    return found[1]


def squares(transcript):
    return re.findall("[a-h][1-8]", transcript)


@pytest.fixture
def gtp(engine):
    return Gtp(engine(depth=2))


def test_who_is_there(gtp):
    assert answers(gtp, "protocol_version", "1 name", "02 version", "list_games") == [
        "= 2\n\n",
        "=1 distsearch\n\n",
        f"=02 {distsearch.__version__}\n\n",
        "= Othello\n\n",
    ]


def test_every_command_that_is_listed_is_known(gtp):
    names = said(gtp.answer("list_commands")).splitlines()
    required = "protocol_version name version known_command list_commands quit boardsize clear_board komi play genmove"
    assert set(required.split()) | {"undo", "time_settings", "time_left", "reg_genmove", "showboard"} <= set(names)
    assert {said(gtp.answer(f"known_command {name}")) for name in names} == {"true"}
    assert said(gtp.answer("known_command loadsgf")) == "false"


def test_lines_are_cleaned_before_they_are_read(gtp):
    assert answers(gtp, "", "  \t ", "# 1 name", "\x07") == [None] * 4
    lines = ["7\tname # mine", "\x007 na\x01me\r", "  7   name  "]
    assert answers(gtp, *lines) == ["=7 distsearch\n\n"] * 3


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("fly", "unknown command"),
        ("12", "unknown command"),
        ("GENMOVE b", "unknown command"),
        ("boardsize", "syntax error"),
        ("boardsize x", "syntax error"),
        ("boardsize 3", "unacceptable size"),
        ("boardsize 19", "unacceptable size"),
        ("komi much", "syntax error"),
        ("komi nan", "syntax error"),
        ("play", "syntax error"),
        ("play b", "syntax error"),
        ("play red d3", "syntax error"),
        ("play b a1", "illegal move"),
        ("play b i9", "illegal move"),
        ("play b pass", "illegal move"),
        ("play w d3", "illegal move"),
        ("genmove", "syntax error"),
        ("genmove green", "syntax error"),
        ("genmove w", "illegal move"),
        ("reg_genmove w", "illegal move"),
        ("undo", "cannot undo"),
        ("time_settings 1 2", "syntax error"),
        ("time_settings 1 -2 3", "syntax error"),
        ("time_left b 1", "syntax error"),
        ("final_score", "the game is not over"),
        ("set_game Go", "unsupported game"),
    ],
)
def test_what_makes_no_sense_fails_and_changes_nothing(gtp, line, reason):
    assert gtp.answer(f"5 {line}") == f"?5 {reason}\n\n"
    assert said(gtp.answer("showboard")).endswith("X to move")
    assert said(gtp.answer("play b d3")) == ""


def test_a_game_is_followed_and_taken_back(gtp):
    moves = squares("f5d6c3d3c4")
    for number, move in enumerate(moves):
        assert said(gtp.answer(f"play {'bw'[number % 2]} {move.upper()}")) == ""
        assert gtp._engine.position == othello.parse("".join(moves[: number + 1]), RULES)
    for number in reversed(range(len(moves))):
        assert said(gtp.answer("undo")) == ""
        assert gtp._engine.position == othello.parse("".join(moves[:number]) or "startpos", RULES)
    assert gtp.answer("undo") == "? cannot undo\n\n"


def test_the_board_is_shown(gtp):
    gtp.answer(SMALL)
    assert gtp.answer("showboard") == "= \n  a b c d\n1 - - - -\n2 - O X -\n3 - X O -\n4 - - - -\nX to move\n\n"


def test_a_side_without_a_move_passes_by_itself_or_is_told_to(gtp):
    gtp.answer(SMALL)
    for number, move in enumerate(squares(PASS)):
        assert said(gtp.answer(f"play {'bw'[number % 2]} {move}")) == ""
    stuck = gtp._engine.position
    assert said(gtp.answer("reg_genmove b")) == "pass"
    move = said(gtp.answer("genmove w"))
    assert move != "pass"
    after = gtp._engine.position
    assert said(gtp.answer("undo")) == ""
    assert gtp._engine.position == stuck
    assert answers(gtp, "play black pass", f"play white {move}") == ["=\n\n"] * 2
    assert gtp._engine.position == after


def test_whole_games_are_legal_and_scored(gtp, rng):
    gtp.answer(SMALL)
    twin = OthelloTwin(4, 4)
    plain, over = twin.start(), []
    while len(over) < 2:
        color = "bw"[plain[1] == "O"]
        options = twin.moves(plain)
        if options and rng.random() < 0.3:
            move = rng.choice(options)
            assert said(gtp.answer(f"play {color} {move}")) == ""
        else:
            move = said(gtp.answer(f"genmove {color}"))
        if not options:
            assert move == "pass"
            over.append(color)
            plain = plain[0], "XO"[plain[1] == "X"]
            continue
        assert move in options
        plain, _ = twin.play(plain, move)
    score = twin.final(plain)
    winner = "BW"[(plain[1] == "O") ^ (score < 0)]
    assert said(gtp.answer("final_score")) == (f"{winner}+{abs(score)}" if score else "0")


def test_a_new_game_begins_where_it_is_asked_for(gtp):
    assert answers(gtp, SMALL, "play b b1", "clear_board") == ["=\n\n"] * 3
    assert gtp._engine.position == othello.start(othello.rules((4, 4)))
    assert gtp.answer("undo") == "? cannot undo\n\n"
    assert answers(gtp, "boardsize 8", "komi 6.5", "set_game Othello", "play b f5") == ["=\n\n"] * 4
    assert gtp._engine.position == othello.parse("f5", RULES)


def test_exact_moves_are_best_ones(engine, session, rng):
    gtp = Gtp(engine(exact=True))
    gtp.answer(SMALL)
    rules = othello.rules((4, 4))
    for _ in range(12):
        position = gtp._engine.position
        if not legal_moves(othello, position, rules):
            break
        text, color = othello.text(position, rules), "bw"[position.side]
        found = session.search("othello", text, board="4x4", exact=True, all_moves=True)
        scores = {each["move"]: each["score"] for each in found.moves}
        assert scores[said(gtp.answer(f"reg_genmove {color}"))] == found.score
        assert gtp._engine.position == position
        assert said(gtp.answer(f"play {color} {rng.choice(sorted(scores))}")) == ""


@pytest.mark.parametrize(
    ("settings", "left", "seconds"),
    [
        ("0 0 0", None, (0, 0.1)),  # no time at all
        ("315576000 0 0", None, None),
        ("60 30 0", None, None),
        ("900 0 0", None, (20, 60)),
        ("900 0 0", "60 0", (1, 4)),
        ("0 30 5", None, (5, 6)),
        ("900 30 5", "12 3", (3, 4)),
        (None, "12 3", None),
    ],
)
def test_clocks_say_how_long_a_move_may_take(gtp, monkeypatch, settings, left, seconds):
    asked = []

    def search(position, depth=None, seconds=None):
        asked.append(seconds)

    monkeypatch.setattr(gtp._engine, "search", search)
    if settings:
        assert said(gtp.answer(f"time_settings {settings}")) == ""
    if left:
        assert said(gtp.answer(f"time_left b {left}")) == ""
    with pytest.raises(Stopped):
        gtp.answer("genmove b")
    assert asked == [None] if seconds is None else seconds[0] <= asked[0] <= seconds[1]


def test_a_move_takes_no_longer_than_it_may(engine):
    gtp = Gtp(engine())
    gtp.answer("time_settings 9 0 0")
    assert said(gtp.answer("genmove b")) in ("d3", "c4", "f5", "e6")
    clock = gtp._clocks[0]
    assert 7 < clock.left < 9
    assert gtp._clocks[1].left == 9
    assert clock.moves == 1


def test_a_search_that_has_to_stop_leaves_no_response(engine):
    gtp = Gtp(engine(depth=40, stops=lambda: True))
    with pytest.raises(Stopped):
        gtp.answer("genmove b")
    assert gtp._engine.earlier == []


def test_quit_ends_it(gtp):
    assert not gtp.ended
    assert gtp.answer("3 quit") == "=3\n\n"
    assert gtp.ended


def test_any_line_has_a_response_or_none(gtp, rng):
    words = [
        "play",
        "b",
        "w",
        "d3",
        "pass",
        "genmove",
        "boardsize",
        "4",
        "8",
        "undo",
        "#",
        "time_left",
        "-1",
        "é",
        "99",
    ]
    for _ in range(300):
        line = " ".join(rng.choices(words, k=rng.randrange(5)))
        response = gtp.answer(line)
        assert response is None or re.fullmatch(r"[=?][0-9]*( [^\n]+)?\n\n", response), line
