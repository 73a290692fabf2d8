"""Rates of the standing bars, compared with those of an earlier commit on the same machine, by turns.

Rates say little by themselves: machines differ, and change from minute to minute. So an earlier commit's files are
unpacked into a folder, with kernels of their own, and each command line runs there and here, here and there, and so on;
what counts is the median of the quotients, in CPU time. Only the command line and its JSON are used, which both have.
"""

import io
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import NamedTuple

from benchmarks.standing_counts import lines_of

HERE = Path(__file__).parents[1]
LEAST = 0.95  # of the earlier commit's rate
_POSITIONS = {  # file → game, plies of random play, positions; seed 1
    "connect4.txt": ("connect4", 12, 20),
    "endings.txt": ("othello", 42, 20),
    "midgames.txt": ("othello", 20, 6),
}
_OPENING = "f5d6c3d3c4f4c5b3c2e6c6b4b5d2e3a6c1b6f3d1"


class Rate(NamedTuple):
    """arguments: of ``distsearch``; ranks: that it runs on; done, seconds: fields of its JSON whose quotient counts, or
    done None: how often it can start a CPU second of all its ranks; unit: of what is done; least: see ``LEAST``.
    """

    arguments: str
    done: str | None
    seconds: str | None
    unit: str
    ranks: int = 1
    least: float = LEAST


RATES = {
    # a search to the end is over sooner with fewer nodes, also where each takes longer
    "exact connect4": Rate("bench connect4 --positions connect4.txt --exact", "1", "cpu_seconds", "files of positions"),
    "exact othello": Rate("bench othello --positions endings.txt --exact", "1", "cpu_seconds", "files of positions"),
    "othello to a depth": Rate(
        "bench othello --positions midgames.txt --depth 11 --evaluation complex", "nodes", "cpu_seconds", "nodes"
    ),
    "patterns to a depth": Rate(
        "bench othello --positions midgames.txt --depth 10 --evaluation patterns", "nodes", "cpu_seconds", "nodes"
    ),
    "plain alpha-beta": Rate(
        f"search othello {_OPENING} --depth 12 --ordering static --evaluation complex", "nodes", "cpu_seconds", "nodes"
    ),
    "perft": Rate("perft othello --depth 11", "nodes", "cpu_seconds", "leaves"),
    "expectimax 2048": Rate(
        "play 2048 --games 1 --depth 7 --min-probability 1e-4 --evaluation rows",
        "expanded",
        "cpu_seconds",
        "nodes of 4 tried moves",
    ),
    "play 2048": Rate("play 2048 --games 500 --depth 3 --evaluation rows", "moves", "cpu_seconds", "moves"),
    "train 2048": Rate("train 2048 --games 3000", "moves", "cpu_seconds", "moves"),
    "master": Rate("bench --messages", "1", "master_cpu_per_job", "empty jobs, of the master's CPU", 3, 0.9),
    "empty jobs": Rate("bench --messages", "jobs_per_second", "1", "empty jobs, wall time", 3, 0.8),
    "start": Rate("search othello --depth 3 --evaluation complex", None, None, "starts"),
    "start of 3 ranks": Rate("search othello --depth 3 --evaluation complex", None, None, "starts", 3, 0.9),
}


class Comparison(NamedTuple):
    """now, then: things a second, medians; quotient: now ÷ then, the median of those of all turns; spread: their least
    and their largest one.
    """

    now: float
    then: float
    quotient: float
    spread: tuple


def last_tag():
    """Return the name of the last tagged commit behind this one, None if there is none."""
    found = subprocess.run(
        ["git", "-C", HERE, "describe", "--tags", "--abbrev=0"], capture_output=True, text=True, check=False
    )
    return found.stdout.strip() or None


def unpack(commit, folder):
    """Have a commit's files in a folder, which need not be there; return the folder."""
    tree = Path(folder) / _commit(commit)
    if not tree.exists():
        packed = subprocess.run(["git", "-C", HERE, "archive", commit], capture_output=True, check=True).stdout
        partial = tree.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(partial, filter="data")
        partial.replace(tree)
    return tree


def _commit(name):
    command = ["git", "-C", HERE, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode:
        raise SystemExit(f"standing: no commit is called {name}")
    return found.stdout.strip()


def write_positions(folder):
    """Write the files of positions that the command lines name."""
    for name, (game, plies, count) in _POSITIONS.items():
        text = "".join(f"{line}\n" for line in lines_of(game, plies, count, 1))
        Path(folder, name).write_text(text, encoding="utf-8")


class Program:
    """One of the two programs: the files in ``tree``, run in ``folder``; cache: for its kernels, None for the usual."""

    def __init__(self, tree, folder, cache=None):
        self._folder = folder
        self._environment = {**os.environ, "PYTHONPATH": str(tree)}
        if cache is not None:
            self._environment["DISTSEARCH_CACHE"] = str(cache)
        self._check(tree)

    def _check(self, tree):
        """Fail if it is another program that would run: an installed one must not stand for this."""
        command = [sys.executable, "-c", "import distsearch; print(distsearch.__file__)"]
        found = subprocess.run(command, **self._how(), capture_output=True, text=True, check=True).stdout.strip()
        if Path(found).resolve().parents[1] != Path(tree).resolve():
            raise SystemExit(f"standing: {found} would run instead of what is in {tree}")

    def _how(self):
        return {"cwd": self._folder, "env": self._environment, "stdin": subprocess.DEVNULL}

    def run(self, arguments, ranks=1):
        """Return (JSON object, CPU seconds of all its processes) of a command line; None if it is refused or fails."""
        command = [sys.executable, "-m", "distsearch", *arguments, "--json"]
        if ranks > 1:
            command = [shutil.which("mpirun"), "-n", str(ranks), *command]
        before = _children()
        done = subprocess.run(command, **self._how(), capture_output=True, text=True, check=False)
        seconds = _children() - before
        if done.returncode:
            return None
        return json.loads(done.stdout.splitlines()[-1]), seconds

    def rate(self, rate):
        """Return what a Rate is here, in things a second; None if the program cannot do it."""
        found = self.run(rate.arguments.split(), rate.ranks)
        if found is None:
            return None
        result, seconds = found
        if rate.done is None:
            return 1 / seconds
        return _field(result, rate.done) / max(_field(result, rate.seconds), 1e-9)


def _children():
    """Return the CPU seconds of all processes that this one has waited for, and those have."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _field(result, name):
    """Return a number of a result, or "1"; those of ``bench`` are in its only row."""
    return 1 if name == "1" else result["searches"][0][name] if "searches" in result else result[name]


def compare(now, then, rate, turns):
    """Return the Comparison of a Rate on two Programs, None if the earlier one cannot do it.

    Raises RuntimeError if the later one cannot.
    """
    if now.rate(rate) is None:  # which also compiles
        raise RuntimeError(f"distsearch {rate.arguments} fails")
    if then.rate(rate) is None:
        return None
    found = []
    for turn in range(turns):
        first, second = (now, then) if turn % 2 == 0 else (then, now)
        pair = first.rate(rate), second.rate(rate)
        if None in pair:
            raise RuntimeError(f"distsearch {rate.arguments} failed in a later turn")
        found.append(pair if turn % 2 == 0 else pair[::-1])
    quotients = [here / there for here, there in found]
    here, there = (statistics.median(values) for values in zip(*found, strict=True))
    return Comparison(here, there, statistics.median(quotients), (min(quotients), max(quotients)))
