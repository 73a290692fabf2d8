"""Optimal play by several ranks: the values of one rank, and one file."""

import numpy as np

from distsearch import games
from distsearch.core import archive
from distsearch.learning.optimal_play import KIND, OptimalPlay


def test_any_number_of_ranks_finds_the_same(comm, agree, tmp_path):
    game = games.find("2048")
    rules = game.rules((2, 3))
    alone, together = OptimalPlay(game, rules), OptimalPlay(game, rules, comm=comm)
    expected = alone.solve()
    agree(together.solve() == expected, "the value of the start")
    path = comm.bcast(str(tmp_path / "table.npz"))
    together.save(path)
    states = [each.words for each in alone.layers.values()]
    values = [each.values for each in alone.layers.values()]
    agree(np.array_equal(together.values_of(states[5]), values[5]), "the values of a layer")
    if comm.Get_rank() == 0:
        _, arrays = archive.load(path, KIND)
        order = np.lexsort(arrays["states"].T)
        plain = np.lexsort(np.concatenate(states).T)
        same = np.array_equal(arrays["states"][order], np.concatenate(states)[plain])
        same = same and np.array_equal(arrays["values"][order], np.concatenate(values)[plain])
        agree(same, "the file")
    else:
        agree(True)


def test_all_ranks_stop_where_one_does(comm, agree):
    game = games.find("2048")
    last = comm.Get_rank() == comm.Get_size() - 1
    try:
        OptimalPlay(game, game.rules((2, 2)), comm=comm, stopped=lambda: last).solve()
    except InterruptedError:
        agree(True)
    else:
        agree(False, "it went on")


def test_all_ranks_fail_where_one_does(comm, agree):
    game = games.find("2048")
    play = OptimalPlay(game, game.rules((2, 2)), comm=comm)
    play._wrong = "this" if comm.Get_rank() == comm.Get_size() - 1 else ""
    try:
        play.solve()
    except AssertionError:
        agree(True)
    else:
        agree(False, "it went on")
