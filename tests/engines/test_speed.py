"""The bars for speed, in CPU time and on fixed positions: only with --full, and ``-rP`` shows the figures."""

import itertools
import json
import random
import statistics
import time
from functools import partial

import numpy as np
import pytest

from distsearch.api.options import Options
from distsearch.cluster.messages import OPEN_RECORD, Message, MessageType, from_records
from distsearch.cluster.worker import Worker
from distsearch.engines.perft import Perft
from distsearch.engines.pvs import table as tt
from distsearch.engines.pvs.depth_search import DepthSearch
from distsearch.engines.pvs.exact_solver import ExactSolver
from distsearch.games import connect4, othello
from distsearch.games.interface import legal_moves, step
from distsearch.jobs.two_player import KINDS, TO_THE_END, job_dtype
from distsearch.tree.search_tree import ANY

from ..games import connect4_twin
from .positions import NO_PAUSE, Recursion, engine, evaluate, rules, search

SEED = 1
POSITIONS = 20
REPEATS = 7
STACKS = 7  # places in the stack from which a search is timed
SHORTEST = 0.5  # CPU seconds that a rate is measured over
LONGEST_SLICE = 0.010  # CPU seconds between two looks at the mail, in 99 cases of 100
SLICES_FOR = 4.0  # CPU seconds of slices for each kind of search
FAR_MIB = 16  # of an engine whose speed is measured


def midgame_states(board, plies=20, seed=SEED):
    """States so many random plies from the start, the same ones every time."""
    rng, r = random.Random(seed), rules(board)
    found = []
    while len(found) < POSITIONS:
        position = othello.start(r)
        for _ in range(plies):
            if legal := legal_moves(othello, position, r):
                position = step(othello, position, r, rng.choice(legal))
        if legal_moves(othello, position, r):
            found.append(position.state)
    return found


def ending_states(left, seed=SEED):
    """States of 8×8 with so many empty squares (a range), from random games; the same ones every time."""
    rng, r = random.Random(seed), rules((8, 8))
    found = []
    while len(found) < POSITIONS:
        position, wanted = othello.start(r), rng.choice(left)
        while (legal := legal_moves(othello, position, r)) and othello.moves_left(position.state, r) > wanted:
            position = step(othello, position, r, rng.choice(legal))
        if legal:
            found.append(position.state)
    return found


def connect4_states(stones, seed=SEED):
    """States of 6×7 with so many stones (a range), of games where no win is let pass; the same every time."""
    rng, r, twin = random.Random(seed), connect4.rules(), connect4_twin.Connect4Twin(6, 7)
    found = []
    while len(found) < POSITIONS:
        game, wanted = connect4_twin.random_game(rng, twin, quiet=1.0), rng.choice(stones)
        if wanted < len(game) - 1:
            found.append(connect4.parse(twin.drawn(game[wanted]), r).state)
    return found


def timed(run):
    """Return (what ``run`` returns, the CPU seconds that it took)."""
    began = time.process_time()
    value = run()
    return value, time.process_time() - began


def searches(board, depth):
    """A function that searches the midgame positions of a board and returns its nodes."""
    searcher, states = engine(board), midgame_states(board)
    searcher.compile()
    return lambda: sum(search(searcher, state, depth).nodes for state in states)


def rate(run):
    """What ``run`` returns, a CPU second, over as many repeats as a fair measurement takes."""
    done, began = 0, time.process_time()
    while (seconds := time.process_time() - began) < SHORTEST:
        done += run()
    return done / seconds


def check_rate(run, bar):
    """Check the best of three rates, which is the one that the machine disturbed least."""
    rates = [rate(run) for _ in range(3)]
    print(", ".join(f"{each / 1e6:.1f}" for each in rates), "M/s")
    assert max(rates) >= bar


def check_nodes_a_second(board, depth, bar):
    check_rate(searches(board, depth), bar)


def deeper(levels, run):
    """Return what ``run`` returns when it is called from so many more calls, in C so that they take from its stack."""
    return partial(deeper, levels - 1, run)() if levels else run()


def check_share(pausable, plain, states, bar):
    """Check how fast a pausable search is, compared with its recursive twin that visits the same nodes.

    Both are functions from a state to nodes. They take turns state by state, since over longer stretches the machine
    itself changes its pace, and that from several depths of the stack: where it lies is worth up to 5% to recursion.
    """
    shares, nodes = [], 0
    for repeat in range(REPEATS):
        seconds, searches = {pausable: 0.0, plain: 0.0}, [pausable, plain]
        for i, state in enumerate(states):
            found = set()
            for run in searches[:: -1 if (repeat + i) % 2 else 1]:
                visited, took = deeper((repeat + i) % STACKS, partial(timed, partial(run, state)))
                seconds[run] += took
                found.add(visited)
            assert len(found) == 1, state
            nodes += visited
        shares.append(seconds[plain] / seconds[pausable])
    share = statistics.median(shares)
    print(
        f"{100 * share:.1f}% of the recursion's rate ({100 * min(shares):.1f} to {100 * max(shares):.1f}), "
        f"{nodes // REPEATS:,} nodes in {seconds[pausable]:.2f} s"
    )
    assert share >= bar


def check_share_of_recursion(board, depth, bar):
    recursion, searcher, states = Recursion(board, "static", "static"), engine(board), midgame_states(board)
    recursion.search(states[0], 1)
    searcher.compile()
    check_share(
        lambda state: search(searcher, state, depth).nodes, lambda state: recursion.search(state, depth)[1], states, bar
    )


def check_share_of_tabled_recursion(make, states, asked, bar):
    """``make`` returns an engine with a table; the twin has no frames below the root's children for null windows."""
    pausable, twin = make(), make()
    pausable.compile()
    twin._control["bottom"] = NO_PAUSE
    check_share(*(tabled_search(searcher, asked) for searcher in (pausable, twin)), states(), bar)


def tabled_search(searcher, asked):
    """A function that searches a state with nothing known and returns its nodes."""

    def run(state):
        searcher.clear()
        searcher.begin(state, *asked)
        # at once: a recursive twin would come to use the shared table at another board
        searcher._control["table"]["shared_from"] = searcher._control["table"]["shared_from_later"]
        searcher.advance(NO_PAUSE)
        return searcher.nodes

    return run


def deep(board, name):
    return DepthSearch(othello, rules(board), evaluate(board, name), tt.new_shared_table(FAR_MIB))


def solver(game):
    return ExactSolver(game, game.rules(), tt.new_shared_table(FAR_MIB))


def check_leaves_a_second(board, depth, bar):
    engine = Perft(othello, rules(board))
    engine.compile()

    def count():
        engine.begin(othello.start(rules(board)).state, depth)
        engine.advance(NO_PAUSE)
        return engine.nodes

    check_rate(count, bar)


def check_slices(kind, states, depths, game="othello", **options):
    """Run a worker's slices over jobs of all ``depths`` by turns, and look at how long they are.

    ``states`` returns those of a seed: tables would know the answers to a second round of the same.
    """
    setup = Options(game, depth=1, **options).setup(kind)
    worker = Worker(KINDS)
    worker.handle(Message(MessageType.SETUP, 1, np.frombuffer(json.dumps(setup).encode(), np.uint8)))
    worker.handle(Message(MessageType.OPEN, 1, from_records(np.array([(1, 0, 1.0, 0)], OPEN_RECORD))))
    slices = []
    for seed in itertools.count(SEED):
        worker.handle(Message(MessageType.JOBS, 1, from_records(job_records(states(seed=seed), depths))))
        while worker.has_work and sum(slices) < SLICES_FOR:
            slices.append(timed(worker.work)[1])
        if worker.has_work:
            break
    middle, late, longest = np.quantile(slices, (0.5, 0.99, 1)) * 1000
    print(f"{len(slices)} slices: median {middle:.2f} ms, p99 {late:.2f} ms, longest {longest:.2f} ms")
    assert late <= LONGEST_SLICE * 1000


def job_records(states, depths):
    jobs = np.zeros(len(states), job_dtype(len(states[0])))
    jobs["state"] = states
    jobs["depth"] = np.resize(depths, len(states))
    jobs["low"], jobs["high"] = ANY
    return jobs


def subtree_slices(kind, board, depths, **options):
    """The check of the slices of jobs on midgame positions."""
    return partial(check_slices, kind, partial(midgame_states, board), depths, board=board, **options)


BARS = {
    "nodes/s 8x8": partial(check_nodes_a_second, (8, 8), 9, 25e6),
    "nodes/s 10x10": partial(check_nodes_a_second, (10, 10), 8, 8e6),
    "nodes/s 16x16": partial(check_nodes_a_second, (16, 16), 6, 2.5e6),
    "share of recursion": partial(check_share_of_recursion, (8, 8), 9, 0.95),
    "share of recursion, deep": partial(
        check_share_of_tabled_recursion, partial(deep, (8, 8), "static"), partial(midgame_states, (8, 8)), (10,), 0.95
    ),
    "share of recursion, solver of othello": partial(
        check_share_of_tabled_recursion, partial(solver, othello), partial(ending_states, range(17, 19)), (), 0.95
    ),
    "share of recursion, solver of connect4": partial(
        check_share_of_tabled_recursion, partial(solver, connect4), partial(connect4_states, range(10, 13)), (), 0.95
    ),
    "leaves/s 8x8": partial(check_leaves_a_second, (8, 8), 11, 150e6),
    "slices static": subtree_slices("subtree", (8, 8), (4, 8, 9)),
    "slices 16x16 minimax": subtree_slices(
        "subtree", (16, 16), (2, 3, 4), evaluation="complex", algorithm="minimax", ordering="none"
    ),
    "slices 16x16 alphabeta": subtree_slices("subtree", (16, 16), (2, 4, 5), evaluation="complex"),
    "slices 16x16 shallow:2": subtree_slices(
        "subtree", (16, 16), (2, 5, 6), evaluation="complex", ordering="shallow:2"
    ),
    "slices deep static": subtree_slices("deep", (8, 8), (4, 9, 10), evaluation="static"),
    "slices deep complex": subtree_slices("deep", (8, 8), (4, 9, 10), evaluation="complex"),
    "slices deep 16x16": subtree_slices("deep", (16, 16), (2, 5, 6), evaluation="complex"),
    "slices solve othello": partial(check_slices, "solve", partial(ending_states, range(18, 23)), (TO_THE_END,)),
    "slices solve connect4": partial(
        check_slices, "solve", partial(connect4_states, range(8, 11)), (TO_THE_END,), game="connect4"
    ),
    "slices perft 8x8": subtree_slices("perft", (8, 8), (2, 6, 7)),
    "slices perft 16x16": subtree_slices("perft", (16, 16), (2, 4, 5)),
}


def pytest_generate_tests(metafunc):
    skip = pytest.mark.skip(reason="speed is only measured with --full")
    chosen = BARS if metafunc.config.option.full else {"any": pytest.param(None, marks=skip)}
    metafunc.parametrize("check", chosen.values(), ids=chosen.keys())


def test_the_bar_is_reached(check):
    check()
