"""Search Nim, a game of another package, and compare with its theory.

    pip install examples/nim
    python examples/nim/search_nim.py

The side to move wins unless the exclusive or of all heaps is 0 (Bouton 1901).
"""

import random
from functools import reduce
from operator import xor

import distsearch


def main() -> None:
    rng = random.Random(1)
    with distsearch.Session() as session:
        for _ in range(20):
            heaps = [rng.randint(0, 7) for _ in range(4)]
            outcome = session.search("nim", ",".join(map(str, heaps)) + " A", exact=True)
            theory = 1 if reduce(xor, heaps) else -1
            print(f"{heaps}: score {outcome.score:+}, theory {theory:+}, move {outcome.move}")
            assert outcome.score == theory


if __name__ == "__main__":
    main()
