"""What the command line refuses, in one line each."""

import os

import pytest

from .asking import ask, assert_refused
from .refused import REFUSED


def _label(case):
    text = " ".join(case[0]).encode("ascii", "backslashreplace").decode()
    return text.translate(dict.fromkeys(range(32), "?"))[:60] or "nothing"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("case", REFUSED, ids=_label)
def test_wrong_input_is_refused_in_one_line(case):
    argv, *names = case
    assert_refused(ask(*argv), *names)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read(folder):
    (folder / "good.txt").chmod(0)
    assert_refused(ask("solve", "othello", "--positions", "good.txt"), "good.txt", "Permission denied")
