"""Games of several candidates as a source of work, driven by hand: each is that of its weights and its seed."""

import numpy as np
import pytest

from distsearch import evaluation
from distsearch.api.options import resolve
from distsearch.jobs import two_player
from distsearch.jobs.self_play import CandidatesPool, GamesPool

from .driving import do, drive

EACH, SEED = 4, 9
OTHERS = [(200.0, 500.0, 20.0, 3.0, 11.0, 3.0), (270.0, 0.0, 0.0, 1.0, 0.0, 1.0)]


@pytest.fixture(autouse=True)
def _short_parts(monkeypatch):
    monkeypatch.setattr("distsearch.jobs.chance.GAME_PART", 30)
    monkeypatch.setattr("distsearch.jobs.chance.PARTS", (0, 1, 1, 1, 1, 1))


@pytest.fixture(params=["2048", "2584"])
def asked(request):
    return resolve(request.param, "3x3", depth=2)


def candidates(game):
    return np.array([evaluation.weights(game, "rows"), *OTHERS])


def scores(asked, rng, workers):
    options, game, rules = asked
    pool = CandidatesPool(game, rules, options.depth, candidates(game), EACH, SEED)
    drive(pool, two_player.KINDS["weighted_game"](options.setup("weighted_game")), rng, workers)
    assert pool.cpu == pool.jobs > pool.games == 3 * EACH
    return pool.scores()


def test_candidates_play_the_same_games_each_by_its_weights(asked, rng):
    options, game, rules = asked
    found = scores(asked, rng, workers=1)
    for weights, row in zip(candidates(game), found, strict=True):
        text = ",".join(map(str, weights))
        other, _, _ = resolve(options.game, "3x3", depth=2, evaluation=f"rows:{text}")
        pool = GamesPool(game, rules, 2, EACH, SEED)
        drive(pool, two_player.KINDS["game"](other.setup("game")), rng, 1)
        plain = {played.number: played.score for played in pool.over}
        assert row.tolist() == [plain[number] for number in range(EACH)]
    assert len({tuple(row) for row in found.tolist()}) == 3


def test_the_same_scores_by_any_number_of_workers(asked, rng):
    expected = scores(asked, rng, workers=1)
    for workers in (2, 7):
        assert np.array_equal(scores(asked, rng, workers), expected)


def test_a_job_of_a_lost_worker_is_the_same_again(asked):
    options, game, rules = asked
    pool = CandidatesPool(game, rules, options.depth, candidates(game), EACH, SEED)
    first = pool.take(EACH + 1, worker=1)
    assert (first["weights"][:EACH] == first["weights"][0]).all()
    assert (first["weights"][EACH] == OTHERS[0]).all()
    assert first["seed"][0] == first["seed"][EACH]
    pool.lost(1)
    assert np.array_equal(pool.take(EACH + 1, worker=2), first)
    runner = two_player.KINDS["weighted_game"](options.setup("weighted_game"))
    pool.finish(do(runner, first[0]))
    assert pool.moves > 0


def test_jobs_in_one_go_are_each_by_its_weights(asked):
    options, game, rules = asked
    pool = CandidatesPool(game, rules, options.depth, candidates(game), EACH, SEED)
    taken, runner = pool.take(3 * EACH, worker=1), two_player.KINDS["weighted_game"](options.setup("weighted_game"))
    alone = np.concatenate([do(runner, job) for job in taken])
    found, left = [], taken
    while len(left):
        found.append(runner.batch(left, 10**9))
        left = left[len(found[-1]) :]
        assert len(found[-1]) == EACH
        if len(left):  # the first job by other weights is at work
            while not runner.advance(10**9):
                pass
            found.append(runner.result(0.0, 0.0))
            left = left[1:]
            break
    first = np.concatenate(found)
    for name in ("job_id", "score", "nodes", "state"):
        assert np.array_equal(first[name], alone[name][: EACH + 1])
