"""Ranks of one machine that take themselves for those of two hosts, each with a table of its own."""

import traceback

import pytest

from distsearch.api.session import Session
from distsearch.cluster import worker_state
from distsearch.engines.pvs.exact_solver import ExactSolver
from distsearch.games import othello
from distsearch.games.random_play import random_position

from ..api.solving import late_lines

HARDER = {"77755544636312": -2, "6767655446333114": -1, "76444335252311": 1}  # 20 to 60 ms
BOARD = 6, 6

pytestmark = pytest.mark.mpi(min_size=3)


def apart(comm):
    """The same communicator, whose ranks are on two hosts in turn."""
    from mpi4py import MPI  # see conftest.py

    class Apart(MPI.Intracomm):
        def Split_type(self, *_, **__):  # noqa: N802
            return self.Split(self.Get_rank() % 2, self.Get_rank())

    return Apart(comm)


@pytest.fixture
def with_hosts(comm, agree, monkeypatch):
    """``with_hosts(body)``: rank 0 calls ``body(session)`` of ranks on two hosts; UPDATEs to each are counted.

    All fail if that fails.
    """
    from mpi4py import MPI

    heard = []

    class Listening(worker_state.Exchange):
        def take_in(self, message):
            heard.append(message)
            super().take_in(message)

    monkeypatch.setattr(MPI, "Get_processor_name", lambda: f"host{comm.Get_rank() % 2}")
    monkeypatch.setattr(worker_state, "Exchange", Listening)

    def run(body, **options):
        failure = ""
        try:
            with Session(apart(comm), **{"table": 4, "book": "none", **options}) as session:
                if session is not None:
                    assert set(session.cluster.hosts.values()) == {"host0", "host1"}
                    body(session)
        except Exception:
            failure = traceback.format_exc()
        agree(not failure, failure)
        return sum(comm.allgather(len(heard)))

    return run


def alone(state):
    engine = ExactSolver(othello, othello.rules(BOARD))
    engine.begin(state)
    while not engine.advance(10**9):
        pass
    return engine.result().score


def test_they_search_one_position_together(with_hosts, agree, rng, full):
    positions = [random_position(othello, othello.rules(BOARD), [14], rng) for _ in range(10 if full else 3)]

    def body(session):
        for position in positions:
            text = othello.text(position, othello.rules(BOARD))
            found = session.search("othello", text, board="6x6", exact=True)
            assert found.score == alone(position.state), text

    heard = with_hosts(body)
    agree(heard > 0, "no host was told of anything")


@pytest.mark.parametrize("table", [0, 4])
def test_they_solve_positions_together(with_hosts, table, rng):
    lines, scores = late_lines(rng, 30)
    lines, scores = [*lines, *HARDER], [*scores, *HARDER.values()]

    def body(session):
        assert [outcome.score for outcome in session.solve("connect4", lines)] == scores
        assert [outcome.score for outcome in session.solve("connect4", lines[:9], nodes=10**6)] == scores[:9]
        plain = session.solve("connect4", lines[:3], depth=5, ordering="none", policy="pool")
        assert all(outcome.complete for outcome in plain)

    with_hosts(body, table=table)


def test_they_stop_together_when_time_is_up(with_hosts):
    def body(session):
        found = session.search("othello", time=0.3)
        assert found.depth > 5 and not found.proved
        assert session.search("othello", board="4x4", exact=True).score == -10

    with_hosts(body)
