"""A search of some seconds in which a worker is killed at a random moment, again and again, under the MPI on PATH.

    python benchmarks/lost.py [--kills 20] [--ranks 4] [--at-once 1] [--deadline 2] [--seed 1]

So many of the workers are killed in each search (--at-once). Open MPI tells of the dead itself; under MPICH their bells
do, as they are of one host, and --deadline is how long the silent have. Printed: how long the search took beside one
without an accident, when it was known, and whether the answer, the exit status and what is told on stderr are right.
"""

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

_MARK = "DISTSEARCH_LOST"  # in the environment of all processes of a run
_SEARCH = ["search", "connect4", "444444", "--exact", "--json"]
_ROOT = Path(__file__).parents[1]


class Run:
    """The search by some ranks."""

    def __init__(self, ranks, deadline):
        self._mark, self._ranks = f"{_MARK}={uuid.uuid4().hex}", ranks
        open_mpi = "Open MPI" in subprocess.check_output(["mpirun", "--version"], text=True)
        command = [sys.executable, "-m", "distsearch", *_SEARCH]
        if open_mpi:
            command = ["mpirun", "--with-ft", "ulfm", "-n", str(ranks), *command]
        else:
            launcher = ["mpirun", "-disable-auto-cleanup", "-n", str(ranks), str(_ROOT / "scripts" / "survive")]
            command = [*launcher, *command, "--deadline", str(deadline)]
        name, value = self._mark.split("=")
        self.told = tempfile.TemporaryFile("w+")  # noqa: SIM115
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": self.told}
        self.process = subprocess.Popen(command, env={**os.environ, name: value}, text=True, **streams)

    def ranks(self):
        """Return the process ids by rank."""
        found = {}
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                entries = path.read_bytes().decode(errors="replace").split("\0")
                if self._mark not in entries or path.with_name("comm").read_text() == "survive\n":
                    continue
            except OSError:
                continue  # it is gone, or somebody else's
            for entry in entries:
                if entry.startswith(("PMI_RANK=", "OMPI_COMM_WORLD_RANK=")):
                    found[int(entry.split("=")[1])] = int(path.parent.name)
        return found

    def wait_for_the_search(self):
        """Return the ranks once they have met: rank 0 catches SIGTERM then."""
        while True:
            ranks = self.ranks()
            if len(ranks) == self._ranks and _catches_sigterm(ranks[0]):
                return ranks
            time.sleep(0.01)

    def wait_for_the_news(self, count):
        """Return when so many are known to be lost, or the run has ended."""
        while self.process.poll() is None and self.tells().count("lost rank") < count:
            time.sleep(0.01)

    def tells(self):
        """What is on stderr so far."""
        return os.pread(self.told.fileno(), 1 << 20, 0).decode()

    def finish(self):
        """Return (JSON object on stdout or None, exit status)."""
        out, _ = self.process.communicate()
        lines = [line for line in out.splitlines() if line.startswith("{")]
        return json.loads(lines[0]) if len(lines) == 1 else None, self.process.returncode


def _catches_sigterm(pid):
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


def lose(args, whole, chance):
    """Kill workers in mid-search; return (whether all is right, a line that tells), None if the search was over."""
    run = Run(args.ranks, args.deadline)
    ranks, victims = run.wait_for_the_search(), sorted(chance.sample(range(1, args.ranks), args.at_once))
    moment = chance.uniform(0, whole["seconds"] + whole["startup_seconds"])
    time.sleep(moment)
    for rank in victims:
        with contextlib.suppress(ProcessLookupError):
            os.kill(ranks[rank], signal.SIGKILL)
    killed = time.monotonic()
    run.wait_for_the_news(args.at_once)
    known = time.monotonic() - killed
    found, status = run.finish()
    if found and found["seconds"] + found["startup_seconds"] < moment:
        return None
    lines = run.tells().splitlines()
    named = [rank for rank in victims if sum(line.startswith(f"distsearch: lost rank {rank} (") for line in lines) == 1]
    answer = found is not None and found["score"] == whole["score"]
    left = bool(run.ranks())
    right = answer and status == 0 and not left and named == victims
    took = f"{found['seconds']:.2f} s" if found else "no answer"
    text = f"{victims} killed after {moment:.2f} s, known after {known:.2f} s; {took}, status {status}, named {named}"
    return right, text + (", processes are left" if left else "") + ("" if right else f"\n{run.tells()}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--at-once", type=int, default=1, help="workers killed in a search")
    parser.add_argument("--deadline", type=int, default=2, help="seconds, under MPICH")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    chance = random.Random(args.seed)
    whole, status = Run(args.ranks, args.deadline).finish()
    print(f"without an accident: score {whole['score']}, {whole['seconds']:.2f} s, status {status}", flush=True)
    right = done = 0
    while done < args.kills:
        if (outcome := lose(args, whole, chance)) is None:
            continue  # where others use the cores too, no two searches take the same time
        fine, text = outcome
        done, right = done + 1, right + fine
        print(f"{done}: {text}: {'right' if fine else 'WRONG'}", flush=True)
    print(f"right after {right} of {args.kills} kills")


if __name__ == "__main__":
    main()
