"""The scripts of scripts/slurm, submitted to a Slurm of two nodes: what they leave, and jobs that queue again."""

import json
import os
import re
import subprocess
import time
import urllib.request

import pytest

from distsearch.evaluation import tuple_network

from .conftest import CHECKOUT, SEARCH, environment

PATIENCE = 120  # seconds for a job, on a machine that does other things as well
SMALL = "--nodes=2", "--ntasks-per-node=2"
WORK = "othello", "--board", "6x6", "--depth", "8", "--policy", "pool"
NETWORK = "2048", "--board", "2x3", "--asymmetric", "--tuples", "0,1,2,3/2,3,4,5"

pytestmark = pytest.mark.skipif(
    "DISTSEARCH_NO_SLURM" in os.environ, reason=os.environ.get("DISTSEARCH_NO_SLURM", "no Slurm")
)


def ask(*command, variables=None):
    """Run a command of Slurm's and return what it prints."""
    return subprocess.run(
        command, cwd=CHECKOUT, env=variables, capture_output=True, text=True, timeout=30, check=True
    ).stdout.strip()


class Submitted:
    """A job of a script in scripts/slurm. options: sbatch's; variables: the job's, added to those of this process."""

    def __init__(self, folder, script, *arguments, options=SMALL, venv=None, **variables):
        self.folder = folder
        self.number = ask(
            "sbatch",
            "--parsable",
            f"--output={folder}/log-%a",
            *options,
            f"scripts/slurm/{script}.sbatch",
            *arguments,
            variables={**environment(venv), "VENV": "", "RESULTS": str(folder), **variables},
        )

    def wait(self, condition):
        """Wait until a condition holds; fail, with the logs, if it does not soon."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f"{ask('squeue')}\n{self.log}"
            time.sleep(0.2)

    def finish(self):
        """Wait for the end of all tasks, which has to be a good one."""
        self.wait(lambda: not ask("squeue", "--noheader", f"--jobs={self.number}"))
        states = {task["JobState"] for task in self.tasks()}
        assert states == {"COMPLETED"}, self.log

    def tasks(self):
        """What Slurm says of each task, by name."""
        lines = ask("scontrol", "--oneliner", "show", "job", self.number).splitlines()
        return [dict(word.split("=", 1) for word in line.split() if "=" in word) for line in lines]

    @property
    def log(self):
        """What all tasks have written."""
        return "\n".join(path.read_text() for path in sorted(self.folder.glob("log-*")))

    def rows(self, name):
        """The objects in a file of results."""
        return [json.loads(line) for line in (self.folder / name).read_text().splitlines()]


@pytest.mark.parametrize(("launcher", "ranks"), [("srun", 2), ("mpirun", 1), ("Open MPI's mpirun", 1)])
def test_search(launcher, ranks, tmp_path, request, alone):
    """Of so many ranks on each node."""
    venv = request.getfixturevalue("openmpi") if launcher.startswith("Open") else None
    options = "--nodes=2", f"--ntasks-per-node={ranks}"
    job = Submitted(tmp_path, "search", *SEARCH, options=options, venv=venv, LAUNCHER=launcher.rpartition(" ")[2])
    job.finish()
    (result,) = job.rows(f"search-{job.number}.jsonl")
    assert (result["score"], result["complete"], result["ranks"]) == (alone["score"], True, 2 * ranks)
    assert f"{2 * ranks} on node01 ({ranks}), node02 ({ranks})" in job.log
    assert f"MPI library  {'Open MPI' if venv else 'MPICH'}" in job.log


def test_a_launcher_of_another_mpi_ends_the_job(tmp_path, openmpi):
    options = "--nodes=2", "--ntasks-per-node=1"
    job = Submitted(tmp_path, "search", *SEARCH, options=options, venv=openmpi, LAUNCHER="srun")
    job.wait(lambda: not ask("squeue", "--noheader", f"--jobs={job.number}"))
    (task,) = job.tasks()
    assert task["JobState"] == "FAILED"
    assert "started 2 ranks, the library sees 1" in job.log
    assert not list(tmp_path.glob("search-*"))


def test_scaling(tmp_path):
    job = Submitted(tmp_path, "scaling", *WORK, RANKS="1,2,4", REPEATS="2")
    job.finish()
    rows = job.rows(f"scaling-{job.number}.jsonl")
    assert sorted(row["result"]["ranks"] for row in rows) == [1, 1, 2, 2, 4, 4]
    assert len({row["result"]["score"] for row in rows}) == 1
    assert {row["meta"]["slurm"]["SLURM_JOB_ID"] for row in rows} == {job.number}


def test_an_array_and_its_merge(tmp_path):
    options = "--array=0-2", "--nodes=1", "--ntasks-per-node=3"
    job = Submitted(tmp_path, "scaling_array", *WORK, options=options, POINTS="1 2 3", REPEATS="2")
    job.finish()
    assert len(job.tasks()) == 3
    files = sorted((tmp_path / f"scaling-{job.number}").iterdir())
    assert [path.name for path in files] == ["1.jsonl", "2.jsonl", "3.jsonl"]
    table = ask("distsearch", "study", "table", *map(str, files))
    measured = [line.split() for line in table.splitlines() if line and not line.startswith("#")]
    assert [row[0] for row in measured] == ["1", "2", "3"]
    assert table in job.log  # of the task that ended last


def test_training_is_requeued_and_goes_on(tmp_path):
    games = 3_000_000  # a few seconds, so that the signal comes before the end
    options = "--nodes=1", "--ntasks-per-node=2"
    job = Submitted(tmp_path, "train", *NETWORK, "--games", str(games), "--save-every", "100000", options=options)
    curve = f"train-{job.number}.jsonl"
    job.wait(lambda: (tmp_path / curve).exists() and job.rows(curve))
    ask("scancel", "--batch", "--signal=USR1", job.number)  # as --signal=B:USR1@120 does when the time is nearly up
    job.wait(lambda: job.tasks()[0]["Restarts"] == "1")
    saved = tuple_network.load(tmp_path / f"train-{job.number}.npz", "2048", 16).record["games"]
    assert 0 < saved < games, job.log
    job.finish()
    assert tuple_network.load(tmp_path / f"train-{job.number}.npz", "2048", 16).record["games"] == games
    assert [row["games"] for row in job.rows(curve)] == list(range(1000, games + 1, 1000))
    assert job.tasks()[0]["Restarts"] == "1"
    assert f"{saved:,} games learnt from (stopped early" in job.log


@pytest.mark.parametrize("launcher", ["srun", "mpirun"])
def test_the_service_ends_before_its_time(launcher, tmp_path):
    pytest.importorskip("uvicorn", reason="the extra http is not installed")
    job = Submitted(tmp_path, "serve", LAUNCHER=launcher, HTTP="0.0.0.0:0", LOGIN="login")
    job.wait(lambda: "page:" in job.log)
    port, node = re.search(r"^tunnel: ssh -N -L (\d+):(\w+):\1 login$", job.log, re.MULTILINE).groups()
    page = (tmp_path / f"serve-{job.number}.url").read_text().strip()
    token = page.removeprefix(f"http://127.0.0.1:{port}/#token=")
    assert token not in job.log
    with urllib.request.urlopen(f"http://{node}:{port}/status?token={token}", timeout=PATIENCE) as response:
        assert json.load(response)["ranks"] == 4
    ask("scancel", "--batch", "--signal=TERM", job.number)  # as --signal=B:TERM@120 does when the time is nearly up
    job.finish()
    assert not list(tmp_path.glob("serve-*.url"))


def test_positions_on_gpus_where_there_are_any(tmp_path):
    """The nodes' cards are only counted, so all is done on cores."""
    (tmp_path / "positions.txt").write_text("4453222 10\n2252576253462244111563365343671351441 -1\n")
    options = "--nodes=1", "--ntasks-per-node=3", "--gpus-per-node=2"
    job = Submitted(tmp_path, "gpu", options=options, POSITIONS=str(tmp_path / "positions.txt"))
    job.finish()
    lines = (tmp_path / f"gpu-{job.number}.txt").read_text().splitlines()
    assert [(line.split()[0], line.split()[2]) for line in lines] == [("1", "+10"), ("2", "-1")]
