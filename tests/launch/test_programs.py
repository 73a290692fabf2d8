"""``distsearch gtp`` and ``nboard`` in processes of their own, alone and under mpirun, led by programs."""

import os
import select
import signal
import subprocess
import sys
import time

import pytest

from distsearch.games import othello
from distsearch.games.interface import legal_moves, step

from .running import PATIENCE, SOON, TRACEBACK, Job, mpirun_ends_stdin, send

START = "(;GM[Othello]BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *];)"
RANKS = pytest.mark.parametrize("ranks", [0, 3])

pytestmark = pytest.mark.usefixtures("warm")


def led(command, *options, ranks=0):
    return Job(command, *options, ranks=ranks, stdin=subprocess.PIPE)


def hear(job, end, timeout=PATIENCE):
    """Return what the job says on stdout up to an end, which it says last before it waits."""
    source, told, late = job._process.stdout.fileno(), "", time.monotonic() + timeout
    while not told.endswith(end):
        assert select.select([source], [], [], max(0, late - time.monotonic()))[0], f"nothing after {told!r}"
        part = os.read(source, 1 << 16).decode()
        assert part, f"no {end!r} in {told!r}"
        told += part
    return told.removesuffix(end)


def responses(job, *lines):
    """Send commands of GTP; return the responses, without the empty line that ends each."""
    found = []
    for line in lines:
        job.say(line)
        found.append(hear(job, "\n\n"))
    return found


@RANKS
def test_gtp_plays(ranks):
    with led("gtp", "--depth", "3", ranks=ranks) as job:
        assert responses(job, "protocol_version", "1 boardsize 8", "clear_board") == ["= 2", "=1", "="]
        rules, position = othello.rules(), othello.start(othello.rules())
        for color in "bwbw":
            (response,) = responses(job, f"genmove {color}")
            move = othello.parse_move(response.removeprefix("= "), rules)
            assert move in legal_moves(othello, position, rules)
            position = step(othello, position, rules, move)
        assert responses(job, "nonsense", "2 quit") == ["? unknown command", "=2"]
        done = job.finish(SOON)
    assert (done.status, done.out) == (0, "")
    assert TRACEBACK not in done.err


@RANKS
def test_nboard_stops_thinking_at_a_ping(ranks):
    with led("nboard", ranks=ranks) as job:
        for line in ("nboard 2", "set depth 60", f"set game {START}", "ping 1"):
            job.say(line)
        assert hear(job, "pong 1\n") == "set myname distsearch\n"
        job.say("go")
        assert hear(job, "thinking\n") == "status distsearch is "
        job.say("ping 2")
        assert hear(job, "pong 2\n", SOON) == "status\n"
        for line in ("set depth 2", "move F5", "go"):
            job.say(line)
        assert "\n=== " in hear(job, "\nstatus\n")
        job.say("quit")
        assert job.finish(SOON).status == 0


@pytest.mark.parametrize("command", ["gtp", "nboard"])
@RANKS
def test_the_end_of_stdin_ends_it_after_all_is_answered(command, ranks):
    if ranks and not mpirun_ends_stdin():
        pytest.skip("this mpirun does not tell of the end of stdin")
    asked = {"gtp": "genmove b\n", "nboard": f"set depth 3\nset game {START}\ngo"}  # the last without a line break
    with led(command, "--depth", "3", ranks=ranks) as job:
        job._process.stdin.write(asked[command])
        job._process.stdin.close()
        job._process.stdin = None
        done = job.finish()
    assert done.status == 0, done.err
    assert "= " in done.out


@pytest.mark.any_mpi
@pytest.mark.parametrize("command", ["gtp", "nboard"])
def test_a_reader_that_has_gone_ends_it(command):
    with led(command, "--depth", "60") as job:
        job.say({"gtp": "name", "nboard": f"nboard 2\nset game {START}"}[command])
        job.head(1)
        job.say({"gtp": "genmove b", "nboard": "go"}[command])
        done = job.finish(PATIENCE)
    assert (done.status, TRACEBACK in done.err) == (0, False)


@RANKS
def test_a_signal_ends_it(ranks):
    with led("gtp", "--depth", "60", ranks=ranks) as job:
        assert responses(job, "name") == ["= distsearch"]
        job.say("genmove b")
        job.wait_for_search(0.3) if ranks else job.wait_for_work(0.3)
        send(job, ranks, signal.SIGTERM)
        done = job.finish(SOON)
    assert TRACEBACK not in done.err
    assert "= " not in done.out


@RANKS
def test_a_client_of_others_leads_it(ranks):
    """The package ``gtp``, made for GNU Go: its client with another engine at the other end."""
    gtp = pytest.importorskip("gtp")
    launcher = ["mpirun", "-n", str(ranks)] if ranks else []
    client = gtp.GoTextPipe.__new__(gtp.GoTextPipe)
    client.gnugo = engine = subprocess.Popen(
        [*launcher, sys.executable, "-m", "distsearch", "gtp", "--depth", "2"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    try:
        assert [client.boardsize(8), client.clear_board(), client.play("black", "f5")] == ["", "", ""]
        assert client.genmove("white") in ("d6", "f4", "f6")
        assert "O to move" not in client.showboard()
        with pytest.raises(gtp.FailedCommand, match="illegal move"):
            client.play("black", "a1")
        client.close()
    finally:
        engine.kill()
        engine.wait()
