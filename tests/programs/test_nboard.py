"""NBoard's protocol: sessions as its description has them, with scores that a search confirms."""

import re

import pytest

from distsearch.games import othello
from distsearch.programs.nboard import NBoard, ends_search

from ..cli.asking import PASS, START

RULES, SMALL_RULES = othello.rules(), othello.rules((4, 4))
START_8 = "8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *"
START_4 = "4 ---- -O*- -*O- ---- *"
LINE = r"search (\S+) (-?[0-9]+\.[0-9]+) 0 (\S+)"


def ggf(transcript="", board=START_8, time=None, seconds=""):
    """A game in GGF; passes are left out."""
    moves, clock = re.findall("[a-h][1-8]", transcript), f"TI[{time}]" if time else ""
    played = "".join(f"{'BW'[i % 2]}[{move.upper()}{seconds}]" for i, move in enumerate(moves))
    return f"(;GM[Othello]PC[here]PB[one]PW[two]RE[?]{clock}TY[8]BO[{board}]{played};)"


class Talk:
    """A conversation: ``say(line, …)`` returns what the engine sends."""

    def __init__(self, engine):
        self.sent = []
        self.nboard = NBoard(engine, self.sent.append)

    def say(self, *lines):
        for line in lines:
            self.nboard.take(line)
        sent, self.sent[:] = list(self.sent), []
        return sent

    @property
    def position(self):
        return self.nboard._engine.position


@pytest.fixture
def talk(engine):
    return lambda **options: Talk(engine(**options))


def small(depth=2, transcript=""):
    """Lines that begin a game on 4×4."""
    return "nboard 2", f"set depth {depth}", f"set game {ggf(transcript, START_4)}"


def test_a_session(talk, session):
    told = talk()
    assert told.say("nboard 2") == ["set myname distsearch"]
    assert told.say("set contempt 0", "set depth 3", f"set game {ggf('f5d6c3d3')}") == []
    assert told.say("ping 1") == ["pong 1"]
    begun, nodes, answer, ended = told.say("go")
    assert (begun, ended) == ("status distsearch is thinking", "status")
    assert re.fullmatch(r"nodestats [0-9]+ [0-9]+\.[0-9]{2}", nodes)
    move, score = re.fullmatch(r"=== ([A-H][1-8])/(-?[0-9.]+)/[0-9]+\.[0-9]{2}", answer).groups()
    found = session.search("othello", "f5d6c3d3", depth=3, all_moves=True)
    assert float(score) == pytest.approx(found.score / 100, abs=0.006)
    assert move.lower() in {each["move"] for each in found.moves if each["score"] == found.score}
    # the move is the program's to make
    assert told.position == othello.parse("f5d6c3d3", RULES)
    assert told.say(f"move {move}/{score}/0.5") == []
    assert told.position == othello.parse(f"f5d6c3d3{move.lower()}", RULES)
    assert told.say("learn") == ["learned"]


def test_hints_come_with_each_depth(talk, session):
    told = talk()
    told.say("set depth 4", f"set game {ggf('f5')}")
    lines = told.say("hint 2")
    hints = [re.fullmatch(LINE, line) for line in lines if line.startswith("search ")]
    assert [hint[3] for hint in hints] == ["2", "2", "4", "4"]
    found = session.search("othello", "f5", depth=4, all_moves=True)
    best = sorted((each["score"] / 100 for each in found.moves), reverse=True)[:2]
    assert [float(hint[2]) for hint in hints[2:]] == pytest.approx(best, abs=0.006)
    for hint in hints:
        othello.parse("f5" + hint[1].replace("-", "").lower(), RULES)  # lines are legal
    assert lines[-1] == "status"


def test_one_hint_is_the_best_move(talk):
    told = talk()
    told.say("set depth 1", f"set game {ggf()}")
    assert [line.split()[0] for line in told.say("hint 1")] == ["status", "search", "nodestats", "status"]
    assert len([line for line in told.say("hint") if line.startswith("search")]) == 1


def test_the_end_of_a_game_is_solved(talk, session):
    told = talk()
    told.say(*small(10))
    found = session.search("othello", board="4x4", exact=True, all_moves=True)
    lines = [re.fullmatch(LINE, line) for line in told.say("hint 9") if line.startswith("search ")]
    exact = [line for line in lines if line[3] == "100%"]
    assert len(exact) == len(found.moves)
    values = {line[1][:2].lower(): float(line[2]) for line in exact}
    assert values == {each["move"]: each["score"] for each in found.moves}
    answer = next(line for line in told.say("go") if line.startswith("==="))
    assert float(answer.split("/")[1]) == found.score


def test_forced_moves_and_passes_need_no_search(talk):
    told = talk()
    told.say(*small(2, PASS))
    assert told.say("go") == ["status distsearch is thinking", "=== PA", "status"]
    assert [line.split()[1] for line in told.say("hint 1") if line.startswith("search")][0].startswith("PA")
    before = told.position
    told.say("move PA")
    assert told.position == othello.Position(before.state[1:] + before.state[:1], 1 - before.side)


def test_passes_of_a_game_may_be_there_or_left_out(talk, session):
    line = session.search("othello", PASS, board="4x4", exact=True).pv
    assert line[0] == "pass"
    moves = re.findall("[a-d][1-4]", PASS)
    sides = ["BW"[i % 2] for i in range(6)]
    told = talk()
    for kept in ([*moves, *line[:2]], [*moves, line[1]]):
        played = zip(sides if len(kept) == 6 else [*sides[:4], sides[5]], kept, strict=True)
        text = "".join(f"{side}[{'PA' if move == 'pass' else move}]" for side, move in played)
        assert told.say(f"set game {ggf(board=START_4).replace(';)', text + ';)')}") == []
        assert told.position == othello.parse(PASS + "pass" + line[1], SMALL_RULES)


def test_a_finished_game_is_told_of(talk):
    told = talk()
    told.say("set depth 2", f"set game {ggf(board='4 **** **** **** **O* O')}")
    for command in ("go", "hint 3"):
        assert told.say(command)[-1] == "status the game is over"


def test_every_position_of_a_game_is_analysed_last_first(talk, session):
    told = talk()
    told.say(*small(12, PASS))
    lines = [line.split() for line in told.say("analyze") if line.startswith("analysis")]
    assert [int(moves) for _, moves, _ in lines] == [4, 3, 2, 1, 0]
    for _, moves, score in lines:
        text = PASS[: 2 * int(moves)] or "startpos"
        assert float(score) == session.search("othello", text, board="4x4", exact=True).score


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("move a1", "legal"),
        ("move", "move"),
        ("move F5/x/y", "seconds"),
        ("move zz99", "square"),
        ("set game", "GGF"),
        ("set game (;GM[Othello]BO[8 *];)", "board"),
        ("set game (;GM[Go]BO[8 *];)", "Othello"),
        ("set depth", "depth"),
        ("set depth deep", "depth"),
        ("set contempt x", "contempt"),
        (f"set game {ggf('f5f5')}", "legal"),
        (f"set game {ggf().replace(';)', 'W[D3];)')}", "other side"),
        (f"set game {ggf(board='3 --- --- --- *')}", "3x3"),
        ("hint many", "hint"),
    ],
)
def test_what_makes_no_sense_is_a_status_and_changes_nothing(talk, line, word):
    told = talk(depth=1)
    told.say(f"set game {ggf('f5')}")
    (sent,) = told.say(line)
    assert sent.startswith("status ")
    assert word in sent
    assert told.position == othello.parse("f5", RULES)
    assert told.say("ping 2") == ["pong 2"]


@pytest.mark.parametrize("line", ["", " ", "fly", "PING 1", "setgame", "set", "set fire on", "\x00", "é" * 1000])
def test_what_is_not_understood_is_ignored(talk, line):
    assert talk(depth=1).say(line) == []


def test_a_stopped_search_leaves_no_move(talk):
    told = talk(stops=lambda: True)
    told.say("set depth 30", f"set game {ggf('f5d6')}")
    for command in ("go", "hint 2", "analyze"):
        assert told.say(command) == ["status distsearch is thinking", "status"]


def test_what_ends_a_search():
    assert all(map(ends_search, ("ping 3", "  ping 3", "quit")))
    assert not any(map(ends_search, ("", "go", "hint 1", "pinging", "set game (;…;)", "move F5", "learn")))


@pytest.mark.parametrize(
    ("time", "seconds", "expected"),
    [(None, "", None), ("15:00", "", (20, 60)), ("1:00:00", "", (100, 200)), ("5:00//2:00", "/1.5/140", (0.1, 2))],
)
def test_the_clock_of_a_game_is_heeded(talk, monkeypatch, time, seconds, expected):
    told, asked = talk(depth=1), []

    def search(position, depth, seconds):
        asked.append(seconds)

    monkeypatch.setattr(told.nboard._engine, "search", search)
    told.say(f"set game {ggf('f5d6c3d3', time=time, seconds=seconds)}", "go")
    assert asked == [None] if expected is None else expected[0] < asked[0] < expected[1]


def test_quit_ends_it(talk):
    told = talk(depth=1)
    told.say("quit")
    assert told.nboard.ended


def test_the_start_is_the_usual_one(talk):
    told = talk(depth=1)
    told.say(f"set game {ggf(board=START_4)}")
    assert othello.text(told.position, SMALL_RULES) == START
