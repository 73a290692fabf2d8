"""Boards out of recorded games: from where in the games they are, and what is wrong with records."""

import json
from collections import Counter

import pytest

from distsearch.api.options import resolve
from distsearch.api.play import play
from distsearch.api.progress import Silent
from distsearch.api.sample import CLASSES, sample
from distsearch.cluster.local import InProcessCluster
from distsearch.core.errors import UserError
from distsearch.jobs.two_player import KINDS

from ..games.sliding_twin import SlidingTwin, merged_2048, twin_of

GAMES = 6


def recorded(folder, name="2048", board="3x3", **options):
    """The path of a record of games."""
    path = folder / f"{name}_{board}{len(options)}"
    chosen, _, _ = resolve(name, board, depth=1, **options)
    play(chosen, GAMES, 3, InProcessCluster(KINDS), Silent(), lambda: False, str(path))
    return path


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    return recorded(tmp_path_factory.mktemp("games"))


def drawn(path, stage, count, seed=1, name="2048"):
    return sample(name, str(path), stage, count, seed, Silent(), lambda: False)


def places(path, twin, stage):
    """Every board of a class in a record, with how often it comes, played over by plain rules."""
    (low, high), found = CLASSES[stage], []
    for line in path.read_text().splitlines():
        position, boards = twin.start(), []
        for move in json.loads(line)["moves"].split():
            if twin.kind(position) == "max":
                boards.append(twin.text(position))
            position, _ = twin.play(position, move)
        found += [board for i, board in enumerate(boards) if low * len(boards) <= i <= high * len(boards)]
    return found


@pytest.mark.parametrize("stage", list(CLASSES))
@pytest.mark.parametrize(("name", "board"), [("2048", (3, 3)), ("2584", (3, 3)), ("2048", (2, 3))])
def test_a_class_is_by_how_far_a_game_is(name, board, stage, tmp_path):
    path = recorded(tmp_path, name, "{}x{}".format(*board))
    every = places(path, twin_of(name, board), stage)
    assert drawn(path, stage, len(every), name=name) == every
    with pytest.raises(UserError, match=f"has {len(every)} {stage} boards, and {len(every) + 1} are asked for"):
        drawn(path, stage, len(every) + 1, name=name)


def test_other_tiles_come_from_the_record(tmp_path):
    path = recorded(tmp_path, spawn="2:0.5,8:0.5")
    twin = SlidingTwin(merged_2048, [(2, "1/2"), (8, "1/2")], 3, 3)
    every = places(path, twin, "normal")
    assert drawn(path, "normal", len(every)) == every


def test_the_seed_decides_which(record):
    every = places(record, twin_of("2048", (3, 3)), "normal")
    counts, n = Counter(), len(every) // 3
    for seed in range(20):
        found = drawn(record, "normal", n, seed)
        assert found == drawn(record, "normal", n, seed)
        assert not Counter(found) - Counter(every)
        counts.update(found)
    assert set(counts) == set(every)  # 20 draws of a third leave none out but once in 3,000


def test_the_user_may_end_it(record):
    assert sample("2048", str(record), "late", 1, 0, Silent(), lambda: True) == []


def changed(record, tmp_path, change, line=2):
    """A record of which one line is another one."""
    lines = record.read_text().splitlines()
    fields = json.loads(lines[line - 1])
    change(fields)
    lines[line - 1] = json.dumps(fields)
    path = tmp_path / "changed"
    path.write_text("\n".join(lines) + "\n")
    return path


def moves(edit):
    def change(fields):
        found = fields["moves"].split()
        edit(found)
        fields["moves"] = " ".join(found)

    return change


def test_a_move_that_is_not_legal(record, tmp_path):
    path = changed(record, tmp_path, moves(lambda found: found.insert(4, found[3])))  # a tile where none is due
    with pytest.raises(UserError, match=r"changed line 2: move 5, \S+, is not legal"):
        drawn(path, "late", 1)
    path = changed(record, tmp_path, moves(lambda found: found.__setitem__(6, "sideways")))
    with pytest.raises(UserError, match="changed line 2: move 7: 'sideways' is not left, right"):
        drawn(path, "late", 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (moves(lambda found: found.pop()), "the game is not over after"),
        (moves(lambda found: found.append("left")), r"move \d+, left, is not legal"),
        (moves(lambda found: found.clear()), "the game is not over after 0 moves"),
        (lambda fields: fields.update(score=fields["score"] + 4), "are not those of its moves"),
        (lambda fields: fields.update(largest=2), "are not those of its moves"),
        (lambda fields: fields.update(game="2584"), "is a game of 2584, not of 2048"),
        (lambda fields: fields.update(board="4x4"), "another board or other tiles than the first line"),
        (lambda fields: fields.update(spawn="2:1"), "another board or other tiles than the first line"),
        (lambda fields: fields.update(spawn=3), "spawn is not a text"),
        (lambda fields: fields.pop("moves"), "moves is not a text"),
        (lambda fields: fields.update(score="7"), "score is not a whole number"),
    ],
)
def test_records_that_are_wrong(change, message, record, tmp_path):
    with pytest.raises(UserError, match=f"changed line 2.*{message}"):
        drawn(changed(record, tmp_path, change), "normal", 1)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"board": "9x9"}, "line 1: board 9x9"),
        ({"board": "x"}, "line 1: board 'x'"),
        ({"spawn": "3:1"}, "line 1: spawn '3:1'"),
        ({"game": "chess"}, "line 1 is a game of chess"),
    ],
    ids=str,
)
def test_a_first_line_that_is_wrong(fields, message, record, tmp_path):
    path = changed(record, tmp_path, lambda line: line.update(fields), line=1)
    path.write_text(path.read_text().splitlines()[0])
    with pytest.raises(UserError, match=message):
        drawn(path, "normal", 1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no game"),
        (b"\n", "line 1 is not JSON"),
        (b"\xff", "line 1 is not JSON"),
        (b"[]", "line 1 is not a game"),
        (b"[" * 100_000, "line 1 is not JSON"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_files_that_are_no_records(content, message, tmp_path):
    path = tmp_path / "record"
    path.write_bytes(content)
    with pytest.raises(UserError, match=message):
        drawn(path, "late", 1)


def test_other_games_have_no_such_boards(tmp_path):
    path = tmp_path / "record"
    path.write_text(json.dumps({"game": "othello", "board": "8x8", "moves": "f5", "score": 1, "largest": 2}))
    with pytest.raises(UserError, match="line 1: othello is not a game of tiles that grow"):
        drawn(path, "starter", 1, name="othello")
