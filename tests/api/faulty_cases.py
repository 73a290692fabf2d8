"""What ``faulty_runs`` draws: a search, and the virtual machines on which it begins, is interrupted, and goes on."""

import random
from collections.abc import Callable
from math import inf
from typing import NamedTuple

from distsearch import games
from distsearch.api.chance import apply_initial_chance
from distsearch.api.options import Options
from distsearch.api.simulate import Machine
from distsearch.cluster.simulated import Faults
from distsearch.cluster.submaster import blocks
from distsearch.games.interface import legal_moves, step
from distsearch.games.random_play import random_positions
from distsearch.tree.policies import POLICIES

from .virtual_ranks import FailOnce, SearchAsGpu

SEARCHES = [  # game, board, plies played before, limits
    ("othello", (4, 4), range(0, 7), [{"exact": True}]),
    ("othello", (6, 6), range(15, 29), [{"exact": True}]),  # the first of these take 10⁵ to 10⁶ nodes
    ("othello", (6, 6), range(0, 26), [{"depth": depth} for depth in (2, 4, 7)]),
    ("connect4", (4, 5), range(0, 13), [{"exact": True}]),
    ("connect4", (5, 6), range(6, 21), [{"exact": True}]),
    ("connect4", (6, 7), range(0, 31), [{"depth": depth} for depth in (3, 6, 9)]),
]
AGAINST_CHANCE = [
    *({"depth": depth, "policy": policy} for depth in (3, 5) for policy in ("pool", "split")),
    {"algorithm": "expectiminimax", "depth": 4, "policy": "pool"},
    {"algorithm": "alphabeta", "depth": 4, "policy": "brothers"},
    {"algorithm": "averaged", "depth": 3, "runs": 9},
    {"algorithm": "ida", "nodes": 200, "runs": 9},
    {"algorithm": "mcts", "nodes": 200, "runs": 9},
]
SHARED_BY = [*POLICIES, "split", "split"]  # jobs are split, offloaded and exported only with `split`
WAYS = ["search"] * 5 + ["moves", "perft", "solve", "solve", "chance"]
SAVES = {"search", "moves", "perft", "solve"}  # ways that a checkpoint goes with
# Most nodes of a slice. Usually the first slice is the longest, as the worker does not know its rate yet. Othello
# searches up to 7,000 nodes without a pause, and jitter makes that up to 2.3 times as long.
LONGEST_SLICE = {"othello": 20_000}
FIRST_SLICE = 4000
SHORTEST_TIMEOUT = 0.03  # seconds: a worker takes 14 ms at most for a batch of positions, and hears nothing meanwhile


class Part(NamedTuple):
    """A cluster that does a search or a part of one.

    joint: ranks join the jobs of their host, rather than split off parts of them; changes: functions that
    change workers of the cluster; saves: virtual seconds at which the search is saved; ends: when it is interrupted, at
    or after the last save, or inf; timeline: events of it that each rank keeps.
    """

    machine: Machine
    joint: bool = True
    changes: tuple[Callable, ...] = ()
    saves: tuple[float, ...] = ()
    ends: float = inf
    timeline: int = 0

    def cluster(self):
        cluster = self.machine.cluster()
        cluster.traced = self.timeline
        if not self.joint:
            cluster.joint = False
        for change in self.changes:
            change(cluster)
        return cluster


class Case(NamedTuple):
    """A run to do. way: one of WAYS; first_try: nodes after which a stream takes a position for hard.

    parts: the clusters that it is done by, each of which goes on where the one before it was saved last.
    """

    way: str
    options: Options
    positions: list
    depth: int  # of perft
    first_try: int
    parts: tuple[Part, ...]


def drawn(seed):
    """Return the Case of a seed."""
    rng = random.Random(seed)
    way = rng.choice(WAYS)
    options, positions = _chance_search(rng) if way == "chance" else _search(rng, way)
    scale = rng.choice((1e3, 1e4, 1e5, 1e6))  # nodes a second: slow workers have more that is worth sharing out
    restarts = rng.choice((0, 0, 1, 1, 3)) if way in SAVES else 0
    parts = [_part(rng, way, options, seed, scale, goes_on) for goes_on in [True] * restarts + [False]]
    return Case(way, options, positions, rng.randint(2, 4), rng.choice((20, 300, 10**6)), tuple(parts))


def _search(rng, way):
    """Draw a search of a game of two players: its options, and positions."""
    name, board, plies, limits = rng.choice(SEARCHES)
    game, policy = games.find(name), rng.choice(SHARED_BY)
    count = rng.choice((1, 5, 40)) if way == "solve" else 1
    if count > 5:
        plies = plies[len(plies) // 2 :]  # or a run would take long
    elif count == 1 and policy == "split":
        plies = plies[: len(plies) // 2]  # or hardly anything would be split, offloaded or exported
    how = {"policy": policy, "prefetch": rng.randint(1, 3), "load_factor": rng.choice((None, 1.0, 4.0))}
    options = Options(name, board=board, all_moves=way == "moves", **how, **rng.choice(limits))
    return options, random_positions(game, game.rules(board), plies, count, rng)


def _chance_search(rng):
    """The same of a game against chance; it is the player's turn."""
    board, all_moves = rng.choice(((2, 2), (2, 3))), rng.random() < 0.3
    options = Options("2048", board=board, all_moves=all_moves, **rng.choice(AGAINST_CHANCE))
    game = games.find("2048")
    rules = game.rules(options.board)
    position = last = apply_initial_chance(game, game.start(rules), rules, rng.randrange(10**6))
    for _ in range(rng.randrange(12)):
        if moves := legal_moves(game, last, rules):
            position = last
            last = step(game, last, rules, rng.choice(moves))
            last = apply_initial_chance(game, last, rules, rng.randrange(10**6))
    return options, [position]


def _part(rng, way, options, seed, rate, goes_on):
    workers = rng.randint(2, 12)
    submasters = rng.choice((0, 0, rng.randint(1, min(4, workers))))
    machine = Machine(
        workers,
        rng.choice(("tcp", "host")),
        delay=rng.choice((0.0, 1e-4)),
        jitter=rng.choice((0.0, 0.3)),
        rate=rate,
        seed=seed,
        table=1,
        hosts=rng.choice((1, rng.randint(1, submasters or workers))),
        submasters=submasters,
        faults=random_faults(rng, workers, submasters, rate, LONGEST_SLICE.get(options.game, FIRST_SLICE)),
    )
    joint, timeline = rng.random() < 0.5, rng.choice((0, 0, 100)) * (not submasters)
    span, count = 10 ** rng.uniform(-2.5, 0) * 1e5 / rate, rng.randint(1, 3) if goes_on else rng.choice((0, 0, 1))
    saves = tuple(sorted(rng.uniform(0, span) for _ in range(count)))
    ends = saves[-1] + rng.choice((0, 0, 0.1 * span)) if goes_on else inf
    return Part(machine, joint, tuple(_changes(rng, way, options, machine)), saves, ends, timeline)


def _changes(rng, way, options, machine):
    """Draw workers that search as a GPU does, and perhaps one that fails."""
    ranks = list(range(1, machine.workers + machine.submasters + 1))
    ranks = [rank for rank in ranks if rank not in blocks(len(ranks) + 1, machine.submasters)]
    rng.shuffle(ranks)
    offloads = options.policy == "split" and not machine.submasters and way != "solve"
    if options.exact and rng.random() < (0.6 if offloads else 0.2):
        count = min(rng.choice((1, 1, 2)), len(ranks) - 1)
        for rank in ranks[:count]:
            yield SearchAsGpu(rank, seconds=rng.choice((3, 1, 0.1)) / machine.rate)
    if way != "solve" and rng.random() < 0.1:
        yield FailOnce(ranks[-1], rng.choice((None, 1, 1, 10)))


def random_faults(rng, workers, submasters, rate, longest):
    """Faults of all ranks but a worker and its sub-master, if it has one, so that some worker is always left.

    longest: nodes of a slice.
    """
    leaders = blocks(workers + submasters + 1, submasters)
    spared = next(([leader, rng.choice(ranks)] for leader, ranks in leaders.items()), [rng.randint(1, workers)])
    ranks = [rank for rank in range(1, workers + submasters + 1) if rank not in spared]
    rng.shuffle(ranks)
    timeout = max(SHORTEST_TIMEOUT, rng.choice((1.5, 1.5, 5, 25)) * longest / rate)
    dying, slow, late = (ranks[: rng.choice((0, 0, 1, 2, workers))] for _ in range(3) if rng.shuffle(ranks) is None)
    span = 10 ** rng.uniform(-4, 0) * 1e5 / rate  # of most runs at such a rate
    return Faults(
        timeout,
        {rank: rng.uniform(0, span) for rank in dying},
        {rank: rng.choice((3, 10, 100)) for rank in slow},
        {rank: rng.choice((0.02, 0.3)) for rank in late},
        timeout * rng.choice((0.1, 1, 3)),
    )
