"""What selective searches save and what they cost: nodes, CPU time, scores and moves, and a match.

    python benchmarks/selective.py --depth 10 12
    python benchmarks/selective.py --match 12 --against 11 --games 100 --selective 0.7

Positions are of games in which every player looks two plies ahead, and plays one move in fifty at random, so they are
about even. In a match a selective search to the depth plays both colours of random openings against the full search to
another one; both begin each move with nothing known.
"""

import argparse
import random
import time

import numpy as np

from distsearch import evaluation, games
from distsearch.api.elo import score_interval
from distsearch.engines.pvs import probcut
from distsearch.engines.pvs.depth_search import DepthSearch
from distsearch.evaluation import probcut_fit as fits
from distsearch.games.interface import END, legal_moves, step
from distsearch.games.random_play import random_position

LEFT = (22, 27, 32, 37, 42, 47)  # moves left of the positions
AT_RANDOM = 0.02
OPENING = 10  # random plies before a game of a match
MIB = 64
SEED = 1


class Player:
    """An engine that begins every search with nothing known; seconds and nodes: of all searches so far."""

    def __init__(self, game, rules, chosen, table=None):
        self._engine = DepthSearch(game, rules, chosen, np.ones(MIB << 17, np.uint64), selective=table)
        self._engine.compile()
        self.seconds, self.nodes = 0.0, 0

    def search(self, state, depth):
        """Return the Result."""
        self._engine.clear()
        began = time.process_time()
        self._engine.begin(state, depth)
        self._engine.advance(1 << 40)
        result = self._engine.result(True)
        self.seconds += time.process_time() - began
        self.nodes += result.nodes
        return result


def players(game, rules, board, name, probability, path):
    """Return (full, selective)."""
    chosen = evaluation.find(game, name, rules)
    fit = fits.find(game, board, name, chosen, path)
    table = probcut.table(probability, fit.stage, fit.pairs, chosen.bound)
    return Player(game, rules, chosen), Player(game, rules, chosen, table)


def positions(game, rules, player, count):
    """Return states of unfinished games, ``count`` for each number of moves left."""
    rng, found = random.Random(SEED), []
    for left in LEFT:
        of = len(found)
        while len(found) < of + count:
            position = random_position(game, rules, (6,), rng)
            while game.kind(position.state, rules) != END and game.moves_left(position.state, rules) > left:
                moves = legal_moves(game, position, rules)
                chosen = rng.choice(moves) if rng.random() < AT_RANDOM else player.search(position.state, 2).line[0]
                position = step(game, position, rules, chosen)
            if game.kind(position.state, rules) != END:
                found.append(position.state)
    return found


def compare(states, full, selective, depth, runs):
    """Print what a selective search of each state to a depth took and found, next to the full one's; the best run."""
    seconds, nodes = [], []
    for player in (full, selective):
        took = []
        for _ in range(runs):
            player.seconds, player.nodes = 0.0, 0
            found = [player.search(state, depth) for state in states]
            took.append(player.seconds)
        seconds.append(min(took))
        nodes.append(player.nodes)
        if player is full:
            expected = found
    errors = np.array([a.score - b.score for a, b in zip(found, expected, strict=True)])
    moves = np.mean([a.line[:1] == b.line[:1] for a, b in zip(found, expected, strict=True)])
    print(
        f"depth {depth}: nodes {nodes[0]:,} and {nodes[1]:,} ({nodes[1] / nodes[0]:.2f}), "
        f"CPU s {seconds[0]:.2f} and {seconds[1]:.2f} ({seconds[1] / seconds[0]:.2f}); "
        f"the same score {np.mean(errors == 0):.0%}, move {moves:.0%}; error mean {errors.mean():+.2f}, "
        f"root of mean square {np.sqrt(np.mean(errors**2)):.2f}, largest {abs(errors).max()}",
        flush=True,
    )


def match(game, rules, full, selective, depth, other, games_):
    """Play pairs of games from random openings and print who wins, and what it took."""
    rng, won, discs, shares = random.Random(SEED), [0, 0, 0], [], []
    full.seconds = selective.seconds = 0.0
    for _ in range(games_ // 2):
        opening = random_position(game, rules, (OPENING,), rng)
        for side in (0, 1):  # the selective one's
            position = opening
            while game.kind(position.state, rules) != END:
                mine = position.side == side
                line = (selective if mine else full).search(position.state, depth if mine else other).line
                position = step(game, position, rules, line[0])
            score = int(game.final(position.state, rules)) * (1 if position.side == side else -1)
            discs.append(score)
            won[1 + (score > 0) - (score < 0)] += 1
        shares.append(sum((score > 0) + (score == 0) / 2 for score in discs[-2:]) / 2)  # of both games of an opening
    low, high = score_interval(shares)
    print(
        f"selective to {depth} against full to {other}: {won[2]} won, {won[1]} drawn, {won[0]} lost; "
        f"{np.mean(shares):.1%} (95%: {low:.1%} to {high:.1%}), {np.mean(discs):+.1f} discs a game; "
        f"CPU s {selective.seconds:.1f} against {full.seconds:.1f}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--depth", type=int, nargs="*", default=[], help="depths to compare at")
    parser.add_argument("--positions", type=int, default=5, help=f"for each of {LEFT} moves left (default 5)")
    parser.add_argument("--runs", type=int, default=3, help="of which the fastest counts (default 3)")
    parser.add_argument("--match", type=int, help="depth of the selective player")
    parser.add_argument("--against", type=int, default=10, help="depth of the full player (default 10)")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--selective", type=float, nargs="+", default=[0.95], help="probabilities (default 0.95)")
    parser.add_argument("--evaluation", default="complex")
    parser.add_argument("--probcut-params", help="file of one's own")
    args = parser.parse_args()
    game = games.find("othello")
    board = game.BOARDS[1]
    rules = game.rules(board)
    for probability in args.selective:
        full, selective = players(game, rules, board, args.evaluation, probability, args.probcut_params)
        print(f"selective {probability:g}")
        states = positions(game, rules, full, args.positions) if args.depth else []
        for depth in args.depth:
            compare(states, full, selective, depth, args.runs)
        if args.match:
            match(game, rules, full, selective, args.match, args.against, args.games)


if __name__ == "__main__":
    main()
