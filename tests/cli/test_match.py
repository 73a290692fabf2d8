"""Matches on the command line."""

import json

from .asking import ask

MATCH = "match", "othello", "depth=2", "random", "--board", "4x4"


def test_text_has_the_figures_of_the_json(tmp_path):
    path = tmp_path / "games"
    answer = ask(*MATCH, "--games", "6", "--seed", "3", "--record", path, "--json")
    assert (answer.status, answer.err) == (0, "")
    (found,) = answer.results
    assert len(path.read_text().splitlines()) == found["games"] == 6
    lines = ask(*MATCH, "--games", "6", "--seed", "3").out.splitlines()
    assert lines[0] == "othello 4x4  6 games, seed 3"
    assert [line.split()[0] for line in lines[1:8]] == ["A", "B", "openings", "results", "score", "points", "Elo"]
    assert lines[3] == "  openings   2 random plies"
    assert lines[6].startswith(f"  points     {found['points']:g} of 6 ({found['score']:.1%}; 95%: ")


def test_a_decided_test_is_told():
    lines = ask(*MATCH, "--sprt", "0,200").out.splitlines()
    assert lines[-2].startswith("  SPRT       +200 is accepted, of +0 or +200: log-likelihood ratio +")


def test_against_chance_the_difference_is_told():
    asked = "match", "2048", "depth=1", "random", "--board", "2x2", "--games", "10"
    (found,) = ask(*asked, "--json").results
    lines = ask(*asked).out.splitlines()
    assert lines[3] == "  score      A average {:,.0f}, B average {:,.0f}".format(*found["averages"])
    assert lines[4].startswith(f"  difference {found['difference']:+,.0f} for A (95%: ")


def test_a_match_is_replayed(tmp_path):
    path = tmp_path / "games"
    ask(*MATCH, "--games", "2", "--record", path)
    first, second = (json.loads(line) for line in path.read_text().splitlines())
    assert (first["X"], first["O"]) == (second["O"], second["X"])
    assert ask("replay", path).status == 0
