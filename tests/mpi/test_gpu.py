"""Ranks with and without a GPU, an emulated one, in one search."""

import traceback

import pytest

from distsearch.api import devices
from distsearch.api.session import Session
from distsearch.gpu import connect4
from distsearch.jobs import gpu_two_player
from distsearch.jobs.gpu_expectimax import GpuExpectimaxRunner, GpuGamesRunner
from distsearch.jobs.gpu_two_player import GpuTwoPlayerRunner
from distsearch.server.request_queue import RequestQueue
from distsearch.testing.emulated_gpu import EmulatedGpu

from ..jobs.test_gpu_two_player import GAMES, late
from ..server.queue_clients import Asked, finish
from ..server.searches import TILES

GPU = 1  # the rank that has one


@pytest.fixture
def same_with_gpus(comm, agree, monkeypatch):
    """A function that has a session answer with and without a GPU at one rank, and asserts that the answers agree.

    It takes what to ask of a session, and the class and name of a method that the rank with the GPU has to come to;
    everywhere: all workers have one; cards: how many different ones.
    """

    def check(ask, owner, name, needed=True, everywhere=False, cards=1):
        rank = comm.Get_rank()
        gpu = EmulatedGpu(3, card=str(rank % cards)) if rank == GPU or everywhere and rank else None
        monkeypatch.setattr(devices, "chosen", lambda comm, name: gpu)
        calls, method, found, failure = [], getattr(owner, name), {}, ""
        monkeypatch.setattr(owner, name, lambda *arguments: (calls.append(1), method(*arguments))[1])
        try:
            with_gpus = "gpu" if everywhere else "auto"
            for device in ("cpu", with_gpus):
                with Session(comm, table=2, device=device) as session:
                    if session:
                        found[device] = ask(session)
        except Exception:
            failure = traceback.format_exc()
        if not failure and found.get("cpu") != found.get(with_gpus):
            failure = f"{found}"
        if comm.Get_rank() == GPU and needed and not calls:
            failure = f"{name} was not called where the GPU is"
        agree(not failure, failure)

    return check


@pytest.mark.parametrize(("game", "board", "plies"), [*GAMES, ("othello", "6x6", 17)], ids=str)
def test_scores_do_not_depend_on_which_ranks_have_a_gpu(game, board, plies, comm, same_with_gpus, seed):
    lines = late(game, board, plies, 12, comm.bcast(seed))
    same_with_gpus(
        lambda session: [each.score for each in session.solve(game, lines, board)], GpuTwoPlayerRunner, "advance"
    )


def test_one_search_is_a_gpus_and_the_others(comm, same_with_gpus, monkeypatch):
    """The GPU has the position, and lends parts of it to the ranks without one."""
    monkeypatch.setattr(connect4, "OFFLOAD_LEFT", 18)
    monkeypatch.setattr(gpu_two_player, "_ALONE", 0)
    line = "6727744333361412112"  # 37,000 nodes of one rank
    same_with_gpus(
        lambda session: session.search("connect4", line, exact=True).score,
        GpuTwoPlayerRunner,
        "on_offload_results",
        needed=comm.Get_size() > 2,
    )


@pytest.mark.parametrize(
    ("position", "options"),
    [
        ("6727744333361412112", {}),
        ("672774433336141211", {"load_factor": 4}),
        ("6727744333361412112", {"policy": "window"}),
    ],
    ids=str,
)
def test_one_search_is_that_of_several_ranks_with_a_gpu(position, options, same_with_gpus):
    gpus_at_work = []

    def searched(session):
        found = session.search("connect4", position, exact=True, **options)
        gpus_at_work.append(sum(worker["gpu"] > 0 for worker in found.per_worker))
        assert (found.gpu_seconds is not None) == (gpus_at_work[-1] > 0)
        return found.score

    same_with_gpus(searched, GpuTwoPlayerRunner, "advance", needed=False, everywhere=True)
    assert not gpus_at_work or gpus_at_work[0] == 0 < gpus_at_work[1]


@pytest.mark.parametrize("cards", [1, 4])
def test_different_gpus_share_an_exact_search_and_ranks_of_one_do_not(cards, comm, same_with_gpus):
    policies = []

    def searched(session):
        found = session.search("connect4", "6727744333361412112", exact=True)
        policies.append(found.policy)
        return found.score

    same_with_gpus(searched, GpuTwoPlayerRunner, "advance", needed=False, everywhere=True, cards=cards)
    several = cards > 1 and comm.Get_size() > 2
    assert not policies or policies == ["split", "window" if several else "split"]


@pytest.mark.parametrize(
    "asked", [{"depth": 5}, {"depth": 4, "all_moves": True}, {"depth": 4, "policy": "window"}], ids=str
)
def test_a_search_to_a_depth_does_not_depend_on_which_ranks_have_a_gpu(asked, same_with_gpus):
    def searched(session):
        return session.search("othello", "f5d6c3d3c4f4f6f3", board="8x8", evaluation="complex", **asked).score

    same_with_gpus(searched, GpuTwoPlayerRunner, "advance", needed=False, everywhere=True)


def test_games_do_not_depend_on_which_ranks_have_a_gpu(comm, same_with_gpus, seed):
    seed = comm.bcast(seed)

    def games(session):
        played = session.play("2048", 12, seed=seed, layers=0, evaluation="rows")
        return played.scores, played.largest, played.moves

    same_with_gpus(games, GpuGamesRunner, "advance")


@pytest.mark.parametrize("runner", [GpuTwoPlayerRunner, GpuExpectimaxRunner], ids=lambda runner: runner.__name__)
def test_what_a_service_answers_does_not_depend_on_which_ranks_have_a_gpu(runner, comm, same_with_gpus, seed):
    lines = late("connect4", "5x4", 8, 12, comm.bcast(seed))

    def served(session):
        queue = RequestQueue(session)
        requests = [
            Asked(*lines, board="5x4", exact=True),
            Asked(TILES, game="2048", depth=3, evaluation="rows"),
            Asked(TILES, game="2048", time=0.05, evaluation="rows"),  # which no GPU does
        ]
        for request in requests:
            queue.submit(request)
        finish(queue)
        assert [request.ends for request in requests] == [["done"]] * 3
        # a GPU adds chances up in another order
        return [[round(answer.score, 6) for _, answer in sorted(each.answers.items())] for each in requests[:2]]

    same_with_gpus(served, runner, "advance")
