"""Games against chance on any number of ranks: always what one rank finds alone."""

import pytest

from distsearch.session import Session

BOARDS = {
    "2048": "2,4,8,16,0,2,4,32,0,0,2,64,0,0,0,128",
    "2584": "1,2,3,5,0,1,2,8,0,0,13,21,0,0,0,34",
}


@pytest.mark.parametrize("game", BOARDS)
def test_the_same_value_and_moves(game, comm, agree):
    limits = [{"depth": 5, "load_factor": 1}, {"depth": 6, "load_factor": 16}, {"layers": 3, "min_probability": 1e-3}]
    limits += [{"algorithm": "averaged", "depth": 5, "runs": 7}, {"algorithm": "ida", "nodes": 2000, "runs": 7}]
    differences = []
    with Session(comm) as session:
        if session:
            found = [session.search(game, BOARDS[game], all_moves=True, **limit) for limit in limits]
            with Session() as alone:
                expected = [alone.search(game, BOARDS[game], all_moves=True, **limit) for limit in limits]
            differences = [
                (limit, one.score, other.score) for limit, one, other in zip(limits, found, expected, strict=True)
                if (one.score, one.move, one.moves) != (other.score, other.move, other.moves)
            ]  # fmt: skip
    agree(not differences, str(differences))
