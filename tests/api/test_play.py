"""Games from end to end: figures against plain ones, records in order, interrupts."""

import json
import re
import statistics

import pytest

from distsearch.api.intervals import share_interval
from distsearch.api.options import resolve
from distsearch.api.play import play
from distsearch.api.play_summary import reached
from distsearch.api.progress import Silent
from distsearch.cluster.local import InProcessCluster
from distsearch.core.errors import UserError
from distsearch.formats.game_records import GameRecords
from distsearch.jobs.self_play import Played
from distsearch.jobs.two_player import KINDS

from .told import Told


def test_tiles_count_the_games_that_had_them_or_larger_ones():
    tiles = reached([256, 512, 256, 2048])
    assert [(each["tile"], each["games"], each["share"]) for each in tiles] == [
        (2048, 1, 0.25),
        (512, 2, 0.5),
        (256, 4, 1),
    ]
    assert (tiles[0]["low"], tiles[0]["high"]) == share_interval(1, 4)
    assert reached([]) == []


def played(count, interrupted=lambda: False, record=None, **options):
    options, _, _ = resolve("2048", "3x3", **{"depth": 1, **options})
    return play(options, count, 7, InProcessCluster(KINDS), Silent(), interrupted, record)


def test_figures_of_games():
    found = played(12)
    figures = found.figures()
    assert (figures["games"], found.complete) == (12, True)
    assert figures["average"] == statistics.fmean(found.scores)
    assert figures["median"] == statistics.median(found.scores)
    assert figures["reached"][0]["tile"] == max(found.largest)
    assert figures["moves_per_second"] == pytest.approx(found.moves / found.seconds, rel=0.01)
    assert json.loads(found.to_json())["average"] == figures["average"]


@pytest.mark.parametrize("looks", [0, 1, 3, 50])
def test_an_interrupt_leaves_what_is_over(looks, tmp_path):
    left = iter(range(looks))
    path = tmp_path / "games"
    found = played(100_000, lambda: next(left, None) is None, str(path))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    told = json.loads(found.to_json())
    assert (told["complete"], told["asked"], told["games"]) == (False, 100_000, len(lines))
    assert [line["score"] for line in lines] == found.scores
    assert "stopped early" in found.to_text()
    assert len(lines) < 100_000
    if looks == 50:
        assert lines


def test_nothing_is_known_of_no_game():
    found = played(10, lambda: True)
    figures = found.figures()
    assert [figures[name] for name in ("games", "average", "average_low", "median", "maximum")] == [0, *[None] * 4]


def test_progress_is_told():
    options, progress = resolve("2048", "3x3", depth=1)[0], Told()
    play(options, 30, 0, InProcessCluster(KINDS), progress, lambda: False)
    assert progress.shown
    for text in progress.shown:
        assert re.match(r"\d+/30 games, \S+( k)? moves, \S+( [kMG])? moves/s, ", text), text


def over(number):
    return Played(number, (0, 0), score=number, codes=[4, 5, 0])


def test_records_are_in_the_order_of_games(tmp_path, rng):
    _, game, rules = resolve("2048", depth=1)
    path, numbers = tmp_path / "games", list(range(20))
    rng.shuffle(numbers)
    with GameRecords(str(path), game, rules, {"game": "2048"}) as records:
        for number in numbers[:15]:
            records.add(over(number))
            written = [json.loads(line)["number"] for line in path.read_text().splitlines()]
            assert written == list(range(len(written)))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["number"] for line in lines] == sorted(numbers[:15])
    assert lines[0] == {
        "game": "2048",
        "number": lines[0]["number"],
        "score": lines[0]["number"],
        "largest": 0,
        "moves": "2@a1 2@b1 left",
    }


def test_a_record_that_cannot_be_written(tmp_path):
    _, game, rules = resolve("2048", depth=1)
    with pytest.raises(UserError, match="cannot write .*games: No space left"):  # noqa: SIM117
        with GameRecords(str(tmp_path / "games"), game, rules, {}) as records:
            records._file.close()
            records._file = open("/dev/full", "w")  # noqa: SIM115, the context closes it
            records.add(over(0))
