"""Boards evaluated by all ranks together: any number of them has the engine's boards and scores."""

import pytest

from distsearch.api import parallel_evaluation
from distsearch.api.session import Session
from distsearch.core.errors import UserError
from distsearch.games.random_play import random_position
from distsearch.studies.rank_pool import Ranks

from ..api.test_parallel_evaluation import asked

CALLED = []


@pytest.mark.parametrize("chosen", ["static", "complex"])
@pytest.mark.parametrize(("board", "depth"), [("4x4", 7), ("8x8", 3), ("9x9", 2)])
def test_the_score_and_the_nodes_do_not_depend_on_the_ranks(comm, agree, seed, board, depth, chosen, rng):
    options, game, rules = parallel_evaluation.checked("othello", board=board, depth=depth, evaluation=chosen)
    failure = ""
    for _ in range(3):
        position = random_position(game, rules, range(8), rng)
        found = parallel_evaluation.search(comm, options, position)
        if comm.Get_rank() > 0:
            failure = failure or ("" if found is None else f"a rank found {found}")
            continue
        _, alone = asked(board, position, depth=depth, evaluation=chosen)
        expected = alone.score, alone.nodes, alone.evaluated, comm.Get_size()
        if (found.score, found.nodes, found.jobs, found.ranks) != expected:
            failure = f"{game.text(position, rules)}: {found}, not {expected}; seed {seed}"
    agree(not failure, failure)


def test_an_interrupt_lets_everybody_go(comm, agree):
    options, game, rules = parallel_evaluation.checked("othello", depth=5)
    for _ in range(2):
        found = parallel_evaluation.search(comm, options, game.parse("startpos", rules), lambda: True)
        agree(found is None or not found.complete, found)


def record(comm, here=0, **given):
    """Note on every rank what it was called with; raise UserError where that is asked for."""
    CALLED.append((comm.Get_size() if comm else 1, here))
    if given.get("refuse"):
        raise UserError("refused")
    return given["number"] * 2


def test_ranks_are_called_in_parties(comm, agree):
    CALLED.clear()
    with Ranks(comm, Session) as ranks:
        if ranks is not None:
            for size in (1, comm.Get_size(), 2):
                assert ranks.call(size, record, {"number": size}, here=1) == 2 * size
            with ranks.session(2, table=1) as session:
                assert session.search("othello", board="4x4", exact=True).score == -10
            assert ranks.call(2, record, {"number": 21}, here=1) == 42
    size, rank = comm.Get_size(), comm.Get_rank()
    parties = [(party, int(rank == 0)) for party in (1, size, 2, 2) if rank < party]
    agree(parties == CALLED, CALLED)


def test_a_call_that_is_refused_on_all_ranks_ends_nothing(comm, agree):
    CALLED.clear()
    refused = 0
    with Ranks(comm, Session) as ranks:
        if ranks is not None:
            for _ in range(2):
                try:
                    ranks.call(comm.Get_size(), record, {"number": 1, "refuse": True})
                except UserError:
                    refused += 1
            assert ranks.call(comm.Get_size(), record, {"number": 4}) == 8
    agree(len(CALLED) == 3 and refused == (0 if comm.Get_rank() else 2), (CALLED, refused))
