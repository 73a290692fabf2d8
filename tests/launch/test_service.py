"""``distsearch serve`` in processes of its own: how it starts and ends, and a small soak."""

import os
import signal
import socket
from importlib.util import find_spec
from pathlib import Path

import pytest

from ..cli.asking import ask as ask_command
from ..games.plug_ins import package
from ..server.searches import CASES, agreed, arguments
from ..server.serving import Wire, ask, code, status
from .running import PACKAGES, SOON, TRACEBACK, Job, mpirun_ends_stdin, run, send, wait_for

SCRIPT = Path(__file__).with_name("service_load.py")
SMALL = ["--ranks", "3", "--requests", "200", "--malformed", "60", "--flood", "0.05", "--positions", "4", "--kill", "1"]
EASY, SCORE = "67773775553433522221211211515", -2  # Connect 4
_STARTING = 60  # seconds
_COMPILING = 300

pytestmark = pytest.mark.usefixtures("kernels")


@pytest.fixture(scope="session")
def kernels(tmp_path_factory):
    """Kernels that every service loads are compiled."""
    path = tmp_path_factory.mktemp("kernels") / "socket"
    with serve(path, ranks=0) as job, connected(path) as wire:
        wait_for(lambda: status(wire)["state"] == "serving", _COMPILING)
        job.signal(signal.SIGTERM)
        assert job.finish(SOON).status == 0


@pytest.fixture
def path(tmp_path):
    return tmp_path / "socket"


def serve(path, *arguments, ranks=3, **options):
    return Job("serve", "--socket", str(path), *arguments, ranks=ranks, **options)


def connected(path, timeout=20.0):
    """Return a Wire to a service that starts."""

    def listens():
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            return probe.connect_ex(str(path)) == 0

    wait_for(listens, _STARTING)
    return Wire(path, timeout)


def check(wire):
    """The service answers."""
    ask(wire, "check", position=EASY, exact=True)
    assert wire.hear()["score"] == SCORE
    assert wire.hear() == {"id": "check", "type": "done", "state": "done", "answers": 1}


def test_sigterm_lets_open_requests_be_answered(path):
    with serve(path) as job, connected(path) as wire:
        ask(wire, "open", game="othello", time=1.0, evaluation="complex")
        state = status(wire)
        assert state["active"] + state["queued"] == 1
        send(job, 3, signal.SIGTERM)
        said = []
        while not said or said[-1]["type"] != "error":
            ask(wire, "late", exact=True, position=EASY)
            said.append(wire.hear())
        assert code(said[-1]) == "shutting_down"
        said += wire.hear_all()
        done = job.finish(SOON)
    mine = [message for message in said if message["id"] == "open"]
    assert [message["type"] for message in mine] == ["answer", "done"]
    assert mine[0]["complete"]
    assert mine[1]["state"] == "done"
    assert done.status == 0
    assert TRACEBACK not in done.err
    assert not path.exists()


@pytest.mark.any_mpi
def test_a_second_service_is_refused_and_the_first_one_goes_on(path):
    with serve(path, ranks=0) as job, connected(path) as wire:
        second = run("serve", "--socket", str(path), timeout=_STARTING)
        assert second.status == 2
        assert second.err.splitlines()[-1].startswith("distsearch: cannot listen at")
        assert "serving" not in second.err
        check(wire)
        job.signal(signal.SIGTERM)
        assert job.finish(SOON).status == 0


@pytest.mark.any_mpi
def test_a_service_takes_over_from_one_that_was_killed(path):
    with serve(path, ranks=0) as job:
        connected(path).close()
        job.signal(signal.SIGKILL)
        job.finish(SOON)
    assert path.exists()
    with serve(path, ranks=0) as job, connected(path) as wire:
        check(wire)
        job.signal(signal.SIGTERM)
        assert job.finish(SOON).status == 0
    assert not path.exists()


def test_a_service_ends_with_any_of_its_ranks(path):
    with serve(path) as job, connected(path) as wire:
        ask(wire, game="othello", exact=True)
        assert status(wire)["type"] == "status"
        os.kill(job.ranks()[2], signal.SIGKILL)
        assert [message for message in wire.hear_all() if message["type"] == "answer"] == []
        done = job.finish(SOON)
        assert done.status != 0
        wait_for(lambda: not job.left, SOON)


def test_requests_from_stdin_under_mpirun(tmp_path):
    if not mpirun_ends_stdin():
        pytest.skip("this mpirun does not tell ranks that stdin has ended")
    requests = tmp_path / "requests"
    lines = [
        f'{{"id": 1, "game": "connect4", "position": "{EASY}", "exact": true}}',
        "nonsense",
        '{"id": 2, "game": "othello", "board": "4x4", "exact": true}',
        '{"op": "status"}',
    ]
    requests.write_text("\n".join(lines))
    with requests.open() as stdin:
        done = run("serve", ranks=3, stdin=stdin, timeout=_STARTING)
    assert done.status == 0
    scores = {message["id"]: message["score"] for message in done.results if message["type"] == "answer"}
    assert scores == {1: SCORE, 2: -10}
    assert [message["state"] for message in done.results if message["type"] == "done"] == ["done"] * 2
    assert [code(message) for message in done.results if message["type"] == "error"] == ["bad_json"]
    assert [message["ranks"] for message in done.results if message["type"] == "status"] == [3]


@pytest.mark.parametrize(("ranks", "options", "cases"), [(3, [], CASES), (5, ["--submasters=1"], CASES[::3])])
def test_several_ranks_answer_as_the_command_line_does(path, ranks, options, cases):
    cases = [case for case in cases if "nodes" not in case or "runs" in case]  # a budget's depth depends on the ranks
    with serve(path, *options, ranks=ranks), connected(path, _COMPILING) as wire:
        for number, case in enumerate(cases):
            wire.say(id=number, **case)
        answers, done = {}, 0
        while done < len(cases):
            said = wire.hear()
            assert said["type"] in ("answer", "done"), said
            done += said["type"] == "done"
            if said["type"] == "answer":
                answers[said["id"]] = said
    for number, case in enumerate(cases):
        (expected,) = ask_command(*arguments(case), "--book=none").results
        assert agreed(answers[number]) == agreed(expected), case
        assert answers[number]["ranks"] == ranks
        move = answers[number]["move"]
        if move != expected["move"]:  # another one that is as good
            (every,) = ask_command(*arguments(case), "--book=none", "--all-moves").results
            assert {"move": move, "score": expected["score"]} in every["moves"], case


def test_a_long_search_that_is_cut_off_is_kept(path, tmp_path):
    with serve(path, f"--checkpoints={tmp_path / 'kept'}") as job, connected(path) as wire:
        ask(wire, game="othello", exact=True, progress=1.2)
        assert wire.hear()["type"] == "progress"
        wire.say(op="cancel", id=1)
        while (said := wire.hear())["type"] == "progress":
            pass
        assert said["state"] == "cancelled"
        send(job, 3, signal.SIGTERM)
        assert job.finish(SOON).status == 0
    assert [each.suffix for each in (tmp_path / "kept").iterdir()] == [".checkpoint"]


def test_games_of_other_packages_are_served_and_a_broken_one_costs_itself_alone(tmp_path):
    package(tmp_path, tictactoe="tests.games.tictactoe", gone="tests.nowhere")
    environment = {"PYTHONPATH": f"{PACKAGES}{os.pathsep}{tmp_path}"}
    requests = tmp_path / "requests"
    requests.write_text(
        '{"id": 1, "game": "gone", "depth": 1}\n{"id": 2, "game": "tictactoe", "exact": true}\n'
        f'{{"id": 3, "game": "connect4", "position": "{EASY}", "exact": true}}\n'
    )
    with requests.open() as stdin:
        done = run("serve", stdin=stdin, environment=environment, timeout=_COMPILING)
    problem = "game gone (tests.nowhere) cannot be used: ModuleNotFoundError: No module named 'tests.nowhere'"
    assert done.status == 0
    assert f"distsearch: {problem}" in done.err.splitlines()
    assert TRACEBACK not in done.err
    said = {(message["id"], message["type"]): message for message in done.results}
    assert said[1, "error"]["error"] == {"code": "bad_field", "message": problem}
    assert [said[number, "answer"]["score"] for number in (2, 3)] == [0, SCORE]
    told = run("info", "--json", environment=environment)
    assert (told.status, told.results[0]["problems"]) == (1, [problem])
    assert told.results[0]["games"] == ["2048", "2584", "connect4", "othello", "tictactoe"]
    assert run("search", "connect4", EASY, "--exact", "--json", environment=environment).results[0]["score"] == SCORE


@pytest.mark.any_mpi
def test_a_soak(full, seed):
    """Clients of every kind: see the script."""
    size = [*(["--kill", "3"] if full else SMALL), *([] if find_spec("uvicorn") else ["--web", "0"])]
    timeout = 3000 if full else 300  # kernels may have to be compiled
    done = run("soak", "--seed", str(seed), *size, program=[str(SCRIPT)], timeout=timeout)
    assert done.status == 0, done.out + done.err
    assert done.out.splitlines()[-1] == "all right"
    assert TRACEBACK not in done.err
