"""A solve of minutes whose processes are all killed again and again, and resumed at other numbers of ranks.

    python benchmarks/killed.py [--lines 600] [--kills 20] [--interval 60] [--ranks 2,3,4] [--stones 10,14]
                                [--within SECONDS --at-once RUNS]

Positions are random play on 6x7 without a win, of a number of stones between the two. First they are solved without an
accident, by as many ranks as are named last. Then, again and again, a run is killed, all of its processes with SIGKILL,
at a random moment of that time, or within so many seconds, and resumed with another number of ranks. Where there are
cores for them, several such runs go on side by side. Printed: how old the state was, which is what is lost (where there
is no state yet, all since the start), and whether the output is the same.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from distsearch.formats.checkpoint import INTERVAL_VARIABLE
from distsearch.games import connect4
from distsearch.games.random_play import random_positions

_MARK = "DISTSEARCH_KILLED"  # in the environment of all processes of a run


def positions(count, least, most, rng):
    """Return so many lines of moves."""
    rules = connect4.rules()
    plies = range(least, most + 1)
    return [connect4.text(each, rules) for each in random_positions(connect4, rules, plies, count, rng)]


class Run:
    """A solve of a file by some ranks; ``options`` go to the command line, ``out`` is the file for its output."""

    def __init__(self, path, ranks, out, options, interval):
        self._mark = uuid.uuid4().hex
        command = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
        command += [sys.executable, "-m", "distsearch", "solve", "connect4", "--positions", path, "--plain", *options]
        environment = {**os.environ, _MARK: self._mark, INTERVAL_VARIABLE: str(interval)}
        with open(out, "wb") as output:
            streams = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": subprocess.DEVNULL}
            self.process = subprocess.Popen(command, env=environment, start_new_session=True, **streams)

    def _members(self):
        """Return the ids of the run's processes; mpirun gives ranks sessions of their own."""
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                if f"{_MARK}={self._mark}".encode() in path.read_bytes().split(b"\0"):
                    found.append(int(path.parent.name))
            except OSError:
                continue  # it is gone, or somebody else's
        return found

    def kill(self):
        """Kill all of its processes, and wait until they are gone."""
        while members := self._members():
            for pid in members:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            time.sleep(0.01)
        self.process.wait()


def killed(path, folder, first, second, moment, interval):
    """Kill a run of ``first`` ranks after so many seconds and have ``second`` ranks go on with it.

    folder: where it may put its files. Returns (a line that tells, output).
    """
    checkpoint, out = os.path.join(folder, "file"), os.path.join(folder, "out")
    options, began = ["--checkpoint", checkpoint, "--resume"], time.time()
    run = Run(path, first, out, options, interval)
    time.sleep(moment)
    run.kill()
    ended = time.time()
    lost = ended - (os.path.getmtime(checkpoint) if os.path.exists(checkpoint) else began)
    lines = Path(out).read_bytes().count(b"\n")
    began = time.time()
    Run(path, second, out, options, interval).process.wait()
    text = (
        f"{first} ranks killed after {moment:.1f} s, {lines} lines, {lost:.1f} s after the last state; "
        f"{second} ranks went on for {time.time() - began:.1f} s"
    )
    return text, Path(out).read_bytes()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lines", type=int, default=600)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--interval", type=float, default=60.0, help="seconds between two states")
    parser.add_argument("--ranks", default="2,3,4")
    parser.add_argument("--stones", default="10,14")
    parser.add_argument("--within", type=float, help="kill in so many seconds; default: the time without an accident")
    parser.add_argument("--at-once", type=int, default=1, help="runs side by side")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng, ranks = random.Random(args.seed), [int(n) for n in args.ranks.split(",")]
    least, most = map(int, args.stones.split(","))
    with tempfile.TemporaryDirectory() as folder:
        path, whole = os.path.join(folder, "lines"), os.path.join(folder, "whole")
        Path(path).write_text("\n".join(positions(args.lines, least, most, rng)) + "\n")
        began = time.monotonic()
        status = Run(path, ranks[-1], whole, [], args.interval).process.wait()
        seconds, expected = time.monotonic() - began, Path(whole).read_bytes()
        print(f"without an accident: status {status}, {seconds:.1f} s on {ranks[-1]} ranks", flush=True)

        def try_one(kill):
            chance, place = random.Random(f"{args.seed} {kill}"), os.path.join(folder, str(kill))
            os.mkdir(place)
            first, second = chance.sample(ranks, 2)
            moment = chance.uniform(0, args.within or seconds)
            text, output = killed(path, place, first, second, moment, args.interval)
            print(f"{kill}: {text}; output {'the same' if output == expected else 'DIFFERS'}", flush=True)
            return output == expected

        with ThreadPoolExecutor(args.at_once) as pool:
            same = sum(pool.map(try_one, range(1, args.kills + 1)))
        print(f"the same output after {same} of {args.kills} kills")


if __name__ == "__main__":
    main()
