"""What is measured of a search is what ``search --json`` tells of it."""

import pytest

from distsearch.api.options import resolve
from distsearch.api.session import Session
from distsearch.studies.measure_search import measure


def measured(game, texts, **given):
    """Return what is measured of positions, and the outcomes of the library's own functions."""
    options, module, rules = resolve(game, **given)
    positions = [module.parse(text, rules) for text in texts]
    with Session(table=1) as session:
        found = measure(session, options, positions)
    with Session(table=1) as session:
        alike = [outcome.to_dict() for outcome in session.searcher(options).search(positions)]
    return found, alike


@pytest.mark.parametrize(
    ("game", "text", "given"),
    [
        ("othello", "startpos", {"depth": 6}),
        ("othello", "startpos", {"board": "4x4", "exact": True}),
        ("othello", "startpos", {"depth": 5, "load_factor": 4.0}),
        ("2048", "2,4,8,16,0,2,4,32,0,0,2,64,0,0,0,128", {"depth": 5}),
    ],
)
def test_one_position_is_measured_as_search_tells_it(game, text, given):
    found, (alike,) = measured(game, [text], **given)
    for name in ("score", "move", "unit", "proved", "depth", "jobs", "table_hits", "ranks", "workers", "load_factor"):
        assert found[name] == alike[name], name
    assert (found["nodes"], found["complete"], found["positions"]) == (alike["nodes"], True, 1)
    assert found["scores"] == [alike["score"]]
    assert found["nodes"] / found["boards_per_second"] == pytest.approx(found["seconds"], abs=2e-6)
    assert found["time_share"].keys() == {"busy", "communication", "idle"}
    assert found["per_worker"][0]["jobs"] >= found["jobs"]


def test_many_positions_are_measured_as_one_run():
    lines = ["4455226", "4444226", "1122334", "77755544636312"]
    found, alike = measured("connect4", lines, depth=6)
    assert found["scores"] == [each["score"] for each in alike]
    assert found["positions"] == len(lines)
    assert "score" not in found
    assert found["seconds"] > 0
    assert found["nodes"] > 0
    assert len(found["per_worker"]) == 1


def test_positions_of_games_against_chance_are_added_up():
    texts = ["2,4,8,16,0,2,4,32,0,0,2,64,0,0,0,128", "2,0,4,0,8,16,2,0,32,64,16,4,512,256,128,8"]
    found, alike = measured("2048", texts, depth=5)
    assert found["scores"] == [each["score"] for each in alike]
    assert found["nodes"] == sum(each["nodes"] for each in alike)
    assert found["jobs"] == sum(each["jobs"] for each in alike)
