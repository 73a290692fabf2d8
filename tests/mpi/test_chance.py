"""Games against chance on any number of ranks: always what one rank finds alone."""

import functools

import pytest

from distsearch.api.session import Session

BOARDS = {"2048": "2,4,8,16,0,2,4,32,0,0,2,64,0,0,0,128", "2584": "1,2,3,5,0,1,2,8,0,0,13,21,0,0,0,34"}


WITH_ADVERSARY = [
    {"algorithm": "expectiminimax", "depth": 7, "pruning": "none"},
    {"algorithm": "expectiminimax", "depth": 7, "par_depth": 4},
    {"algorithm": "expectiminimax", "depth": 7, "policy": "brothers", "par_depth": 4},
    {"algorithm": "expectiminimax", "depth": 7, "policy": "brothers", "load_factor": 8, "all_moves": True},
    {"algorithm": "alphabeta", "depth": 5, "policy": "brothers", "par_depth": 3},
    {"algorithm": "minimax", "depth": 4, "load_factor": 16},
]


@functools.cache  # several searches are compared with the same one
def alone(game, asked):
    """What one rank finds of a game's board; asked: options as pairs of name and value."""
    with Session() as session:
        return session.search(game, BOARDS[game], **dict(asked))


@pytest.mark.parametrize("game", BOARDS)
def test_the_same_value_where_chance_has_an_adversary(game, comm, agree):
    differences = []
    with Session(comm) as session:
        if session:
            for asked in WITH_ADVERSARY:
                one = session.search(game, BOARDS[game], **asked)
                plain = {"algorithm": "minimax"} if asked["algorithm"] == "alphabeta" else {"pruning": "none"}
                if asked["algorithm"] == "minimax":
                    plain = {"algorithm": "alphabeta"}
                plain = {"algorithm": "expectiminimax", "depth": asked["depth"], **plain}
                other = alone(game, tuple(plain.items()))
                far = abs(one.score - other.score) > 1e-9 * abs(other.score) or one.move != other.move
                differences += [(asked, one.score, one.move, other.score, other.move)] * far
    agree(not differences, str(differences))


@pytest.mark.parametrize("table", [1, 64])
@pytest.mark.parametrize("game", BOARDS)
def test_the_same_value_and_moves(game, table, comm, agree):
    limits = [{"depth": 5, "load_factor": 1}, {"depth": 6, "load_factor": 16}, {"layers": 3, "min_probability": 1e-3}]
    limits += [{"layers": 4}, {"layers": 4, "policy": "pool"}, {"layers": 4, "load_factor": 40, "chance": "uniform"}]
    limits += [{"algorithm": "averaged", "depth": 5, "runs": 7}, {"algorithm": "ida", "nodes": 2000, "runs": 7}]
    limits += [
        {"algorithm": "mcts", "nodes": 2000, "runs": 7},
        {"algorithm": "mcts", "evaluation": "playout", "runs": 5},
    ]
    differences = []
    with Session(comm, table) as session:
        if session:
            found = [session.search(game, BOARDS[game], all_moves=True, **limit) for limit in limits]
            expected = [alone(game, (("all_moves", True), *limit.items())) for limit in limits]
            differences = [
                (limit, one.score, other.score)
                for limit, one, other in zip(limits, found, expected, strict=True)
                if (one.score, one.move, one.moves) != (other.score, other.move, other.moves)
            ]
    agree(not differences, str(differences))
