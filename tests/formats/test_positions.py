"""Positions from files, pipes and terminals: every line once, its score, what is wrong with it; nothing waits."""

import hashlib
import os
import pty
import re
import time
import tracemalloc

import numpy as np
import pytest

from distsearch.core.errors import UserError
from distsearch.formats.positions import LONGEST_LINE, NO_SCORE, Lines, format_scores
from distsearch.games import connect4, g2048, othello
from distsearch.games.interface import legal_moves, step

from ..games import reading, tictactoe

BOARD = othello.text(othello.start(othello.rules()), othello.rules())
ODD_TEXTS = {  # good and bad ones that are not those of a random game
    connect4: ["", "startpos", "44444", "4444444", "9", "-" * 42 + " X", "ä"],
    othello: ["", "startpos", "f5d6", BOARD.lower(), BOARD[1:], "X X", "ä"],
    tictactoe: ["", "startpos", "X---O--- X", "ä"],  # which has no compiled reader
}
games = pytest.mark.parametrize("game", ODD_TEXTS, ids=lambda game: game.NAME)


class Pipe:
    """A pipe with Lines at its end."""

    def __init__(self):
        self._descriptor, self._end = os.pipe()
        self.lines = Lines(connect4, connect4.rules(), self._descriptor, blank_is_start=True)

    def write(self, content):
        """Write bytes, no more than a pipe holds."""
        assert os.write(self._end, content) == len(content)

    def end(self):
        """Let the input end."""
        os.close(self._end)
        self._end = None

    def close(self):
        """Close what is open."""
        os.close(self._descriptor)
        if self._end is not None:
            self.end()


@pytest.fixture
def pipe():
    made = Pipe()
    yield made
    made.close()


@pytest.fixture
def written(tmp_path):
    """``written(content, game, **options)``: Lines on a file that holds these bytes."""
    opened = []

    def write(content, game=connect4, **options):
        path = tmp_path / f"{len(opened)}.txt"
        path.write_bytes(content)
        opened.append(os.open(path, os.O_RDONLY))
        return Lines(game, game.rules(), opened[-1], **options)

    yield write
    for descriptor in opened:
        os.close(descriptor)


def chunks(lines, most=1000):
    """Yield all chunks that are left."""
    while not lines.ended:
        if chunk := lines.read(most, 1.0):
            assert 1 <= chunk.size <= most
            yield chunk
    assert lines.read(most) is None


def told(lines, most=1000):
    """(text, Position or None, score or None) of each line that is left."""
    found = []
    for chunk in chunks(lines, most):
        assert chunk.first + chunk.size == lines.place + 1
        assert not any(chunk.good[index] for index, _ in chunk.errors)
        for i in range(chunk.size):
            position = chunk.position(i) if chunk.good[i] else None
            score = None if chunk.scores[i] == NO_SCORE else int(chunk.scores[i])
            found.append((chunk.text(i), position, score))
    return found


def errors(lines):
    """(number of a line, its error) of all that is left."""
    return [(chunk.first + index, text) for chunk in chunks(lines) for index, text in chunk.errors]


def played(rng, game):
    """The text of a position of a random game."""
    r = game.rules()
    position = game.start(r)
    for _ in range(rng.randrange(30)):
        moves = legal_moves(game, position, r)
        if not moves:
            break
        position = step(game, position, r, rng.choice(moves))
    return game.text(position, r)


# --- what a line holds ---


@games
@pytest.mark.parametrize("line_break", [b"\n", b"\r\n"])
@pytest.mark.parametrize("most", [1, 7, 1000])
def test_lines_are_what_parse_says_with_or_without_a_score(game, line_break, most, rng, written):
    texts = ODD_TEXTS[game] + [played(rng, game) for _ in range(50)]
    rng.shuffle(texts)
    expected = [(text, reading.parsed(game, text, game.rules()), rng.choice((None, -3, 0, 12))) for text in texts]
    lines = [text if score is None else f"{text} {score}" for text, _, score in expected]
    content = b"".join(line.encode() + line_break for line in lines)
    assert told(written(content, game, blank_is_start=True), most) == expected


@pytest.mark.parametrize(
    ("line", "text", "score"),
    [
        ("4453 +2", "4453", 2),
        (" \t 4453  -2\t ", "4453", -2),
        ("  4453x", "4453x", None),
        (" 1", "", 1),
        ("1", "1", None),
        ("4453 2 3", "4453 2", 3),
        ("4453 -", "4453 -", None),
        ("4453 2.5", "4453 2.5", None),
        ("4453 999999999", "4453", 999999999),
        ("4453 9999999999", "4453 9999999999", None),
        ("4453 7; a comment", "4453", 7),
        ("4453 7; score 8", "4453", 7),
        ("4453;", "4453", None),
        ("; 5", "", 5),
        ("4453;7", "4453", 7),
        ("4453; score +6; FFO#20", "4453", 6),
        ("4453; FFO#20; Score -6", "4453", -6),
        ("4453; the best score 4 of all; 5", "4453", 4),
        ("4453; score score 4", "4453", 4),
        ("4453; score of 4", "4453", None),
        ("4453; scored 4", "4453", None),
        ("4453; 4 5", "4453", None),
        ("4453; G8:+18; H1:-4; 3", "4453", 18),
        ("4453; at G8:+18", "4453", None),
        ("4453; :18", "4453", None),
        ("4453; G8:", "4453", None),
        ("4453; G8:18.0; ; -1", "4453", -1),
        ("4453; H1:-4; G8:+18; A1:x; B2:+7;", "4453", 18),
        ("4453; H1:-4; 3; G8:+18", "4453", 18),
        ("4453 2 % 5", "4453", 2),
        ("4453 % 5; 6", "4453", None),
        ("4453; 6% G8:+18", "4453", 6),
    ],
)
def test_where_the_score_stands(line, text, score, written):
    for content in (line, f"{line}\n"):
        ((found, _, found_score),) = told(written(content.encode()))
        assert (found, found_score) == (text, score)


BLANKS = b"\n \t \n4\n\r\n% a comment\n  % 45\n;\n44 1\n\n"


def test_blank_lines_and_comments_are_skipped_and_keep_their_numbers(written):
    lines = written(BLANKS, connect4, scored=True)
    found = [chunk.first + i for chunk in chunks(lines, 2) for i in range(chunk.size) if chunk.good[i]]
    assert found == [8]  # the third and the seventh have no score
    assert (lines.place, lines.skipped) == (9, 6)
    assert errors(written(BLANKS, connect4, scored=True)) == [(n, "no score at its end") for n in (3, 7)]
    assert errors(written(BLANKS)) == []


def test_blank_lines_may_stand_for_the_start_comments_never(written):
    lines = written(BLANKS, connect4, blank_is_start=True)
    start = connect4.start(connect4.rules())
    found = {chunk.first + i: chunk.position(i) for chunk in chunks(lines) for i in range(chunk.size) if chunk.good[i]}
    assert list(found) == [1, 2, 3, 4, 7, 8, 9]
    assert [number for number, position in found.items() if position == start] == [1, 2, 4, 7, 9]
    assert lines.skipped == 2


@pytest.mark.parametrize(
    ("late", "score"), [("", None), ("+1", None), (" +1", None), (" +2;7", 7), (" +2; 7", 7), (" ; score -7", -7)]
)
def test_tiles_that_are_due_are_no_score(late, score, written):
    board = ",".join("2000400800000000")
    ((text, position, found),) = told(written(f"{board}{late}".encode(), g2048))
    assert (found, text) == (score, board + late.partition(";")[0].rstrip())
    assert position == g2048.parse(text, g2048.rules())
    assert g2048.due(position.state) == (int(late[late.index("+") + 1]) if "+" in late else 0)


def test_bytes_that_are_no_text_make_a_bad_line(written):
    rows = told(written(b"44\xff\xfe\n\x00\n4\n\xc3"))
    assert [position is not None for _, position, _ in rows] == [False, False, True, False]
    assert rows[0][0] == "44\ufffd\ufffd"


def test_any_bytes_are_lines(rng, written):
    content = bytes(rng.choices(b"\n\r ;45:-scoreX%\x00\xff", k=5_000))
    expected = []
    for line in content.split(b"\n"):
        position = re.sub(rb"[ \r]+[+-]?[0-9]+[ \r]*$", b"", re.split(b"[;%]", line)[0])
        expected.append(position.strip(b" \r").decode(errors="replace"))
    found = [chunk.text(i) for chunk in chunks(written(content + b"\n")) for i in range(chunk.size)]
    assert found == expected


def test_errors_are_those_of_parse_with_the_number_of_their_line(written):
    content = b"4453\n444444444\n%\n8 1\n4"
    assert errors(written(content)) == [
        (2, "move 7 of '444444444', column 4: the column is full"),
        (4, "move '8' is not a column from 1 to 7"),
    ]


def test_where_scores_are_wanted_a_line_without_one_is_bad(written):
    found = errors(written(b"44 1\n44\n9\n; 1\n\n", scored=True))
    assert found == [(2, "no score at its end"), (3, "move '9' is not a column from 1 to 7")]


# --- how lines come ---


@pytest.mark.parametrize("content", [b"", b"\n", b"4", b"4\n", b"4\n\n", b"4\n5"])
def test_a_last_line_needs_no_line_break(content, written, pipe):
    expected = [line.decode() for line in content.removesuffix(b"\n").split(b"\n")] if content else []
    assert [text for text, _, _ in told(written(content, blank_is_start=True))] == expected
    pipe.write(content)
    pipe.end()
    assert [text for text, _, _ in told(pipe.lines)] == expected


def test_lines_of_a_pipe_are_there_once_they_end(pipe):
    lines = pipe.lines
    assert lines.read(10) is None
    pipe.write(b"4\n5\n6")
    assert lines.read(10).size == 2
    assert lines.read(10) is None
    assert not lines.ended
    pipe.write(b"\n1\n2\n")
    assert lines.read(1).text(0) == "6"
    assert lines.place == 3
    pipe.write(b"3\n")
    assert [lines.read(10).text(i) for i in range(1)] == ["1"]
    pipe.end()
    assert lines.read(10) is None
    assert lines.ended


def test_waiting_ends_with_the_first_line_or_the_time(pipe):
    pipe.write(b"no line")
    before = time.monotonic()
    assert pipe.lines.read(10, 0.05) is None
    assert time.monotonic() - before >= 0.05
    pipe.write(b" yet\n")
    before = time.monotonic()
    assert pipe.lines.read(10, 60).size == 1
    assert time.monotonic() - before < 30


def test_a_terminal_is_read_line_by_line():
    master, slave = pty.openpty()
    lines = Lines(connect4, connect4.rules(), slave)
    assert lines.read(10) is None
    os.write(master, b"44\n45 3\n")
    found = [lines.read(1, 10).text(0) for _ in range(2)]
    os.write(master, b"\x04")  # Ctrl-D
    assert lines.read(1, 10) is None
    assert lines.ended
    assert found == ["44", "45"]
    os.close(master)
    os.close(slave)


@pytest.mark.parametrize("most", [7, 100_000])
def test_no_line_is_lost_where_blocks_meet(most, rng, written):
    texts = [str(rng.randrange(10 ** rng.randrange(1, 90))) for _ in range(40_000)]  # of two blocks
    found = []
    for chunk in chunks(written("\n".join(texts).encode()), most):
        found += map(chunk.text, range(chunk.size))
    assert found == texts


@pytest.mark.parametrize("length", [LONGEST_LINE, LONGEST_LINE + 1, LONGEST_LINE + 2, 5_000_000])
@pytest.mark.parametrize("last", [False, True])
def test_a_line_too_long_is_a_bad_line(length, last, written):
    content = b"4\n" + b"5".ljust(length) + (b"" if last else b"\n4\n")
    lines = written(content)
    found = errors(lines)
    assert lines.place == (2 if last else 3)
    assert found == ([] if length == LONGEST_LINE else [(2, f"longer than {LONGEST_LINE} bytes")])


def test_memory_does_not_grow_with_the_input(written):
    lines = written((b"44444\n" * 1000 + b"4" * 1_000_000 + b"\n") * 20)
    lines.read(1)
    tracemalloc.start()
    read = sum(chunk.size for chunk in chunks(lines, 10**9))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert read == 20 * 1001 - 1
    assert peak < 16 << 20


def test_a_descriptor_that_cannot_be_read_is_refused(tmp_path):
    folder = os.open(tmp_path, os.O_RDONLY)
    with pytest.raises(UserError, match="cannot read the positions: Is a directory"):
        Lines(connect4, connect4.rules(), folder).read(1)
    os.close(folder)


# --- going on where an earlier reader ended ---


@pytest.mark.parametrize("done", [0, 1, 5, 60_000, 199_999, 200_000])
def test_skipped_lines_do_not_come_again(done, written):
    numbers = "".join(f"{'1234567'[i % 7]}{'1234567'[i % 5]}\n" for i in range(200_000))
    lines = written(numbers.encode())
    lines.skip(done, hashlib.sha256())
    assert lines.place == done
    following = lines.read(1)
    if done == 200_000:
        assert following is None
    else:
        assert following.first == done + 1
        assert following.text(0) == numbers[3 * done : 3 * done + 2]


def test_skipping_goes_on_from_what_was_read(written):
    lines = written(b"1\n2\n3\n4\n5")
    lines.read(1)
    lines.skip(2, hashlib.sha256())
    assert told(lines) == [(text, connect4.parse(text, connect4.rules()), None) for text in "45"]


def test_skipping_waits_for_lines_until_a_signal(pipe):
    looks = []

    def interrupted():
        looks.append(pipe.lines.place)
        if len(looks) == 2:
            pipe.write(b"1\n2\n")
        return len(looks) == 5

    with pytest.raises(KeyboardInterrupt):
        pipe.lines.skip(3, hashlib.sha256(), interrupted)
    assert looks == [0, 0, 0, 2, 2]


@pytest.mark.parametrize("content", [b"", b"1\n2\n", b"1\n2"])
def test_there_must_be_as_many_lines_as_are_skipped(content, written):
    there = len(content.split())
    with pytest.raises(UserError, match=f"has {there} lines where 3 were read before"):
        written(content).skip(3, hashlib.sha256())


# --- scores as lines ---


def test_scores_are_written_behind_the_text_as_it_was(written):
    content = b"4453\n 44 3 \r\n\n9\n-7\n7 1; G8:2\nstartpos\n"
    (chunk,) = chunks(written(content, blank_is_start=True))
    scores = np.array([-12, 0, 1, 5, 6, 10**18, -(10**18)])
    expected = [b"4453 -12", b"44 0", b" 1", None, None, b"7 %d" % 10**18, b"startpos -%d" % 10**18]
    for begin in range(chunk.size):
        for end in range(begin, chunk.size + 1):
            wanted = b"".join(line + b"\n" for line in expected[begin:end] if line is not None)
            assert format_scores(chunk, begin, end, scores[begin:end]) == wanted


def test_what_is_written_is_read_back(rng, written):
    texts = [played(rng, connect4).replace("startpos", "") for _ in range(200)]
    scores = [rng.randint(-(10 ** rng.randint(0, 8)), 99) for _ in texts]
    (chunk,) = chunks(written("\n".join([*texts, "1"]).encode(), blank_is_start=True))
    again = told(written(format_scores(chunk, 0, 200, scores)))
    assert [(text, score) for text, _, score in again] == list(zip(texts, scores, strict=True))
