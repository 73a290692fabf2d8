"""Streams of positions through real pipes, alone and under ``mpirun``: slow writers, readers that go, signals."""

import signal
import subprocess

import pytest

from ..api.solving import HARD, late_lines
from .running import SOON, TRACEBACK, Job, mpirun_ends_stdin, send, wait_for

SOLVE = "solve", "connect4", "--book", "none"
RANKS = pytest.mark.parametrize("ranks", [0, 3])
FULL_DISK = (
    "-c",
    (
        "import os, sys; os.dup2(os.open('/dev/full', os.O_WRONLY), 1);"
        "from distsearch.cli.main import main; sys.exit(main())"
    ),
)

pytestmark = pytest.mark.usefixtures("solving")


@pytest.fixture
def answered(rng):
    """(lines, their answers) of positions that are solved at once."""
    lines, scores = late_lines(rng, 20)
    return lines, [f"{line} {score}" for line, score in zip(lines, scores)]


@pytest.fixture
def ends_stdin(request):
    if request.getfixturevalue("ranks") and not mpirun_ends_stdin():
        pytest.skip("this mpirun does not tell ranks that stdin has ended")


def stream(ranks, *arguments, **options):
    return Job(*SOLVE, *arguments, ranks=ranks, stdin=subprocess.PIPE, **options)


@RANKS
def test_a_slow_writer_gets_each_answer_before_the_next_line_and_the_end_of_stdin_ends_it(ranks, answered):
    lines, answers = answered
    with stream(ranks) as job:
        for line, answer in zip(lines[:10], answers):
            job.say(line)
            assert job.hear() == answer
        if not ranks or mpirun_ends_stdin():
            for line in lines[10:]:
                job.say(line)
            done = job.finish(SOON)  # which closes stdin
            assert (done.status, done.out.splitlines()) == (0, answers[10:])
            assert "20 positions: " in done.err
            assert TRACEBACK not in done.err


@RANKS
def test_bad_lines_hold_nobody_up(ranks, answered, ends_stdin):
    with stream(ranks, "--json") as job:
        for line in answered[0][:5]:
            job.say("nonsense")
            job.say(line)
            assert '"complete": true' in job.hear()
        done = job.finish(SOON)
    assert done.status == 1
    assert [line for line in done.err.splitlines() if line.startswith("distsearch: line 3: ")]


@RANKS
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_in_the_middle_leaves_the_answers_so_far(ranks, name, answered, full):
    if not full and (ranks, name) not in [(0, "SIGINT"), (3, "SIGTERM")]:
        pytest.skip("one signal each is the sample; the others run with --full")
    lines, answers = answered
    with stream(ranks) as job:
        heard = []
        for line in lines[:5]:
            job.say(line)
            heard.append(job.hear())
        for line in [HARD, *lines]:
            job.say(line)
        job.wait_for_work(0.5)
        send(job, ranks, getattr(signal, name))
        done = job.finish(SOON)
    assert done.status == 128 + getattr(signal, name)
    heard += [line for line in done.out.splitlines() if line[:1].isdigit()]  # MPICH's mpirun writes there as well
    assert heard == answers[:5]
    assert TRACEBACK not in done.err


@RANKS
def test_a_signal_while_nothing_comes_ends_it(ranks, answered):
    lines, answers = answered
    with stream(ranks) as job:
        job.say(lines[0])
        assert job.hear() == answers[0]
        send(job, ranks, signal.SIGTERM)
        wait_for(lambda: not job.left, SOON)  # though stdin is open still
        done = job.finish(SOON)
    assert done.status == 143
    assert TRACEBACK not in done.err


@pytest.fixture
def endless(answered, tmp_path):
    """A file of many positions, with a hard one behind them."""
    file = tmp_path / "lines"
    file.write_text("".join(f"{line}\n" for line in answered[0] * 500 + [HARD]))
    return str(file)


@pytest.mark.any_mpi
def test_a_reader_that_goes_ends_it_quietly(endless):
    with Job(*SOLVE, "--plain", "--positions", endless) as job:
        job.head(1)
        done = job.finish(SOON)
    assert (done.status, done.err) == (0, "")


@RANKS
def test_a_full_disk_ends_all_ranks_at_once(ranks, endless):
    """The workers are busy with what follows."""
    with Job(*SOLVE, "--plain", "--positions", endless, ranks=ranks, program=FULL_DISK) as job:
        job.wait_for_handlers()  # on a busy machine ranks take long to start
        done = job.finish(SOON)
        wait_for(lambda: not job.left, SOON)
    assert done.status == 2
    assert "No space left on device" in done.err
    assert TRACEBACK not in done.err
