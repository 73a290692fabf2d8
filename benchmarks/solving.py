"""Measure exact solving on one core: Connect 4 next to bitbully, Othello, and the curve over table sizes.

    python benchmarks/solving.py --positions FILE [FILE ...] --tables 1,64,1024 --bitbully
    python benchmarks/solving.py --game othello --positions FILE --lines 21-25 --reference L2_R2.txt
    python benchmarks/solving.py --game othello --positions FILE --lines 21-25 --orders 3

A line of FILE is a position and its score; or, of Othello, a board, ``; score +2;`` and a name. Tables are cleared
before each position and the clearing is not timed; CPU seconds. With --generate CLASS:COUNT positions are drawn
instead, see ``generate``. --orders: Othello's learnt order of moves compared with the search without it, position after
position, the best of so many times. --reference: Connect 4 positions on which bitbully's mtdf takes 5.1 ms on the
machine that absolute times are meant for; it prints by how much this one is slower, and divides by it.
"""

import argparse
import random
import re
import time

import numpy as np

from distsearch import evaluation, games
from distsearch.engines.pvs.exact_solver import ExactSolver
from distsearch.games import connect4
from distsearch.games.interface import END, legal_moves, step

REFERENCE = 5.1e-3  # seconds of bitbully's mtdf on the reference machine

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


def can_win(position, r):
    """Whether the side to move wins at once: other programs leave such positions out, or answer them unsearched."""
    after = (step(connect4, position, r, m).state for m in legal_moves(connect4, position, r))
    return any(connect4.kind(state, r) == END and connect4.final(state, r) < 0 for state in after)


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
    solver, found = ExactSolver(connect4, r), []
    while len(found) < count:
        position, played = connect4.start(r), ""
        for _ in range(rng.choice(plies)):
            moves = legal_moves(connect4, position, r)
            if not moves:
                break
            m = rng.choice(moves)
            position, played = step(connect4, position, r, m), played + connect4.move_text(m, r)
        left = int(connect4.moves_left(position.state, r))
        if connect4.kind(position.state, r) == END or 42 - left not in plies or can_win(position, r):
            continue
        # a decision late in the game is told from early ones by two narrow windows: solving takes much longer
        least = min(k for k in range(1, 23) if plies_to_end(left, k) < remoteness.stop)
        if left >= remoteness.stop and not decided(solver, position.state, least):
            continue
        score = solved(solver, position.state)
        if plies_to_end(left, score) in remoteness:
            found.append((played, score))
    return found


def read(path, lines):
    """Return (position text, score) of lines of a file, by their numbers from 1 on."""
    with open(path, encoding="utf-8") as file:
        content = file.read().splitlines()
    first, _, last = lines.partition("-")
    found = []
    for line in content[int(first or 1) - 1 : int(last or first or len(content))]:
        text, _, rest = line.partition(";" if ";" in line else " ")
        found.append((text.strip(), int(re.search(r"[+-]?[0-9]+", rest)[0])))
    return found


def time_solver(game, solver, positions):
    """Return (mean CPU seconds, mean nodes, mean table hits, wrong scores)."""
    r, seconds, nodes, hits, wrong = game.rules(), 0.0, 0, 0, 0
    for text, score in positions:
        state = game.parse(text, r).state
        solver.clear()
        began = time.process_time()
        found = solved(solver, state)
        seconds += time.process_time() - began
        nodes += solver.nodes
        hits += solver.table_counts[0]
        wrong += found != score
    n = len(positions)
    return seconds / n, nodes / n, hits / n, wrong


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
    parser.add_argument("--game", default="connect4", choices=("connect4", "othello"))
    parser.add_argument("--positions", nargs="*", default=[], metavar="FILE")
    parser.add_argument("--lines", default="", metavar="FIRST-LAST", help="of each file (default: all)")
    parser.add_argument("--generate", nargs="*", default=[], metavar="CLASS:COUNT")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tables", default="64", help="MiB, several with commas")
    parser.add_argument("--bitbully", action="store_true", help="time it as well, in the same run")
    parser.add_argument("--orders", type=int, metavar="TIMES", help="with and without the learnt order of moves")
    parser.add_argument("--reference", metavar="FILE")
    args = parser.parse_args()
    game = games.find(args.game)
    sets = {path: read(path, args.lines) for path in args.positions}
    for asked in args.generate:
        name, count = asked.split(":")
        sets[asked] = generate(name, int(count), args.seed)
    factor = 1.0
    if args.reference:
        factor = time_bitbully(read(args.reference, ""), "mtdf")[0] / REFERENCE
        print(f"this machine takes {factor:.3f} times as long as the reference", flush=True)
    for name, positions in sets.items():
        if args.orders:
            compare_orders(game, positions, args)
            continue
        measure(game, name, positions, args, factor)


def compare_orders(game, positions, args):
    """Print nodes and CPU seconds of each position with the learnt order of moves and without, in turns."""
    r, mib = game.rules(), int(args.tables)
    learnt = evaluation.for_order(game, r)
    engines = [ExactSolver(game, r, np.ones(mib << 17, np.uint64), order=order) for order in (learnt, None)]
    nodes, seconds = np.zeros((len(positions), 2)), np.full((len(positions), 2), np.inf)
    for engine in engines:
        engine.compile()
    for i, (text, score) in enumerate(positions):
        for _ in range(args.orders):
            for k, engine in enumerate(engines):
                _, nodes[i, k], _, wrong = found = time_solver(game, engine, [(text, score)])
                seconds[i, k] = min(seconds[i, k], found[0])
                if wrong:
                    raise SystemExit(f"position {i + 1}: a wrong score")
        print_orders(f"position {i + 1}", nodes[i], seconds[i])
    print_orders("in all", nodes.sum(axis=0), seconds.sum(axis=0))


def print_orders(name, nodes, seconds):
    """Print what the learnt order took and what the search without it did."""
    print(
        f"{name}: {nodes[0] / 1e6:.2f} M nodes, {seconds[0]:.3f} CPU s; without {nodes[1] / 1e6:.2f} M, "
        f"{seconds[1]:.3f} s: {nodes[1] / nodes[0]:.2f} times the nodes, {seconds[1] / seconds[0]:.2f} the time",
        flush=True,
    )


def measure(game, name, positions, args, factor):
    """Time the solver, with every size of table, and bitbully on a set of positions."""
    peers = {}
    for search in ("mtdf", "nullWindow") if args.bitbully else ():
        peers[search], wrong = time_bitbully(positions, search)
        print(f"{name} bitbully {search}: {1e3 * peers[search]:.3f} ms, {wrong} wrong", flush=True)
    for mib in map(int, args.tables.split(",")):
        far = np.ones(mib << 17, np.uint64)  # every page is touched before anything is timed
        solver = ExactSolver(game, game.rules(), far, order=evaluation.for_order(game, game.rules()))
        solver.compile()
        seconds, nodes, hits, wrong = time_solver(game, solver, positions)
        ratio = f", {seconds / min(peers.values()):.3f} of bitbully's better" if peers else ""
        scaled = f" ({1e3 * seconds / factor:.3f} on the reference)" if args.reference else ""
        print(
            f"{name} table {mib} MiB: {len(positions)} positions, {1e3 * seconds:.3f} ms{scaled}, "
            f"{nodes:,.0f} nodes, {hits:,.0f} hits, {nodes / seconds / 1e6:.2f} nodes/us, {wrong} wrong{ratio}; "
            f"in all {seconds * len(positions):.2f} CPU s",
            flush=True,
        )


if __name__ == "__main__":
    main()
