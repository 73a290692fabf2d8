"""Ranks with and without a GPU, an emulated one, in one search."""

import traceback

import pytest

from distsearch.gpu import connect4
from distsearch.service import devices
from distsearch.session import Session
from distsearch.testing.emulated_gpu import EmulatedGpu
from distsearch.tree import gpu_jobs
from distsearch.tree.gpu_chance_jobs import GpuGamesRunner
from distsearch.tree.gpu_jobs import GpuSolveRunner

from ..tree.test_gpu_jobs import GAMES, late

GPU = 1  # the rank that has one


@pytest.mark.parametrize(("game", "board", "plies"), GAMES, ids=str)
def test_scores_do_not_depend_on_who_has_a_gpu(game, board, plies, comm, agree, monkeypatch, seed):
    lines, found, failure = late(game, board, plies, 12, comm.bcast(seed)), {}, ""
    gpu = EmulatedGpu(3) if comm.Get_rank() == GPU else None
    monkeypatch.setattr(devices, "chosen", lambda comm, name: gpu)
    launches, advance = [], GpuSolveRunner.advance
    monkeypatch.setattr(GpuSolveRunner, "advance", lambda runner: (launches.append(1), advance(runner))[1])
    try:
        for device in ("cpu", "auto"):
            with Session(comm, table=2, device=device) as session:
                if session:
                    found[device] = [each.score for each in session.solve(game, lines, board)]
    except Exception:
        failure = traceback.format_exc()
    if found.get("cpu") != found.get("auto"):
        failure = f"{found}"
    if comm.Get_rank() == GPU and not launches:
        failure = "the GPU had nothing to do"
    agree(not failure, failure)


def test_one_search_is_a_gpus_and_the_others(comm, agree, monkeypatch):
    """The GPU has the position, and lends parts of it to the ranks without one."""
    line, found, failure = "6727744333361412112", {}, ""  # 37,000 boards of one rank
    gpu = EmulatedGpu(3) if comm.Get_rank() == GPU else None
    monkeypatch.setattr(devices, "chosen", lambda comm, name: gpu)
    monkeypatch.setattr(connect4, "LEND", 18)
    monkeypatch.setattr(gpu_jobs, "_ALONE", 0)
    answers, take_back = [], GpuSolveRunner.take_back
    monkeypatch.setattr(GpuSolveRunner, "take_back", lambda runner, rows: (answers.append(1), take_back(runner, rows)))
    try:
        for device in ("cpu", "auto"):
            with Session(comm, table=2, device=device) as session:
                if session:
                    found[device] = session.search("connect4", line, exact=True).score
    except Exception:
        failure = traceback.format_exc()
    if found.get("cpu") != found.get("auto"):
        failure = f"{found}"
    if comm.Get_rank() == GPU and comm.Get_size() > 2 and not answers:
        failure = "nothing came back of what was lent"
    agree(not failure, failure)


def test_games_do_not_depend_on_who_has_a_gpu(comm, agree, monkeypatch, seed):
    found, failure, seed = {}, "", comm.bcast(seed)
    gpu = EmulatedGpu(3) if comm.Get_rank() == GPU else None
    monkeypatch.setattr(devices, "chosen", lambda comm, name: gpu)
    rounds, advance = [], GpuGamesRunner.advance
    monkeypatch.setattr(GpuGamesRunner, "advance", lambda runner: (rounds.append(1), advance(runner))[1])
    try:
        for device in ("cpu", "auto"):
            with Session(comm, table=2, device=device) as session:
                if session:
                    played = session.play("2048", 12, seed=seed, layers=0, evaluation="rows")
                    found[device] = played.scores, played.largest, played.moves
    except Exception:
        failure = traceback.format_exc()
    if found.get("cpu") != found.get("auto"):
        failure = f"{found}"
    if comm.Get_rank() == GPU and not rounds:
        failure = "the GPU had nothing to do"
    agree(not failure, failure)
