"""Real ranks that are killed, crash, are held up or get no memory, at random moments: are all answers right?

    python -m benchmarks.faults --kills 1000 --seed 1 --output FOLDER     under the mpirun on PATH
    tests/hosts/run -- python -m benchmarks.faults ...     on several hosts, which lose their network for a while

Each run is drawn from its own seed: what is asked, ranks, sub-masters, ranks with an emulated GPU, which ranks are hit,
how and when. Jobs go on without workers that die (docs/faults.md), so a run in which only workers are hit must give the
right answer, unless it says that not all ranks had met, or a worker had no memory, which ends the job. A run whose rank
0 is killed saves checkpoints; it is resumed without faults and must then give the right answer. So is training that has
lost any rank: it must have kept its last save, and end. FOLDER gets a line of JSON for each run in `runs.jsonl`, and
the output of each. A table follows; the status is 1 if an answer was wrong or missing, a job did not end, processes
were left, or there was a traceback for which there is no reason.
"""

import argparse
import contextlib
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from distsearch.cluster.submaster import blocks
from tests.launch.running import COMMAND_LINE, TRACEBACK, Finished, Job, handles, mpirun_is_open_mpi, wait_for

from . import hosts
from .works import CHECKPOINT_SECONDS, Work, works_of

TIMEOUT = 3  # seconds, the worker timeout under MPICH
PATIENCE = 150  # seconds after the last fault; a job that still runs then has no end. Longer than ``beginning.LIMIT``
NO_MEMORY, NO_NETWORK = "no memory", "no network"
_NOT_MET = "before all had met", "MPI_INIT has failed"  # by this program, and by Open MPI
_FAULTS = ["SIGKILL"] * 5 + ["SIGSEGV"] * 2 + ["SIGSTOP", NO_MEMORY]
_ENDS = [
    "right",
    "resumed",
    "not met",
    NO_MEMORY,
    "wrong",
    "no answer",
    "no start",
    "no end",
    "processes left",
    "traceback",
]
_BAD = _ENDS[4:]
_MOST_RUNS = 10  # runs for each fault that is to hit
_MEETING = 1.0  # seconds in which ranks that handle signals meet


class Case(NamedTuple):
    """A run.

    early: faults are counted from when all processes exist, else from when all handle signals; victims: (rank, fault,
    when) in order; when: as a part of ``Work.span``.
    """

    name: str
    early: bool
    ranks: int
    submasters: int
    gpus: list[int]  # ranks that have an emulated one
    victims: list[tuple[int, str, float]]

    @property
    def hits_rank_0(self) -> bool:
        """Whether rank 0 dies."""
        return any(rank == 0 for rank, _, _ in self.victims)


class Struck(NamedTuple):
    """What came of a case's faults.

    hit: (rank, fault) of those that hit a living rank; stopped: processes; without_network: hosts; first: seconds
    to the first fault, None if none hit; age: seconds since rank 0, which was killed, had saved, None if it had not.
    """

    hit: list[tuple[int, str]]
    stopped: list[int]
    without_network: list[str]
    first: float | None
    age: float | None


class Ended(NamedTuple):
    """How a run ended: one of _ENDS, seconds to that after the last fault, and what was printed."""

    end: str
    seconds: float
    printed: str


def drawn(seed: int, works: dict[str, Work]) -> Case:
    """Return the Case of a seed."""
    rng = random.Random(seed)
    name = rng.choice(list(works))
    work, ranks = works[name], rng.randint(3, 6)
    submasters = rng.choice((0, 0, 1, 2)[: max(1, ranks - 1)]) if ranks >= 4 and work.submasters else 0
    workers = list(range(1, ranks))
    if submasters:  # some worker is left with its sub-master
        above, group = rng.choice(list(blocks(ranks, submasters).items()))
        spared = {above, rng.choice(group)}
    else:
        spared = {rng.choice(workers)}
    others = [rank for rank in workers if rank not in spared]
    # not the spared one: an emulated GPU alone would take hours
    gpus = sorted(rng.sample(others, 1)) if work.gpu and not submasters and rng.random() < 0.2 else []
    faults = _FAULTS
    if not work.survives:
        hit, faults = [rng.randrange(ranks)], ["SIGKILL", "SIGSEGV"]
    elif work.saves and rng.random() < 0.25:
        hit, faults = [0], ["SIGKILL"]
    else:
        hit = rng.sample(others, min(len(others), rng.choice((1, 2, 2, 3))))
    times = {rank: rng.random() for rank in hit}
    victims = sorted(((rank, rng.choice(faults), times[rank]) for rank in hit), key=lambda each: each[2])
    if hosts.are_there() and work.survives:
        kept = {hosts.of_rank(rank) for rank in {0, *spared}}
        victims = [
            (rank, NO_NETWORK if hosts.of_rank(rank) not in kept and rng.random() < 0.4 else fault, when)
            for rank, fault, when in victims
        ]
    return Case(name, rng.random() < 0.2, ranks, submasters, gpus, victims)


def started(case: Case, work: Work) -> Job:
    """Start the job of a case, which goes on without workers that die."""
    how = [] if mpirun_is_open_mpi() else ["--worker-timeout", str(TIMEOUT)]
    how += ["--submasters", str(case.submasters)] if case.submasters else []
    how += ["--device", "auto"] if case.gpus else []
    # a host without a network is no failure that MPI reports
    how += ["--worker-timeout", str(TIMEOUT)] if hosts.are_there() and mpirun_is_open_mpi() and work.survives else []
    emulated = ("-m", "benchmarks.faults.emulated", ",".join(map(str, case.gpus)))
    program = emulated if case.gpus else COMMAND_LINE
    return work.start(how, case.hits_rank_0, ranks=case.ranks, launcher=hosts.mpirun_options(), program=program)


def strike(job: Job, case: Case, work: Work) -> Struck:
    """Do what a case says."""
    wait_for(lambda: job.over or len(job.ranks()) == case.ranks)
    if not case.early:
        wait_for(lambda: job.over or all(handles(process, signal.SIGTERM) for process in job.ranks().values()))
    began, hit, stopped, without_network, first, age = time.monotonic(), [], [], [], None, None
    for rank, fault, when in case.victims:
        time.sleep(max(0.0, when * work.span - (time.monotonic() - began)))
        process = job.ranks().get(rank)
        if process is None:
            continue
        if rank == 0 and work.saves and work.checkpoint.exists():
            age = time.time() - work.checkpoint.stat().st_mtime
        with contextlib.suppress(ProcessLookupError):
            _do(fault, process, rank)
            hit.append((rank, fault))
            first = time.monotonic() - began if first is None else first
            if fault == "SIGSTOP":
                stopped.append(process)
            elif fault == NO_NETWORK:
                without_network.append(hosts.of_rank(rank))
    return Struck(hit, stopped, without_network, first, age)


def _do(fault, process, rank):
    if fault == NO_NETWORK:
        hosts.set_network(hosts.of_rank(rank), False)
    elif fault == NO_MEMORY:
        resource.prlimit(process, resource.RLIMIT_AS, (1 << 20, resource.prlimit(process, resource.RLIMIT_AS)[1]))
    else:
        os.kill(process, getattr(signal, fault))


def end_of(job: Job, work: Work, struck: Struck) -> Finished | None:
    """Return what a job leaves, None if it does not end.

    After two worker timeouts stopped ranks are continued, and hosts have a network again.
    """
    if struck.stopped or struck.without_network:
        with contextlib.suppress(AssertionError):
            wait_for(lambda: work.done(job), 2 * TIMEOUT)
        _undo(job, struck)
    return work.end(job, PATIENCE)


def _undo(job, struck):
    for process in set(struck.stopped) & set(job.ranks().values()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGCONT)
    for host in struck.without_network:
        hosts.set_network(host, True)


def run_of(case: Case, work: Work) -> tuple[Struck, Ended]:
    """Do a run."""
    with started(case, work) as job:
        try:
            struck = strike(job, case, work)
        except AssertionError:
            return Struck([], [], [], None, None), Ended("no start", 0.0, "")
        began = time.monotonic()
        done = end_of(job, work, struck)
        took = time.monotonic() - began
        if done is None:
            return struck, Ended("no end", took, work.unfinished_output)
        printed = f"{done.out}\n{done.err}"
        try:
            wait_for(lambda: not job.left, 10)
        except AssertionError:
            return struck, Ended("processes left", took, printed)
    if TRACEBACK in done.err and not any(fault == NO_MEMORY for _, fault in struck.hit):
        return struck, Ended("traceback", took, printed)
    hit_rank_0 = any(rank == 0 for rank, _ in struck.hit)
    if done.status != 0 and not _says_not_met(done) and (hit_rank_0 or struck.hit and not work.survives):
        right, resumed = work.resumed(done, case.ranks)
        printed += f"\nresumed:\n{resumed.out}\n{resumed.err}"
        return struck, Ended("resumed" if right else "wrong", took, printed)
    return struck, Ended(_end_by(done, case, work, struck), took, printed)


def _says_not_met(done):
    return any(text in done.err for text in _NOT_MET)


def _end_by(done, case, work, struck):
    """Return the end of a job that is not resumed."""
    if done.status == 0:
        return "right" if work.found_in(done) == work.expected else "wrong"
    if _says_not_met(done) and struck.first is not None and (case.early or struck.first < _MEETING):
        return "not met"
    if any(fault == NO_MEMORY for _, fault in struck.hit):
        return NO_MEMORY
    return "no answer"


def campaign(kills: int, seed: int, folder: Path, names: Collection[str] = ()) -> bool:
    """Do runs from a seed on until so many faults have hit; print the table; return whether all went well.

    names: see ``works_of``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if hosts.are_there():
        os.environ.pop(hosts.ONE_HOST, None)
    counts = {"ends": Counter(dict.fromkeys(_ENDS, 0)), "faults": Counter(), "asked": Counter(), "with": Counter()}
    longest, oldest, first, began, works = 0.0, 0.0, seed, time.monotonic(), works_of(folder, names)
    while counts["faults"].total() < kills and seed - first < _MOST_RUNS * kills:
        case = drawn(seed, works)
        try:
            struck, ended = run_of(case, works[case.name])
        finally:
            hosts.restore_network()
        _count(counts, case, struck, ended)
        longest, oldest = max(longest, ended.seconds), max(oldest, struck.age or 0.0)
        row = {
            "seed": seed,
            **case._asdict(),
            "hit": struck.hit,
            "first": struck.first,
            "age": struck.age,
            **ended._asdict(),
        }
        (folder / f"{seed}.txt").write_text(row.pop("printed"))
        with (folder / "runs.jsonl").open("a") as rows:
            rows.write(json.dumps(row) + "\n")
        if ended.end in _BAD:
            print(f"seed {seed}: {ended.end}: {case}", flush=True)
        seed += 1
    kind = "Open MPI" if mpirun_is_open_mpi() else "MPICH"
    print(f"{kind}: {seed - first} runs from seed {first}, {counts['faults'].total()} faults, ", end="")
    print(f"{time.monotonic() - began:.0f} s; longest time from the last fault to the end {longest:.1f} s")
    print(f"oldest checkpoint when rank 0 was killed: {oldest:.2f} s, of an interval of {CHECKPOINT_SECONDS} s")
    for title, found in counts.items():
        print(f"{title}: " + ", ".join(f"{name} {count}" for name, count in found.items()))
    return counts["faults"].total() >= kills and not any(counts["ends"][end] for end in _BAD)


def _count(counts, case, struck, ended):
    counts["ends"][ended.end] += 1
    counts["asked"][case.name] += 1
    counts["with"].update({"sub-masters": case.submasters > 0, "emulated GPUs": bool(case.gpus)})
    for rank, fault in struck.hit:
        counts["faults"][f"{fault} of {'rank 0' if rank == 0 else 'a worker'}"] += 1


def main() -> int:
    """Run the command line; return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--kills", type=int, default=1000, metavar="N", help="go on until so many faults have hit (default 1000)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of the first run (default 1)")
    parser.add_argument("--output", metavar="FOLDER", help="for rows and what runs print (default: a temporary one)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        return 0 if campaign(args.kills, args.seed, Path(args.output or scratch)) else 1


if __name__ == "__main__":
    sys.exit(main())
