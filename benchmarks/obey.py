"""How long it takes a worker to obey: CPU milliseconds from a message that a job is moot to the job's answer.

    python benchmarks/obey.py --jobs 300 --seed 1

A worker looks at its mail between two slices of work. So each job is a search of a random Othello position that would
take many seconds, and after a few slices it is told that no window is left to search in. What it takes to obey is what
is left of the slice in which that message comes, at any moment of it, and then to take it in and to answer.
"""

import argparse
import json
import random
import time

import numpy as np

from distsearch import games
from distsearch.api.options import Options
from distsearch.cluster.messages import (
    JOBS,
    OPEN,
    OPEN_RECORD,
    RESULTS,
    SETUP,
    STEER,
    STEER_RECORD,
    Message,
    from_records,
)
from distsearch.cluster.worker import Worker
from distsearch.engines.pvs.table import far_table
from distsearch.games.random_play import random_position
from distsearch.jobs.two_player import job_dtype, kinds
from distsearch.tree.schedule import ANY

SETUP_NUMBER = RUN = 1
PLIES = 20, 30  # played before a job's position
SLICES = 1, 30  # before the message comes


def job_of(position, node, depth):
    """Return the payload of a job: its only record, with the widest window."""
    record = np.zeros(1, job_dtype(len(position.state)))
    record["node"], record["depth"], record["state"] = node, depth, position.state
    record["low"], record["high"] = ANY
    return from_records(record)


def obey(worker, rng, node):
    """Have the worker drop the job ``node`` after some slices.

    Returns CPU seconds that it takes to obey: from a random moment of the last slice, and from its beginning.
    """
    for _ in range(rng.randint(*SLICES)):
        began = time.process_time()
        worker.work()
        last = time.process_time() - began
    moot = np.array([(node, 0, 0, -1, 0)], STEER_RECORD)
    began = time.process_time()
    answers = worker.handle(Message(STEER, RUN, from_records(moot)))
    taken = time.process_time() - began
    assert [answer.type for answer in answers] == [RESULTS], "a job that is dropped is answered at once"
    assert not worker.has_work
    return rng.random() * last + taken, last + taken


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--jobs", type=int, default=300)
    arguments.add_argument("--seed", type=int, default=1)
    args = arguments.parse_args()
    game, rng = games.find("othello"), random.Random(args.seed)
    rules = game.rules((8, 8))
    for kind, depth in (("solve", -1), ("deep", 20)):
        options = Options("othello", exact=True) if kind == "solve" else Options("othello", depth=depth)
        worker = Worker(kinds(far_table(64)))
        worker.handle(Message(SETUP, SETUP_NUMBER, np.frombuffer(json.dumps(options.setup()).encode(), np.uint8)))
        worker.handle(Message(OPEN, RUN, from_records(np.array([(SETUP_NUMBER, 0, 1.0, 0)], OPEN_RECORD))))
        times = []
        for node in range(args.jobs):
            position = random_position(game, rules, PLIES, rng)
            worker.handle(Message(JOBS, RUN, job_of(position, node, depth)))
            times.append(obey(worker, rng, node))
        drawn, whole = (1000 * np.percentile(column, (50, 99, 100)) for column in np.array(times).T)
        print(
            f"{kind}: p50 {drawn[0]:.2f}, p99 {drawn[1]:.2f}, longest {drawn[2]:.2f} ms of CPU; "
            f"from the beginning of the slice p99 {whole[1]:.2f}, longest {whole[2]:.2f} ms"
        )


if __name__ == "__main__":
    main()
