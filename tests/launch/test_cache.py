"""Compiled kernels on disk: never older than the sources, sound when loaded, and made once a host."""

import json
import re
import resource
import shutil
import signal
import time
from pathlib import Path

import pytest

import distsearch

from .running import SOON, TRACEBACK, Job, run, wait_for

COMPILING = Path(__file__).with_name("compiling.py")
HERE = Path(__file__).parent
pytestmark = pytest.mark.any_mpi
PERFT = "perft", "othello", "--board", "6x6", "--depth", "6"  # whose kernels are the quickest to compile
SEARCH = "search", "othello", "--board", "6x6", "--depth", "6", "--evaluation", "discs"
# of kernels in one file that call others in another one
COUNTING = (
    "-c",
    """
from distsearch.games import othello
from distsearch.engines.perft import Perft
rules = othello.rules((6, 6))
perft = Perft(othello, rules)
perft.begin(othello.start(rules).state, 6)
while not perft.advance(10**9):
    pass
print(perft.counts[:7].tolist())
""",
)
STARTING = (
    "-c",
    """
from distsearch.games import othello
rules = othello.rules()
print(othello.moves_left(othello.start(rules).state, rules))
""",
)
_NOTICE = "compiling for othello"

# appended to the copy's rules: there is never more than one move
NEW_RULE = """

all_moves = moves


@compiled
def moves(s, r, out, at):
    return min(all_moves(s, r, out, at), 1)
"""


@pytest.fixture
def reports(tmp_path):
    """A folder for what compiling.py writes."""
    folder = tmp_path / "reports"
    folder.mkdir()
    return folder


def read(reports):
    """Return what each process compiled, and forget it."""
    found = []
    for report in reports.iterdir():
        found.append(json.loads(report.read_text()))
        report.unlink()
    return found


@pytest.fixture
def package(tmp_path):
    """A copy of the package, without anything compiled, to be imported from ``tmp_path``."""
    copy = tmp_path / "distsearch"
    shutil.copytree(Path(distsearch.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def test_an_edited_rule_changes_the_answer_of_the_next_run(package, tmp_path):
    environment = {"PYTHONPATH": str(tmp_path), "DISTSEARCH_CACHE": str(tmp_path / "cache")}

    def counts():
        done = run(program=COUNTING, environment=environment, cwd=tmp_path, timeout=120)
        assert done.status == 0, done.err
        return json.loads(done.out)

    assert counts() == [1, 4, 12, 56, 244, 1364, 7604]
    with (package / "games" / "othello.py").open("a") as rules:
        rules.write(NEW_RULE)
    assert counts()[:6] == [1] * 6


def test_without_a_place_for_kernels_they_are_compiled_for_the_day(package, tmp_path):
    """And not kept next to the sources, as numba would: there, nothing tells when they are out of date."""
    (tmp_path / "file").touch()
    environment = {"PYTHONPATH": str(tmp_path), "DISTSEARCH_CACHE": str(tmp_path / "file" / "cache")}
    done = run(program=STARTING, environment=environment, cwd=tmp_path, timeout=120)
    assert (done.status, done.out) == (0, "60\n"), done.err
    assert not list(package.rglob("*.kernel"))


def test_every_kernel_can_be_loaded_again(reports, full):
    words = "1234" if full else "1"
    for _ in range(2):
        # with the cache of every day: kernels that other programs have made are tried, too
        done = run(str(reports), "every_kernel", *words, program=[COMPILING], cwd=HERE, timeout=300)
        assert done.status == 0, done.err
        (compiled,) = read(reports)
    assert compiled == []


def test_ranks_compile_once_a_host(reports, tmp_path, full):
    arguments = [str(reports), "distsearch", *(SEARCH if full else PERFT)]
    options = {"program": [COMPILING], "ranks": 3, "environment": {"DISTSEARCH_CACHE": str(tmp_path / "cache")}}
    cold = run(*arguments, **options, timeout=120)
    assert cold.status == 0, cold.err
    by_rank = read(reports)
    assert len(by_rank) == 3
    assert sum(bool(names) for names in by_rank) <= 1, by_rank  # other processes compile most of it
    assert cold.err.count(_NOTICE) == 1
    assert cold.seconds < 60

    again = run(*arguments, **options)
    assert again.status == 0, again.err
    assert read(reports) == [[]] * 3
    assert _NOTICE not in again.err


def test_a_signal_ends_compiling_at_once(tmp_path):
    with Job(*SEARCH, environment={"DISTSEARCH_CACHE": str(tmp_path)}) as job:
        wait_for(lambda: list(tmp_path.rglob("*.kernel")), 60)
        began = time.monotonic()
        job.signal(signal.SIGTERM)
        done = job.finish(SOON)
        assert time.monotonic() - began < 3  # 1 on an idle machine
    assert (done.status, done.out) == (128 + signal.SIGTERM, "")
    assert TRACEBACK not in done.err
    assert not job.left


def test_what_was_compiled_beforehand_is_not_compiled_again(reports):
    made = run("compile", "2584", timeout=200)  # with the cache of every day: other tests need these kernels too
    assert made.status == 0, made.err
    assert re.match("[0-9]+ kernels for 2584 compiled in ", made.out)
    for command in ("search", "2584", "--depth", "3"), ("play", "2584", "--games", "1", "--depth", "1"):
        done = run(str(reports), "distsearch", *command, program=[COMPILING])
        assert done.status == 0, done.err
        assert read(reports) == [[]]
    refused = run("compile", "chess")
    assert (refused.status, refused.out) == (2, "")


@pytest.mark.usefixtures("warm")
def test_a_later_start_takes_little_time():
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run("search", "othello", "--depth", "1")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.status == 0, done.err
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 2.5  # CPU seconds
