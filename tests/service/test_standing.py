"""What many ranks make of one search must not get worse unseen: boards and speedup on virtual workers."""

import pytest

from distsearch import games
from distsearch.service.options import Options
from distsearch.service.progress import Silent
from distsearch.service.simulate import Machine, simulate

FFO_40 = "O--OOOOX-OOOOOOXOOXXOOOXOOXOOOXXOOOOOOXX---OOOOX----O--X-------- X"  # 20 empty squares, a score of +38


@pytest.mark.parametrize(("workers", "overhead", "speedup"), [(2, 1.2, 1.65), (15, 2.2, 5.0)])
def test_one_exact_search(workers, overhead, speedup):
    game = games.find("othello")
    options = Options("othello", exact=True)
    position = game.parse(FFO_40, game.rules((8, 8)))
    found = simulate(options, Machine(workers, rate=28e6), position, Silent(), lambda: False)
    assert found.outcome.score == 38
    assert found.sequential.nodes < 20_000_000
    assert found.figures["search_overhead"] <= overhead
    assert found.figures["speedup"] >= speedup
