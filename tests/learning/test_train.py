"""Training from end to end in this process: lines, files, and going on where it was stopped, to the last bit."""

import errno
import json
import os

import numpy as np
import pytest

from distsearch.api.progress import Silent
from distsearch.api.session import Session
from distsearch.core import archive
from distsearch.core.errors import UserError
from distsearch.evaluation import tuple_network, weight_packing
from distsearch.learning import train as training
from distsearch.learning.options import TrainOptions
from distsearch.learning.report import LearningCurve
from distsearch.learning.train import Files, train

TIMES = "seconds", "moves_per_second", "evaluation_seconds"
QUICK = {"board": (2, 2), "asymmetric": True, "tuples": "0,1,2,3"}
WAYS = [
    ("2048", QUICK),
    ("2048", {**QUICK, "layers": 1}),
    ("2048", {"tuples": "2x4", "n_step": 3}),
    ("2584", {"tuples": "0,1/4,5,9", "coherence": True, "online": True, "stages": (8, 21)}),
]


@pytest.fixture(autouse=True)
def short_lines(monkeypatch):
    monkeypatch.setattr(training, "LINE", 10)


def run(options, files=None, stop=lambda lines, calls: False):
    """Train in this process; return (Trained, lines). stop(lines so far, times it was asked): whether to end."""
    lines, calls = [], 0

    def interrupted():
        nonlocal calls
        calls += 1
        return stop(lines, calls)

    return train(options, files or Files(), None, Silent(), interrupted, lines.append), lines


def without_times(lines):
    return [{name: value for name, value in line.items() if name not in TIMES} for line in lines]


def content(path):
    """What training goes on from: arrays by name, and all else but for times."""
    header, arrays = archive.load(path, tuple_network.KIND)
    state = header["record"]["state"]
    assert state.pop("seconds") >= state.pop("since")
    return header, {name: (array.shape, array.tobytes()) for name, array in arrays.items()}


@pytest.mark.parametrize(("name", "options"), WAYS, ids=str)
def test_a_training_that_was_stopped_goes_on_to_the_same_bits(name, options, rng, tmp_path, full):
    every = {"games": 73, "evaluate_every": 20, "evaluate_games": 7, "save_every": 15, **options}
    whole, parts = tmp_path / "whole.npz", tmp_path / "parts.npz"
    asked = TrainOptions(name, **every, seed=rng.randrange(1000))
    done, lines = run(asked, Files(str(whole), record=str(tmp_path / "whole.jsonl")))
    assert (done.complete, done.games, done.learnt) == (True, 73, 73)
    assert [line["games"] for line in lines if line["kind"] == "learning"] == list(range(10, 71, 10))
    assert [line["games"] for line in lines if line["kind"] == "evaluation"] == [20, 40, 60]
    for _ in range(4 if full else 2):
        printed, stops = [], 0
        parts.unlink(missing_ok=True)
        (tmp_path / "parts.jsonl").unlink(missing_ok=True)
        while True:
            # at its first look, in the middle of learning, or in an evaluation: after so many looks
            last = rng.choice((1, 2, 3, 5, rng.randrange(1, 60)))
            last = last if stops < 12 else 1 << 60
            files = Files(str(parts), resume=True, record=str(tmp_path / "parts.jsonl"))
            done, some = run(asked, files, lambda _, calls, last=last: calls >= last)
            printed += some
            stops += 1
            if done.complete:
                break
        assert content(parts) == content(whole)
        assert without_times(printed) == without_times(lines)
        recorded = [json.loads(line) for line in (tmp_path / "parts.jsonl").read_text().splitlines()]
        assert without_times(recorded) == without_times(lines)
    assert sorted(os.listdir(tmp_path)) == ["parts.jsonl", "parts.npz", "whole.jsonl", "whole.npz"]


def test_one_that_was_killed_loses_an_interval_at_most(tmp_path, monkeypatch):
    """It leaves the file of its last save, and a record that goes beyond, whose last line is cut."""
    asked = TrainOptions("2048", **QUICK, games=60, save_every=25, evaluate_every=5, evaluate_games=3)
    whole, lines = run(asked, Files(str(tmp_path / "whole.npz"), record=str(tmp_path / "whole.jsonl")))
    files = Files(str(tmp_path / "killed.npz"), resume=True, record=str(tmp_path / "killed.jsonl"))

    class Killed(BaseException):
        pass

    def killed(some, calls):
        if some and some[-1]["games"] >= 45:
            raise Killed
        return False

    with pytest.raises(Killed):
        run(asked, files, killed)
    assert tuple_network.load(files.save, "2048", 16).record["games"] == 25
    with open(files.record, "a") as record:
        record.write('{"kind": "learning", "ga')
    done, _ = run(asked, files)
    assert done.learnt == 35
    assert content(files.save) == content(tmp_path / "whole.npz")
    recorded = [json.loads(line) for line in (tmp_path / "killed.jsonl").read_text().splitlines()]
    assert without_times(recorded) == without_times(lines)


def test_one_that_is_done_is_left_alone(tmp_path):
    asked, files = TrainOptions("2048", **QUICK, games=30), Files(str(tmp_path / "file.npz"), resume=True)
    run(asked, files)
    path = tmp_path / "file.npz"
    before = path.stat().st_ino, path.stat().st_mtime_ns  # reading it may change the time of access
    done, lines = run(asked, files)
    assert (done.complete, done.games, done.learnt, done.moves, lines) == (True, 30, 0, 0, [])
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == before
    assert "complete" in done.to_json()
    assert "30 games" in done.to_text()
    more, lines = run(TrainOptions("2048", **QUICK, games=45), files)
    assert (more.games, more.learnt, [line["games"] for line in lines]) == (45, 15, [40])
    whole, _ = run(TrainOptions("2048", **QUICK, games=45), Files(str(tmp_path / "whole.npz")))
    names = tuple_network.KIND, "window"
    (_, found), (_, expected) = content(files.save), content(tmp_path / "whole.npz")
    assert [found[name] for name in names] == [expected[name] for name in names]


def test_evaluations_change_nothing_but_the_record(tmp_path):
    plain = TrainOptions("2048", **QUICK, games=50)
    looked = TrainOptions("2048", **QUICK, games=50, evaluate_every=10, evaluate_games=20)
    run(plain, Files(str(tmp_path / "plain.npz")))
    _, lines = run(looked, Files(str(tmp_path / "looked.npz")))
    plain, looked = (tuple_network.load(tmp_path / f"{name}.npz", "2048", 16).weights for name in ("plain", "looked"))
    assert plain.tobytes() == looked.tobytes()
    assert [line["evaluated"] for line in lines if line["kind"] == "evaluation"] == [20] * 5


def test_seeds_tell_trainings_apart(tmp_path):
    files = [Files(str(tmp_path / f"{i}.npz")) for i in range(3)]
    for each, seed in zip(files, (1, 2, 1), strict=True):
        run(TrainOptions("2048", **QUICK, games=20, seed=seed), each)
    one, other, again = (tuple_network.load(each.save, "2048", 16).weights.tobytes() for each in files)
    assert one == again != other


# --- what goes wrong ---


@pytest.mark.parametrize(
    "changed",
    [
        {"tuples": "0,1,2"},
        {"seed": 9},
        {"initial_value": 10.0},
        {"online": True},
        {"rules": {"spawn": "2:1"}},
        {"stages": (8,)},
        {"board": (2, 3)},
        {"asymmetric": True, "board": (4, 4), "tuples": "0,1,2,3"},
    ],
    ids=str,
)
def test_files_of_another_training_are_refused(changed, tmp_path):
    files = Files(str(tmp_path / "file.npz"), resume=True)
    run(TrainOptions("2048", **QUICK, games=3), files)
    before = (tmp_path / "file.npz").read_bytes()
    with pytest.raises(UserError, match=r"file\.npz"):
        run(TrainOptions("2048", **{**QUICK, "games": 5, **changed}), files)
    assert (tmp_path / "file.npz").read_bytes() == before


def test_what_may_differ_in_one_that_goes_on(tmp_path):
    files = Files(str(tmp_path / "file.npz"), resume=True)
    run(TrainOptions("2048", **QUICK, games=3), files)
    more = {"games": 8, "rate": 0.01, "evaluate_every": 2, "evaluate_games": 2, "save_every": 3}
    assert run(TrainOptions("2048", **QUICK, **more), files)[0].games == 8
    coherent = TrainOptions("2048", **QUICK, games=12, coherence=True, restart=True)
    assert run(coherent, files)[0].games == 12
    assert tuple_network.load_all(files.save, "2048", 16)[1]["traces"][:, 1].any()
    for other in ({"n_step": 2}, {"target": "returns"}, {"layers": 1}):
        more = TrainOptions("2048", **QUICK, games=coherent.games + 1, coherence=True, restart=True, **other)
        assert run(more, files)[0].games == more.games
        coherent = more
    with pytest.raises(UserError, match="coherence on, not off"):
        run(TrainOptions("2048", **QUICK, games=13), files)


@pytest.mark.parametrize("wrong", [{"state": {}}, {"state": 5}, {"options": None}, {"options": {}}], ids=str)
def test_records_that_nobody_wrote_are_refused(wrong, tmp_path):
    asked, path = TrainOptions("2048", **QUICK, games=5), str(tmp_path / "file.npz")
    run(asked, Files(path))
    net, others = tuple_network.load_all(path, "2048", 16)
    tuple_network.save(path, net._replace(record={**net.record, **wrong}), others=others)
    with pytest.raises(UserError, match=r"file\.npz"):
        run(asked, Files(path, resume=True))


@pytest.mark.parametrize("stages", [1.5, [1.5], ["8"], {"8": 1}, "16,32"], ids=str)
def test_stages_that_are_no_tiles_are_refused(stages):
    with pytest.raises(UserError, match="stages"):
        TrainOptions.resumed("2048", None, {}, {}, {"stages": stages})


@pytest.mark.parametrize("games", ["Infinity", "NaN", "[" * 9999], ids=lambda text: text[:9])
def test_a_record_with_no_number_of_games_is_refused(games, tmp_path):
    (tmp_path / "record").write_text(f'{{"games": {games}}}\n')
    with pytest.raises(UserError, match="not a record of training"):
        LearningCurve(str(tmp_path / "record"), 3)


def test_small_files_are_weights_alone(tmp_path):
    asked, path = TrainOptions("2048", **QUICK, games=5), str(tmp_path / "file.npz")
    run(asked, Files(path, weights_only=True))
    assert tuple_network.load(path, "2048", 16).record["games"] == 5
    with pytest.raises(UserError, match="weights alone"):
        run(asked, Files(path, resume=True))


def test_small_files_of_coherent_learning_are_packed_and_play(tmp_path):
    asked, path = TrainOptions("2048", tuples="2x4", games=1000, coherence=True), str(tmp_path / "file.npz")
    run(asked, Files(path, weights_only=True))
    _, arrays = archive.load(path, tuple_network.KIND)
    assert set(arrays) == set(weight_packing.ARRAYS)
    with Session() as session:
        learnt, free = (session.play("2048", games=100, layers=0, evaluation=each) for each in (path, "free"))
    assert np.mean(learnt.scores) > 1.5 * np.mean(free.scores)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda path: path.mkdir(), "folder"),
        (lambda path: path.parent.rmdir(), "No such file"),
        (lambda path: path.with_name("file.npz.new").mkdir(), "cannot write"),
    ],
    ids=["a folder", "in no folder", "taken"],
)
def test_places_that_cannot_be_written_are_refused_at_once(make, expected, tmp_path):
    path = tmp_path / "folder" / "file.npz"
    path.parent.mkdir()
    make(path)
    with pytest.raises(UserError, match=expected):
        run(TrainOptions("2048", **QUICK, games=5), Files(str(path)))


def test_a_record_is_a_new_file_or_gone_on_with(tmp_path):
    asked, record = TrainOptions("2048", **QUICK, games=5), tmp_path / "record"
    record.write_text("something\n")
    for resume in False, True:
        with pytest.raises(UserError, match="record"):
            run(asked, Files(str(tmp_path / "file.npz"), resume=resume, record=str(record)))
    assert record.read_text() == "something\n"
    with pytest.raises(UserError, match="directory"):
        run(asked, Files(str(tmp_path / "file.npz"), resume=True, record=str(tmp_path)))


@pytest.mark.parametrize("early", [False, True])
def test_a_disk_that_is_full_at_the_end_is_an_error(early, tmp_path, monkeypatch):
    path = tmp_path / "file.npz"
    asked = TrainOptions("2048", **QUICK, games=40, save_every=10)
    run(TrainOptions("2048", **QUICK, games=9, save_every=10), Files(str(path)))
    before = path.read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    notes = []
    monkeypatch.setattr(Silent, "note", lambda self, text: notes.append(text))
    with pytest.raises(UserError, match=r"file\.npz: No space left"):
        run(asked, Files(str(path), resume=True), lambda lines, _: early and len(lines) == 2)
    assert path.read_bytes() == before
    saves = [note for note in notes if "goes on" in note]
    assert len(saves) == (1 if early else 3)


@pytest.mark.parametrize("failing", ["record", "stdout"])
def test_lines_that_cannot_be_written_end_training_which_is_saved(failing, tmp_path, monkeypatch):
    asked, path = TrainOptions("2048", **QUICK, games=2_000_000), tmp_path / "file.npz"

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    if failing == "record":
        monkeypatch.setattr("distsearch.learning.report.print", full, raising=False)
    told = full if failing == "stdout" else lambda line: None
    files = Files(str(path), record=str(tmp_path / "record"))
    with pytest.raises((UserError, OSError), match="No space left"):
        train(asked, files, None, Silent(), lambda: False, told)
    assert 10 <= tuple_network.load(path, "2048", 16).record["games"] < 2_000_000


def test_learning_that_diverges_is_an_error_and_nothing_is_saved(tmp_path):
    path = tmp_path / "file.npz"
    with pytest.raises(UserError, match="diverged"):
        run(TrainOptions("2048", tuples="2x4", rate=5.0, games=2000), Files(str(path)))
    assert not path.exists()


def test_weights_that_no_host_has_room_for_are_refused():
    tuples = "/".join(",".join(str((i + j) % 16) for j in range(7)) for i in range(16))
    with pytest.raises(UserError, match="memory"):
        run(TrainOptions("2048", tuples=tuples, stages=(1024, 2048, 4096, 8192, 16384, 32768), coherence=True))


def test_numbers_are_those_of_numpy():
    """What is told is plain JSON, and so is what is kept."""
    done, lines = run(TrainOptions("2048", **QUICK, games=20, collisions=False))
    for line in lines:
        assert all(isinstance(value, (int, float, str, dict)) for value in line.values())
        assert not any(isinstance(value, np.generic) for value in line.values())
    assert json.loads(done.to_json())["learnt"] == 20
