"""Search inside a program, alone or on many ranks.

python examples/embed_session.py
mpirun -n 4 python examples/embed_session.py
"""

from mpi4py import MPI

import distsearch


def main() -> None:
    comm = MPI.COMM_WORLD if MPI.COMM_WORLD.Get_size() > 1 else None
    with distsearch.Session(comm) as session:
        if session is None:  # not rank 0: this rank has worked for it and is done
            return
        print(f"{session.ranks} ranks")
        outcome = session.search("connect4", "4453222", exact=True)
        print(f"connect4 4453222: column {outcome.move}, {outcome.score:+} {outcome.unit}, {outcome.nodes:,} nodes")
        outcome = session.search("othello", "f5d6c3", depth=8, all_moves=True)
        scores = ", ".join(f"{each['move']} {each['score']:+}" for each in outcome.moves)
        print(f"othello f5d6c3 to depth 8: {scores}")


if __name__ == "__main__":
    main()
