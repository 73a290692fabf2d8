"""The command line in process: what it refuses, in one line each, and what it answers."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from distsearch import __version__
from distsearch.cli import main

START = "-----OX--XO----- X"  # on 4×4
FULL = "X" * 16 + " O"
PASS = "d3d2b1d4"  # as far as a forced pass
FIRST_MOVES = {"b1", "a2", "d3", "c4"}


class Answer(NamedTuple):
    """What a command line leaves."""

    status: int
    out: str
    err: str

    @property
    def results(self):
        """The JSON objects on stdout, a line each, read strictly."""
        return [json.loads(line, parse_constant=_refuse) for line in self.out.splitlines()]


def _refuse(token):
    raise ValueError(f"{token} is not JSON")


def ask(*argv, stdin=b""):
    """Run a command line in this process; return its Answer."""
    out, err = io.StringIO(), io.StringIO()
    given = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")  # as strict as stdin is in most locales
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), mock.patch("sys.stdin", given):
        try:
            status = main([str(arg) for arg in argv])
        except SystemExit as leaving:  # --help and --version
            status = leaving.code
    return Answer(status, out.getvalue(), err.getvalue())


def search(*options, position=START, board="4x4"):
    """Return the JSON object of a search."""
    answer = ask("search", "othello", position, "--board", board, *options, "--json")
    assert answer.status == 0, answer.err
    (found,) = answer.results
    return found


def assert_refused(answer, *names):
    """One line on stderr, printable, which names what is wrong; nothing else."""
    assert answer.status == 2
    assert answer.out == ""
    assert answer.err.startswith("distsearch: ")
    assert answer.err.endswith("\n")
    assert answer.err[:-1].isprintable()
    for name in names:
        assert str(name) in answer.err


@pytest.fixture(scope="module", autouse=True)
def kernels():
    """Compile first, so that stderr holds no news of the compiler."""
    for name in "static", "complex", "discs":
        ask("search", "othello", "--depth", "1", "--evaluation", name)
    ask("perft", "othello", "--depth", "1")


# --- what is refused: arguments, and what the message has to name ---

SEARCH = "search", "othello"
SIMULATE = "simulate", "othello", "--board", "4x4", "--depth", "1"
REFUSED = [
    # commands
    ((), "COMMAND"),
    (("",), "COMMAND"),
    (("fly",), "fly"),
    (("SEARCH", "othello"), "SEARCH"),
    (("sear", "othello"), "sear"),
    (("--fly",), "--help"),
    (("search",), "GAME"),
    (("solve", "--positions", "good.txt"), "GAME"),
    (("perft", "--depth", "1"), "GAME"),
    (("simulate",), "GAME"),
    (("info", "othello"), "othello"),
    (("info", "--depth", "3"), "--depth"),
    # games
    (("search", ""), "othello"),
    (("search", "chess"), "chess", "othello"),
    (("search", "OTHELLO"), "OTHELLO"),
    (("search", "othello\n"), "othello"),
    (("search", "../othello"), "../othello"),
    (("search", "chess" * 1000), "othello"),
    (("solve", "chess", "--positions", "good.txt"), "chess"),
    (("perft", "chess", "--depth", "1"), "chess"),
    # boards
    *(((*SEARCH, "--depth", "1", "--board", board), "board", "8x8") for board in (
        "8", "8x", "x8", "", "x", "8x-1", "8x8x8", "8 x 8", "8*8", "8,8", "8x8 ", "eightxeight", "8.0x8",
        "1e1x8", "٨x٨", "８x８", "8×8", "0x8x8", "9999x8", "8" * 5000 + "x8", "8x8\n",
    )),
    *(((*SEARCH, "--depth", "1", "--board", board), board, "4x4", "16x16") for board in (
        "0x0", "3x3", "3x8", "8x3", "17x8", "8x17", "17x17", "999x999", "0x8",
    )),
    ((*SEARCH, "--board", "-1x8"), "--board"),
    ((*SEARCH, "--board"), "--board"),
    # positions
    ((*SEARCH, "-" * 64), "arguments"),  # not a position: argparse takes it for an option
    ((*SEARCH, START), "16", "64"),
    ((*SEARCH, "---------------- X", "--board", "4x5"), "16", "20"),
    ((*SEARCH, START[:16], "--board", "4x4", "--"), "arguments"),
    ((*SEARCH, START[:16] + " ", "--board", "4x4"), "side"),
    ((*SEARCH, START[:16] + " Y", "--board", "4x4"), "X or O"),
    ((*SEARCH, START[:16] + " XO", "--board", "4x4"), "X or O"),
    ((*SEARCH, START[:16] + " X X", "--board", "4x4"), "X or O"),
    ((*SEARCH, START[:16] + " -", "--board", "4x4"), "X or O"),
    ((*SEARCH, "OXOXOXOXOXOXOXOXX", "--board", "4x4"), "17", "16"),
    ((*SEARCH, START.replace("O", "0"), "--board", "4x4"), "'0'"),
    ((*SEARCH, START.replace("O", "W"), "--board", "4x4"), "'W'"),
    ((*SEARCH, "X" * 100_000), "100000", "64"),
    ((*SEARCH, "z" * 100_000), "'z'"),
    ((*SEARCH, "🙂" * 64 + " X"), "'🙂'"),
    ((*SEARCH, "X" * 63 + "é X"), "'é'"),
    ((*SEARCH, "X" * 32 + "\n" + "X" * 32 + " X"), "position"),
    ((*SEARCH, "X" * 63 + "\x1b[31m X"), "'?'"),
    ((*SEARCH, "\x07"), "position"),
    ((*SEARCH, "\u202e" + "X" * 64), "position"),
    ((*SEARCH, "\udcff" * 64), "position"),
    ((*SEARCH, "start"), "position"),
    ((*SEARCH, "startpos f5"), "position"),
    ((*SEARCH, "STARTPOS"), "position"),
    ((*SEARCH, START, START, "--board", "4x4"), "arguments"),
    # transcripts
    ((*SEARCH, "a1"), "move 1", "a1", "legal"),
    ((*SEARCH, "f5f5"), "move 2", "f5", "legal"),
    ((*SEARCH, "f5d6a1"), "move 3", "a1", "legal"),
    ((*SEARCH, "pass"), "move 1", "pass", "legal"),
    ((*SEARCH, "f5pass"), "move 2", "pass", "legal"),
    ((*SEARCH, "f9"), "f9", "a1", "h8"),
    ((*SEARCH, "i1"), "i1", "h8"),
    ((*SEARCH, "p16"), "p16", "h8"),
    ((*SEARCH, "a0"), "a0", "h8"),
    ((*SEARCH, "a01"), "a01", "h8"),
    ((*SEARCH, "e5", "--board", "4x4"), "e5", "d4"),
    ((*SEARCH, "a" + "1" * 10_000), "square", "h8"),
    ((*SEARCH, "f5d"), "position"),
    ((*SEARCH, "f5 d6"), "position"),
    ((*SEARCH, "q1"), "position"),
    ((*SEARCH, "d3" * 30_000, "--board", "4x4"), "move 2"),
    # limits
    *(((*SEARCH, "--depth", depth), "depth") for depth in (
        "0", "-1", "1001", "99999999999999999999", "abc", "1.5", "1e3", "", "0x10", "nan", "9" * 5000,
    )),
    *(((*SEARCH, "--time", time), "time") for time in ("0", "-1", "nan", "inf", "1e999", "abc", "", "1s", "0:05")),
    ((*SEARCH, "--time=-inf"), "time"),
    *(((*SEARCH, "--nodes", nodes), "nodes") for nodes in ("0", "-5", "x", "1e6", "1.5", "", "nan")),
    ((*SEARCH, "--depth"), "--depth"),
    ((*SEARCH, "--time"), "--time"),
    ((*SEARCH, "--nodes"), "--nodes"),
    ((*SEARCH, "--exact", "--depth", "3"), "exact", "depth"),
    ((*SEARCH, "--exact", "--time", "3"), "exact", "time"),
    ((*SEARCH, "--exact", "--nodes", "3"), "exact", "nodes"),
    ((*SEARCH, "--exact=1"), "--exact"),
    # how to search
    *(((*SEARCH, "--load-factor", factor), "load") for factor in (
        "0", "-1", "nan", "inf", "x", "", "100001", "1e300",
    )),
    *(((*SEARCH, "--algorithm", name), "alphabeta", "minimax") for name in ("negascout", "", "AlphaBeta", "x" * 999)),
    *(((*SEARCH, "--policy", name), "pool") for name in ("steal", "", "Pool")),
    *(((*SEARCH, "--ordering", name), "ordering", "static") for name in (
        "random", "", "shallow:", "shallow:0", "shallow:-1", "shallow:10", "shallow:x", "shallow:1.5", "shallow:1:2",
        "shallow 2", "static:2", "none:", "static:",
    )),
    *(((*SEARCH, "--evaluation", name), "static", "complex", "discs") for name in ("best", "", "Static")),
    *(((*SEARCH, "--empties", rule), "winner", "none") for rule in ("loser", "", "Winner")),
    *(((*SEARCH, "--prefetch", batches), "prefetch") for batches in ("0", "-1", "1001", "x", "1.5", "")),
    ((*SEARCH, "--json=yes"), "--json"),
    ((*SEARCH, "--fly"), "--fly"),
    ((*SEARCH, "-d", "3"), "-d"),
    ((*SEARCH, "--fly=" + "x" * 5000), "--fly"),
    ((*SEARCH, "--positions", "good.txt"), "--positions"),
    # files of positions
    (("solve", "othello"), "--positions"),
    (("solve", "othello", "--positions"), "--positions"),
    (("solve", "othello", "--positions", "missing.txt"), "missing.txt", "No such file"),
    (("solve", "othello", "--positions", ""), "No such file"),
    (("solve", "othello", "--positions", "folder"), "folder", "directory"),
    (("solve", "othello", "--positions", "good.txt/under"), "good.txt/under", "Not a directory"),
    (("solve", "othello", "--positions", "x" * 5000), "xxx", "too long"),
    (("solve", "othello", "--positions", "empty.txt"), "empty.txt", "no position"),
    (("solve", "othello", "--positions", "-"), "no position"),  # an empty stdin
    (("solve", "othello", "good.txt"), "--positions"),
    (("solve", "othello", "--positions", "good.txt", "more.txt"), "more.txt"),
    (("solve", "othello", "--positions", "good.txt", "--exact", "--depth", "2"), "exact"),
    # perft
    (("perft", "othello"), "--depth"),
    *((("perft", "othello", "--depth", depth), "depth") for depth in ("-1", "33", "x", "1.5", "", "9" * 30)),
    (("perft", "othello", "--depth", "2", "--algorithm", "minimax"), "--algorithm"),
    (("perft", "othello", "--depth", "2", "--board", "3x3"), "3x3"),
    (("perft", "othello", "nowhere", "--depth", "2"), "position"),
    (("perft", "othello", START, "--depth", "1", "--board", "4x4", "--positions", "good.txt"), "--positions"),
    (("perft", "othello", "--depth", "2", "--positions", "missing.txt"), "missing.txt", "No such file"),
    (("perft", "othello", "--depth", "2", "--positions", "empty.txt"), "empty.txt", "no position"),
    # a virtual cluster
    *(((*SIMULATE, "--workers", workers), "workers") for workers in ("0", "-1", "100001", "x", "1.5", "")),
    *(((*SIMULATE, "--network", network), "network", "host", "tcp") for network in ("", "ether", "TCP")),
    *(((*SIMULATE, option, value), option[2:]) for value in ("-1", "nan", "inf", "x") for option in (
        "--latency", "--delay", "--spread", "--jitter", "--message-cost", "--bandwidth", "--rate",
    )),
    ((*SIMULATE, "--bandwidth", "0"), "bandwidth"),
    ((*SIMULATE, "--rate", "0"), "rate"),
    *(((*SIMULATE, "--seed", seed), "seed") for seed in ("x", "1.5", "")),
    # bench
    (("bench", "othello"), "othello"),
    (("bench", "--messages"), "two ranks"),
    (("bench", "--messages", "--prefetch", "x"), "prefetch"),
]  # fmt: skip


def _label(case):
    text = " ".join(case[0]).encode("ascii", "backslashreplace").decode()
    return text.translate(dict.fromkeys(range(32), "?"))[:60] or "nothing"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with the files that command lines of this module name."""
    monkeypatch.chdir(tmp_path)
    Path("good.txt").write_text("startpos\n")
    Path("empty.txt").touch()
    Path("folder").mkdir()
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("case", REFUSED, ids=_label)
def test_wrong_input_is_refused_in_one_line(case):
    argv, *names = case
    assert_refused(ask(*argv), *names)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read(folder):
    (folder / "good.txt").chmod(0)
    assert_refused(ask("solve", "othello", "--positions", "good.txt"), "good.txt", "Permission denied")


# --- garbage ---

GARBAGE = st.text() | st.text("XOxo-.") | st.text("XOxo-. ;\t") | st.from_regex(r"([a-q][0-9]{1,2}|pass){1,9}\Z")
NUMBERS = st.sampled_from(["", "-1", "0", "3", "4", "04", "8", "17", "64", "1000", "٤", "1e1", "4.0", "x"])
# what exec can hand over: no NUL
WORDS = st.text(st.characters(blacklist_characters="\0")) | st.sampled_from([
    "search", "solve", "perft", "info", "simulate", "othello", "chess", "startpos", START, FULL, PASS, "--board", "4x4",
    "4x5", "8", "--depth", "--time", "--nodes", "--exact", "--json", "--all-moves", "--algorithm", "minimax",
    "alphabeta", "--policy", "pool", "--load-factor", "--ordering", "none", "shallow:1", "static", "--evaluation",
    "discs", "--empties", "--positions", "-", "--", "-h", "--help", "--version", "0", "1", "2", "-3", "1.5", "nan", "",
])  # fmt: skip


def assert_no_accident(answer):
    assert answer.status in (0, 1, 2)
    assert "Traceback" not in answer.out + answer.err
    for line in answer.err.splitlines():
        assert line.isprintable()


@given(GARBAGE)
@example("-h")
@example("--exact")
def test_no_position_causes_a_traceback(text):
    assert_no_accident(ask("search", "othello", text, "--board", "4x4", "--depth", "1"))


@given(st.text() | st.builds(lambda *parts: "".join(parts), NUMBERS, st.sampled_from("xX*×"), NUMBERS))
def test_no_board_causes_a_traceback(text):
    assert_no_accident(ask("search", "othello", "--depth", "1", f"--board={text}"))


@given(st.text() | st.builds(lambda name, depth: f"shallow:{depth}{name}", st.text(max_size=2), NUMBERS))
def test_no_ordering_causes_a_traceback(text):
    assert_no_accident(ask("search", "othello", START, "--board", "4x4", "--depth", "1", f"--ordering={text}"))


@given(st.lists(st.sampled_from(["d3", "D3", "c3", "b3", "pass", "a1", "a0", "e9", "a1b", "q1", "d", "3"]), max_size=9))
def test_no_transcript_causes_a_traceback(moves):
    assert_no_accident(ask("search", "othello", "".join(moves), "--board", "4x4", "--depth", "1"))


@given(st.lists(GARBAGE, max_size=5))
def test_no_file_causes_a_traceback(lines):
    options = "--board", "4x4", "--depth", "1", "--positions", "-"
    assert_no_accident(ask("solve", "othello", *options, stdin="\n".join(lines).encode()))


@given(st.lists(WORDS, max_size=8))
@example(["search", "othello"])
@example(["perft", "othello"])
@example(["solve", "othello", "--positions", "-"])
def test_no_command_line_causes_a_traceback(argv):
    # behind any of them, a depth that makes its search a short one
    answer = ask(*argv, "--depth", "1", stdin=b"startpos\n")
    if answer.status != 2:
        assert_no_accident(answer)
    else:
        assert_refused(answer)


# --- answers ---

JSON_TYPES = {
    "game": str, "board": str, "position": str, "move": str, "score": int, "unit": str, "bound": str, "proved": bool,
    "complete": bool, "depth": int, "nodes": int, "seconds": float, "cpu_seconds": float,
    "boards_per_second": (int, float), "pv": list, "ranks": int, "workers": int, "algorithm": str, "policy": str,
    "load_factor": (int, float), "table_hits": int, "time_share": dict, "version": str,
}  # fmt: skip


def test_json_has_all_that_was_promised():
    found = search("--depth", "3")
    assert {name: type(found[name]) for name in JSON_TYPES if not isinstance(found[name], JSON_TYPES[name])} == {}
    assert found["game"] == "othello"
    assert found["board"] == "4x4"
    assert found["position"] == START
    assert found["move"] in FIRST_MOVES
    assert found["pv"][0] == found["move"]
    assert found["unit"] == "evaluation"
    assert found["bound"] == "exact"
    assert found["complete"]
    assert not found["proved"]
    assert found["depth"] == len(found["pv"]) == 3
    assert found["nodes"] > 3
    assert found["ranks"] == found["workers"] == 1
    assert found["algorithm"] == "alphabeta"
    assert found["policy"] == "pool"
    assert found["load_factor"] == 1
    assert set(found["time_share"]) == {"busy", "communication", "idle"}
    assert all(0 <= share <= 1 for share in found["time_share"].values())
    assert found["version"] == __version__
    assert "moves" not in found


def test_text_says_the_same():
    answer = ask("search", "othello", START, "--board", "4x4", "--exact")
    assert answer.status == 0
    rows = dict(line.split(maxsplit=1) for line in answer.out.splitlines())
    assert rows["othello"] == "4x4"
    assert rows["position"] == START
    assert rows["best"].split()[1] in FIRST_MOVES
    assert rows["score"] == "-10 discs"
    assert "alphabeta" in rows["search"]
    assert "pool" in rows["search"]


def test_options_and_positions_may_come_in_any_order():
    orders = ["--board", "4x4", "--depth", "2", "othello", PASS], ["othello", "--depth", "2", PASS, "--board", "4x4"]
    texts = [ask("search", *order, "--json").results[0]["position"] for order in orders]
    assert texts[0] == texts[1] != START


def test_exact_is_the_value_of_the_game():
    found = search("--exact")
    assert (found["score"], found["unit"], found["proved"], found["bound"]) == (-10, "discs", True, "exact")


def test_empties_say_who_gets_the_empty_squares():
    assert search("--exact", "--empties", "winner")["score"] == -10
    assert search("--exact", "--empties", "none")["score"] == -8


@pytest.mark.parametrize("limit", [["--exact"], ["--depth", "4"], ["--nodes", "2000"]], ids=" ".join)
def test_all_moves_scores_every_legal_move(limit):
    found = search("--all-moves", *limit)
    scores = {entry["move"]: entry["score"] for entry in found["moves"]}
    assert set(scores) == FIRST_MOVES
    assert max(scores.values()) == scores[found["move"]] == found["score"]


def test_minimax_finds_the_same_score_with_more_boards():
    pruned, plain = search("--exact"), search("--exact", "--algorithm", "minimax")
    assert plain["algorithm"] == "minimax"
    assert plain["score"] == pruned["score"]
    assert plain["nodes"] > 10 * pruned["nodes"]


@pytest.mark.parametrize("ordering", ["none", "static", "shallow", "shallow:2"])
def test_orderings_agree(ordering):
    found = search("--exact", "--ordering", ordering)
    assert found["score"] == -10
    assert (found["ordering_nodes"] > 0) == ordering.startswith("shallow")


def test_evaluations_differ():
    units = {name: search("--depth", "3", "--evaluation", name)["unit"] for name in ("static", "complex", "discs")}
    assert units == {"static": "evaluation", "complex": "evaluation", "discs": "discs"}


def test_load_factor_is_the_number_of_subtrees_a_worker():
    found = search("--exact", "--load-factor", "20")
    assert found["load_factor"] == 20
    assert found["jobs"] >= 20
    assert found["score"] == -10


@pytest.mark.parametrize("board", ["5x6", "6X5"])
def test_boards_of_other_sizes(board):
    found = search("--depth", "2", position="startpos", board=board)
    assert found["board"] == board.lower()
    assert len(found["position"]) == 32


def test_a_budget_of_boards_gives_the_same_answer_again():
    promised = JSON_TYPES.keys() - {"seconds", "cpu_seconds", "boards_per_second", "time_share"}
    first, second = (search("--nodes", "20000", position="startpos", board="6x6") for _ in range(2))
    assert {name: first[name] for name in promised} == {name: second[name] for name in promised}
    assert 0 < first["nodes"] <= 20_000


@pytest.mark.parametrize("nodes", [2**63 - 1, 2**63, 10**30])
def test_a_budget_of_boards_beyond_all_arrays_causes_no_traceback(nodes):
    assert_no_accident(ask("search", "othello", START, "--board", "4x4", "--nodes", nodes))


def test_time_is_kept():
    found = search("--time", "0.2", position="startpos", board="8x8")
    assert found["complete"]
    assert 0.2 <= found["seconds"] < 2
    assert found["depth"] > 1


@pytest.mark.parametrize("limit", [["--exact"], ["--depth", "3"], ["--time", "9"], ["--nodes", "9"]], ids=" ".join)
def test_a_finished_game_has_a_score_and_no_move(limit):
    found = search(*limit, "--all-moves", position=FULL)
    assert found["move"] is None
    assert found["score"] == -16
    assert found["unit"] == "discs"
    assert found["proved"]
    assert found["pv"] == found["moves"] == []


def test_text_of_a_finished_game_says_so():
    answer = ask("search", "othello", FULL, "--board", "4x4", "--depth", "1")
    assert "the game is over" in answer.out
    assert "-16 discs" in answer.out


def test_a_forced_pass_is_the_move():
    found = search("--exact", "--all-moves", position=PASS)
    assert found["move"] == found["pv"][0] == "pass"
    assert found["moves"] == [{"move": "pass", "score": found["score"]}]


# --- many positions ---


LIMITS = pytest.mark.parametrize("limit", [["--exact"], ["--depth", "2"], ["--nodes", "50"]], ids=" ".join)


def solve(lines, *options):
    return ask("solve", "othello", "--board", "4x4", "--positions", "-", *options, stdin="\n".join(lines).encode())


POSITIONS = {"startpos": START, "d3": None, "D3d2": None, PASS: None, FULL: FULL, START.lower(): START}


@LIMITS
def test_solve_answers_in_the_order_of_the_lines(limit):
    answer = solve(POSITIONS, *limit, "--json")
    assert answer.status == 0
    alone = [search(*limit, position=line) for line in POSITIONS]
    for found, expected in zip(answer.results, alone, strict=True):
        same = "position", "move", "score", "unit", "proved", "complete", "bound"
        assert {name: found[name] for name in same} == {name: expected[name] for name in same}


def test_solve_is_exact_unless_limited():
    assert [found["proved"] for found in solve(["startpos"], "--json").results] == [True]
    assert [found["proved"] for found in solve(["startpos"], "--depth", "2", "--json").results] == [False]


def test_solve_reads_files(folder):
    (folder / "good.txt").write_text("startpos ; the first\nd3;second\n\n")
    answer = ask("solve", "othello", "--board", "4x4", "--depth", "2", "--positions", "good.txt", "--json")
    assert [found["position"] == START for found in answer.results] == [True, False, True]


def test_solve_prints_a_line_a_position():
    lines = solve(["startpos", PASS, FULL]).out.splitlines()
    assert [line.split()[0] for line in lines] == ["1", "2", "3"]
    assert [line.split()[1] in moves for line, moves in zip(lines, [FIRST_MOVES, {"pass"}, {"-"}])] == [True] * 3


def complaints(answer):
    """Return the numbers of the lines that an answer complains about; nothing but complaints may be on stderr."""
    matches = [re.fullmatch(r"distsearch: line ([0-9]+): .+", line) for line in answer.err.splitlines()]
    assert all(matches), answer.err
    assert answer.err.replace("\n", "").isprintable()
    return [int(match[1]) for match in matches]


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


# --- perft, version, and the other way in ---


def test_perft_counts():
    answer = ask("perft", "othello", "--depth", "4", "--json")
    assert answer.status == 0
    (count,) = answer.results
    assert count["counts"] == [1, 4, 12, 56, 244]
    assert count["nodes"] == 244
    assert count["depth"] == 4
    assert count["complete"]
    assert count["version"] == __version__


def test_perft_prints_a_line_a_depth():
    lines = ask("perft", "othello", "--depth", "7").out.splitlines()
    counts = [tuple(line.replace(",", "").split()) for line in lines[2:10]]
    assert counts == list(zip("01234567", ["1", "4", "12", "56", "244", "1396", "8200", "55092"]))


def test_perft_of_many_positions():
    answer = ask(
        "perft", "othello", "--board", "4x4", "--depth", "2", "--positions", "-", "--json",
        stdin=f"startpos\nnonsense\n{FULL}\n".encode())  # fmt: skip
    assert complaints(answer) == [2]
    assert answer.status == 1
    assert [count["counts"] for count in answer.results] == [[1, 4, 12], [1, 1, 1]]


def test_perft_of_bad_lines_only():
    answer = ask("perft", "othello", "--depth", "2", "--positions", "-", stdin=b"nonsense\n")
    assert complaints(answer) == [1]
    assert (answer.status, answer.out) == (1, "")


@pytest.mark.parametrize(("position", "counts"), [(FULL, [1, 1, 1]), (PASS, [1, 1, 4])], ids=["finished", "pass"])
def test_perft_from_other_positions(position, counts):
    answer = ask("perft", "othello", position, "--board", "4x4", "--depth", "2", "--json")
    assert answer.results[0]["counts"] == counts


@pytest.mark.parametrize("command", [[], ["search"], ["solve"], ["perft"], ["info"]], ids=" ".join)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_is_printed_where_results_are(command, option):
    answer = ask(*command, option)
    assert answer.status == 0
    assert answer.out.startswith("usage: distsearch")
    assert answer.err == ""


def test_version():
    assert ask("--version") == (0, f"distsearch {__version__}\n", "")


def test_the_package_can_be_run():
    command = [sys.executable, "-m", "distsearch", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"distsearch {__version__}\n", "")
