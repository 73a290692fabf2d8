"""Command lines in this process: asking them, what they leave, and what every refusal looks like."""

import io
import json
import re
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple
from unittest import mock

from distsearch.cli.main import main

START = "-----OX--XO----- X"  # on 4×4
FULL = "X" * 16 + " O"
PASS = "d3d2b1d4"  # as far as a forced pass
FIRST_MOVES = {"b1", "a2", "d3", "c4"}


class Answer(NamedTuple):
    """What a command line leaves."""

    status: int
    out: str
    err: str

    @property
    def results(self):
        """The JSON objects on stdout, a line each, read strictly."""
        return [json.loads(line, parse_constant=_refuse) for line in self.out.splitlines()]


def _refuse(token):
    raise ValueError(f"{token} is not JSON")


def ask(*argv, stdin=b""):
    """Run a command line in this process; return its Answer."""
    out, err = io.StringIO(), io.StringIO()
    # however slow the machine is: no progress
    with (
        tempfile.TemporaryFile() as given,
        mock.patch("distsearch.api.progress._FIRST", 1e9),
        redirect_stdout(out),
        redirect_stderr(err),
        mock.patch("sys.stdin", given),
    ):
        given.write(stdin)
        given.seek(0)
        try:
            status = main([str(arg) for arg in argv])
        except SystemExit as leaving:  # --help and --version
            status = leaving.code
    return Answer(status, out.getvalue(), err.getvalue())


def search(*options, position=START, board="4x4"):
    """Return the JSON object of a search."""
    answer = ask("search", "othello", position, "--board", board, *options, "--json")
    assert answer.status == 0, answer.err
    (found,) = answer.results
    return found


def solve(lines, *options):
    """Return the Answer to lines of positions on stdin."""
    return ask("solve", "othello", "--board", "4x4", "--positions", "-", *options, stdin="\n".join(lines).encode())


def assert_refused(answer, *names):
    """One line on stderr, printable, which names what is wrong; nothing else."""
    assert (answer.status, answer.out) == (2, ""), answer
    assert answer.err.startswith("distsearch: "), answer
    assert answer.err.endswith("\n"), answer
    assert answer.err[:-1].isprintable(), answer
    for name in names:
        assert str(name) in answer.err, answer


def without_news(said):
    """Return what stderr was told without the lines about kernels that are compiled, as on a machine's first run."""
    compiler = r"(?:still )?compiling\b.*|compiled in .*|\d+ of \d+ parts compiled.*"
    return re.sub(rf"(?m)^(?:\S+ progress: )?(?:{compiler})\n", "", said)


def assert_no_accident(answer):
    assert answer.status in (0, 1, 2)
    assert "Traceback" not in answer.out + answer.err
    for line in answer.err.splitlines():
        assert line.isprintable()


def complaints(answer, summary=False):
    """Return the numbers of the lines that an answer complains about.

    Nothing else may be on stderr, but for the three lines of a summary, if there is one.
    """
    lines = answer.err.splitlines()
    matches = [re.fullmatch(r"distsearch: line ([0-9]+): .+", line) for line in lines[: -3 if summary else None]]
    assert all(matches), answer.err
    assert answer.err.replace("\n", "").isprintable()
    return [int(match[1]) for match in matches]
