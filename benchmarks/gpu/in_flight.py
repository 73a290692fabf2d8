"""How many changes of weights may be on their way before learning suffers? Games at once, in turns, on a CPU.

    python benchmarks/gpu/in_flight.py 2584 --at-once 1,1024,2048 --delay 0,256,512 --games 20000

A game makes a move, or learns from an afterstate, and then it is the next one's turn; a change comes to the weights
when so many others (``--delay``, for each ``--at-once``) have been computed after it. One line of JSON for each: the
averages of every 1,000 games. On a card the delay is between none and the games that are learning, about half of all.
``--forward``, ``--coherence``: as of ``train``.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from distsearch import games
from distsearch.evaluation import ntuple
from distsearch.evaluation.tuple_network import sizes
from distsearch.gpu.learning import defines
from distsearch.testing.emulated_gpu import EmulatedGpu

SOURCE = str(Path(__file__).with_suffix(".cu"))
_LEARNT = np.dtype([("weights", "u8"), ("traces", "u8"), ("rate", "f8")], align=True)
_PARAMETERS = np.dtype(
    [
        ("learnt", _LEARNT),
        ("averages", "u8"),
        ("seed", "u8"),
        ("chance", "f8"),
        ("codes", "i4", 2),
        ("games", "i4"),
        ("at_once", "i4"),
        ("delay", "i4"),
        ("forward", "i4"),
    ],
    align=True,
)
SPAWNS = {"2048": (0.9, (1, 2)), "2584": (0.75, (1, 3))}


def averages(name, tuples, at_once, delay, count, seed, rate, forward, coherent):
    """Return the averages of every 1,000 games."""
    game, gpu = games.find(name), EmulatedGpu()
    tuples = ntuple.checked_tuples(game, tuples, (4, 4))
    size = sum(sizes(tuples, 1 << game.BITS))
    weights, found = gpu.array(size, np.float32), gpu.array(count // 1000, np.float32)
    traces = gpu.array(2 * size if coherent else 1, np.float32)
    weights.zero(), traces.zero(), found.zero()
    p = np.zeros(1, _PARAMETERS)[0]
    p["learnt"] = weights.address, traces.address, rate
    p["averages"], p["seed"], p["games"], p["at_once"], p["delay"] = found.address, seed, count, at_once, delay
    p["forward"], (p["chance"], p["codes"]) = forward, SPAWNS[name]
    gpu.kernel(SOURCE, "in_flight", **defines(game, tuples, True, coherent))(p, 1, 1)
    return [round(each) for each in found.get().tolist()]


def numbers(text):
    return [int(each) for each in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", choices=SPAWNS)
    parser.add_argument("--tuples")
    parser.add_argument("--at-once", type=numbers, default=[1, 1024, 2048])
    parser.add_argument("--delay", type=numbers, default=[0, 256, 512])
    parser.add_argument("--games", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float)
    parser.add_argument("--forward", action="store_true")
    parser.add_argument("--coherence", action="store_true")
    args = parser.parse_args()
    tuples = args.tuples or next(iter(ntuple.PRESETS[args.game]))
    rate = args.rate or (1.0 if args.coherence else 0.1)
    for at_once, delay in zip(args.at_once, args.delay, strict=True):
        found = averages(args.game, tuples, at_once, delay, args.games, args.seed, rate, args.forward, args.coherence)
        print(json.dumps({"game": args.game, "at_once": at_once, "delay": delay, "averages": found}), flush=True)


if __name__ == "__main__":
    main()
