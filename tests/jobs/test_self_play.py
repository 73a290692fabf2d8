"""Games against chance as a source of work, driven by hand: the same games by any workers."""

import numpy as np
import pytest

from distsearch.api.options import resolve
from distsearch.games.interface import legal_moves, step
from distsearch.jobs import chance, two_player
from distsearch.jobs.self_play import GamesPool

from .driving import do, drive, stop

GAMES, SEED = 6, 3


@pytest.fixture(autouse=True)
def _short_parts(monkeypatch):
    monkeypatch.setattr(chance, "GAME_PART", 20)


@pytest.fixture(params=["2048", "2584"])
def asked(request):
    return resolve(request.param, "3x3", depth=3)


def runner_of(options, recorded=True):
    return two_player.KINDS["game"](options.setup("game") | {"recorded": recorded})


def pool_of(asked, games=GAMES):
    """Return (pool, what it tells of games that are over: number → (score, moves, codes))."""
    options, game, rules = asked
    ended = {}

    def end(played):
        assert played.number not in ended
        ended[played.number] = played.score, played.moves, tuple(played.codes)

    return GamesPool(game, rules, options.depth, games, SEED, end), ended


def whole(asked):
    """What the games are when they are played one after another."""
    pool, ended = pool_of(asked)
    worker = runner_of(asked[0])
    while not pool.done:
        for job in pool.take(1, worker=1):
            pool.finish(do(worker, job))
    assert list(ended) != []
    return pool, ended


def test_the_same_games_by_any_number_of_workers(asked, rng):
    first, expected = whole(asked)
    for workers in (1, 2, 5, 20):
        pool, ended = pool_of(asked)
        drive(pool, runner_of(asked[0]), rng, workers)
        assert ended == expected
        for what in ("moves", "nodes", "expanded", "jobs"):
            assert getattr(pool, what) == getattr(first, what)
        assert pool.cpu == pool.jobs > GAMES


def test_they_replay_to_their_scores(asked):
    _, game, rules = asked
    pool, ended = whole(asked)
    for played in pool.over:
        score, moves, codes = ended[played.number]
        position, total = game.start(rules), 0
        for code in codes:
            assert code in legal_moves(game, position, rules)
            total += int(game.play(position.state, rules, code)[1])
            position = step(game, position, rules, code)
        assert (total, position.state) == (score, played.state)
        assert sum(code < 4 for code in codes) == moves
        assert not played.codes  # not kept
    assert len(set(ended.values())) == GAMES


def test_games_of_a_lost_worker_are_played_by_others(asked, rng):
    _, expected = whole(asked)
    pool, ended = pool_of(asked)
    worker, out, losses = runner_of(asked[0]), {1: [], 2: [], 3: []}, 0
    while not pool.done:
        at = rng.choice(list(out))
        if out[at] and (not losses or rng.random() < 0.2):
            losses += len(out[at])
            pool.lost(at)
            out[at] = []
        out[at].extend(pool.take(rng.randint(0, 2), at))
        if out[at]:
            pool.finish(do(worker, out[at].pop(0)))
    assert losses
    assert ended == expected


def test_games_that_were_begun_go_first(asked):
    pool, _ = pool_of(asked)
    worker = runner_of(asked[0])
    assert pool.waiting == GAMES
    (first,), second = pool.take(1, 1), pool.take(2, 2)
    assert (first["job_id"], second["job_id"].tolist(), pool.waiting) == (0, [1, 2], GAMES - 3)
    result = do(worker, first)
    assert (result["complete"][0], result["over"][0], result["length"][0]) == (1, 0, chance.GAME_PART)
    pool.finish(result)
    pool.lost(2)
    assert pool.take(100, 1)["job_id"].tolist() == [1, 2, 0, *range(3, GAMES)]
    assert len(pool.take(100, 1)) == pool.waiting == 0


def test_a_part_that_was_given_up_goes_on_from_where_it_was():
    asked = resolve("2048", "4x4", depth=3)
    pool, ended = pool_of(asked, games=1)
    record = stop(runner_of(asked[0]), pool.take(1, 1)[0], nodes=1000)
    assert not record["complete"][0]
    assert 0 < record["length"][0] < chance.GAME_PART
    pool.finish(record)
    assert (pool.done, pool.waiting, pool.jobs, ended) == (False, 1, 0, {})
    assert (pool.moves, pool.nodes) == (record["moves"][0], record["nodes"][0])
    assert pool.moves > 0
    other, expected = pool_of(asked, games=1)
    for each in (pool, other):
        while not each.done:
            each.finish(do(runner_of(asked[0]), each.take(1, 1)[0]))
    assert ended == expected


def test_a_record_travels_in_one_small_message(monkeypatch):
    monkeypatch.undo()
    from distsearch.cluster.messages import LARGEST

    recorded, brief = chance.game_result(2, True), chance.game_result(2, False)
    assert recorded.itemsize < LARGEST
    assert brief.itemsize * 30 < LARGEST
    assert np.iinfo(recorded["codes"].base).max > 255


def test_games_that_are_not_recorded_are_the_same(asked, monkeypatch):
    """In fewer and longer jobs; nodes too, as the table is forgotten where a recorded game's part ends."""
    monkeypatch.setattr(chance, "PARTS", (0, 9, 9, 3, 3, 1))
    first, expected = whole(asked)
    options, game, rules = asked
    pool = GamesPool(game, rules, options.depth, GAMES, SEED)
    worker = runner_of(options, recorded=False)
    while not pool.done:
        for job in pool.take(1, worker=1):
            pool.finish(do(worker, job))
    assert {played.number: (played.score, played.moves) for played in pool.over} == {
        number: (score, moves) for number, (score, moves, _) in expected.items()
    }
    assert (pool.nodes, pool.expanded) == (first.nodes, first.expanded)
    assert GAMES < pool.jobs < first.jobs


@pytest.mark.parametrize("depth", [1, 3, 6])
@pytest.mark.parametrize("recorded", [True, False])
def test_jobs_in_one_go_are_those_done_alone(depth, recorded, rng):
    """Also those that stay at work, and those of deep searches, which are played move by move."""
    asked = resolve("2048", "2x3", depth=depth)
    jobs_ = pool_of(asked)[0].take(5, worker=1)
    alone = [do(runner_of(asked[0], recorded), job) for job in jobs_]
    for budget in (1, rng.randint(2, 300), 10**9):
        worker, records, left = runner_of(asked[0], recorded), [], jobs_
        while len(left):
            found = worker.batch(left, budget)
            found["seconds"], found["cpu"] = 2.0, 1.0
            records.extend(found[i : i + 1] for i in range(len(found)))
            left = left[len(found) :]
            if len(left):
                before = worker.nodes
                assert before == 0 or budget < 10**9
                while not worker.advance(budget):
                    assert worker.nodes > before
                    before = worker.nodes
                records.append(worker.result(seconds=2.0, cpu=1.0))
                left = left[1:]
        for found, expected in zip(records, alone, strict=True):
            assert found.tobytes() == expected.tobytes()
