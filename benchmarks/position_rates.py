"""Measure how many easy positions of Connect 4 a second are answered, by each way in and out, on one rank.

    python benchmarks/position_rates.py --only plain,table,json,csv
    python benchmarks/position_rates.py --only session.solve,session.scores
    python benchmarks/position_rates.py --only http --uploaded 1000000

The positions are of random play with 29 stones or more, all different; they are drawn from a seed once and kept in
--keep. A rate of the command line is by the wall time that a file takes longer than its first line alone. One of the
library counts the time of the call. Of HTTP it is the time of one upload with ``format=plain``, from the first byte
sent to the last one received, by a service on one rank, and the memory of its two processes while it answers (MiB,
their own pages). The best of --turns, by turns with one another.
"""

import argparse
import http.client
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

import distsearch
from distsearch import games
from distsearch.games.random_play import random_position

PLIES = range(29, 40)
STYLES = {"plain": ["--plain"], "table": [], "json": ["--json"], "fields": ["--json", "--fields", "default"]}
STYLES |= {"csv": ["--csv"]}
WAYS = *STYLES, "session.solve", "session.scores", "http"


def lines_of(count, keep):
    """Return so many positions as texts, from a file or drawn and then kept there."""
    path = Path(keep) / f"easy-{count}.txt"
    if not path.exists():
        game, rng, found = games.find("connect4"), random.Random(1), {}
        rules = game.rules()
        while len(found) < count:
            found[game.text(random_position(game, rules, PLIES, rng), rules)] = True
        path.write_text("".join(f"{line}\n" for line in found))
    return path, path.read_text().split()


def of_command(style, path):
    """Return the positions a second of ``solve``: what a file takes longer than its first line alone."""
    content = path.read_bytes()
    head = path.with_suffix(".first")
    head.write_bytes(content.partition(b"\n")[0] + b"\n")
    seconds = [_seconds(style, each) for each in (head, path)]
    return (content.count(b"\n") - 1) / (seconds[1] - seconds[0])


def _seconds(style, path):
    command = [sys.executable, "-m", "distsearch", "solve", "connect4", "--positions", str(path), *STYLES[style]]
    began = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        subprocess.run([*command, "--book", "none"], stdout=out, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def of_session(way, lines):
    """Return the positions a second of ``session.solve`` or ``session.scores``, and check that all are answered."""
    with distsearch.Session(book="none") as session:
        session.scores("connect4", lines[:1])
        next(session.solve("connect4", lines[:1]))
        began = time.perf_counter()
        if way == "session.solve":
            answered = sum(outcome.complete for outcome in session.solve("connect4", lines))
        else:
            answered = np.isfinite(session.scores("connect4", lines)).sum()
        seconds = time.perf_counter() - began
    assert answered == len(lines)
    return len(lines) / seconds


def memory_of(pid):
    """MiB of memory that are a process's own."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"RssAnon:\s+([0-9]+)", status)[1]) / 1024


def of_upload(lines, uploaded):
    """Return (positions a second, memory of rank 0 and of the process for HTTP at most, and before) of an upload."""
    content = "".join(f"{line}\n" for line in lines).encode() * max(1, uploaded // len(lines))
    count = content.count(b"\n")
    command = [sys.executable, "-m", "distsearch", "serve", "--http", "0", "--book", "none"]
    service = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    try:
        where = next(found for line in service.stdout if (found := re.search(r"(http://[^#]*)#token=(\S+)", line)))
        address, header = urlsplit(where[1]), {"Authorization": f"Bearer {where[2]}"}
        client = http.client.HTTPConnection(address.hostname, address.port, timeout=600)
        path = "/batch?game=connect4&exact=true&format=plain"
        for _ in range(2):  # the first one loads kernels
            client.request("POST", path, content[: 1 << 20].rpartition(b"\n")[0], header)
            client.getresponse().read()
        children = Path(f"/proc/{service.pid}/task/{service.pid}/children").read_text().split()
        pids = [service.pid, *children]
        before, most, answers = [memory_of(pid) for pid in pids], [0.0] * len(pids), 0
        began = time.perf_counter()
        client.request("POST", path, content, header)
        response = client.getresponse()
        assert response.status == 200, response.read()
        while chunk := response.read1(1 << 20):
            answers += chunk.count(b"\n")
            most = [max(old, memory_of(pid)) for old, pid in zip(most, pids, strict=True)]
        seconds = time.perf_counter() - began
        assert answers == count, (answers, count)
        return count / seconds, before, most
    finally:
        service.terminate()
        service.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(WAYS), metavar="WAY,...", help=", ".join(WAYS))
    parser.add_argument("--positions", type=int, default=50_000, metavar="N")
    parser.add_argument("--uploaded", type=int, default=1_000_000, metavar="N", help="positions of the upload")
    parser.add_argument("--turns", type=int, default=3, metavar="N")
    parser.add_argument("--keep", default=tempfile.gettempdir(), metavar="FOLDER", help="for the positions")
    args = parser.parse_args()
    path, lines = lines_of(args.positions, args.keep)
    best = {}
    for _ in range(args.turns):
        for way in args.only.split(","):
            if way == "http":
                rate, before, most = of_upload(lines, args.uploaded)
                best[way] = max(best.get(way, {"rate": 0}), {"rate": rate, "before": before, "most": most}, key=_rate)
            else:
                rate = of_command(way, path) if way in STYLES else of_session(way, lines)
                best[way] = max(best.get(way, {"rate": 0}), {"rate": rate}, key=_rate)
    for way, found in best.items():
        print(json.dumps({"way": way, **found, "load": os.getloadavg()[0]}))


def _rate(found):
    return found["rate"]


if __name__ == "__main__":
    main()
