"""Training on the command line, what it refuses, and what is done with the weights that it makes."""

import json

import numpy as np
import pytest

from distsearch import games
from distsearch.evaluation import tuple_network

from ..engines import expectimax_twin
from ..evaluation import tuple_network_twin
from ..games.sliding_twin import twin_of
from .asking import ask, assert_refused
from .refused import UNWRITABLE

TRAIN = "train", "2048"
QUICK = *TRAIN, "--board", "2x2", "--asymmetric", "--tuples", "0,1,2,3"
REFUSED = [
    (("train",), "GAME"),
    (("train", "chess"), "chess"),
    (("train", "connect4"), "2048", "connect4"),
    *(((*TRAIN, "--games", games), "games") for games in ("0", "-1", "x", "1.5", "", "9" * 30)),
    *(
        ((*TRAIN, "--tuples", tuples), "tuples")
        for tuples in ("", "9x9", "0,1,", "0,16", "0,0", "0,1,2,3,4,5,6,7", "-1", "x" * 5000, "0/" * 5000)
    ),
    (("train", "2584", "--tuples", "0,1,2,3,4,5"), "5 cells"),
    *(
        ((*TRAIN, "--stages", tiles), "stages")
        for tiles in ("", "x", "3", "0", "2", "64,32", "64,64", "4,8,16,32,64,128,256,512", "9" * 9, "1,", "٦٤")
    ),
    *(((*TRAIN, "--initial-value", value), "initial-value") for value in ("x", "nan", "inf", "-1", "1e10", "")),
    *(((*TRAIN, "--rate", value), "rate") for value in ("x", "nan", "inf", "-0.1", "11", "")),
    *(((*TRAIN, "--n-step", value), "n-step") for value in ("0", "-1", "1001", "x", "1.5")),
    *(((*TRAIN, "--layers", value), "layers") for value in ("-1", "4", "x", "1.5")),
    ((*TRAIN, "--online", "--layers", "1"), "online", "layers"),
    *(((*TRAIN, "--spawn", value), "spawn") for value in ("", "2", "2:0.5", "3:1", "2:x")),
    *(((*TRAIN, "--device", value), "device", "gpu") for value in ("", "tpu", "auto")),
    *(((*TRAIN, "--device", "gpu", *more), "--device cpu") for more in (("--ranks-per-copy", "1"), ("--collisions",))),
    ((*TRAIN, "--parallel-games", "5"), "parallel-games", "gpu"),
    ((*TRAIN, "--device", "gpu", "--exchange", "weights"), "--merge mean"),
    *(((*TRAIN, "--seed", value), "seed") for value in ("-1", "x", "1.5", "", "9" * 16)),
    *(((*TRAIN, "--warm-up", value), "warm-up") for value in ("-1", "x", "1.5", "9" * 30)),
    *(((*TRAIN, "--merge", value), "merge", "mean", "sum") for value in ("", "median", "Mean", "x" * 999)),
    *(((*TRAIN, "--merge-every", value), "merge-every") for value in ("0", "-1", "x")),
    *(((*TRAIN, "--evaluate-every", value), "evaluate-every") for value in ("-1", "x", "1.5")),
    *(((*TRAIN, "--evaluate-games", value), "evaluate-games") for value in ("0", "-1", "65537", "x")),
    *(((*TRAIN, "--save", name), "npz") for name in ("", "weights", "weights.NPZ", "x" * 5000)),
    *(
        ((*TRAIN, "--save", name), "cannot write", why)
        for name, why in (
            ("missing/w.npz", "No such file"),
            ("folder.npz", "folder"),
            ("good.txt/w.npz", "Not a directory"),
            ("x" * 5000 + ".npz", "too long"),
        )
    ),
    *(((*TRAIN, "--save", "new.npz", "--save-every", value), "save-every") for value in ("-1", "x", "1.5")),
    ((*TRAIN, "--replay", "missing.jsonl", "--save", "new.npz"), "cannot read missing.jsonl"),
    ((*TRAIN, "--replay", "missing.jsonl", "--games", "5"), "games is for games that are played"),
    ((*TRAIN, "--replay", "missing.jsonl", "--update", "steps"), "--device gpu"),
    ((*TRAIN, "--replay", "missing.jsonl", "--update", "all"), "update"),
    ((*TRAIN, "--replay", "missing.jsonl", "--record", "new"), "record and weights-only"),
    ((*TRAIN, "--update", "games"), "update goes with --replay"),
    (("train", "othello", "--replay", "missing.jsonl"), "replay is not for othello"),
    ((*TRAIN, "--resume"), "save"),
    ((*TRAIN, "--weights-only"), "save"),
    ((*TRAIN, "--save", "bad.npz", "--resume"), "bad.npz", "weights"),
    ((*TRAIN, "--save", "folder.npz", "--resume"), "folder.npz"),
    *(((*QUICK, "--record", name), "cannot write", why) for name, why in (*UNWRITABLE, ("folder.npz", "exists"))),
    *(((*TRAIN, "--board", board), "board") for board in ("1x4", "5x5", "x", "")),
    ((*TRAIN, "--board", "3x3"), "--asymmetric"),
    ((*TRAIN, "--board", "3x3", "--asymmetric", "--tuples", "0,9"), "0 to 8"),
    ((*TRAIN, "--board", "3x3", "--asymmetric"), "0 to 8"),  # the first preset
    ((*TRAIN, "startpos"), "startpos"),
    ((*TRAIN, "--evaluation", "snake"), "--evaluation"),
]


@pytest.fixture
def files(folder):
    (folder / "folder.npz").mkdir()
    (folder / "bad.npz").write_bytes(b"PK\x03\x04 and so on")
    return folder


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: " ".join(case[0])[:60].encode("ascii", "replace").decode())
def test_wrong_input_is_refused_in_one_line(case, files):
    before = sorted(each.name for each in files.iterdir())
    argv, *names = case
    assert_refused(ask(*argv), *names)
    assert sorted(each.name for each in files.iterdir()) == before


def test_training_prints_lines_and_what_it_came_to(tmp_path):
    save, record = tmp_path / "weights.npz", tmp_path / "record"
    asked = *QUICK, "--games", "2500", "--evaluate-every", "2000", "--evaluate-games", "50"
    answer = ask(*asked, "--save", save, "--record", record, "--json")
    assert answer.status == 0, answer.err
    *lines, found = answer.results
    assert [(line["kind"], line["games"]) for line in lines] == [
        ("learning", 1000),
        ("learning", 2000),
        ("evaluation", 2000),
    ]
    assert [json.loads(line) for line in record.read_text().splitlines()] == lines
    assert (found["played"], found["learnt"], found["complete"], found["save"]) == (2500, 2500, True, str(save))
    assert found["moves"] > sum(line["moves"] for line in lines if line["kind"] == "learning")
    assert found["tuples"] == "0,1,2,3"
    text = ask(*asked).out.splitlines()
    assert [line.split()[0] for line in text[:3]] == ["1,000", "2,000", "2,000"]
    assert "without learning, 50 games" in text[2]
    assert text[3].startswith("2048 2x2  2,500 games learnt from")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("2048", ["--board", "2x2", "--asymmetric", "--tuples", "0,1,2,3"]),
        pytest.param("2584", ["--tuples", "0,1,4/5,6,9"], marks=pytest.mark.full),
        pytest.param("2048", ["--tuples", "0,1,4,5/1,2,3", "--stages", "16,64"], marks=pytest.mark.full),
    ],
    ids=str,
)
def test_weights_are_an_evaluation(name, options, tmp_path, rng, full):
    """To ``search``, ``solve`` and ``play``: searches are those of plain recursion over the plain twin."""
    path, board = tmp_path / "weights.npz", (2, 2) if "2x2" in options else (4, 4)
    assert ask("train", name, *options, "--games", "300", "--rate", "0.5", "--save", path).status == 0
    game, twin = games.find(name), twin_of(name, board)
    net = tuple_network.load(path, name, 1 << game.BITS)
    asked = "--evaluation", path, "--board", "x".join(map(str, board)), "--json"

    def plain(position):
        codes = np.array([[game.VALUES.index(tile) for tile in row] for row in position[0]])
        if twin.kind(position) == "end":
            return 0.0
        return tuple_network_twin.value(codes, net.tuples, net.weights, 1 << game.BITS, net.symmetric, net.stages)

    positions = []
    while len(positions) < 3:
        position = twin.start()
        for _ in range(rng.randint(4, 20)):
            position = twin.play(position, rng.choice(twin.moves(position) or ["left"]))[0]
        if twin.kind(position) == "max":
            positions.append(position)
    texts = [twin.text(position) for position in positions]
    for depth in (1, 2, 3) if board == (2, 2) or full else (1, 2):
        (tmp_path / "positions").write_text("".join(f"{text}\n" for text in texts))
        solved = ask("solve", name, "--positions", tmp_path / "positions", "--depth", depth, *asked)
        for text, position, found in zip(texts, positions, solved.results, strict=True):
            (searched,) = ask("search", name, text, "--depth", depth, *asked).results
            values = expectimax_twin.values(twin, position, depth, plain, points=True)
            best = pytest.approx(max(values.values()), rel=1e-5, abs=1e-3)
            assert searched["score"] == found["score"] == best
            assert values[searched["move"]] == values[found["move"]] == best
    (played,) = ask("play", name, "--depth", "1", "--games", "20", "--seed", "1", *asked).results
    assert played["evaluation"] == str(path)
    assert played["games"] == 20


def test_files_that_do_not_fit_are_refused(tmp_path):
    path = tmp_path / "weights.npz"
    assert ask(*QUICK, "--games", "10", "--save", path).status == 0
    play = "play", "2048", "--depth", "1", "--games", "1", "--evaluation"
    assert_refused(ask(*play, path), "weights.npz", "2x2", "4x4")
    assert_refused(ask(*play, path, "--board", "2x2", "--spawn", "2:1"), "weights.npz", "2:0.9,4:0.1")
    assert_refused(ask("play", "2584", *play[2:], path, "--board", "2x2"), "weights.npz", "2048", "2584")
    assert_refused(ask("search", "othello", "--depth", "1", "--evaluation", path), "weights.npz")
    whole = path.read_bytes()
    for cut in 0, 10, len(whole) // 2, len(whole) - 1:
        path.write_bytes(whole[:cut])
        for command in "play", "search":
            options = ("--board", "2x2", "--depth", "1", "--evaluation", path)
            assert_refused(ask(command, "2048", *options), "weights.npz")
    assert_refused(ask(*play, tmp_path / "missing.npz"), "missing.npz", "No such file")


def test_learning_makes_better_players(tmp_path):
    """Averages of 300 games each of a fixed seed, on 3×3: they are many standard errors apart."""
    options = "--board", "3x3", "--asymmetric", "--tuples", "0,1,3,4/1,2,4,5/3,4,6,7"
    averages = []
    for count in "1", "20000":
        path = tmp_path / f"{count}.npz"
        assert ask(*TRAIN, *options, "--games", count, "--save", path).status == 0
        asked = "--board", "3x3", "--depth", "1", "--games", "300", "--seed", "1", "--json"
        (found,) = ask("play", "2048", *asked, "--evaluation", path).results
        averages.append(found["average"])
    assert averages[1] > 1.7 * averages[0]


def test_weights_that_are_there_are_not_overwritten(tmp_path):
    path = tmp_path / "weights.npz"
    assert ask(*QUICK, "--games", "10", "--save", path).status == 0
    before = path.read_bytes()
    assert_refused(ask(*QUICK, "--games", "20", "--save", path), "weights.npz", "--resume")
    assert path.read_bytes() == before


def test_what_is_not_asked_for_goes_on_as_in_the_file(tmp_path):
    path, options = tmp_path / "weights.npz", ("--seed", "7", "--rate", "0.25", "--n-step", "2", "--stages", "16,64")
    assert ask(*QUICK, *options, "--games", "300", "--save", path).status == 0
    again = ask(*TRAIN, "--games", "400", "--save", path, "--resume", "--json")
    assert again.status == 0
    (whole,) = (ask(*QUICK, *options, "--games", "400", "--save", tmp_path / "whole.npz", "--json"),)
    found, expected = (json.loads(answer.out.splitlines()[-1]) for answer in (again, whole))
    for name in ("seed", "rate", "n_step", "stages", "tuples", "board"):
        assert found[name] == expected[name], name
    assert found["learnt"] == 100
    one, other = (tuple_network.load(each, "2048", 16).weights for each in (path, tmp_path / "whole.npz"))
    assert np.array_equal(one, other, equal_nan=True)
    assert_refused(ask(*TRAIN, "--seed", "8", "--save", path, "--resume"), "seed 7, not 8")


def test_a_compact_file_is_one_of_the_end(tmp_path):
    path = tmp_path / "weights.npz"
    assert ask(*QUICK, "--games", "2000", "--save", path, "--save-every", "500", "--weights-only").status == 0
    assert_refused(ask(*QUICK, "--games", "3000", "--save", path, "--resume"), "weights alone")


@pytest.mark.parametrize(
    "asked",
    [
        ("--games", "5"),
        ("--tuples", "4x6"),
        (),
        ("--iterations", "5"),
        ("--iterations", "0:2"),
        ("--iterations", "5:99"),
        ("--resume",),
        ("--coherence",),
        ("--board", "6x8"),
    ],
)
def test_what_othello_does_not_take_is_refused(asked, tmp_path):
    save = ("--save", tmp_path / "weights.npz") if asked else ()
    assert_refused(ask("train", "othello", *asked, *save))


@pytest.mark.parametrize(
    ("board", "other"), [("8x8", "6x6"), ("6x6", "8x8"), pytest.param("10x10", "8x8", marks=pytest.mark.full)]
)
def test_othello_learns_patterns(board, other, tmp_path):
    path = tmp_path / "weights.npz"
    answer = ask("train", "othello", "--board", board, "--iterations", "40:1", "--save", path, "--json")
    assert answer.status == 0, answer.err
    assert answer.results[0]["games"] == [40] and answer.results[0]["positions"] > 400
    found = ask("search", "othello", "--board", board, "--depth", "2", "--evaluation", path, "--json")
    assert found.status == 0, found.err
    refused = ask("search", "othello", "--board", other, "--depth", "2", "--evaluation", path)
    assert_refused(refused, f"weights for {board}, not for {other}")
