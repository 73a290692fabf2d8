"""Many positions: a line each, or an answer and a complaint."""

import contextlib
import csv
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from distsearch.api.parquet import ParquetRows
from distsearch.core.errors import UserError

from ..api.solving import late_lines
from .asking import FIRST_MOVES, FULL, PASS, START, ask, assert_refused, complaints, search, solve

LIMITS = pytest.mark.parametrize("limit", [["--exact"], ["--depth", "2"], ["--nodes", "50"]], ids=" ".join)
POSITIONS = {"startpos": START, "d3": None, "D3d2": None, PASS: None, FULL: FULL, START.lower(): START}


@LIMITS
def test_solve_answers_in_the_order_of_the_lines(limit):
    answer = solve(POSITIONS, *limit, "--json")
    assert answer.status == 0
    alone = [search(*limit, position=line) for line in POSITIONS]
    for found, expected in zip(answer.results, alone, strict=True):
        same = "position", "move", "score", "unit", "proved", "complete", "bound"
        assert {name: found[name] for name in same} == {name: expected[name] for name in same}


@LIMITS
def test_the_text_that_was_asked_is_kept(limit):
    """As ``search`` has it: not where it is the position itself, or the first one."""
    lines = ["startpos", "d3", "D3d2 ; two moves", PASS, f"  {FULL}"]
    found = [each.get("asked") for each in solve(lines, *limit, "--json").results]
    assert found == [None, "d3", "D3d2", PASS, None]


@LIMITS
def test_plain_scores_are_those_of_json_and_pass_the_check(limit):
    found = [each["score"] for each in solve(POSITIONS, *limit, "--json").results]
    plain = solve(POSITIONS, *limit, "--plain").out.splitlines()
    assert [float(line.split()[-1]) for line in plain] == found
    checked = solve(plain, *limit, "--plain", "--check")
    assert (checked.status, checked.out.splitlines()) == (0, plain)


@pytest.mark.parametrize("form", ["--json", "--csv"])
def test_fields_that_all_answers_have_in_common(form):
    answer = solve(POSITIONS, "--depth", "2", form, "--fields", "game,board,policy")
    assert (answer.status, len(set(answer.out.splitlines()[-len(POSITIONS) :]))) == (0, 1)


def test_solve_is_exact_unless_limited():
    assert [found["proved"] for found in solve(["startpos"], "--json").results] == [True]
    assert [found["proved"] for found in solve(["startpos"], "--depth", "2", "--json").results] == [False]


def test_solve_reads_files(folder):
    (folder / "good.txt").write_text("% two\n\nstartpos ; the first\n  \nd3;second\n\n")
    answer = ask("solve", "othello", "--board", "4x4", "--depth", "2", "--positions", "good.txt", "--json")
    assert [found["position"] == START for found in answer.results] == [True, False]
    assert [found["line"] for found in answer.results] == [3, 5]


@pytest.mark.parametrize("content", ["", "\n", "% nothing\n \n"])
@LIMITS
def test_a_file_without_a_position_is_refused(folder, content, limit):
    (folder / "good.txt").write_text(content)
    assert_refused(ask("solve", "othello", *limit, "--positions", "good.txt"), "good.txt holds no position")


# --- Othello Board Files ---

PROBLEMS = f"% the start, a forced pass, the end\n{START}; B1:-10;\n\n{PASS}\n{FULL}\n"


@pytest.mark.parametrize("every", [[], ["-a"]], ids=["best", "all"])
def test_obf_is_written_and_read_again(folder, every):
    (folder / "good.txt").write_text(PROBLEMS)
    answer = ask("solve", "othello", "--board", "4x4", "--positions", "good.txt", "--obf", *every)
    assert answer.status == 0
    first, passing, over = (line.split("; ") for line in answer.out.splitlines())
    assert first[0] == START
    scores = {field[:2].lower(): field[3:].rstrip(";") for field in first[1:]}
    moves = search("--exact", "-a")["moves"]
    expected = {each["move"]: f"{each['score']:+d}" for each in moves}
    assert scores == expected if every else set(scores.items()) <= set(expected.items())
    assert passing[1].startswith("PA:")
    assert over == [FULL, "-16;"]
    (folder / "good.txt").write_text(answer.out)
    again = ask("solve", "othello", "--board", "4x4", "--positions", "good.txt", "--check", "--plain")
    assert again.status == 0
    assert len(again.out.splitlines()) == 3


def test_obf_leaves_out_what_is_not_solved(folder):
    (folder / "good.txt").write_text(PROBLEMS + "nonsense\n")
    answer = ask("solve", "othello", "--board", "4x4", "--positions", "good.txt", "--obf")
    assert (answer.status, complaints(answer, summary=True)) == (1, [6])


def test_solve_prints_a_line_a_position():
    lines = solve(["startpos", PASS, FULL]).out.splitlines()
    assert [line.split()[0] for line in lines] == ["1", "2", "3"]
    assert [line.split()[1] in moves for line, moves in zip(lines, [FIRST_MOVES, {"pass"}, {"-"}])] == [True] * 3


@LIMITS
def test_bad_lines_are_named_and_good_ones_answered(limit):
    answer = solve(["startpos", "nonsense", "d3", "XX X", "d3 d4", "c4"], *limit, "--json")
    assert answer.status == 1
    assert complaints(answer) == [2, 4, 5]
    assert [found["complete"] for found in answer.results] == [True] * 3


@LIMITS
def test_a_file_of_bad_lines_has_no_answers(limit):
    answer = solve(["nonsense", "XX X"], *limit)
    assert complaints(answer) == [1, 2]
    assert (answer.status, answer.out) == (1, "")


BINARY = b"\x00\xff\xfe\x80\n\x7fELF\x02\n\xf0\x9f"


@pytest.mark.parametrize("source", ["good.txt", "-"])
def test_binary_data_are_bad_line_by_line(folder, source):
    (folder / "good.txt").write_bytes(BINARY)
    answer = ask("solve", "othello", "--depth", "1", "--positions", source, stdin=BINARY)
    assert complaints(answer) == [1, 2, 3]
    assert (answer.status, answer.out) == (1, "")


# --- chosen fields ---


def test_fields_are_those_of_json_by_name():
    every = solve(POSITIONS, "--json").results
    for options in (["--csv"], []):
        head, *rows = csv.reader(solve(POSITIONS, *options, "--fields", "score,move,asked").out.splitlines())
        assert head == ["score", "move", "asked"]
        assert rows == [[str(each["score"]), each["move"] or "", each.get("asked") or ""] for each in every]
    found = solve(POSITIONS, "--json", "--fields", "score,move,asked").results
    assert found == [{name: each.get(name) for name in ("score", "move", "asked")} for each in every]


@LIMITS
def test_the_default_fields_are_short(limit):
    for options in (["--csv"], ["--fields", "default"], ["--json", "--fields", "default"]):
        answer = solve(POSITIONS, *limit, *options)
        assert (answer.status, len(answer.out.splitlines())) == (0, len(POSITIONS) + ("--json" not in options))
        assert max(map(len, answer.out.splitlines(keepends=True))) <= 120


def test_a_file_of_parquet(folder, monkeypatch):
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra parquet is not installed")
    monkeypatch.setattr("distsearch.api.parquet._GROUP", 4)
    every = solve(POSITIONS, "--json").results
    names = "line,position,asked,move,score,bound,proved,depth,nodes,seconds,meaning,pv,version"
    answer = solve(["nonsense", *POSITIONS], "--parquet", folder / "answers.parquet", "--fields", names)
    assert (answer.status, answer.out) == (1, "")
    assert complaints(answer, summary=True)[0] == 1
    table = parquet.read_table(folder / "answers.parquet")
    assert (table.column_names, table.num_rows) == (names.split(","), len(POSITIONS))
    assert [str(table.schema.field(name).type) for name in ("line", "score", "proved", "move")] == [
        "int64",
        "double",
        "bool",
        "string",
    ]
    for row, each in zip(table.to_pylist(), every, strict=True):
        same = "position", "asked", "move", "score", "bound", "proved", "depth", "meaning", "version"
        assert [row[name] for name in same] == [each.get(name) for name in same]
        assert row["line"] == each["line"] + 1
        assert json.loads(row["pv"])[:1] == each["pv"][:1]


@pytest.mark.parametrize("content", [None, "", "% nothing\n"], ids=["none", "empty", "comment"])
def test_input_that_cannot_be_read_leaves_the_file_of_parquet_that_was_there(folder, content):
    pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    if content is not None:
        (folder / "input.txt").write_text(content)
    (folder / "old.parquet").write_bytes(b"old")
    before = sorted(os.listdir(folder))
    assert_refused(
        ask("solve", "othello", "--positions", "input.txt", "--parquet", folder / "old.parquet"), "input.txt"
    )
    assert ((folder / "old.parquet").read_bytes(), sorted(os.listdir(folder))) == (b"old", before)


def test_an_error_leaves_the_file_of_parquet_that_was_there(folder):
    pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    (folder / "old.parquet").write_bytes(b"old")
    before = sorted(os.listdir(folder))
    written = ParquetRows(str(folder / "old.parquet"), ["line"])
    for failure in (KeyboardInterrupt(), UserError("bad")):
        with pytest.raises(type(failure)), written:
            raise failure
    assert ((folder / "old.parquet").read_bytes(), sorted(os.listdir(folder))) == (b"old", before)


def test_a_signal_leaves_a_valid_file_of_parquet(folder):
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra parquet is not installed")
    argv = [sys.executable, "-m", "distsearch", "solve", "othello", "--positions", "-", "--parquet", "answers"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
        end = time.monotonic() + 120
        while not list(folder.glob("answers*")) and time.monotonic() < end:
            time.sleep(0.05)
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 128 + signal.SIGTERM
    assert parquet.read_table(folder / "answers").num_rows == 0
    assert len(list(folder.glob("answers*"))) == 1


@pytest.mark.parametrize("at", ["real", "link"])
def test_a_file_of_parquet_takes_the_place_of_an_older_one(folder, at):
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra parquet is not installed")
    (folder / "real").write_bytes(b"old")
    (folder / "link").symlink_to("real")
    solve(["startpos"], "--depth", "2", "--parquet", folder / at)
    assert (folder / "link").is_symlink()
    assert parquet.read_table(folder / "real").num_rows == 1
    assert solve(["startpos"], "--depth", "2", "--parquet", os.devnull).status == 0


def test_parquet_that_cannot_be_written(folder, monkeypatch):
    pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    answer = solve(POSITIONS, "--parquet", folder / "no" / "answers.parquet")
    assert_refused(answer, "answers.parquet")
    (folder / "here").mkdir()
    assert_refused(solve(POSITIONS, "--parquet", folder / "here"), "here")
    monkeypatch.setattr("distsearch.api.parquet.find_spec", lambda name: None)
    assert_refused(solve(POSITIONS, "--parquet", folder / "answers.parquet"), "distsearch[parquet]")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--csv", "--json"], "csv"),
        (["--parquet", "x", "--csv"], "parquet"),
        (["--obf", "--csv"], "obf"),
        (["--plain", "--fields", "score"], "fields"),
        (["--fields", "score,moves,scor"], "score"),
        (["--fields", ""], "field"),
        (["--parquet", "x", "--checkpoint", "y"], "checkpoint"),
    ],
    ids=" ".join,
)
def test_forms_that_exclude_each_other(options, named):
    assert_refused(solve(POSITIONS, *options), named)


def test_a_resumed_run_has_the_names_of_its_fields_once(folder):
    options = "--csv", "--fields", "line,score", "--checkpoint", folder / "saved"
    first = solve(POSITIONS, *options)
    assert solve(POSITIONS, *options, "--resume").out == first.out
    assert first.out.count("line,score") == 1


# --- plain scores, as Pons's solver has them ---


def plain(lines, *options):
    """The Answer to lines of Connect 4 on stdin."""
    return ask("solve", "connect4", *options, stdin="".join(f"{line}\n" for line in lines).encode())


def test_a_line_of_stdin_comes_back_with_its_score(rng):
    lines, scores = late_lines(rng, 2000)
    answer = plain(lines)
    assert answer.out.splitlines() == [f"{line} {score}" for line, score in zip(lines, scores)]
    assert answer.status == 0
    assert answer.err.startswith("2,000 positions: ")


def test_a_depth_to_the_end_finds_the_same_scores(rng):
    lines, scores = late_lines(rng, 300)
    assert plain(lines, "--depth", "42").out.splitlines() == [f"{line} {score}" for line, score in zip(lines, scores)]


def test_a_file_has_plain_scores_where_they_are_asked_for(folder, rng):
    lines, scores = late_lines(rng, 3)
    (folder / "good.txt").write_text("\n".join(lines))
    answer = ask("solve", "connect4", "--positions", "good.txt", "--plain")
    assert answer.out.splitlines() == [f"{line} {score}" for line, score in zip(lines, scores)]
    assert [line.split()[0] for line in ask("solve", "connect4", "--positions", "good.txt").out.splitlines()] == [
        "1",
        "2",
        "3",
    ]


def test_scores_of_all_columns(rng):
    (line,), (score,) = late_lines(rng, 1)
    text, *scores = plain([line], "-a").out.split()
    assert (text, int(scores[0]), len(scores)) == (line, score, 8)
    assert max(map(int, scores[1:])) == score


def test_check_compares_with_the_scores_of_the_lines(rng):
    lines, scores = late_lines(rng, 100)
    right = [f"{line} {score}" for line, score in zip(lines, scores)]
    answer = plain(right, "--check")
    assert (answer.status, answer.out.splitlines()) == (0, right)
    wrong = [*right[:50], f"{lines[50]} {scores[50] - 1}", *right[51:99], lines[99]]
    answer = plain(wrong, "--check")
    assert answer.status == 1
    assert sorted(complaints(answer, summary=True)) == [51, 100]
    assert answer.out.splitlines() == right[:99]


def test_bad_lines_keep_their_numbers():
    answer = plain(["1", "4x", "", "2 9", "11111", "startpos", "0"], "--board", "4x4")
    assert complaints(answer, summary=True) == [2, 5, 7]
    assert answer.out.splitlines() == ["1 0", " 0", "2 0", "startpos 0"]
    assert answer.status == 1


# --- the summary of many ---


def summary(lines, *options):
    """What stands on stderr, the complaints left out."""
    err = solve(lines, *options).err
    return [line for line in err.splitlines() if not line.startswith("distsearch: ")]


@LIMITS
def test_many_positions_are_summed_up_on_stderr(limit):
    answer, each = solve(POSITIONS, *limit), solve(POSITIONS, *limit, "--json").results
    averages, totals, wall = answer.err.splitlines()
    nodes, hits = (sum(found[name] for found in each) for name in ("nodes", "table_hits"))
    assert re.fullmatch(r"6 positions: [0-9.]+ ms and [0-9,]+ nodes a position, [0-9.]+ nodes/µs,", averages)
    assert f" {nodes / 6:,.0f} nodes a position" in averages
    assert totals.endswith(f" CPU s, {nodes:,} nodes, {hits:,} table hits")
    assert re.fullmatch(r"  [0-9.]+ s on 1 rank: [0-9.]+( [kM])? positions/s", wall)
    assert len(answer.out.splitlines()) == 6


def test_bad_lines_do_not_count():
    assert summary(["startpos", "nonsense", "d3", "XX X"])[0].startswith("2 positions: ")


@pytest.mark.parametrize("lines", [["startpos"], ["startpos", "nonsense"], ["nonsense"]], ids=" ".join)
def test_one_position_needs_no_summary(lines):
    assert summary(lines) == []


def test_json_has_no_summary():
    assert solve(POSITIONS, "--json").err == ""
    assert summary(["startpos", "nonsense", "d3"], "--json") == []


@pytest.mark.parametrize("lost", ["full disk", "no reader"])
def test_answers_come_where_nobody_takes_the_complaints(lost):
    with contextlib.ExitStack() as stack:
        if lost == "full disk":
            err = stack.enter_context(open("/dev/full", "wb"))
        else:
            reading, err = os.pipe()
            os.close(reading)
            stack.callback(os.close, err)
        argv = [sys.executable, "-m", "distsearch", "solve", "othello", "--board", "4x4", "--depth", "2"]
        given = "nonsense\nstartpos\nworse\nd3\n"
        how = {"input": given, "stdout": subprocess.PIPE, "stderr": err, "text": True, "timeout": 120}
        ended = subprocess.run(argv, check=False, **how)
    assert (ended.returncode, len(ended.stdout.splitlines())) == (1, 2)
