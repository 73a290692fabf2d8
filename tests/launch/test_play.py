"""Games in processes of their own: the same ones at any number of ranks, whatever worker is lost; and Ctrl-C."""

import json
import signal

import pytest

from .running import SOON, TRACEBACK, Job, mpirun_is_open_mpi, run, send, wait_for

PLAY = "play", "2048", "--depth", "1", "--board", "4x4", "--evaluation", "rows"
BETWEEN = "play", "othello", "--depth", "2", "--board", "6x6", "--opponent", "random"
_FULL = pytest.mark.full
RANKS = [pytest.param(2, [], marks=_FULL), pytest.param(5, [], marks=_FULL), (5, ["--submasters", "2"])]
ENDLESS = "1000000"  # games: the most that may be asked for, twenty seconds for three cores
AHEAD = 5000  # games; more than are begun at a time, by far


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


@pytest.mark.any_mpi
@pytest.mark.parametrize(("ranks", "options"), RANKS, ids=["2", "5", "5 in groups"])
def test_the_same_games_at_any_number_of_ranks(ranks, options, games, alone, tmp_path):
    path = tmp_path / "games"
    done = run(*PLAY, "--games", str(games), "--record", str(path), "--json", *options, ranks=ranks, timeout=200)
    assert done.status == 0, done.err
    (found,) = done.results
    assert (found["ranks"], found["games"]) == (ranks, games)
    assert path.read_text() == alone


@pytest.mark.any_mpi
def test_the_same_games_between_players_in_groups(tmp_path):
    found = {}
    for ranks, options in ((0, []), (5, ["--submasters", "2"])):
        path = tmp_path / f"games{ranks}"
        done = run(*BETWEEN, "--games", "6", "--record", str(path), *options, ranks=ranks, timeout=200)
        assert done.status == 0, done.err
        found[ranks] = path.read_text()
    assert found[5] == found[0]


def wait_for_games(path, count):
    """Wait until so many games are in a file, which holds them in order of their numbers."""
    wait_for(lambda: path.exists() and path.read_bytes().count(b"\n") >= count)


def test_games_of_a_rank_that_is_killed_are_played_by_others(alone, tmp_path):
    """Lines wait for those of lower numbers: if the lost games were not played, the file would not grow."""
    path, errors = tmp_path / "games", tmp_path / "errors"
    deadline = [] if mpirun_is_open_mpi() else ["--worker-timeout", "5"]
    asked = *PLAY, "--games", ENDLESS, "--record", str(path), "--json", *deadline
    with errors.open("w") as stderr, Job(*asked, ranks=4, survives=True, stderr=stderr) as job:
        wait_for_games(path, 1)
        job.kill(2)
        wait_for(lambda: "lost rank 2" in errors.read_text())
        more = path.read_bytes().count(b"\n") + AHEAD
        wait_for_games(path, more)
    assert TRACEBACK not in errors.read_text()
    lines, expected = path.read_text().splitlines()[:more], alone.splitlines()
    assert lines[: len(expected)] == expected
    assert [json.loads(line)["number"] for line in lines] == list(range(more))


@pytest.mark.parametrize(("asked", "ranks"), [(PLAY, 0), (PLAY, 3), (BETWEEN, 0), (BETWEEN, 3)])
def test_ctrl_c_leaves_the_games_that_are_over(asked, ranks, tmp_path):
    path = tmp_path / "games"
    with Job(*asked, "--games", ENDLESS, "--record", str(path), "--json", ranks=ranks) as job:
        wait_for_games(path, 100 if asked == PLAY else 3)
        send(job, ranks, signal.SIGINT)
        done = job.finish(SOON)
    assert done.status == 130
    assert TRACEBACK not in done.err
    (found,) = done.results
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert (found["complete"], found["asked"], found["games"]) == (False, int(ENDLESS), len(lines))
    assert [line["number"] for line in lines] == sorted(line["number"] for line in lines)
    assert lines
