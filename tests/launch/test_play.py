"""Games in processes of their own: the same ones at any number of ranks, whoever is lost, and what Ctrl-C leaves."""

import json
import signal

import pytest

from .running import TRACEBACK, Job, mpirun_is_open_mpi, run, send

PLAY = "play", "2048", "--depth", "1", "--board", "4x4"
RANKS = [(2, []), (5, []), (5, ["--groups", "2"])]
_SOON = 8  # seconds within which a job has to end


@pytest.fixture(scope="module")
def games(full):
    return 1000 if full else 30


@pytest.fixture(scope="module")
def alone(games, tmp_path_factory):
    """What the games are by a single rank: the file of them."""
    path = tmp_path_factory.mktemp("games") / "alone"
    done = run(*PLAY, "--games", str(games), "--record", str(path), timeout=200)
    assert done.status == 0, done.err
    return path.read_text()


@pytest.mark.parametrize(("ranks", "options"), RANKS, ids=["2", "5", "5 in groups"])
def test_the_same_games_at_any_number_of_ranks(ranks, options, games, alone, tmp_path):
    path = tmp_path / "games"
    done = run(*PLAY, "--games", str(games), "--record", str(path), "--json", *options, ranks=ranks, timeout=200)
    assert done.status == 0, done.err
    (found,) = done.results
    assert (found["ranks"], found["games"]) == (ranks, games)
    assert path.read_text() == alone


def test_games_of_a_rank_that_is_killed_are_played_by_others(rng, alone, tmp_path):
    path, count = tmp_path / "games", 100_000  # two seconds for three cores: it is killed at work
    deadline = [] if mpirun_is_open_mpi() else ["--deadline", "1"]
    with Job(*PLAY, "--games", str(count), "--record", str(path), "--json", *deadline, ranks=4, survives=True) as job:
        job.wait_for_handlers()
        job.wait_for_work(rng.uniform(0.05, 0.3))
        job.kill(2)
        done = job.finish(120)
    assert done.status == 0, done.err
    assert "lost rank 2" in done.err
    assert TRACEBACK not in done.err
    lines, expected = path.read_text().splitlines(), alone.splitlines()
    both = min(count, len(expected))
    assert (len(lines), lines[:both]) == (count, expected[:both])


@pytest.mark.parametrize("ranks", [0, 3])
def test_ctrl_c_leaves_the_games_that_are_over(ranks, alone, tmp_path):
    path = tmp_path / "games"
    with Job(*PLAY, "--games", "1000000", "--record", str(path), "--json", ranks=ranks) as job:
        job.wait_for_handlers()
        job.wait_for_work(2.0)
        send(job, ranks, signal.SIGINT)
        done = job.finish(_SOON)
    assert done.status == 130
    assert TRACEBACK not in done.err
    (found,) = done.results
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert (found["complete"], found["asked"], found["games"]) == (False, 1_000_000, len(lines))
    assert [line["number"] for line in lines] == sorted(line["number"] for line in lines)
    assert lines
