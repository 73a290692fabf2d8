"""How fast expectimax is: attempted moves a CPU second at the settings of nneonneo/2048-ai, and leaves in 2584.

    python benchmarks/expectimax.py
    python benchmarks/expectimax.py --positions FILE --game 2584

2048: `rows`, as many layers as the board has different tiles less 2, at least 3, states of chance less likely than 1e-4
evaluated, on boards of a game that is played on by the searches themselves; an attempted move is one of four where the
player is to move, legal or not, as that program counts them. 2584: `rows`, 3 layers. Best of some repeats; one core.

With --positions: the same of the boards in a file instead, which `distsearch sample` makes of recorded games; each is
searched once in every repeat.
"""

import argparse
import time

from distsearch import evaluation, games
from distsearch.api.chance import apply_initial_chance
from distsearch.engines.expectimax import Expectimax
from distsearch.games.interface import legal_moves, step

_LEAST_LAYERS, _LESS = 3, 2
_EVALUATIONS = {"2048": "rows:270,700,47,4,11,3.5", "2584": "rows"}  # that program's weights


def searched(engine, state, plies):
    """Return (Found, CPU seconds) of one search with an empty table."""
    engine.forget()
    began = time.process_time()
    engine.begin(state, plies)
    while not engine.advance(100_000):
        pass
    return engine.result(), time.process_time() - began


def layers(game, position, rules):
    tiles = set(game.text(position, rules).split(",")) - {"0"}
    return max(_LEAST_LAYERS, len(tiles) - _LESS)


def played(game, rules, engine, moves, seed, chosen):
    """Play so many moves; return (Found, CPU seconds) of each."""
    position, found = apply_initial_chance(game, game.start(rules), rules, seed), []
    for move in range(moves):
        if not legal_moves(game, position, rules):
            break
        result, seconds = searched(engine, position.state, 2 * chosen(position) + 1)
        found.append((result, seconds))
        position = apply_initial_chance(game, step(game, position, rules, result.move), rules, seed + move)
    return found


def of_file(game, rules, engine, path, chosen):
    """Search every board of a file; return (Found, CPU seconds) of each."""
    with open(path) as file:
        positions = [game.parse(line, rules) for line in file]
    return [searched(engine, position.state, 2 * chosen(position) + 1) for position in positions]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moves", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--positions", metavar="FILE")
    parser.add_argument("--game", choices=("2048", "2584"), default="2584", help="whose boards those are")
    args = parser.parse_args()
    for name, least in (("2048", 1e-4), ("2584", 0.0)):
        if args.positions and name != args.game:
            continue
        game = games.find(name)
        rules = game.rules()
        engine = Expectimax(game, rules, evaluation.find(game, _EVALUATIONS[name], rules), min_probability=least)
        engine.compile()

        def chosen(position, game=game, rules=rules, name=name):
            return layers(game, position, rules) if name == "2048" else 3

        rates = []
        for _ in range(args.repeats):
            if args.positions:
                found = of_file(game, rules, engine, args.positions, chosen)
            else:
                found = played(game, rules, engine, args.moves, args.seed, chosen)
            seconds = sum(took for _, took in found)
            tried, leaves = (sum(getattr(each, field) for each, _ in found) for field in ("expanded", "evaluated"))
            rates.append((4 * tried / seconds / 1e6, leaves / seconds / 1e6, len(found) / seconds))
        tried, leaves, moves = map(max, zip(*rates, strict=True))
        print(f"{name}: {tried:.1f} M attempted moves, {leaves:.1f} M leaves, {moves:.0f} moves a CPU second")


if __name__ == "__main__":
    main()
