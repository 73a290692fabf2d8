"""Games against chance on the command line."""

import json

import pytest

from distsearch import __version__, games
from distsearch.api import devices
from distsearch.testing.emulated_gpu import EmulatedGpu

from ..games.sliding_twin import twin_of
from .asking import ask, assert_refused

PLAY = "play", "2048", "--board", "3x3", "--depth", "1"


def replayed(line):
    """Return (score, largest tile) of a line of a record, played over by plain rules."""
    twin = twin_of(line["game"], games.parse_board(line["board"]))
    position, score = twin.start(), 0
    for move in line["moves"].split():
        assert move in twin.moves(position)
        position, points = twin.play(position, move)
        score += points
    assert twin.kind(position) == "end"
    return score, max(map(int, twin.text(position).split(",")))


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("name", ["2048", "2584"])
def test_a_summary_and_a_record_of_games(name, tmp_path):
    path = tmp_path / "games"
    options = "--board", "3x3", "--depth", "2", "--games", "9", "--seed", "4"
    answer = ask("play", name, *options, "--record", path, "--json")
    assert answer.status == 0, answer.err
    (found,), lines = answer.results, lines_of(path)
    assert [(line["number"], line["seed"], line["depth"]) for line in lines] == [(i, 4, 2) for i in range(9)]
    for line in lines:
        assert replayed(line) == (line["score"], line["largest"])
    scores = [line["score"] for line in lines]
    assert (found["games"], found["asked"], found["complete"]) == (9, 9, True)
    assert found["average"] == pytest.approx(sum(scores) / 9)
    assert (found["median"], found["maximum"]) == (sorted(scores)[4], max(scores))
    assert found["average_low"] < found["average"] < found["average_high"]
    for tile in found["reached"]:
        assert tile["games"] == sum(line["largest"] >= tile["tile"] for line in lines)
        assert 0 <= tile["low"] < tile["share"] <= tile["high"] <= 1
    assert found["moves"] == sum("@" not in move for line in lines for move in line["moves"].split())
    assert (found["ranks"], found["version"]) == (1, __version__)
    assert min(found["moves_per_second"], found["moves_per_cpu_second"], found["nodes"]) > 0


def test_text_has_the_same_figures():
    (found,) = ask(*PLAY, "--games", "5", "--json").results
    lines = ask(*PLAY, "--games", "5").out.splitlines()
    assert lines[0] == "2048 3x3  5 games, rows, depth 1, seed 0"
    assert f"average {found['average']:,.0f} (95%: " in lines[1]
    assert f"maximum {found['maximum']:,}" in lines[1]
    for tile, line in zip(found["reached"], lines[2:-2], strict=True):
        assert line.split()[:5] == ["reached", str(tile["tile"]), str(tile["games"]), "of", "5"]
    assert f" {found['moves']:,}: " in lines[-2]
    assert "stopped early" not in lines[-1]


def test_games_are_those_of_their_seed_and_options(tmp_path):
    def played(name, *options):
        assert ask(*PLAY, "--games", "3", "--record", tmp_path / name, *options).status == 0
        return [line["moves"] for line in lines_of(tmp_path / name)]

    first = played("first")
    assert len(set(first)) == 3
    assert played("again", "--seed", "0", "--prefetch", "9") == first
    assert not set(played("seed", "--seed", "1")) & set(first)
    assert not set(played("spawn", "--spawn", "4:1")) & set(first)
    assert lines_of(tmp_path / "spawn")[0]["spawn"] == "4:1"


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (("--depth", "1", "--depth-by-empty", "2:5,4:3"), {"depth_by_empty": [[2, 5], [4, 3]], "depth": 1}),
        (("--nodes", "300"), {"node_limit": 300, "depth": None}),
        (("--nodes", "300", "--depth", "3"), {"node_limit": 300, "depth": 3}),
    ],
)
def test_limits_of_a_move_are_in_summary_and_record(limits, expected, tmp_path):
    options = "play", "2048", "--board", "3x3", "--games", "2", *limits
    answer = ask(*options, "--record", tmp_path / "games", "--json")
    (found,), (line, _) = answer.results, lines_of(tmp_path / "games")
    for name, value in expected.items():
        assert (found[name], line[name]) == (value, value)
    heading = ask(*options).out.splitlines()[0]
    assert ("depth 5 at 2 empty, 3 at 4 empty, 1" if "depth_by_empty" in expected else "nodes 300") in heading


def test_text_says_what_chance_is_taken_for():
    assert ask(*PLAY, "--games", "1", "--chance", "uniform").out.startswith(
        "2048 3x3  1 games, rows, depth 1, chance uniform, seed 0\n"
    )


def test_moves_may_have_a_limit_of_time():
    options = "play", "2048", "--board", "2x2", "--games", "2", "--time", "0.003"
    (found,) = ask(*options, "--json").results
    assert (found["time"], found["games"]) == (0.003, 2)
    assert 0 < found["slowest"] <= found["seconds"]
    lines = ask(*options).out.splitlines()
    assert "time 0.003" in lines[0]
    assert lines[-2].startswith("  slowest")


def test_games_on_a_gpu_are_recorded_and_traced_as_on_a_cpu(tmp_path, monkeypatch):
    monkeypatch.setattr(devices, "chosen", lambda comm, name: None if name == "cpu" else EmulatedGpu())
    found = {}
    for device in ("cpu", "gpu"):
        record, trace = tmp_path / f"{device}-games", tmp_path / f"{device}-trace"
        options = "--evaluation", "rows", "--layers", "0", "--games", "3", "--seed", "5"
        options += "--record", record, "--trace", trace
        answer = ask("play", "2048", *options, "--device", device, "--json")
        assert (answer.status, answer.err) == (0, "")
        (summary,) = answer.results
        figures = {name: summary[name] for name in ("average", "median", "maximum", "reached", "moves", "complete")}
        assert (summary.get("gpu_seconds", 0) > 0) == (device == "gpu")
        found[device] = record.read_text(), figures
        assert json.loads(trace.read_text())["traceEvents"]
    assert found["gpu"] == found["cpu"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--depth", "1", "--device", "tpu"), ("tpu", "cpu, gpu, auto")),
        (("--time", "1", "--device", "gpu"), ("device gpu goes without time", "layers")),
        (("--depth", "1", "--board", "3x3", "--device", "gpu"), ("4x4",)),
        (("--depth", "1", "--min-probability", "0.1", "--device", "gpu"), ("min-probability",)),
    ],
    ids=str,
)
def test_what_no_gpu_plays_is_refused(options, words, monkeypatch):
    if "gpu" in options:
        monkeypatch.setattr(devices, "chosen", lambda comm, name: EmulatedGpu())
    assert_refused(ask("play", "2048", "--games", "1", *options), *words)


def test_layers_are_odd_depths():
    (found,) = ask(
        "play", "2048", "--board", "2x2", "--layers", "1", "--games", "1", "--min-probability", "0.1", "--json"
    ).results
    assert (found["depth"], found["min_probability"], found["games"]) == (3, 0.1, 1)
    assert (found["average_low"], found["average_high"]) == (None, None)


def test_a_file_that_is_there_is_left_alone(tmp_path):
    path = tmp_path / "games"
    path.write_text("mine")
    assert_refused(ask(*PLAY, "--record", path), "cannot write", "exists")
    assert path.read_text() == "mine"


def test_nothing_is_written_where_options_are_refused(tmp_path):
    path = tmp_path / "games"
    assert_refused(ask("play", "othello", "--random-plies", "99", "--record", path), "random-plies")
    assert not path.exists()


def test_every_game_against_chance_tells_its_largest_tile():
    assert [name for name in games.names() if hasattr(games.find(name), "largest")] == ["2048", "2584"]
