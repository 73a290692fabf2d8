"""What it costs to know where the time goes: the workers' timers, and a timeline (``--trace``), in CPU time.

    python benchmarks/overhead.py --rounds 25

The same work is done by turns in one process, in random order within each round: without timers (they are taken out for
this, and nobody asks for metrics), with them, as always, and with a timeline as well. Prints for each work the least
CPU seconds and the overhead as a median over rounds of the ratio of neighbours in time, with the middle half of these;
and what the timers would cost by their calls: so many of them, at what one takes in a loop.
"""

import argparse
import contextlib
import random
import statistics
import time
from unittest import mock

from distsearch import games
from distsearch.api.options import resolve
from distsearch.api.progress import Silent
from distsearch.api.session import Session
from distsearch.cluster import trace
from distsearch.cluster.local import LocalCluster
from distsearch.cluster.trace import MOST
from distsearch.games.interface import Position, step
from distsearch.studies.measure_search import measure

MIDGAME = "f5d6c3d3c4f4c5b3c2e6c6b4b5d2e3a6c1b6f3d1"
WAYS = "bare", "timers", "timeline"
_CALLS = 200_000


def works():
    """Return {name: (Options, Positions)}: long jobs, many jobs of some hundred µs, a stream of tiny positions."""
    found = {}
    for name, given in (("one search", {"depth": 12}), ("pool of 400", {"depth": 10, "load_factor": 400.0})):
        options, module, rules = resolve("othello", evaluation="complex", **given)
        found[name] = options, [module.parse(MIDGAME, rules)]
    options, module, rules = resolve("connect4", exact=True)
    found["5,000 positions"] = options, list(late(module, rules, 5_000))
    return found


def late(module, rules, count):
    """Yield positions of Connect 4 with 30 stones, by random moves."""
    draws = random.Random(1)
    while count:
        position = module.start(rules)
        for _ in range(30):
            moves = games.interface.legal_moves(module, position, rules)
            if not len(moves):
                break
            position = step(module, position, rules, draws.choice(list(moves)))
        else:
            count -= 1
            yield Position(position.state, position.side)


@contextlib.contextmanager
def without_timers():
    """Have workers keep no times, and the master not ask for them."""
    begin = LocalCluster.begin

    def unmeasured(self, setup, source, **how):
        return begin(self, setup, source, **{**how, "measured": False})

    nothing = mock.patch.multiple(trace.Timers, communicated=lambda *_: None, waited=lambda *_: None)
    with nothing, mock.patch.object(LocalCluster, "begin", unmeasured):
        yield


def cost(session, way, options, positions):
    """Return (CPU seconds, boards) of one run; everything of it is in this process."""
    session.cluster.traced = MOST if way == "timeline" else 0
    with without_timers() if way == "bare" else contextlib.nullcontext():
        began = time.process_time()
        result = measure(session, options, positions)
        return time.process_time() - began, result["boards"]


def call_cost():
    """Return the CPU seconds of one call of a timer with the reading of the clock before it."""
    kept = trace.Timers(time.perf_counter)
    began = time.process_time()
    for _ in range(_CALLS):
        kept.communicated(0.0, time.perf_counter())
    return (time.process_time() - began) / _CALLS


def calls(options, positions):
    """Return how often the timers are called in a run."""
    counted = mock.Mock()
    with Session(table=16) as session:
        session.searcher(options)
        with mock.patch.object(trace.Timers, "communicated", counted):
            measure(session, options, positions)
    return counted.call_count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=25)
    rounds, each = parser.parse_args().rounds, call_cost()
    for name, (options, positions) in works().items():
        found = {way: [] for way in WAYS}
        for _ in range(rounds + 1):  # the first one warms up
            for way in random.sample(WAYS, len(WAYS)):
                with Session(table=16, progress=Silent(), touched=True) as session:
                    found[way].append(cost(session, way, options, positions))
        assert len({boards for runs in found.values() for _, boards in runs}) == 1, "not the same work"
        seconds = {way: [second for second, _ in runs[1:]] for way, runs in found.items()}
        best = {way: min(runs) for way, runs in seconds.items()}
        print(f"{name}: " + ", ".join(f"{way} {least:.4f} s" for way, least in best.items()))
        for way, before in (("timers", "bare"), ("timeline", "timers")):
            ratios = sorted(100 * (a / b - 1) for a, b in zip(seconds[way], seconds[before], strict=True))
            low, middle, high = statistics.quantiles(ratios, n=4)
            print(
                f"  {way}: {middle:+.2f}% ({low:+.2f} to {high:+.2f}), by the least {best[way] / best[before] - 1:+.2%}"
            )
        told = calls(options, positions)
        print(f"  {told:,} calls of {1e6 * each:.2f} µs: {told * each / best['timers']:.3%}", flush=True)


if __name__ == "__main__":
    main()
