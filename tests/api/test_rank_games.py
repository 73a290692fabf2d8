"""Games as jobs of workers: parts, workers that are lost or stopped, calls that are paused."""

import numpy as np
import pytest

from distsearch.api import pausable_runner, rank_games
from distsearch.api.game_loop import play_on, score_of
from distsearch.api.game_plan import GamePlan
from distsearch.api.options import resolve
from distsearch.api.players import RandomPlayer, SearchPlayer
from distsearch.api.rank_games import PlayerGames, PlayerGamesRunner, setup_of
from distsearch.api.taking_turns import PausableCall
from distsearch.cluster.local import InProcessCluster
from distsearch.jobs.two_player import KINDS

CASES = [
    ("othello", "4x4", {"depth": 2}),
    ("connect4", "4x5", {"nodes": 200}),
    ("2048", "3x3", {"algorithm": "random"}),
    ("2048", "2x2", {"algorithm": "averaged", "depth": 2, "runs": 3, "seed": 4}),
]


def case(name, board, given, count):
    """(plan, setup, players of this process)"""
    options = None if given.get("algorithm") == "random" else resolve(name, board, **given)[0]
    shape = tuple(map(int, board.split("x")))
    asked, game, rules = resolve(name, board)
    plan = GamePlan(game, rules, asked.rules, count, 11, alternate=game.PLAYERS == 2)
    every = [options, None] if game.PLAYERS == 2 else [options]
    players = [
        RandomPlayer(game, rules) if each is None else SearchPlayer(each, InProcessCluster(KINDS)) for each in every
    ]
    return plan, setup_of(game, shape, asked.rules, every), players


def expected(plan, players):
    found = []
    for number in range(plan.count):
        play = plan.begin(number)
        play_on(plan.game, plan.rules, play, players)
        found.append(play)
    return found


def facts(plan, play):
    """What must not depend on how a game was shared out: all but times."""
    counts = [(tally.moves, tally.searched, tally.nodes, tally.plies) for tally in play.tallies]
    tiles = {tile: moves for tile, (moves, _) in play.tiles.items()}
    return play.number, play.codes, score_of(plan.game, plan.rules, play), counts, tiles, play.chance_steps


@pytest.mark.parametrize("part", [256, 7, 1])
@pytest.mark.parametrize("case_of", CASES, ids=str)
def test_parts_make_the_games_that_one_loop_makes(case_of, part, monkeypatch):
    monkeypatch.setattr(rank_games, "PART", part)
    plan, setup, players = case(*case_of, 3)
    found = []
    source, runner = PlayerGames(plan, found.append), PlayerGamesRunner(setup)
    while not source.done:
        for job in source.take(2, 1):
            runner.begin(job)
            while not runner.advance(1000):
                assert runner.nodes >= 0
            source.finish(runner.result(0.0, 0.0))
    assert [facts(plan, play) for play in found] == [facts(plan, play) for play in expected(plan, players)]


def test_a_game_that_is_stopped_is_played_by_another_worker(monkeypatch):
    monkeypatch.setattr(pausable_runner, "_TURN", 0.0)
    plan, setup, players = case("othello", "6x6", {"depth": 6}, 2)
    found = []
    source = PlayerGames(plan, found.append)
    workers = [PlayerGamesRunner(setup) for _ in range(2)]
    for number, runner in enumerate(workers):
        runner.begin(source.take(1, number)[0])
    for _ in range(20):
        assert not workers[0].advance(1000)
    assert not workers[0].result(0.0, 0.0)["complete"]
    assert source.waiting == 0
    source.lost(0)
    assert source.waiting == 1
    while not source.done:
        while not workers[1].advance(1000):
            pass
        source.finish(workers[1].result(0.0, 0.0))
        for job in source.take(1, 1):
            workers[1].begin(job)
    assert [play.codes for play in found] == [play.codes for play in expected(plan, players)]


def test_games_are_taken_in_by_their_numbers_and_none_after_the_last():
    plan, setup, _ = case("othello", "4x4", {"depth": 1}, 6)
    taken = []

    def take_in(play):
        taken.append(play.number)
        return play.number == 3

    source, runner, results = PlayerGames(plan, take_in), PlayerGamesRunner(setup), []
    for job in source.take(6, 1):
        runner.begin(job)
        while not runner.advance(1000):
            pass
        results.append(runner.result(0.0, 0.0))
    for number in (1, 0, 5, 3):
        source.finish(results[number])
    assert (taken, source.done) == ([0, 1], False)
    source.finish(np.concatenate((results[4], results[2])))
    assert (taken, source.done, source.waiting) == ([0, 1, 2, 3], True, 0)


def test_a_call_is_paused_and_resumed():
    steps = []

    def work():
        for step in range(3):
            steps.append(step)
            call.pause()

    call = PausableCall(work)
    assert steps == []
    assert [call.resume() for _ in range(3)] == [False] * 3
    assert steps == [0, 1, 2]
    assert call.resume()
    assert call.resume()


def test_a_call_raises_where_it_is_resumed():
    call = PausableCall(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        call.resume()
