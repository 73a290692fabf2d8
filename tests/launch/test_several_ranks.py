"""What is answered alone and by several ranks alike: refusals in one line, and budgets of nodes."""

import pytest

from .running import TRACEBACK, run

SEARCH = "search", "othello", "--board", "6x6"
_FULL = pytest.mark.full  # tests/cli has these refusals, and more, of a single rank
BEFORE_THE_TABLE = [  # what every rank finds out for itself, and what the message has to name
    pytest.param(("--table", "0"), "table 0", marks=_FULL),
    (("--table", "4", "--algorithm", "minimax"), "alphabeta"),
    pytest.param(("--table", "4", "--ordering", "static"), "ordering", marks=_FULL),
    pytest.param(("--table", "4", "--nodes", "99"), "nodes", marks=_FULL),
    (("--depth", "1", "--table", "4194304"), "room for"),  # more than any /dev/shm has
]
BEHIND_THE_TABLE = [  # what only the first rank finds out
    ((*SEARCH, "--window", "-1,1"), "window"),
    pytest.param(("search", "othello", "--board", "3x3"), "3x3", marks=_FULL),
    (("solve", "othello", "--positions", "no such file"), "no such file"),
]
SAME = (
    "score",
    "unit",
    "move",
    "pv",
    "depth",
    "nodes",
    "ordering_nodes",
    "jobs",
    "tree_nodes",
    "bound",
    "proved",
    "complete",
)


def refusal(*arguments, ranks):
    """Return the only line of ours that a refused command line leaves."""
    done = run(*arguments, ranks=ranks)
    assert (done.status, done.out) == (2, ""), done
    assert TRACEBACK not in done.err
    (line,) = [line for line in done.err.splitlines() if line.startswith("distsearch: ")]
    return line


@pytest.mark.parametrize(("options", "named"), BEFORE_THE_TABLE, ids=lambda value: str(value)[:50])
def test_one_rank_speaks_for_all(options, named):
    assert named in refusal(*SEARCH, *options, ranks=2)


@pytest.mark.parametrize(("arguments", "named"), BEHIND_THE_TABLE, ids=lambda value: str(value)[:50])
def test_what_the_first_rank_refuses_ends_the_others(arguments, named):
    assert named in refusal(*arguments, ranks=2)


@pytest.mark.any_mpi
@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize("ranks", [0, 3])
@pytest.mark.parametrize("more", [[], ["--ordering", "shallow:1"]], ids=["table", "plain"])
def test_a_budget_of_nodes_is_repeatable(ranks, more, full):
    if not full and (ranks or not more):
        pytest.skip("one search alone is the sample; tests/mpi has several ranks, and the others run with --full")
    answers = []
    for _ in range(2):
        (found,) = run(*SEARCH, "--nodes", "200000", *more, "--json", ranks=ranks, timeout=60).results
        answers.append({name: found[name] for name in SAME})
    assert answers[0] == answers[1]
    assert 0 < answers[0]["nodes"] <= 200_000
