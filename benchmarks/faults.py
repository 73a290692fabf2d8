"""Real ranks that are killed, crash or are held up at random moments: are all answers right, and does every job end?

    python -m benchmarks.faults --kills 1000 --seed 1 --output FOLDER     under the mpirun on PATH

Each run is drawn from its own seed: what is asked, ranks, sub-masters, whom it hits, how and when. Jobs go on without
workers that die (docs/faults.md), so a run in which only workers are hit must give the right answer, unless it says
that not all ranks had met. One whose rank 0 is killed has a checkpoint, and is resumed without faults to the right
answer. FOLDER gets a line of JSON a run in `runs.jsonl`, and what each run printed. A table follows; the status is 1 if
an answer was wrong or lost, a job did not end in time, processes were left, or there was a traceback.
"""

import argparse
import contextlib
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from distsearch.games import connect4
from distsearch.games.random_play import random_positions
from tests.launch.running import TRACEBACK, Finished, Job, handles, mpirun_is_open_mpi, run, wait_for

TIMEOUT = 3  # seconds, the worker timeout under MPICH
PATIENCE = 90  # seconds after the last fault, until a job that still runs counts as one without an end
_SAVING = {"DISTSEARCH_CHECKPOINT_SECONDS": "0.3"}
_NOT_MET = "before all had met"
_FAULTS = ["SIGKILL"] * 5 + ["SIGSEGV"] * 2 + ["SIGSTOP"]
_ENDS = ["right", "resumed", "not met", "wrong", "lost", "no end", "left", "traceback"]
_BAD = _ENDS[3:]


class Asked(NamedTuple):
    """A command line, the seconds in which its faults come, and what of its output does not depend on ranks."""

    arguments: list[str]
    span: float
    expected: list


class Case(NamedTuple):
    """A run. early: hit from its start on, else once ranks have loaded; victims: (rank, fault, seconds), in order."""

    name: str
    early: bool
    ranks: int
    submasters: int
    victims: list[tuple[int, str, float]]

    @property
    def hits_rank_0(self) -> bool:
        """Whether rank 0 dies."""
        return any(rank == 0 for rank, _, _ in self.victims)


def found_in(done: Finished) -> list:
    """Return what of an output is the answer."""
    kept = "score", "proved", "complete", "counts", "depth", "average", "maximum", "moves"
    return [{name: each[name] for name in kept if name in each} for each in done.results] or done.out.splitlines()


def all_asked(folder: Path) -> dict[str, Asked]:
    """Return what may be asked, by name, with the answers of one rank; folder: for a file of positions."""
    rules, path = connect4.rules(), folder / "positions.txt"
    positions = random_positions(connect4, rules, range(16, 17), 400, random.Random(1))
    path.write_text("".join(f"{connect4.text(each, rules)}\n" for each in positions))
    commands = {
        "search": (["search", "connect4", "444444", "--exact", "--book", "none", "--json"], 3.0),
        "search of othello": (["search", "othello", "--board", "6x6", "--depth", "13", "--json"], 3.0),
        "solve": (["solve", "connect4", "--positions", str(path), "--plain"], 2.5),
        "perft": (["perft", "othello", "--board", "6x6", "--depth", "12", "--json"], 2.5),
        "play": (["play", "2048", "--games", "1500", "--depth", "3", "--evaluation", "rows", "--json"], 2.5),
    }
    found = {}
    for name, (arguments, span) in commands.items():
        done = run(*arguments, timeout=300)
        assert done.status == 0, done.err
        found[name] = Asked(arguments, span, found_in(done))
    return found


def drawn(seed: int, asked: dict[str, Asked]) -> Case:
    """Return the Case of a seed."""
    rng = random.Random(seed)
    name = rng.choice(list(asked))
    ranks = rng.randint(3, 6)
    submasters = rng.choice((0, 0, 1)) if ranks >= 4 and name != "perft" else 0
    if name != "play" and rng.random() < 0.15:  # its games have no checkpoint
        hit = [0]
    else:  # some worker that has its sub-master is left
        workers = list(range(1, ranks))
        spared = {1, ranks - 1} if submasters else {rng.choice(workers)}
        others = [rank for rank in workers if rank not in spared]
        hit = rng.sample(others, min(len(others), rng.choice((1, 1, 2, 3))))
    span = asked[name].span
    faults = ["SIGKILL"] if hit == [0] else _FAULTS
    victims = sorted(((rank, rng.choice(faults), rng.uniform(0, span)) for rank in hit), key=lambda each: each[2])
    return Case(name, rng.random() < 0.2, ranks, submasters, victims)


def started(case: Case, arguments: list[str]) -> Job:
    """Start the job of a case, which goes on without workers that die."""
    how = [] if mpirun_is_open_mpi() else ["--worker-timeout", str(TIMEOUT)]
    how += ["--submasters", str(case.submasters)] if case.submasters else []
    return Job(*arguments, *how, ranks=case.ranks, survives=True, environment=_SAVING)


def strike(job: Job, case: Case) -> tuple[int, list[int]]:
    """Do what a case says; return (faults that hit a living rank, processes that are stopped)."""
    wait_for(lambda: job.over or len(job.ranks()) == case.ranks)
    if not case.early:
        wait_for(lambda: job.over or all(handles(process, signal.SIGTERM) for process in job.ranks().values()))
    began, hit, stopped, processes = time.monotonic(), 0, [], job.ranks()
    for rank, fault, when in case.victims:
        time.sleep(max(0.0, when - (time.monotonic() - began)))
        if job.over or rank not in processes:
            break
        with contextlib.suppress(ProcessLookupError):
            os.kill(processes[rank], getattr(signal, fault))
            hit += 1
            if fault == "SIGSTOP":
                stopped.append(processes[rank])
    return hit, stopped


def end_of(job: Job, stopped: list[int]) -> Finished | None:
    """Return what a job leaves, None if it does not end; a rank that was held up goes on once it has been missed."""
    if stopped:
        with contextlib.suppress(AssertionError):
            wait_for(lambda: job.over, 2 * TIMEOUT)
        for process in stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)
    try:
        return job.finish(PATIENCE)
    except pytest.fail.Exception:
        return None


def outcome(case: Case, asked: Asked, folder: Path) -> tuple[str, int, float, str]:
    """Do a run; return (one of _ENDS, faults that hit, seconds to the end after the last of them, what was printed)."""
    checkpoint = folder / "checkpoint"
    checkpoint.unlink(missing_ok=True)
    saving = ["--checkpoint", str(checkpoint)] if case.hits_rank_0 else []
    with started(case, [*asked.arguments, *saving]) as job:
        hit, stopped = strike(job, case)
        struck = time.monotonic()
        done = end_of(job, stopped)
        took, printed = time.monotonic() - struck, "" if done is None else f"{done.out}\n{done.err}"
        if done is None:
            return "no end", hit, took, printed
        try:
            wait_for(lambda: not job.left, 10)
        except AssertionError:
            return "left", hit, took, printed
    if TRACEBACK in done.err:
        return "traceback", hit, took, printed
    if done.status == 0:
        return ("right" if found_in(done) == asked.expected else "wrong"), hit, took, printed
    if _NOT_MET in done.err:
        return "not met", hit, took, printed
    if not case.hits_rank_0:
        return "lost", hit, took, printed
    resumed = run(*asked.arguments, "--checkpoint", str(checkpoint), "--resume", timeout=300)
    right = resumed.status == 0 and found_in(resumed) == asked.expected
    return ("resumed" if right else "wrong"), hit, took, f"{printed}\nresumed:\n{resumed.out}\n{resumed.err}"


def campaign(kills: int, seed: int, folder: Path) -> bool:
    """Do runs from a seed on until so many faults have hit; print the table; return whether all went well."""
    folder.mkdir(parents=True, exist_ok=True)
    ends, faults, names, longest, first, began = Counter(), Counter(), Counter(), 0.0, seed, time.monotonic()
    asked = all_asked(folder)
    while sum(faults.values()) < kills:
        case = drawn(seed, asked)
        end, hit, took, printed = outcome(case, asked[case.name], folder)
        ends[end] += 1
        names[case.name] += 1
        faults.update(f"{fault} of {'rank 0' if rank == 0 else 'a worker'}" for rank, fault, _ in case.victims[:hit])
        longest = max(longest, took)
        row = {"seed": seed, **case._asdict(), "hit": hit, "end": end, "seconds": round(took, 2)}
        with (folder / "runs.jsonl").open("a") as rows:
            rows.write(json.dumps(row) + "\n")
        (folder / f"{seed}.txt").write_text(printed)
        if end in _BAD:
            print(f"seed {seed}: {end}: {case}", flush=True)
        seed += 1
    kind = "Open MPI" if mpirun_is_open_mpi() else "MPICH"
    print(f"{kind}: {seed - first} runs from seed {first}, {sum(faults.values())} faults, ", end="")
    print(f"{time.monotonic() - began:.0f} s; longest end after the last fault {longest:.1f} s")
    for title, counts in (("ends", {end: ends[end] for end in _ENDS}), ("faults", faults), ("asked", names)):
        print(f"{title}: " + ", ".join(f"{name} {count}" for name, count in counts.items()))
    return not any(ends[end] for end in _BAD)


def main() -> int:
    """Run the command line; return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000, metavar="N", help="faults that hit (default 1000)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of the first run (default 1)")
    parser.add_argument("--output", metavar="FOLDER", help="for rows and what runs print (default: a temporary one)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        return 0 if campaign(args.kills, args.seed, Path(args.output or scratch)) else 1


if __name__ == "__main__":
    sys.exit(main())
