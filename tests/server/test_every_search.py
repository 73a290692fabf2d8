"""A service answers what ``search`` answers: every game and algorithm, with a GPU, by a game of one's own."""

import contextlib
from collections import Counter
from importlib.metadata import EntryPoint

import pytest

from distsearch import games
from distsearch.api import devices
from distsearch.api.book import WITHOUT
from distsearch.api.options import algorithms_of
from distsearch.api.session import Session
from distsearch.jobs.gpu_expectimax import GpuExpectimaxRunner
from distsearch.jobs.gpu_two_player import GpuTwoPlayerRunner
from distsearch.server.request_queue import RequestQueue
from distsearch.testing.emulated_gpu import EmulatedGpu

from ..cli.asking import ask
from ..games import tictactoe
from ..games.plug_ins import installed
from . import broken_game, searches
from .searches import CASES, FIBONACCI, OF_THE_REQUEST, TILES, agreed, arguments
from .serving import Serving, Wire, code

_PATIENCE = 300.0  # seconds: kernels may have to be compiled


@contextlib.contextmanager
def serving(path, **how):
    """A Wire to a service of this process alone."""
    with (
        Session(table=1, book=WITHOUT, guarded=True, **how) as session,
        Serving(RequestQueue(session), path),
        Wire(path, _PATIENCE) as wire,
    ):
        yield wire


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("service") / "socket"
    with serving(path):
        yield path


@pytest.fixture
def wire(path):
    with Wire(path, _PATIENCE) as made:
        yield made


def answer_of(wire, **fields):
    """The answer to a request of one position, after which it is done."""
    wire.say(id="a", **fields)
    answer, done = wire.hear(), wire.hear()
    assert (answer["type"], done) == ("answer", {"id": "a", "type": "done", "state": "done", "answers": 1}), answer
    return answer


def printed(case):
    """What the command line prints for a case."""
    (found,) = ask(*arguments(case), "--book=none").results
    return found


def test_every_algorithm_of_every_game_is_among_the_cases():
    asked = {(case["game"], case.get("algorithm", algorithms_of(games.find(case["game"]))[0])) for case in CASES}
    assert asked == {(name, each) for name in games._GAMES for each in algorithms_of(games.find(name))}


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(arguments(case)[1:]))
def test_the_answer_is_that_of_the_command_line(wire, case):
    answer, expected = answer_of(wire, **case), printed(case)
    assert answer.keys() - OF_THE_REQUEST == expected.keys()
    assert agreed(answer) == agreed(expected)
    assert answer["move"] == expected["move"]
    assert answer["nodes"] > 0


@pytest.mark.parametrize("game", ["2048", "2584"])
def test_progress_tells_of_ever_deeper_searches(wire, game):
    wire.say(id=1, game=game, seed=1, time=1.0, progress=0.05, evaluation="rows")
    said = [wire.hear()]
    while said[-1]["type"] != "done":
        said.append(wire.hear())
    *partial, answer, _ = said
    assert len(partial) > 3
    assert {each["type"] for each in partial} == {"progress"}
    assert not any(each["complete"] for each in partial)
    depths, nodes = ([each[name] for each in (*partial, answer)] for name in ("depth", "nodes"))
    assert depths == sorted(depths)
    assert nodes == sorted(nodes)
    assert depths[0] < depths[-1]
    assert answer["complete"]
    assert answer["move"] in ("up", "right", "down", "left")
    assert answer["seconds"] >= 0.9
    assert answer_of(wire, game=game, seed=1, depth=answer["depth"], evaluation="rows")["score"] == answer["score"]


def test_an_evaluation_that_a_board_does_not_have_is_the_clients_mistake(wire):
    wire.say(id=1, game="othello", board="4x4", evaluation="patterns", depth=3)
    said = wire.hear()
    assert (said["state"], said["error"]["code"]) == ("failed", "bad_field")
    assert "not on 4x4" in said["error"]["message"]


@pytest.mark.parametrize(
    "how", [{"time": 1e-9}, {"time": 1e-9, "algorithm": "ida"}, {"time": 0.05, "algorithm": "minimax"}]
)
def test_the_shortest_time_is_enough_for_a_move(wire, how):
    answer = answer_of(wire, game="2048", position=TILES, evaluation="rows", **how)
    assert answer["complete"]
    assert answer["move"] is not None
    assert answer["depth"] >= 1


@pytest.mark.parametrize("how", [{"depth": 30}, {"time": 1000}, {"depth": 30, "algorithm": "alphabeta"}], ids=str)
def test_a_search_against_chance_can_be_cancelled(wire, how):
    wire.say(id=1, game="2048", position=TILES, progress=0.1, evaluation="rows", **how)
    assert wire.hear()["type"] == "progress"
    wire.say(op="cancel", id=1)
    while (said := wire.hear())["type"] == "progress":
        pass
    assert said == {"id": 1, "type": "done", "state": "cancelled", "answers": 0}
    assert answer_of(wire, game="2048", position=TILES, depth=1)["complete"]


def test_several_positions_against_chance_are_answered_each(wire):
    texts = [TILES, "startpos", "2" + ",0" * 15]
    wire.say(id=1, game="2048", positions=texts, seed=4, depth=2, evaluation="rows")
    said = [wire.hear() for _ in range(4)]
    assert [each["index"] for each in said[:3]] == [0, 1, 2]
    alone = [answer_of(wire, game="2048", position=text, depth=2, evaluation="rows") for text in (texts[0], texts[2])]
    assert [said[0]["score"], said[2]["score"]] == [each["score"] for each in alone]
    assert said[1]["score"] == answer_of(wire, game="2048", seed=4, depth=2, evaluation="rows")["score"]


def test_an_easy_search_does_not_wait_for_a_long_one_against_chance(wire):
    wire.say(id="long", game="2048", position=TILES, depth=30, evaluation="rows")
    wire.say(id="easy", game="connect4", position="4453222", depth=1)
    assert [wire.hear()["id"] for _ in range(2)] == ["easy"] * 2
    wire.say(op="cancel", id="long")
    assert wire.hear()["state"] == "cancelled"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"nodes": 100}, "2048 goes without nodes"),
        ({"seed": 3, "position": TILES}, "seed goes with startpos"),
        ({"exact": True}, "exact is for games of two players"),
        ({"algorithm": "ida", "depth": 3}, "depth goes without ida"),
        ({"depth": 3, "depth_by_empty": [[3]]}, "depth_by_empty is not a list of pairs of integers"),
        ({"depth": 6, "algorithm": "minimax", "par_depth": 5}, "par_depth 5 is more than 4"),
        ({"depth": 3, "evaluation": "/nowhere/net.npz"}, "/nowhere/net.npz"),
        ({"depth": 3, "evaluation": "/nowhere/weights.json"}, "cannot read /nowhere/weights.json"),
    ],
    ids=str,
)
def test_what_search_refuses_is_refused_alike(wire, fields, words):
    wire.say(id=1, game="2048", **fields)
    said = wire.hear()
    assert words in (said["error"]["message"]), said
    assert said["type"] == "error" or said["state"] == "failed"


GPU_CASES = [
    (GpuTwoPlayerRunner, {"game": "connect4", "position": "1122", "board": "5x4", "exact": True}),
    (GpuTwoPlayerRunner, {"game": "othello", "position": "b1a1a2c1", "board": "4x4", "exact": True}),
    (GpuTwoPlayerRunner, {"game": "connect4", "position": "1122", "board": "5x4", "depth": 4}),
    (GpuTwoPlayerRunner, {"game": "othello", "position": "f5d6c3", "depth": 3}),
    (GpuExpectimaxRunner, {"game": "2048", "position": TILES, "depth": 3, "evaluation": "rows"}),
    (GpuExpectimaxRunner, {"game": "2584", "position": FIBONACCI, "depth": 3, "evaluation": "rows"}),
]
BESIDE_A_GPU = {  # one search of each game and algorithm that no GPU does
    (case["game"], case.get("algorithm", "alphabeta")): case for case in reversed(CASES) if "algorithm" in case
}


@pytest.fixture(scope="module")
def launches():
    """How often each runner of a GPU was at work."""
    counted = Counter()
    with pytest.MonkeyPatch.context() as patch:
        for runner in (GpuTwoPlayerRunner, GpuExpectimaxRunner):
            advance = runner.advance
            patch.setattr(runner, "advance", lambda self, r=runner, a=advance: (counted.update([r]), a(self))[1])
        patch.setattr(devices, "chosen", lambda comm, device: EmulatedGpu(3))
        yield counted


@pytest.mark.parametrize(("runner", "case"), GPU_CASES, ids=lambda each: getattr(each, "__name__", "") or each["game"])
def test_a_gpu_answers(tmp_path, launches, runner, case):
    launches.clear()
    with serving(tmp_path / "socket", device="gpu") as wire:
        answer = answer_of(wire, **case)
        wire.say(id=1, game="othello", depth=3, evaluation="static")
        refused = wire.hear()
    assert list(launches) == [runner]
    expected = agreed(printed(case))
    assert agreed(answer) == {**expected, "score": pytest.approx(expected["score"], rel=1e-12)}
    assert (code(refused), refused["error"]["message"][:11]) == ("bad_field", "device gpu ")


def test_every_game_and_algorithm_is_among_the_cases_with_a_gpu():
    done = {(case["game"], algorithms_of(games.find(case["game"]))[0]) for _, case in GPU_CASES}
    assert done | BESIDE_A_GPU.keys() == {
        (name, each) for name in games._GAMES for each in algorithms_of(games.find(name))
    }


@pytest.fixture(scope="module")
def beside_a_gpu(tmp_path_factory, launches):
    """A Wire to a service that uses a GPU where it can."""
    with serving(tmp_path_factory.mktemp("gpu") / "socket", device="auto") as wire:
        yield wire


@pytest.mark.parametrize("case", BESIDE_A_GPU.values(), ids=lambda case: " ".join(arguments(case)[1:]))
def test_what_no_gpu_does_the_same_rank_does_on_its_cpu(beside_a_gpu, launches, case):
    launches.clear()
    answer, expected = answer_of(beside_a_gpu, **case), printed(case)
    assert not launches
    assert agreed(answer) == agreed(expected)
    assert answer["move"] == expected["move"]


def own_games(monkeypatch, **modules):
    """A context in which modules are games of other packages, by name."""
    points = {name: EntryPoint(name, value, games.ENTRY_POINTS) for name, value in modules.items()}
    return installed(monkeypatch, **points)


def test_a_game_of_ones_own_is_served(monkeypatch, tmp_path):
    with own_games(monkeypatch, tictactoe=tictactoe.__name__), serving(tmp_path / "socket") as wire:
        answer = answer_of(wire, game="tictactoe", exact=True)
        assert (answer["score"], answer["proved"], answer["board"]) == (0, True, "3x3")
        wire.say(op="status")
        assert "tictactoe" in wire.hear()["games"]


def test_a_broken_game_costs_itself_alone(monkeypatch, tmp_path, capsys):
    modules = {"gone": "tests.nowhere", "broken": broken_game.__name__, "empty": searches.__name__}
    with own_games(monkeypatch, **modules), serving(tmp_path / "socket") as wire:
        for name, words in (("gone", "No module named 'tests.nowhere'"), ("empty", "it has no NAME, ")):
            wire.say(id=1, game=name)
            said = wire.hear()
            assert code(said) == "bad_field"
            assert said["error"]["message"].startswith(f"game {name} (tests.")
            assert words in said["error"]["message"]
        wire.say(id=2, game="broken", position="boom")
        assert code(wire.hear()) == "internal"
        wire.say(id=3, game="broken", depth=1)
        assert wire.hear()["state"] == "failed"
        assert answer_of(wire, game="connect4", position="1122", board="5x4", depth=2)["complete"]
        wire.say(op="status")
        assert wire.hear()["games"] == ["2048", "2584", "broken", "connect4", "othello"]
    assert "ZeroDivisionError" in capsys.readouterr().err
