"""Answers to a stream as people and programs read them: Pons's protocol, tables and JSON, checks and interrupts."""

import json
import os

import pytest

from distsearch.api.answer_text import Csv, Json, Table
from distsearch.api.options import resolve
from distsearch.api.report import Report
from distsearch.api.session import Session
from distsearch.formats.positions import LONGEST_LINE
from distsearch.games import connect4
from distsearch.games.interface import legal_moves, step

from .solving import HARD, RULES, late_lines, with_bad_lines


class Reported:
    """What comes of a Report on lines of text or bytes, which the user ends as soon as ``until(output so far)``.

    out: the output; err: what it complained about; status, summary and empty are the Report's.
    """

    def __init__(self, folder, lines, style="lines", check=False, game="connect4", until=lambda out: False, **options):
        if not options.keys() & {"depth", "time", "nodes"}:
            options["exact"] = True
        blank = {"blank_is_start": options.pop("blank_is_start", False)}
        options, game, rules = resolve(game, **options)
        content = lines if isinstance(lines, bytes) else "".join(f"{line}\n" for line in lines).encode()
        (folder / "lines").write_bytes(content)
        self.out, self.err = "", []
        session = Session(table=1, interrupted=lambda: until(self.out), book="none")
        with session, open(folder / "lines", "rb") as file:
            form = {"json": Json(), "table": Table(), "csv": Csv()}.get(style, style)
            report = Report(session, options, game, rules, file.fileno(), form, check, self.err.append, **blank)
            report.run(self._write)
        self.status, self.summary, self.empty = report.status, report.summary, report.empty

    def _write(self, content):
        assert content == b"" or content.endswith(b"\n")
        self.out += content.decode()

    @property
    def lines(self):
        return self.out.splitlines()

    @property
    def results(self):
        return [json.loads(line) for line in self.lines]


@pytest.fixture
def reported(tmp_path):
    """``reported(lines, …)``: a Reported."""
    return lambda *args, **options: Reported(tmp_path, *args, **options)


# --- plain scores ---


def test_a_line_is_echoed_with_its_score(reported, rng):
    lines, scores = late_lines(rng, 300)
    found = reported(lines)
    assert found.lines == [f"{line} {score}" for line, score in zip(lines, scores)]
    assert (found.status, found.err) == (0, [])
    assert found.summary.startswith("300 positions: ")


def test_scores_that_lines_end_with_are_replaced(reported, rng):
    (line,), (score,) = late_lines(rng, 1)
    texts = [f"{line} 99", f"{line}  -3", f"  {line} 7 ", f"{line}\t1\r", f"{line} +2"]
    assert reported(texts).lines == [f"{line} {score}"] * len(texts)


def test_what_stands_behind_a_semicolon_is_not_echoed(reported, rng):
    (line,), (score,) = late_lines(rng, 1)
    assert reported([f"{line}; my favourite", f"{line} ;;"]).lines == [f"{line} {score}"] * 2


def test_the_empty_line_is_the_empty_board(reported):
    """It is written as Pons's solver writes it: a space, and the score."""
    assert reported(["", "x", ""], board="4x4", blank_is_start=True).lines == [" 0", " 0"]
    assert reported(["", "1", ""], board="4x4").lines == ["1 0"]
    assert reported(["startpos"], board="4x4").lines == ["startpos 0"]


def test_a_last_line_needs_no_line_break(reported, rng):
    lines, scores = late_lines(rng, 3)
    found = reported("\n".join(lines).encode())
    assert found.lines == [f"{line} {score}" for line, score in zip(lines, scores)]


def test_bad_lines_are_named_and_left_out(reported, rng):
    lines, scores = with_bad_lines(rng, *late_lines(rng, 100))
    found = reported(["4x", *lines, "9"])
    scores = [None, *scores, None]
    assert found.lines == [f"{line} {score}" for line, score in zip(["4x", *lines], scores) if score is not None]
    bad = [number for number, score in enumerate(scores, 1) if score is None]
    assert [complaint.split(": ")[0] for complaint in found.err] == [f"line {number}" for number in bad]
    assert all(len(complaint) > len("line 100: ") for complaint in found.err)
    assert found.status == 1


def test_lines_that_are_no_text_or_too_long_are_bad(reported, rng):
    (line,), (score,) = late_lines(rng, 1)
    content = b"\xff\xfe\n" + b"4" * (LONGEST_LINE + 9) + b"\n" + line.encode() + b"\n\0"
    found = reported(content)
    assert found.lines == [f"{line} {score}"]
    assert [complaint.split(": ")[0] for complaint in found.err] == ["line 1", "line 2", "line 4"]


@pytest.mark.parametrize(("content", "empty"), [(b"", True), (b"\n% x\n", True), (b"x\n", False)])
def test_an_input_without_positions_is_told_from_one_of_bad_lines(content, empty, reported):
    assert reported(content, board="4x4").empty == empty


def test_scores_of_all_moves_follow_the_score(reported, rng):
    """Those of the columns from the left, −1000 where there is no room, as Pons's solver has them."""
    lines, scores = late_lines(rng, 20)
    found = reported(lines, all_moves=True)
    for line, score, answer in zip(lines, scores, found.lines, strict=True):
        text, *numbers = answer.split(" ")
        position, numbers = connect4.parse(line, RULES), [int(number) for number in numbers]
        moves = {int(connect4.move_text(m, RULES)) for m in legal_moves(connect4, position, RULES)}
        assert (text, numbers[0], len(numbers)) == (line, score, 8)
        assert {column for column in range(1, 8) if numbers[column] != -1000} == moves
        assert max(numbers[1:]) == score
    after = {
        f"{line}{column}": -int(answer.split()[1 + column])
        for line, answer in zip(lines, found.lines)
        for column in range(1, 8)
        if answer.split()[1 + column] != "-1000"
    }
    assert [int(answer.split()[1]) for answer in reported(after).lines] == list(after.values())


def test_moves_of_a_game_without_columns_are_named(reported):
    found = reported(["startpos", "d3", "X" * 16 + " O"], game="othello", board="4x4", all_moves=True)
    first, second, over = (line.split(" ") for line in found.lines)
    assert first[:2] == ["startpos", "-10"]
    assert sorted(first[2:]) == ["a2:-10", "b1:-10", "c4:-10", "d3:-10"]
    assert second[:2] == ["d3", "10"]
    assert max(int(word.split(":")[1]) for word in second[2:]) == 10
    assert over == ["X" * 16, "O", "-16"]


def test_a_finished_game_has_no_columns_left(reported):
    assert reported(["1212121"], all_moves=True).lines == ["1212121 -18" + 7 * " -1000"]


def test_depths_have_plain_scores_too(reported):
    found = reported(["startpos", "d3"], game="othello", board="4x4", depth=16)
    assert [line.split()[0] for line in found.lines] == ["startpos", "d3"]
    found = reported(["startpos", "x", "d3"], game="othello", board="4x4", nodes=10**6)
    assert found.lines == ["startpos -10", "d3 10"]
    assert (found.status, len(found.err)) == (1, 1)


# --- tables and JSON ---


@pytest.mark.parametrize("limit", [{}, {"depth": 20}, {"nodes": 10**6}], ids=str)
def test_json_is_an_object_a_line(limit, reported, rng):
    lines, scores = late_lines(rng, 20)
    found = reported(["x", *lines], style="json", **limit)
    assert [result["line"] for result in found.results] == list(range(2, 22))
    assert [result["score"] for result in found.results] == scores
    assert all(result["complete"] and result["time_share"] for result in found.results)
    assert [connect4.parse(result["position"], RULES).state for result in found.results] == [
        connect4.parse(line, RULES).state for line in lines
    ]
    assert found.status == 1


def test_lines_of_play_keep_the_score(reported, rng):
    """As far as they go: they need not end with the game."""
    lines, scores = late_lines(rng, 20)
    after, expected = [], []
    for line, score, result in zip(lines, scores, reported(lines, style="json").results, strict=True):
        assert result["move"] == result["pv"][0]
        position = connect4.parse(line, RULES)
        for move in result["pv"]:
            position = step(connect4, position, RULES, connect4.parse_move(move, RULES))
        after.append(connect4.text(position, RULES))
        expected.append(score * (-1) ** len(result["pv"]))
    assert [int(answer.split()[-1]) for answer in reported(after).lines] == expected


def test_csv_begins_with_the_names_of_its_fields(reported, rng):
    lines, scores = late_lines(rng, 20)
    head, *found = reported(["x", *lines], style="csv").lines
    assert head == "line,move,score,bound,nodes,seconds"
    assert [row.split(",")[0] for row in found] == [str(number) for number in range(2, 22)]
    assert [int(row.split(",")[2]) for row in found] == scores


def test_a_table_numbers_the_lines_of_the_input(reported, rng):
    lines, _ = late_lines(rng, 3)
    found = reported(["x", lines[0], "x", *lines[1:]], style="table")
    assert [line.split()[0] for line in found.lines] == ["2", "4", "5"]


def test_a_table_has_the_scores_of_all_moves_if_they_are_asked_for(reported, rng):
    lines, scores = late_lines(rng, 3)
    found = reported(lines, style="table", all_moves=True)
    for text, score in zip(found.lines, scores):
        moves = [move.split(":") for move in text.split(" s  ")[1].split()]
        assert max(int(worth) for _, worth in moves) == score


# --- checks ---


@pytest.mark.parametrize("style", ["lines", "table", "json"])
@pytest.mark.parametrize("limit", [{}, {"nodes": 10**6}], ids=["exact", "nodes"])
def test_scores_are_checked(style, limit, reported, rng):
    lines, scores = late_lines(rng, 30)
    texts = [f"{line} {score}" for line, score in zip(lines, scores)]
    found = reported(texts, style=style, check=True, **limit)
    assert (found.status, found.err) == (0, [])
    texts[7] = f"{lines[7]} {scores[7] + 1}"
    texts[20] = lines[20]
    found = reported(texts, style=style, check=True, **limit)
    assert found.status == 1
    assert sorted(found.err) == sorted(
        [f"line 8: score {scores[7]} where the line says {scores[7] + 1}", "line 21: no score at its end"]
    )
    assert len(found.lines) == 29


def test_many_differences_are_not_all_told(reported, rng):
    lines, _ = late_lines(rng, 200)
    found = reported([f"{line} 77" for line in lines], check=True)
    assert found.status == 1
    assert len(found.err) == 21
    assert found.err[-1] == "more lines differ"
    assert len(found.lines) == 200


def test_beyond_a_window_its_end_is_right(reported, rng):
    lines, scores = late_lines(rng, 60)
    texts = [f"{line} {score}" for line, score in zip(lines, scores)]
    texts.append("1212121 -18")  # which is over
    found = reported(texts, check=True, window=(-1, 1))
    assert (found.status, found.err) == (0, [])
    assert [int(line.split()[1]) for line in found.lines[:-1]] == [min(max(score, -1), 1) for score in scores]
    wrong = [f"{line} {-score or 5}" for line, score in zip(lines, scores)]
    assert reported(wrong, check=True, window=(-1, 1)).status == 1


# --- interrupts ---


def test_plain_scores_end_before_the_first_line_without(reported, rng):
    lines, scores = late_lines(rng, 50)
    found = reported([*lines, HARD, *lines], until=lambda out: out.count("\n") >= 50)
    assert found.lines == [f"{line} {score}" for line, score in zip(lines, scores)]
    assert found.summary.startswith("50 positions")
    assert (found.status, found.err) == (0, ["stopped before line 51 was answered"])


def test_json_tells_what_is_known_of_the_rest(reported, rng):
    lines, scores = late_lines(rng, 10)
    found = reported([*lines, HARD, *lines], style="json", until=lambda out: out.count("\n") >= 10).results
    assert [result["score"] for result in found[:10]] == scores
    assert all(result["complete"] for result in found[:10])
    for result in found[10:]:
        assert not result["complete"]
        assert not result["proved"]
        assert result["bound"] == "lower"
        assert result["score"] <= 1


def test_an_interrupt_at_once_has_a_move_for_the_first_position(reported):
    (result,) = reported([HARD] * 5, style="json", until=lambda out: True).results
    assert (result["complete"], result["proved"]) == (False, False)
    assert result["move"] in "1234567"
    assert reported([HARD] * 5, style="json", time=60.0, until=lambda out: True).results == []  # nothing was begun


def test_an_interrupted_search_is_not_checked(reported):
    looks = iter(range(3))
    found = reported([f"{HARD} 1"], check=True, time=60.0, until=lambda out: next(looks, None) is None)
    assert found.err == []


# --- the output ends ---


def test_an_output_that_is_closed_ends_the_run(tmp_path, rng):
    lines, _ = late_lines(rng, 50)
    (tmp_path / "lines").write_text("".join(f"{line}\n" for line in [*lines, HARD]))
    options, game, rules = resolve("connect4", exact=True)

    def write(content):
        raise BrokenPipeError

    with Session(table=1, book="none") as session:
        descriptor = os.open(tmp_path / "lines", os.O_RDONLY)
        with pytest.raises(BrokenPipeError):
            Report(session, options, game, rules, descriptor, "lines", False, print).run(write)
        os.close(descriptor)
        assert session.search("connect4", lines[0], exact=True).complete
