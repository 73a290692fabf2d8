"""What each technique of the search is worth: the same positions without it, in nodes and in CPU time.

    python benchmarks/techniques.py connect4 othello depth

Positions come from random games and a fixed seed. Scores are compared, so this is a test as well.
"""

import argparse
import random
import time
from types import SimpleNamespace

import numpy as np

from distsearch import evaluation, games
from distsearch.core.jit import compiled
from distsearch.engines.pvs.depth_search import DepthSearch
from distsearch.engines.pvs.exact_solver import ExactSolver
from distsearch.games import connect4, connect4_knowledge, othello, othello_knowledge
from distsearch.games.connect4 import column_of
from distsearch.games.interface import END, legal_moves, step

NEVER = 1 << 40
SEED = 1
MIB = 64
LONG = 5.0  # CPU seconds that are not measured again
CONTROL = {
    "table": {"table_from": NEVER, "cut_from": NEVER},
    "shared table": {"table.shared_from_later": NEVER},
    "enhanced cut-off": {"cut_from": NEVER},
}


@compiled
def immediate_bounds(s, r, left, beta):
    """Connect 4's bounds, but for lines that are blocked and following up."""
    return connect4_knowledge.immediate_bounds(s, r, left)


@compiled
def unordered(s, r, left, squares, out, scores, at):
    """Connect 4's solver moves from left to right."""
    n = at
    while squares != 0:
        out[n] = column_of(squares & -squares, r)
        squares &= squares - np.uint64(1)
        n += 1
    return n - at


@compiled
def static_order(s, r, left, note, out, scores, at):
    """Othello's solver moves by their squares alone."""
    return othello_knowledge.ordered_moves(s, r, out, at)


@compiled
def mobility_order(s, r, left, note, out, scores, at):
    """Othello's solver moves by the replies that they leave, whatever squares they open."""
    return othello_knowledge.ordered_moves_slow(s, r, out, scores, at)


HOOKS = {
    "connect4": {
        "symmetry": {"canonical": None},
        "blocked lines and following up": {"bounds": immediate_bounds},
        "ordering by threats": {"solver_moves": unordered},
        "fast wins first": {"next_beta": None},
        "subtrees by recursion of their own": {"subtree": None, "SOLVER": {**connect4_knowledge.SOLVER, "bottom": 12}},
    },
    "othello": {
        "stability": {"bounds": None},
        "last five squares": {"small": None, "SMALL": None},
        "potential mobility": {"solver_moves": mobility_order},
        "mobility": {"solver_moves": static_order},
    },
}


def touched_table():
    """Return a shared table whose pages are there: they would be paid for by whatever comes first."""
    return np.ones(MIB << 17, np.uint64)


def positions(game, rules, left, count):
    """Return states of unfinished random games with so many moves left."""
    rng, found = random.Random(SEED), []
    while len(found) < count:
        position = game.start(rules)
        while game.kind(position.state, rules) != END and game.moves_left(position.state, rules) > left:
            position = step(game, position, rules, rng.choice(legal_moves(game, position, rules)))
        if game.kind(position.state, rules) != END:
            found.append(position.state)
    return found


def variant(game, name, changes):
    """Return the game's knowledge without what ``changes`` replaces."""
    known = {name: value for name, value in vars(games.knowledge(game)).items() if not name.startswith("_")}
    known.update(changes)
    known = {name: value for name, value in known.items() if value is not None}
    return SimpleNamespace(VARIANT="_without_" + name.replace(" ", "_"), **known)


def solvers(game, rules):
    """Yield (name, engine) of the exact solver, first with everything, then without one thing after another."""
    order = evaluation.for_order(game, rules)
    yield "", ExactSolver(game, rules, touched_table(), order=order)
    if order:
        yield "learnt order", ExactSolver(game, rules, touched_table())
    for name, changes in CONTROL.items():
        yield name, changed(ExactSolver(game, rules, touched_table(), order=order), changes)
    for name, changes in HOOKS[game.NAME].items():
        yield name, ExactSolver(game, rules, touched_table(), hooks=variant(game, name, changes), order=order)


def deep_searches(rules):
    """Yield (name, engine) of the depth-limited search of Othello in the same way."""
    chosen = evaluation.find(othello, "complex", rules)
    changes = {"": {}, **CONTROL, "null windows": {"null_windows": 0}, "iterative deepening": {"step": NEVER}}
    for name, change in changes.items():
        yield name, changed(DepthSearch(othello, rules, chosen, touched_table()), change)


def changed(engine, control):
    """Return an engine with other values in its control block."""
    engine.compile()
    for name, value in control.items():
        *inner, field = name.split(".")
        (engine._control[inner[0]] if inner else engine._control)[field] = value
    return engine


def timed(engine, states, *asked):
    """Return (scores, nodes, CPU seconds) of searches that each begin with nothing known; the best of three times."""
    runs = [once(engine, states, *asked)]
    while len(runs) < 3 and runs[0][2] < LONG:
        runs.append(once(engine, states, *asked))
    return min(runs, key=lambda run: run[2])


def once(engine, states, *asked):
    scores, nodes, seconds = [], 0, 0.0
    engine.compile()
    for state in states:
        engine.clear()
        began = time.process_time()
        engine.begin(state, *asked)
        while not engine.advance(1 << 20):
            pass
        seconds += time.process_time() - began
        scores.append(engine.result().score)
        nodes += engine.nodes
    return scores, nodes, seconds


def compare(title, engines, states, *asked):
    """Print a table of what every technique saves."""
    print(f"{title}\n{'without':<32} {'nodes':>12} {'CPU s':>8} {'x nodes':>9} {'x CPU':>6}")
    expected = None
    for name, engine in engines:
        scores, nodes, seconds = timed(engine, states, *asked)
        if expected is None:
            expected, least, fastest = scores, nodes, seconds
        assert scores == expected, f"without {name}: other scores"
        print(
            f"{name or 'nothing':<32} {nodes:>12,} {seconds:>8.3f} {nodes / least:>9.2f} {seconds / fastest:>6.2f}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", choices=("connect4", "othello", "depth"))
    args = parser.parse_args()
    if "connect4" in args.what:
        rules = connect4.rules((5, 6))
        compare("connect4: the start on 5x6, exact", solvers(connect4, rules), [connect4.start(rules).state])
        rules = connect4.rules()
        for stones, count in ((10, 5), (12, 20), (18, 100)):
            title = f"connect4: {count} positions with {stones} stones, exact"
            compare(title, solvers(connect4, rules), positions(connect4, rules, 42 - stones, count))
    if "othello" in args.what:
        rules = othello.rules()
        title = "othello: 20 positions with 16 empty squares, exact"
        compare(title, solvers(othello, rules), positions(othello, rules, 16, 20))
    if "depth" in args.what:
        rules = othello.rules()
        title = "othello: 10 positions with 40 empty squares, depth 10, complex"
        compare(title, deep_searches(rules), positions(othello, rules, 40, 10), 10)


if __name__ == "__main__":
    main()
