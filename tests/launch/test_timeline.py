"""Timelines of many ranks: every rank has a track, whose times add up to all of its time, in a file of bounded size."""

import pytest

from distsearch.studies.figures.timeline import KINDS, read

from .running import run

_NEAR = 0.02  # of a rank's time
_LARGEST = 50e6  # bytes


def traced(path, ranks, seconds):
    """Return (the answer to a search of so long, the tracks of its timeline)."""
    asked = "search", "othello", "--time", str(seconds), "--json", "--trace", str(path)
    done = run(*asked, ranks=ranks, timeout=120 + 3 * seconds)
    assert done.status == 0, done.err
    return done.results[0], read(str(path))


@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize(("ranks", "seconds"), [(4, 2), pytest.param(32, 60, marks=pytest.mark.full)], ids=str)
def test_the_times_of_every_rank_add_up_to_its_wall_time(ranks, seconds, tmp_path):
    path = tmp_path / "trace.json"
    found, tracks = traced(path, ranks, seconds)
    assert path.stat().st_size < _LARGEST
    assert [track.rank for track in tracks] == list(range(ranks))
    timers = {worker["rank"]: worker for worker in found["per_worker"]}
    assert list(timers) == list(range(1, ranks))
    for track in tracks:
        sums = {kind: track.spent(kind) for kind in KINDS}
        wall = timers[track.rank]["wall"] if track.rank else found["seconds"]
        assert sum(sums.values()) == pytest.approx(wall, rel=_NEAR)
        assert track.wall == pytest.approx(wall, rel=_NEAR)
        if track.rank:
            told = [timers[track.rank][name] for name in ("busy", "communication", "idle")]
            assert sum(told) == pytest.approx(wall, rel=_NEAR)
            assert list(sums.values()) == pytest.approx(told, rel=_NEAR, abs=1e-3)
    assert any(len(track.jobs) for track in tracks[1:])
