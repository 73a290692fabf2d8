"""Solve every line of a file exactly and write CSV to stdout.

python examples/solve_file.py connect4 FILE
mpirun -n 32 python examples/solve_file.py othello FILE --board 6x6
"""

import argparse
import csv
import sys

from mpi4py import MPI

import distsearch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game")
    parser.add_argument("file")
    parser.add_argument("--board")
    args = parser.parse_args()
    comm = MPI.COMM_WORLD if MPI.COMM_WORLD.Get_size() > 1 else None
    with distsearch.Session(comm) as session, open(args.file, encoding="utf-8") as file:
        if session is None:
            return
        lines = [line.strip() for line in file if line.strip()]
        rows = csv.writer(sys.stdout)
        rows.writerow(["position", "move", "score", "nodes"])
        for line, outcome in zip(lines, session.solve(args.game, lines, board=args.board)):
            rows.writerow([line, outcome.move, outcome.score, outcome.nodes])


if __name__ == "__main__":
    main()
