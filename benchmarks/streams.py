"""A million easy positions through stdin: order, scores, rate, memory of rank 0, and what the workers make alone.

    python benchmarks/streams.py [--lines 1000000] [--ranks 3] [--stones 28,36] [--through stdin|file] [--window LINES]

Positions are random play on 6x7 without a win, of a number of stones between the two. Printed: positions a second
through `mpirun -n RANKS distsearch solve connect4`, those that one process makes of the same positions handed to its
engine in arrays, times the workers, and their ratio; the master's CPU share; rank 0's resident memory as it goes; and
whether all lines are as that engine has them.

Launchers are poor at passing stdin on: MPICH's fails when more than a pipe holds waits to be read (give --window 1000,
lines that wait for an answer), and Open MPI 5's may lose the end of a short input, so stdin is closed after the last
answer.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

from distsearch.core.jit import compiled
from distsearch.engines.pvs.table import far_table
from distsearch.games import connect4
from distsearch.jobs.two_player import TO_THE_END, SolveRunner, job_dtype

_ALL = 10**6


@compiled
def games(seed, count, least, most, r, moves, out, lengths, states):
    """Write the columns of ``count`` games as text to rows of ``out``, with their lengths and states."""
    np.random.seed(seed)
    i = 0
    while i < count:
        s, length = (np.uint64(0), np.uint64(0)), least + np.random.randint(0, most - least + 1)
        ply = 0
        while ply < length:
            n = connect4.moves(s, r, moves, 0)
            if n == 0:
                break
            m = moves[np.random.randint(0, n)]
            out[i, ply] = 49 + m
            s, _ = connect4.play(s, r, m)
            ply += 1
        if ply == length and connect4.moves(s, r, moves, 0) > 0:
            out[i, ply] = 10
            lengths[i] = ply + 1
            states[i, 0], states[i, 1] = s
            i += 1


def positions(count, least, most, seed):
    """Return (text, states): lines of bytes, and uint64 of shape (count, 2)."""
    r = connect4.rules()
    out, lengths = np.zeros((count, 64), np.uint8), np.zeros(count, np.int64)
    states = np.zeros((count, 2), np.uint64)
    games(seed, count, least, most, r, np.zeros(256, np.int16), out, lengths, states)
    return out[np.arange(64) < lengths[:, None]].tobytes(), states


def alone(states):
    """Return (positions a CPU second, scores) of one engine that is given arrays of jobs."""
    runner = SolveRunner({"game": "connect4", "board": (6, 7), "options": {}, "brief": True}, far_table(64))
    runner.compile()
    jobs = np.zeros(len(states), job_dtype(2))
    jobs["state"], jobs["depth"], jobs["low"], jobs["high"] = states, TO_THE_END, -100, 100
    scores, done = np.zeros(len(states)), 0
    began = time.process_time()
    while done < len(jobs):
        records = runner.batch(jobs[done : done + 1024], 1 << 40)
        scores[done : done + len(records)] = records["score"]
        done += len(records)
    return len(states) / (time.process_time() - began), scores


class Memory(threading.Thread):
    """Samples the resident memory of the process that has rank 0 (MiB)."""

    def __init__(self):
        super().__init__(daemon=True)
        self.samples = []

    def run(self):
        while True:
            time.sleep(0.5)
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    with open(f"/proc/{pid}/environ", "rb") as file:
                        if not re.search(rb"(PMI_RANK|OMPI_COMM_WORLD_RANK)=0\0", file.read()):
                            continue
                    with open(f"/proc/{pid}/cmdline", "rb") as file:
                        if b"distsearch" not in file.read():
                            continue
                    with open(f"/proc/{pid}/status") as file:
                        self.samples.append(int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]) / 1024)
                except (OSError, TypeError):
                    continue


class Feeder(threading.Thread):
    """Writes lines to a pipe, so that at most ``window`` of them wait for an answer."""

    def __init__(self, pipe, lines, window):
        super().__init__(daemon=True)
        self.pipe, self.lines, self.window, self.answered = pipe, lines, window, 0

    def run(self):
        step, at = max(1, min(2000, self.window // 4)), 0
        while at < len(self.lines):
            if at - self.answered + step > self.window:
                time.sleep(1e-4)
                continue
            self.pipe.write(b"".join(self.lines[at : at + step]))
            self.pipe.flush()
            at += step


def ask(command, text, through, window):
    """Return (stdout, stderr, seconds from the first to the last answer) of a command that is given lines."""
    with tempfile.NamedTemporaryFile() as file, tempfile.TemporaryFile() as errors:
        if through == "file":
            file.write(text)
            file.flush()
            command = [*command, "--plain", "--positions", file.name]
        job = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
        lines = text.splitlines(keepends=True)
        feeder = Feeder(job.stdin, lines if through == "stdin" else [], window)
        feeder.start()
        out, first = [], None
        while feeder.answered < len(lines) and (content := os.read(job.stdout.fileno(), 1 << 20)):
            first = first or time.perf_counter()
            out.append(content)
            feeder.answered += content.count(b"\n")
        seconds = time.perf_counter() - (first or 0.0)
        job.stdin.close()
        job.wait()
        errors.seek(0)
        return b"".join(out), errors.read().decode(), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=_ALL)
    parser.add_argument("--ranks", type=int, default=3)
    parser.add_argument("--stones", default="28,36")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--through", choices=("stdin", "file"), default="stdin")
    parser.add_argument("--window", type=int, default=_ALL, help="lines")
    args = parser.parse_args()
    least, most = map(int, args.stones.split(","))
    text, states = positions(args.lines, least, most, args.seed)
    own, scores = alone(states)
    memory = Memory()
    memory.start()
    command = ["mpirun", "-n", str(args.ranks), sys.executable, "-m", "distsearch", "solve", "connect4"]
    answers, told, seconds = ask(command, text, args.through, args.window)
    expected = b"".join(
        b"%s %d\n" % (line, score) for line, score in zip(text.split(b"\n")[:-1], scores.astype(int), strict=True)
    )
    print(told.strip())
    workers, through = args.ranks - 1, args.lines / seconds
    print(f"alone {own:,.0f} positions a CPU second; {workers} workers at that rate {workers * own:,.0f}/s")
    print(f"through {through:,.0f}/s, {through / workers / own:.2f} of it ({seconds:.2f} s after the first answer)")
    steps = np.array(memory.samples)[:: max(1, len(memory.samples) // 10)]
    print("rank 0, MiB:", " ".join(f"{each:.0f}" for each in steps))
    print("in order and all as the engine alone:", answers == expected)


if __name__ == "__main__":
    main()
