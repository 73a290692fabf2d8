"""Ranks that are killed or held up in mid-search: the others go on, and none is left behind."""

import functools
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from benchmarks.faults import __main__ as faults
from distsearch.cluster.start_watchdog import launcher_of, processes

from ..api.solving import late_lines
from ..cluster.test_start_watchdog import waits
from .running import SOON, TRACEBACK, Job, handles, mpirun_is_open_mpi, run, status, wait_for
from .test_failures import FAILING
from .test_killed import write_positions

RANKS = 4
# seconds, of MPICH: of processes of the same host the dead are found out at once, so that it is for the living
DEADLINE = 5
HELD_UP = 2
SEARCH = "search", "connect4", "444444", "--exact", "--book", "none"  # a second of work
PERFT = "perft", "othello", "--board", "6x6", "--depth", "12"
FILES = "/dev/shm/"
pytestmark = pytest.mark.usefixtures("warm")


def surviving(*arguments, deadline=DEADLINE, **options):
    """A Job that goes on without ranks that are killed."""
    deadline = [] if mpirun_is_open_mpi() else ["--worker-timeout", str(deadline)]
    return Job(*arguments, *deadline, ranks=RANKS, survives=True, **options)


def lost(said):
    """The ranks that a text of stderr names, each in a line with its host."""
    host = os.uname().nodename
    lines = [line for line in said.splitlines() if line.startswith("distsearch: lost rank ")]
    assert all(f" (host {host}): its work goes to the others" in line for line in lines), lines
    return sorted(int(line.split()[3]) for line in lines)


def files(job):
    """The files in memory that the ranks of a job have mapped, among them those that have no name any more."""
    lines = [line for pid in job.ranks().values() for line in Path(f"/proc/{pid}/maps").read_text().splitlines()]
    return {Path(line.split()[5]) for line in lines if FILES in line}


def gone(job, shared):
    """Wait until no process and no file of a job is left."""
    wait_for(lambda: not job.left)
    assert not [path for path in shared if path.exists()]


@pytest.fixture(scope="module")
def whole(warm, solving, tmp_path_factory, seed):
    """A function from the name of a search to its arguments, and to what one rank finds."""
    path = write_positions(tmp_path_factory.mktemp("lost") / "positions", 500, random.Random(seed))
    asked = {"search": SEARCH, "solve": ("solve", "connect4", "--positions", path, "--plain"), "perft": PERFT}
    return functools.cache(lambda name: (asked[name], found(run(*asked[name], timeout=300))))


def found(done):
    """What of an answer does not depend on how it was found."""
    lines = done.out.splitlines()
    return [line for line in lines if line.startswith("  score")] or [line for line in lines if " s, " not in line]


@pytest.mark.parametrize("victims", [(2,), (1, 3)], ids=["one", "two"])
@pytest.mark.parametrize("name", ["search", "solve", "perft"])
def test_a_search_goes_on_without_workers_that_are_killed(name, victims, whole, rng, full):
    if not full and (name, victims) not in (("search", (1, 3)), ("solve", (2,))):
        pytest.skip("with --full")
    arguments, expected = whole(name)
    with surviving(*arguments) as job:
        job.wait_for_handlers()
        if rng.random() < 0.8:
            job.wait_for_search(rng.uniform(0.01, 0.05))  # else it is loading
        shared = files(job)
        job.kill(*victims)
        done = job.finish(60)
        gone(job, shared)
    assert (done.status, found(done)) == (int(name == "solve"), expected), done.err
    assert lost(done.err) == list(victims)
    assert TRACEBACK not in done.err


@pytest.mark.usefixtures("solving")
def test_faults_at_random_moments(seed, tmp_path, capsys, full):
    kills, names = (100, ()) if full else (4, ("search", "solve"))
    assert faults.campaign(kills, seed, tmp_path, names), capsys.readouterr().out


@pytest.mark.skipif(mpirun_is_open_mpi(), reason="a script is around each rank under MPICH alone")
def test_the_script_of_a_killed_rank_lasts_as_long_as_the_job():
    """Else its process id could be another program's, to which mpirun sends SIGUSR1 when further ranks end."""
    with surviving("search", "othello", "--depth", "30") as job:
        job.wait_for_search(0.1)
        scripts = {int(status(pid)["PPid"]) for rank, pid in job.ranks().items() if rank in (1, 3)}
        for victim in (1, 3):
            job.kill(victim)
            time.sleep(0.5)  # in which the first script would have ended
        wait_for(lambda: set(job.ranks()) == {0, 2})
        wait_for(lambda: {status(script)["Name"].strip() for script in scripts} == {"ended-rank"})
        job.signal_first_rank(signal.SIGTERM)
        done = job.finish(SOON)
    assert (done.status, lost(done.err)) == (128 + signal.SIGTERM, [1, 3])
    assert not [script for script in scripts if Path(f"/proc/{script}").exists()]


def test_nobody_is_left_to_do_the_work(solving):
    with surviving(*SEARCH) as job:
        job.wait_for_handlers()
        shared = files(job)
        job.kill(1, 2, 3)
        done = job.finish(SOON)
        gone(job, shared)
    assert done.status != 0
    assert "distsearch: every worker is lost" in done.err
    assert TRACEBACK not in done.err


def test_a_rank_that_crashes_dies_at_once():
    with surviving("search", "othello", "--depth", "30") as job:
        job.wait_for_handlers()
        assert not any(handles(process, signal.SIGSEGV) for process in job.ranks().values())


ENDING = """
import sys, time
from distsearch.cli.main import main
from distsearch.cluster import mpi_runtime
leave = mpi_runtime.leave
def leave_late(status):
    if mpi_runtime.place()[1] == 0:
        time.sleep(2)
    leave(status)
mpi_runtime.leave = leave_late
sys.exit(main(sys.argv[1:]))
"""


def test_a_worker_is_killed_while_all_end(solving):
    with surviving(*SEARCH, "--json", program=("-c", ENDING)) as job:
        assert '"score"' in job.hear()
        time.sleep(0.5)  # by now all but rank 0 have nothing more to do
        if 2 in job.ranks():  # else it has ended, and does not wait for rank 0
            job.kill(2)
        done = job.finish(SOON)
    assert done.status == 0, done.err
    assert TRACEBACK not in done.err


@pytest.mark.parametrize("submasters", [0, 1])
def test_the_first_rank_is_killed(submasters):
    with surviving("search", "othello", "--depth", "30", "--submasters", str(submasters)) as job:
        job.wait_for_handlers()
        job.wait_for_search(0.2)
        shared = files(job)
        job.kill(0)
        done = job.finish(SOON)
        gone(job, shared)
    assert done.status != 0
    assert "distsearch: rank 0 is lost" in done.err
    assert TRACEBACK not in done.err


@pytest.mark.parametrize("rank", [0, 2])
def test_a_rank_is_killed_before_all_have_met(rank):
    with surviving(*SEARCH) as job:
        wait_for(lambda: len(job.ranks()) == RANKS)  # they load for some time yet
        job.kill(rank)
        done = job.finish(SOON)
        wait_for(lambda: not job.left)
    assert done.status != 0
    assert f"distsearch: 1 of this host's {RANKS} ranks were lost before all had met" in done.err
    assert TRACEBACK not in done.err


BEGINNING = "from distsearch.cluster import beginning; beginning.limit(); import time; time.sleep(60)"


def test_the_launcher_is_killed_before_all_have_met():
    with surviving(program=("-c", BEGINNING)) as job:  # ranks that never meet
        wait_for(lambda: len(job.ranks()) == RANKS and [waits(pid) for pid in watchdogs(job)] == [True] * 2)
        kind = "Open MPI" if mpirun_is_open_mpi() else "MPICH"
        launcher = launcher_of(job.ranks()[0], kind, processes())
        assert launcher
        os.kill(launcher, signal.SIGKILL)
        wait_for(lambda: not job.left, SOON)


def watchdogs(job):
    return [pid for pid, line in job.commands().items() if b"start_watchdog" in line]


MEETING = """
import os, signal, sys
from distsearch.cli.main import main
from distsearch.cluster import mpi_runtime
from distsearch.cluster.{module} import {name}
if mpi_runtime.launcher()[1] == 1:
    {name}.__init__ = lambda *arguments, **how: os.kill(os.getpid(), signal.SIGKILL)
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(("module", "name"), [("shared_memory", "SharedWords"), ("wakeup", "Wakeup")])
def test_a_rank_is_killed_while_ranks_meet(module, name):
    with surviving(*SEARCH, program=("-c", MEETING.format(module=module, name=name))) as job:
        done = job.finish()
        wait_for(lambda: not job.left)
    assert done.status != 0
    assert "before all had met" in done.err
    assert TRACEBACK not in done.err


IN_PARALLEL = """
import sys
from distsearch.api import parallel_evaluation
from distsearch.cli.main import main
from distsearch.cluster import beginning
search = parallel_evaluation.search
def after_the_start(*arguments):
    assert not beginning._started, "the limit of the start is still there"
    return search(*arguments)
parallel_evaluation.search = after_the_start
sys.exit(main(sys.argv[1:]))
"""


def test_the_limit_of_the_start_ends_where_boards_are_evaluated_in_parallel():
    if not mpirun_is_open_mpi():
        pytest.skip("only an MPI that reports failures limits such a start: --worker-timeout is refused there")
    asked = "search", "othello", "--depth", "2", "--parallel", "evaluation", "--json"
    with Job(*asked, program=("-c", IN_PARALLEL), ranks=RANKS, survives=True) as job:
        done = job.finish()
    assert done.status == 0, done.err
    assert done.results[0]["parallel"] == "evaluation"


@pytest.mark.parametrize("rank", [0, 2])
def test_a_killed_rank_ends_training(rank):
    if not mpirun_is_open_mpi():
        pytest.skip("mpirun of another MPI ends the other ranks")
    learner = "train", "2048", "--board", "2x3", "--asymmetric", "--tuples", "0,1,2,3/2,3,4,5"
    with Job(*learner, "--games", "100000000", ranks=RANKS, survives=True) as job:
        job.hear(300)  # it has compiled
        job.kill(rank)
        done = job.finish(SOON)
        wait_for(lambda: not job.left)
    assert done.status != 0
    assert "distsearch: a rank was lost" in done.err
    assert TRACEBACK not in done.err


@pytest.mark.parametrize("rank", [0, 1])  # rank 1 has the job
def test_an_exception_ends_the_job_all_the_same(rank):
    stage = "back-up" if rank == 0 else "job"
    with surviving(stage, str(rank), *SEARCH, program=[FAILING]) as job:
        done = job.finish()  # it has to start first
        wait_for(lambda: not job.left)
    assert done.status == 1
    assert f"RuntimeError: planted in {stage}" in done.err
    assert done.err.count(TRACEBACK) == 1


def test_a_worker_that_was_held_up_comes_back(solving, tmp_path, rng):
    if mpirun_is_open_mpi():
        pytest.skip("MPI tells that it is there")
    path, (lines, scores) = tmp_path / "stderr", late_lines(rng, 20)
    with (
        path.open("w") as stderr,
        surviving("solve", "connect4", deadline=HELD_UP, stdin=subprocess.PIPE, stderr=stderr) as job,
    ):

        def answered(until):
            """Have lines answered as they should, until stderr has a text."""
            for line, score in zip(lines, scores):
                job.say(line)
                assert job.hear() == f"{line} {score}"
            return until in path.read_text()

        assert answered("")  # so no rank prepares, which may take far longer than the deadline
        pid = job.ranks()[2]
        os.kill(pid, signal.SIGSTOP)
        wait_for(lambda: answered("lost rank 2"))
        os.kill(pid, signal.SIGCONT)
        wait_for(lambda: answered("distsearch: rank 2 (host"))
        done = job.finish(SOON)
    said = path.read_text()
    assert done.status == 0
    assert lost(said) == [2]
    assert TRACEBACK not in said
