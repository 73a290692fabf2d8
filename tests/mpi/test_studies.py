"""Studies on the ranks of one launch: parties of any size, one after another, and nobody left behind."""

import itertools

import pytest

from distsearch.errors import UserError
from distsearch.session import Session
from distsearch.studies.stage import Ranks

SMALL = {"game": "othello", "board": "4x4", "exact": True}
SCORE = -10  # of its start


def test_parties_of_every_size_search_one_after_another(comm, agree, rng):
    found = []
    with Ranks(comm, Session) as ranks:
        if ranks is not None:
            sizes = list(range(1, comm.Get_size() + 1)) * 2
            rng.shuffle(sizes)
            for size in sizes:
                with ranks.session(size, table=1) as session:
                    found.append((session.ranks, session.search(**SMALL).score))
            assert found == [(size, SCORE) for size in sizes]
            assert len(ranks.places) == ranks.size == comm.Get_size()
    agree((ranks is None) == (comm.Get_rank() > 0), ranks)


@pytest.mark.parametrize("wrong", [{"ranks": 0}, {"ranks": 1000}, {"table": 1 << 22}, {"groups": 1000}], ids=str)
def test_what_is_refused_ends_nothing(comm, agree, wrong):
    """A refusal is on the ranks of the party alone; the next party may have others."""
    refused = ""
    with Ranks(comm, Session) as ranks:
        if ranks is not None:
            size = comm.Get_size()
            try:
                with ranks.session(**{"ranks": size, "table": 1, **wrong}) as session:
                    refused = "no refusal"
                    session.search(**SMALL)
            except UserError:
                refused = "refused"
            with ranks.session(size, table=1) as session:
                assert session.search(**SMALL).score == SCORE
    agree(comm.Get_rank() > 0 or refused == "refused", refused)


def test_an_error_lets_the_others_go(comm, agree):
    failure = ""
    try:
        with Ranks(comm, Session) as ranks:
            if ranks is not None:
                with ranks.session(comm.Get_size(), table=1):
                    raise UserError("mine")
    except UserError as error:
        failure = str(error)
    agree(failure == ("" if comm.Get_rank() else "mine"), failure)


def test_launches_follow_one_another(comm, agree):
    scores = []
    for _, size in itertools.product(range(2), (1, comm.Get_size())):
        with Ranks(comm, Session) as ranks:
            if ranks is not None:
                with ranks.session(size, table=1) as session:
                    scores.append(session.search(**SMALL).score)
    agree(scores == ([] if comm.Get_rank() else [SCORE] * 4), scores)
