"""Measure exact solving on one core: Connect 4 beside bitbully, and the curve over table sizes.

    python benchmarks/solving.py --positions FILE [FILE ...] --tables 1,64,1024 --engine bitbully

A line of FILE is a position and its score. Tables are cleared before each position and the clearing is not timed;
CPU seconds. With --generate CLASS:COUNT positions are drawn instead, see ``generate``.
"""

import argparse
import random
import time

import numpy as np

from distsearch.games import connect4
from distsearch.games.interface import END, legal_moves, step
from distsearch.search.solver_engine import Solver

# Pons's classes: plies played, and moves until the end if both play well
CLASSES = {
    "L3_R1": (range(29, 43), range(0, 14)),
    "L2_R1": (range(15, 29), range(0, 14)),
    "L2_R2": (range(15, 29), range(14, 28)),
    "L1_R1": (range(1, 15), range(0, 14)),
    "L1_R2": (range(1, 15), range(14, 28)),
}


def plies_to_end(left, score):
    """Return the plies until the game ends by best play; ``left``: empty squares."""
    if score == 0:
        return left
    # the winner of score k has k - 1 stones left after its last one
    return left - 2 * (abs(score) - 1) - ((left + (score > 0)) % 2)


def solved(solver, state, *window):
    """Return the score of a state, cut to a window."""
    solver.begin(state, *window)
    while not solver.advance(1 << 30):
        pass
    return solver.result().score


def decided(solver, state, least):
    """Whether the score is at least ``least`` or at most its negative."""
    return solved(solver, state, least - 1, least) == least or solved(solver, state, -least, 1 - least) == -least


def generate(name, count, seed):
    """Return ``count`` (position text, score) of a class: random games of a random length in it, solved here."""
    plies, remoteness = CLASSES[name]
    rng, r = random.Random(seed), connect4.rules()
    solver, found = Solver(connect4, r), []
    while len(found) < count:
        position, played = connect4.start(r), ""
        for _ in range(rng.choice(plies)):
            moves = legal_moves(connect4, position, r)
            if not moves:
                break
            m = rng.choice(moves)
            position, played = step(connect4, position, r, m), played + connect4.move_text(m, r)
        left = int(connect4.moves_left(position.state, r))
        if connect4.kind(position.state, r) == END or 42 - left not in plies:
            continue
        # a decision late in the game is told from early ones by two narrow windows: solving takes much longer
        least = min(k for k in range(1, 23) if plies_to_end(left, k) < remoteness.stop)
        if left >= remoteness.stop and not decided(solver, position.state, least):
            continue
        score = solved(solver, position.state)
        if plies_to_end(left, score) in remoteness:
            found.append((played, score))
    return found


def time_solver(solver, positions):
    """Return (mean CPU seconds, mean boards, mean table hits, wrong scores)."""
    r, seconds, boards, hits, wrong = connect4.rules(), 0.0, 0, 0, 0
    for text, score in positions:
        state = connect4.parse(text, r).state
        solver.clear()
        began = time.process_time()
        found = solved(solver, state)
        seconds += time.process_time() - began
        boards += solver.boards
        hits += solver.table_counts[0]
        wrong += found != score
    n = len(positions)
    return seconds / n, boards / n, hits / n, wrong


def time_bitbully(positions, search):
    """Return (mean CPU seconds, wrong scores) of bitbully's ``mtdf`` or ``nullWindow``."""
    from bitbully import bitbully_core

    core, seconds, wrong = bitbully_core.BitBullyCore(), 0.0, 0
    for text, score in positions:
        board = bitbully_core.BoardCore()
        board.setBoard([int(c) - 1 for c in text])
        core.resetTranspositionTable()
        began = time.process_time()
        found = core.mtdf(board, 0) if search == "mtdf" else core.nullWindow(board)
        seconds += time.process_time() - began
        wrong += found != score
    return seconds / len(positions), wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--positions", nargs="*", default=[], metavar="FILE")
    parser.add_argument("--generate", nargs="*", default=[], metavar="CLASS:COUNT")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tables", default="64", help="MiB, several with commas")
    parser.add_argument("--bitbully", action="store_true", help="time it as well, in the same run")
    args = parser.parse_args()
    sets = {}
    for path in args.positions:
        with open(path, encoding="utf-8") as file:
            sets[path] = [(text, int(score)) for text, score in (line.split() for line in file)]
    for asked in args.generate:
        name, count = asked.split(":")
        sets[asked] = generate(name, int(count), args.seed)
    solvers = {}
    for mib in map(int, args.tables.split(",")):
        far = np.ones(mib << 17, np.uint64)  # every page is touched before anything is timed
        solvers[mib] = Solver(connect4, connect4.rules(), far)
        solvers[mib].compile()
    for name, positions in sets.items():
        peers = {}
        if args.bitbully:
            for search in ("mtdf", "nullWindow"):
                peers[search], wrong = time_bitbully(positions, search)
                print(f"{name} bitbully {search}: {1e3 * peers[search]:.3f} ms, {wrong} wrong", flush=True)
        for mib, solver in solvers.items():
            seconds, boards, hits, wrong = time_solver(solver, positions)
            ratio = f", {seconds / min(peers.values()):.2f} of bitbully's better" if peers else ""
            print(
                f"{name} table {mib} MiB: {len(positions)} positions, {1e3 * seconds:.3f} ms, {boards:,.0f} boards, "
                f"{hits:,.0f} hits, {boards / seconds / 1e6:.2f} boards/us, {wrong} wrong{ratio}",
                flush=True,
            )


if __name__ == "__main__":
    main()
