"""Searches for other programs: which options they keep where the end of the game is near."""

import pytest

from distsearch.api.session import Session
from distsearch.games import othello
from distsearch.games.interface import END
from distsearch.games.random_play import random_position
from distsearch.programs.engine import Engine


@pytest.mark.parametrize("given", [{"selective": 0.9}, {"ordering": "shallow", "rank_cut": 0.9}], ids=str)
def test_the_last_moves_are_searched_to_the_end(given, rng):
    with Session() as session:
        engine = Engine(session, {"depth": 6, **given}, lambda: False)
        position = random_position(othello, engine.rules, range(54, 57), rng)
        while othello.kind(position.state, engine.rules) == END:
            position = random_position(othello, engine.rules, range(54, 57), rng)
        found = engine.search(position)
    assert found.proved
    assert found.selective is found.rank_cut is None
