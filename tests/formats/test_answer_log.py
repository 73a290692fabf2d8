"""The file of answers, and the place in the input that it belongs to."""

import os
import resource

import pytest

from distsearch.core.errors import UserError
from distsearch.core.saved import Saved
from distsearch.formats.answer_log import AnswerLog
from distsearch.formats.position_lines import LONGEST_LINE
from distsearch.formats.positions import Lines
from distsearch.games import connect4

INPUT = [b"4453", b"junk", b"1", b"7" * 200_000, b"9", b"12", b"x" * (LONGEST_LINE + 1), b"2"]


@pytest.fixture
def reading(tmp_path):
    """Returns a reader of lines; descriptors are closed at the end."""
    descriptors = []

    def make(lines):
        path = tmp_path / "input"
        path.write_bytes(b"\n".join(lines))
        descriptors.append(os.open(path, os.O_RDONLY))
        return Lines(connect4, connect4.rules(), descriptors[-1])

    yield make
    for descriptor in descriptors:
        os.close(descriptor)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "file")


@pytest.fixture
def opened(path):
    """Returns a maker of Ledgers, of which the one before is closed."""
    made = []

    def make():
        for log in made:
            log.close()
        made[:] = [AnswerLog(path)]
        return made[0]

    yield make
    for log in made:
        log.close()


def work(log, lines, count, most=3):
    """Answer so many lines, a few at a time, each by its number."""
    goal = lines.place + count
    while lines.place < goal:
        chunk = lines.read(min(most, goal - lines.place))
        for index in range(chunk.size):
            log.append(b"line %d\n" % (chunk.first + index))
            log.passed(chunk, index, index + 1)


def answers(count):
    return b"".join(b"line %d\n" % (i + 1) for i in range(count))


@pytest.mark.parametrize("done", range(len(INPUT) + 1))
def test_going_on_writes_what_was_answered_and_reads_what_was_not(done, path, opened, reading):
    log, lines = opened(), reading(INPUT)
    log.begin()
    work(log, lines, done)
    state = log.state()
    work(log, lines, len(INPUT) - done)  # after the state was saved: lost
    again, lines, out = opened(), reading(INPUT), []
    again.resume(Saved(state), lines, out.append)
    assert b"".join(out) == answers(done)
    assert lines.place == done
    assert again.bad == state["bad"]
    assert again.state() == state
    work(again, lines, len(INPUT) - done, most=1)
    with open(path + ".answers", "rb") as file:
        assert file.read() == answers(len(INPUT))
    assert again.bad == 4


@pytest.mark.parametrize("changed", [0, 3, 5, 6])
def test_another_input_is_refused(changed, opened, reading):
    log, lines, out = opened(), reading(INPUT), []
    log.begin()
    work(log, lines, 7)
    state, other = log.state(), list(INPUT)
    other[changed] = b"3" + other[changed][1:]
    with pytest.raises(UserError, match="the input's first 7 lines are not those"):
        opened().resume(Saved(state), reading(other), out.append)
    with pytest.raises(UserError, match="has 6 lines where 7 were read before"):
        opened().resume(Saved(state), reading(INPUT[:6]), out.append)
    assert out == []


def test_the_input_may_have_grown(opened, reading):
    log, lines = opened(), reading(INPUT)
    log.begin()
    work(log, lines, len(INPUT))
    lines = reading([*INPUT, b"1"])
    state = log.state()
    opened().resume(Saved(state), lines, lambda _: None)
    assert lines.read(10).text(0) == "1"


@pytest.mark.parametrize("content", [b"", answers(2), answers(3)[:-1], answers(3).replace(b"2", b"3")])
def test_other_answers_are_refused(content, path, opened, reading):
    log, out = opened(), []
    log.begin()
    work(log, reading(INPUT), 3)
    state = log.state()
    with open(path + ".answers", "wb") as file:
        file.write(content)
    with pytest.raises(UserError, match="file.answers does not begin with the answers"):
        opened().resume(Saved(state), reading(INPUT), out.append)
    assert out == []


def test_many_answers_are_written_in_whole_lines(opened, reading):
    log = opened()
    log.begin()
    log.append("ä\n".encode() * 1_000_000)
    out = []
    state = log.state()
    opened().resume(Saved(state), reading([]), out.append)
    assert "".join(piece.decode() for piece in out) == "ä\n" * 1_000_000
    assert len(out) > 1


def test_what_an_earlier_run_left_without_a_state_is_forgotten(path, opened):
    with open(path + ".answers", "wb") as file:
        file.write(b"old\n")
    opened().begin()
    assert os.path.getsize(path + ".answers") == 0


def test_a_full_disk_ends_the_states_and_not_the_answers(opened, reading):
    log, lines = opened(), reading(INPUT)
    log.begin()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        work(log, lines, 4)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    work(log, lines, 1)
    with pytest.raises(OSError, match="File too large"):
        log.state()


def test_a_file_that_cannot_be_opened_is_refused(path):
    os.mkdir(path + ".answers")
    with pytest.raises(UserError, match=r"cannot write file\.answers: Is a directory"):
        AnswerLog(path)


def test_two_runs_do_not_write_to_one_file(path, opened):
    opened()
    with pytest.raises(UserError, match=r"file\.answers is being written by another run"):
        AnswerLog(path)


def test_going_on_makes_no_file(path):
    with pytest.raises(UserError, match=r"cannot write file\.answers: No such file"):
        AnswerLog(path, fresh=False)
    assert not os.path.exists(path + ".answers")
