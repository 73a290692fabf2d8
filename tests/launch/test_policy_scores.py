"""Every policy has the sequential score, on 1 to 9 ranks and on 200 virtual workers: see ``policy_scores``."""

from pathlib import Path

import pytest

from .policy_scores import checked, drawn, report, sequential, simulated
from .running import run

SCRIPT = Path(__file__).with_name("policy_scores.py")
pytestmark = pytest.mark.any_mpi  # tests/mpi has all policies under both
POSITIONS = 300
SAMPLE = 8  # one of each search
LIMIT = 1800  # seconds, where the machine is busy


def checks(*arguments, ranks=0, positions=POSITIONS, seed):
    """Have the script check all policies."""
    given = *arguments, "--positions", str(positions), "--seed", str(seed)
    done = run(*given, program=[str(SCRIPT)], ranks=ranks, timeout=LIMIT)
    assert done.status == 0, done.out + done.err
    assert f": {4 * positions} searches, 0 wrong; " in done.out


@pytest.mark.usefixtures("warm", "solving")
@pytest.mark.parametrize(
    "ranks", [each if each == 3 else pytest.param(each, marks=pytest.mark.full) for each in range(1, 10)]
)
def test_on_ranks(ranks, full, seed):
    checks(ranks=ranks if ranks > 1 else 0, positions=POSITIONS if full else SAMPLE, seed=seed)


@pytest.mark.full
@pytest.mark.parametrize("part", range(6))  # for the tests at work at once to share: all take minutes of two cores
def test_on_200_virtual_workers(part, seed):
    checks("--simulated", "200", positions=POSITIONS // 6, seed=seed + part)


def test_on_some_virtual_workers(seed):
    for number in range(SAMPLE):
        found = simulated(12, seed, number)
        assert len(found) == 4
        assert not [each.wrong for each in found if each.wrong]


def test_a_wrong_score_is_told_with_the_command_that_searches_again(capsys):
    case = drawn(1, 0)
    outcome = sequential(case)
    right = checked(case, "split", outcome, outcome, "command")
    outcome.complete = False
    wrong = checked(case, "pool", outcome, outcome, "distsearch search othello")
    assert (report("2 ranks", [right] * 4), report("2 ranks", [wrong, right, right, right])) == (0, 1)
    said = capsys.readouterr().out.splitlines()
    assert [line.split(";")[0] for line in said if line.startswith("1 position")] == [
        "1 positions on 2 ranks: 4 searches, 0 wrong",
        "1 positions on 2 ranks: 4 searches, 1 wrong",
    ]
    (told,) = [line for line in said if "incomplete" in line]
    assert told.endswith(": distsearch search othello")
