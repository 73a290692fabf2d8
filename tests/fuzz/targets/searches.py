"""Searches to go on with: snapshots of sources of work in checkpoints, and paused engines as bytes."""

import functools
import random

from distsearch.engines.saved_path import legal_part
from distsearch.games import othello

from ...engines.paused import BOARD, ENGINES, mutated, saved
from ...engines.positions import NO_PAUSE, rules
from ...jobs.driving import drive
from ...tree.under_way import SOURCES, begun, worker
from .. import mutation
from ..target import Target
from .archives import checkpoint_of, state_of

_SEED = 20  # of the searches that are changed


@functools.cache
def _begun(name):
    return begun(name, random.Random(_SEED))


def _read_source(name, data):
    """A snapshot in a checkpoint: what it gives comes to an end, however its jobs are done."""
    states, _ = _begun(name)
    source = SOURCES[name](states, state_of(data))
    drive(source, worker(name), random.Random(_SEED), workers=3)
    assert source.done


def _source_seeds(name):
    return [checkpoint_of(_begun(name)[1])]


@functools.cache
def _engine(name):
    return ENGINES[name][0]()


@functools.cache
def _saved(name):
    return saved(*ENGINES[name], random.Random(_SEED))


def _read_engine(name, data):
    """A paused search: it goes on to its end, and its line is one of legal moves."""
    engine, (state, _) = _engine(name), _saved(name)
    ENGINES[name][1](engine, state)
    try:
        engine.restore(data)
    finally:  # the search that was begun is left where a saved one is refused
        while not engine.advance(NO_PAUSE):
            pass
    if hasattr(engine, "result"):
        line = engine.result().line
        assert legal_part(othello, rules(BOARD), state, line) == line


def _engine_seeds(name):
    return [_saved(name)[1]]


_TREE = "distsearch.core.saved", "distsearch.formats.checkpoint", "distsearch.tree.restored:_is_forest"
_COVERED = {
    "split": (*_TREE, "distsearch.tree.search_tree", "distsearch.tree.restored:restored_lines"),
    "pool": (*_TREE, "distsearch.tree.search_tree", "distsearch.tree.restored:restored_nodes"),
    "deepening": (*_TREE, "distsearch.tree.deepening", "distsearch.tree.search_tree"),
    "perft": (*_TREE, "distsearch.tree.perft_pool"),
    "stream": (*_TREE, "distsearch.tree.position_stream", "distsearch.tree.search_tree"),
}
_PATH = "distsearch.engines.saved_path", "distsearch.core.packing"
_OF_ENGINE = {
    "alpha-beta": "distsearch.engines.alphabeta:AlphaBeta",
    "alpha-beta, shallow": "distsearch.engines.alphabeta:AlphaBeta",
    "perft": "distsearch.engines.perft:Perft",
    "depth": "distsearch.engines.pvs.table_search:TableSearch",
    "exact": "distsearch.engines.pvs.table_search:TableSearch",
}

TARGETS = {
    **{
        f"source-{name}": Target(
            functools.partial(_read_source, name),
            functools.partial(_source_seeds, name),
            _COVERED[name],
            mutation.of_archive,
        )
        for name in SOURCES
    },
    **{
        f"paused-{name.replace(', ', '-')}": Target(
            functools.partial(_read_engine, name),
            functools.partial(_engine_seeds, name),
            (*_PATH, _OF_ENGINE[name]),
            mutated,
            (ValueError,),
        )
        for name in ENGINES
    },
}
