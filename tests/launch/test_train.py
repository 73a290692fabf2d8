"""Training in processes of its own: signals, kills, many ranks; and what all that leaves in files."""

import json
import os
import signal

import pytest

from distsearch.core import archive
from distsearch.evaluation import tuple_network

from .running import SOON, TRACEBACK, Job, run, send, wait_for

QUICK = "train", "2048", "--board", "2x3", "--asymmetric", "--tuples", "0,1,2,3/2,3,4,5"
ENDLESS = "--games", "1000000000"


@pytest.fixture(scope="module", autouse=True)
def compiled():
    for more in ((), ("--layers", "1")):
        done = run(*QUICK, "--games", "10", *more, timeout=300)
        assert done.status == 0, done.err


def state_of(path):
    """Return what training goes on from: all of a file but times and how often it is saved."""
    header, arrays = archive.load(path, tuple_network.KIND)
    state = header["record"]["state"]
    del state["seconds"], state["since"], header["record"]["options"]["games"]
    del header["record"]["options"]["save_every"]
    return header, {name: array.tobytes() for name, array in arrays.items()}


def games_of(path):
    return tuple_network.load(path, "2048", 16).record["games"]


def lines_of(path):
    times = "seconds", "moves_per_second", "evaluation_seconds"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [{name: value for name, value in line.items() if name not in times} for line in lines]


def assert_goes_on_to_the_same(tmp_path, more, *options):
    """What was stopped, resumed for so many games more, is as if it had never been."""
    games = str(games_of(tmp_path / "stopped.npz") + more)
    for name in "stopped", "whole":
        files = "--save", str(tmp_path / f"{name}.npz"), "--record", str(tmp_path / f"{name}.jsonl")
        done = run(*QUICK, *options, *files, "--games", games, "--resume", timeout=100)
        assert done.status == 0, done.err
    assert state_of(tmp_path / "stopped.npz") == state_of(tmp_path / "whole.npz")
    assert lines_of(tmp_path / "stopped.jsonl") == lines_of(tmp_path / "whole.jsonl")


@pytest.mark.any_mpi
@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGUSR1, marks=pytest.mark.full)])
def test_signals_of_batch_systems_save_and_end(number, tmp_path):
    path, options = tmp_path / "stopped.npz", ("--evaluate-every", "3000", "--evaluate-games", "100")
    files = "--save", str(path), "--record", str(tmp_path / "stopped.jsonl")
    with Job(*QUICK, *options, *files, *ENDLESS, "--json") as job:
        job.wait_for_handlers()
        job.hear()  # a line: it learns
        job.signal(number)
        done = job.finish(SOON)
    assert (done.status, done.err) == (0, "")
    found = done.results[-1]
    assert (found["complete"], found["played"]) == (False, games_of(path))
    assert found["played"] > 1000
    assert_goes_on_to_the_same(tmp_path, 4321, *options)


@pytest.mark.any_mpi
def test_without_a_file_a_signal_is_what_it_always_is():
    with Job(*QUICK, *ENDLESS, "--json") as job:
        job.wait_for_handlers()
        job.hear()
        job.signal(signal.SIGTERM)
        done = job.finish(SOON)
    assert done.status == 143
    assert done.results[-1]["complete"] is False


@pytest.mark.any_mpi
def test_a_killed_job_loses_an_interval_at_most(tmp_path):
    path, every = tmp_path / "stopped.npz", 2000
    files = "--save", str(path), "--record", str(tmp_path / "stopped.jsonl"), "--save-every", str(every)
    for _ in range(2):
        begun = games_of(path) if path.exists() else 0
        with Job(*QUICK, *files, "--resume", *ENDLESS, "--json") as job:
            while (line := json.loads(job.hear()))["games"] < begun + 9000:
                assert line["kind"] == "learning"
            job.kill(0)
        assert games_of(path) % every == 0
        assert line["games"] - every <= games_of(path)
    assert_goes_on_to_the_same(tmp_path, 1234)


@pytest.mark.full
@pytest.mark.parametrize("layers", ["1", "3"])
@pytest.mark.parametrize("ranks", [0, 3])
def test_deep_games_end_soon_as_well(layers, ranks, tmp_path):
    """Games of 4×4 to so many layers take seconds to minutes, and the first moves before anything is known."""
    path = tmp_path / "file.npz"
    asked = "train", "2048", "--tuples", "2x4", "--layers", layers, "--save", str(path), *ENDLESS
    run(*asked[:-1], "1", timeout=300)  # compiles
    path.unlink()
    with Job(*asked, "--json", ranks=ranks) as job:
        job.wait_for_handlers()
        job.wait_for_work(2.0)
        send(job, ranks, signal.SIGTERM)
        done = job.finish(SOON)
    assert done.status == 0, done.err
    assert done.results[-1]["complete"] is False


@pytest.mark.any_mpi
@pytest.mark.parametrize("ranks", [3, pytest.param(2, marks=pytest.mark.full), pytest.param(5, marks=pytest.mark.full)])
def test_many_ranks_count_every_game_once(ranks, tmp_path):
    path, record = tmp_path / "file.npz", tmp_path / "record"
    options = "--evaluate-every", "5000", "--evaluate-games", "77", "--save-every", "4000", "--warm-up", "500"
    files = "--save", str(path), "--record", str(record), "--resume"
    for games, learnt in ((12345, 12345), (20000, 7655)):
        done = run(*QUICK, *options, *files, "--games", str(games), "--json", ranks=ranks, timeout=60)
        assert done.status == 0, done.err
        found = done.results[-1]
        assert (found["played"], found["learnt"], found["complete"], found["ranks"]) == (games, learnt, True, ranks)
        assert games_of(path) == games
    lines = lines_of(record)
    assert [line["games"] for line in lines if line["kind"] == "learning"] == list(range(1000, 20001, 1000))
    evaluations = [(line["games"], line["evaluated"]) for line in lines if line["kind"] == "evaluation"]
    assert evaluations == [(games, 77) for games in range(5000, 20001, 5000)]


def test_a_signal_ends_all_ranks(tmp_path):
    path = tmp_path / "file.npz"
    with Job(*QUICK, *ENDLESS, "--save", str(path), "--json", ranks=3) as job:
        job.wait_for_handlers()
        job.hear()
        send(job, 3, signal.SIGTERM)
        done = job.finish(SOON)
        wait_for(lambda: not job.left)
    assert done.status == 0, done.err
    assert done.results[-1]["played"] == games_of(path) > 1000


@pytest.mark.full
def test_ranks_that_have_nothing_to_do_sleep():
    """Rank 0 learns alone; the others wait."""
    # a board of 4x4: on a small one, rank 0 would fill the pipe with lines that are not read, and wait as well
    with Job("train", "2048", "--tuples", "0,1,2,3", *ENDLESS, "--warm-up", "1000000000", "--json", ranks=3) as job:
        job.hear()
        before = job.cpu()
        job.wait_for_work(2.0)
        after = job.cpu()
    used = {rank: after[rank] - before[rank] for rank in before}
    assert used[0] >= 1.9
    assert max(used[1], used[2]) < 0.1 * used[0], used


@pytest.mark.parametrize("victim", [2, pytest.param(0, marks=pytest.mark.full)])
def test_a_killed_rank_ends_the_job(victim, tmp_path):
    with Job(*QUICK, *ENDLESS, "--save", str(tmp_path / "file.npz"), "--json", ranks=3) as job:
        job.wait_for_handlers()
        job.hear()
        job.kill(victim)
        done = job.finish(SOON)
        wait_for(lambda: not job.left)
    assert done.status != 0
    assert not (tmp_path / "file.npz.new").exists()


@pytest.mark.any_mpi
@pytest.mark.parametrize("ranks", [0, 3])
@pytest.mark.parametrize(
    "wrong", ["file", "room", *(pytest.param(x, marks=pytest.mark.full) for x in ("game", "save", "record"))]
)
def test_what_is_wrong_is_one_line_from_all_ranks(wrong, ranks, tmp_path, full):
    if not full and not ranks:
        pytest.skip("with --full; tests/cli has them in one process")
    (tmp_path / "record").write_text("{}\n")
    (tmp_path / "file.npz").write_bytes(b"PK\x03\x04")
    asked = {
        "game": ("train", "othello"),
        "save": (*QUICK, "--save", str(tmp_path / "missing" / "file.npz")),
        "record": (*QUICK, "--record", str(tmp_path / "record")),
        "file": (*QUICK, "--save", str(tmp_path / "file.npz"), "--resume"),
        "room": (
            "train",
            "2048",
            "--stages",
            "64,128,256,512,1024,2048",
            "--coherence",
            "--tuples",
            "/".join(",".join(str((i + j) % 16) for j in range(7)) for i in range(16)),
        ),
    }
    done = run(*asked[wrong], *ENDLESS, ranks=ranks)
    ours = [line for line in done.err.splitlines() if line.startswith("distsearch: ")]
    assert len(ours) == 1, done.err
    assert TRACEBACK not in done.err
    assert done.status == 2 or ranks
    assert done.status != 0
    assert sorted(os.listdir(tmp_path)) == ["file.npz", "record"]


@pytest.mark.any_mpi
@pytest.mark.parametrize(("ranks", "sharing"), [(3, 2), pytest.param(5, 2, marks=pytest.mark.full)])
@pytest.mark.parametrize("merge", ["visits", pytest.param("mean", marks=pytest.mark.full)])
def test_copies_that_learn_apart(ranks, sharing, merge, tmp_path):
    path, record = tmp_path / "file.npz", tmp_path / "record"
    options = (
        "--merge",
        merge,
        "--merge-every",
        "700",
        "--evaluate-every",
        "5000",
        "--warm-up",
        "1000",
        "--ranks-per-copy",
        str(sharing),
    )
    files = "--save", str(path), "--record", str(record), "--save-every", "3000"
    done = run(*QUICK, *options, *files, "--games", "20000", "--json", ranks=ranks, timeout=60)
    assert done.status == 0, done.err
    found = done.results[-1]
    assert (found["played"], found["copies"], found["ranks"]) == (20000, -(-ranks // sharing), ranks)
    assert found["merging"] > 0
    lines = [line for line in lines_of(record) if line["kind"] == "learning"]
    assert [line["games"] for line in lines] == list(range(1000, 20001, 1000))
    assert lines[-1]["average"] > lines[0]["average"]  # by more than twenty standard errors in every run seen
    with Job(*QUICK, *options, *files[:2], "--resume", *ENDLESS, "--json", ranks=ranks) as job:
        job.wait_for_handlers()
        job.hear()
        send(job, ranks, signal.SIGTERM)
        done = job.finish(SOON)
    assert done.status == 0, done.err
    assert done.results[-1]["played"] == games_of(path) > 20000
