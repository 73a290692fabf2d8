"""Searches that are cut off and asked for again."""

import contextlib

import pytest

from distsearch.cluster.cluster import Cluster
from distsearch.core.errors import UserError
from distsearch.formats import checkpoint
from distsearch.formats.checkpoint import INTERVAL_VARIABLE
from distsearch.jobs.two_player import SolveRunner
from distsearch.server import running_request
from distsearch.server.checkpoints import Checkpoints
from distsearch.server.request_queue import RequestQueue
from distsearch.tree.position_stream import Stream

from .queue_clients import EASY, SCORES, Asked, alone, finish, turn_until

HARD, SCORE = "67277443333", 0  # Connect 4: 3.5 million nodes, some 90 turns of a queue
TURNS = 8


@pytest.fixture
def service(tmp_path, monkeypatch):
    """A function that makes a queue of a rank that has searched nothing yet, and that keeps whatever is cancelled."""
    monkeypatch.setattr(running_request, "_WORTH_KEEPING", 0.0)
    with contextlib.ExitStack() as stack:

        def make():
            session = alone(guarded=True)
            stack.callback(session.close)
            return RequestQueue(session, checkpoints=Checkpoints(str(tmp_path / "kept")))

        yield make


def kept(tmp_path):
    return sorted((tmp_path / "kept").iterdir())


def cut_off(queue, asked):
    """Have a request searched for a while, and cancel it."""
    queue.submit(asked)
    for _ in range(TURNS):
        queue.turn()
    queue.cancel(asked)
    finish(queue)
    assert asked.ends == ["cancelled"]


def answer(queue, asked):
    """Have a request answered; return the Outcome."""
    queue.submit(asked)
    finish(queue)
    assert asked.ends == ["done"]
    return asked.answers[0]


def answer_beside(queue, asked):
    """The same next to other requests."""
    queue.submit(asked)
    turn_until(queue, lambda: asked.ends == ["done"])
    return asked.answers[0]


def test_a_search_that_was_cut_off_goes_on(service, tmp_path, monkeypatch):
    restored, restore = [], SolveRunner.restore
    monkeypatch.setattr(SolveRunner, "restore", lambda *asked: (restored.append(asked[2]), restore(*asked)))
    cut_off(service(), Asked(HARD, exact=True))
    assert (len(kept(tmp_path)), restored) == (1, [])
    found = answer(service(), Asked(HARD, exact=True))
    assert (found.score, found.proved, found.complete) == (SCORE, True, True)
    assert len(restored) == 1
    assert kept(tmp_path) == []
    assert answer(service(), Asked(HARD, exact=True)).score == SCORE
    assert len(restored) == 1


def test_each_search_has_a_file_of_its_own(service, tmp_path):
    for number, more in enumerate(({}, {"window": (-1, 1)}, {"board": "8x7"}), 1):
        cut_off(service(), Asked(HARD, exact=True, **more))
        assert len(kept(tmp_path)) == number


@pytest.mark.parametrize(
    ("texts", "options"),
    [
        ((HARD, "1"), {"exact": True}),
        (("startpos",), {"time": 100.0}),
        (("startpos",), {"game": "2048", "depth": 20, "evaluation": "rows"}),
    ],
    ids=str,
)
def test_other_searches_are_not_kept(service, tmp_path, texts, options):
    cut_off(service(), Asked(*texts, **options))
    assert kept(tmp_path) == []


def test_a_damaged_file_costs_no_answer(service, tmp_path, capsys):
    cut_off(service(), Asked(HARD, exact=True))
    (path,) = kept(tmp_path)
    path.write_bytes(path.read_bytes()[:-20])
    assert answer(service(), Asked(HARD, exact=True)).score == SCORE
    assert str(path) in capsys.readouterr().err
    assert kept(tmp_path) == []


def test_a_changed_state_costs_no_answer(service, tmp_path, capsys):
    cut_off(service(), Asked(HARD, exact=True))
    (path,) = kept(tmp_path)
    saved = checkpoint._load(path)
    for change in ({"source": {**saved["state"]["source"], "positions": 5}}, {"source": 5}, {"seconds": -1}):
        checkpoint._save(path, {**saved, "state": {**saved["state"], **change}})
        assert answer(service(), Asked(HARD, exact=True)).score == SCORE
        told = capsys.readouterr().err
        assert f"{path} is removed" in told
        assert "the checkpoint is damaged" in told
        assert kept(tmp_path) == []


@pytest.mark.parametrize(("owner", "name"), [(SolveRunner, "restore"), (Stream, "_restore_position")], ids=str)
def test_a_state_that_cannot_be_restored_fails_once(service, tmp_path, monkeypatch, capsys, owner, name):
    cut_off(service(), Asked(HARD, exact=True))
    (path,) = kept(tmp_path)

    def fail(*_):
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr(owner, name, fail)
        queue, asked = service(), Asked(HARD, exact=True)
        queue.submit(asked)
        finish(queue)
        assert asked.ends == ["failed"]
    assert kept(tmp_path) == []
    assert f"{path} is removed" in capsys.readouterr().err
    assert answer(service(), Asked(HARD, exact=True)).score == SCORE


def test_a_state_is_saved_every_so_often(service, tmp_path, monkeypatch):
    monkeypatch.setattr(running_request, "_WORTH_KEEPING", 1e9)
    monkeypatch.setenv(INTERVAL_VARIABLE, "0.05")
    queue, asked = service(), Asked("startpos", game="othello", exact=True)
    queue.submit(asked)
    turn_until(queue, lambda: kept(tmp_path))
    queue.cancel(asked)
    finish(queue)
    assert len(kept(tmp_path)) == 1


@pytest.fixture
def silent(monkeypatch):
    """A list of one: whether workers do not say how far they are, as while they get ready for another search."""
    held, awaits = [True], Cluster.awaits_progress
    monkeypatch.setattr(Cluster, "awaits_progress", lambda self, run: held[0] or awaits(self, run))
    return held


def test_others_are_answered_while_a_worker_does_not_say_how_far_it_is(service, tmp_path, monkeypatch, silent):
    monkeypatch.setenv(INTERVAL_VARIABLE, "0.01")
    queue, asked = service(), Asked("startpos", game="othello", exact=True)
    queue.submit(asked)
    turn_until(queue, lambda: any(task._saving for task in queue._tasks.values()))
    assert answer_beside(queue, Asked(EASY[0], exact=True)).score == SCORES[0]
    assert kept(tmp_path) == []
    silent[0] = False
    turn_until(queue, lambda: kept(tmp_path))
    assert asked.ends == []
    queue.cancel(asked)
    finish(queue)


@pytest.mark.parametrize("saved", [False, True])
def test_a_worker_that_does_not_say_how_far_it_is_holds_no_end_up(service, tmp_path, monkeypatch, silent, saved):
    """Its part is missing then, so what was saved before stays."""
    monkeypatch.setattr(running_request, "_LAST_SAVE", 0.01)  # in which no machine searches HARD to its end
    silent[0] = not saved
    cut_off(service(), Asked(HARD, exact=True))
    (path,) = kept(tmp_path)
    before, silent[0] = path.read_bytes(), True
    cut_off(service(), Asked(HARD, exact=True))
    assert path.read_bytes() == before
    silent[0] = False
    assert answer(service(), Asked(HARD, exact=True)).score == SCORE


def test_a_folder_that_cannot_be_had_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot make"):
        Checkpoints(str(tmp_path / "file" / "kept"))
