"""The fixed searches visit exactly the nodes that they always did."""

import json

from benchmarks import standing_figures as figures
from distsearch.api.chance import ChanceSearcher
from distsearch.api.options import Options
from distsearch.api.progress import Progress
from distsearch.cluster.local import InProcessCluster
from distsearch.core import processor
from distsearch.jobs.two_player import KINDS, empty_jobs
from distsearch.studies import bench as bench_module
from distsearch.studies.bench import EmptySource, bench, bench_json, bench_positions, bench_text

# Changes only when a search is meant to visit other nodes: benchmarks/standing --update, and say why in the commit.
NODES = {name: figure["measured"] for name, figure in figures.figures(figures.read()["bench"]).items()}
SIGNATURE = NODES.pop("signature")
LONG = ("table 16x16",)  # fifteen seconds to compile for a search of a hundredth; with --full


def test_signature(full, monkeypatch):
    expected = dict(NODES)
    for name in () if full else LONG:
        monkeypatch.delitem(bench_module.SEARCHES, name)
        del expected[name]
    rows, signature = bench(Progress(), lambda: False)
    assert {name: nodes for name, nodes, _ in rows} == expected
    assert signature == sum(expected.values())
    assert json.loads(bench_json(rows, signature))["signature"] == signature
    assert json.loads(bench_json(rows, signature))["instructions"] == processor.instructions()
    assert str(signature) in bench_text(rows, signature)


def test_the_signature_is_the_sum_of_the_nodes():
    assert sum(NODES.values()) == SIGNATURE
    assert NODES.keys() >= bench_module.SEARCHES.keys()


def test_positions_of_a_file():
    options = Options("2584", layers=1, board=(3, 3))
    searcher = ChanceSearcher(options, InProcessCluster(KINDS))
    positions = [searcher.game.parse(text, searcher.rules) for text in ("1,3,0,5,0,0,0,0,1", "8,3,0,5,0,0,2,0,1")]
    rows, signature = bench_positions(options, positions, "mine", Progress(), lambda: False)
    nodes = sum(outcome.nodes for outcome in searcher.search(positions))
    assert [row[:2] for row in rows] == [("mine", nodes)]
    assert signature == nodes > 0
    assert "mine" in bench_text(rows, signature)


def test_empty_source_hands_every_job_out_once():
    source = EmptySource(10)
    assert [len(source.take(4, worker=1)) for _ in range(4)] == [4, 4, 2, 0]
    source.finish(empty_jobs(10, worker=1))
    assert source.done


def test_empty_source_hands_out_again_what_a_lost_worker_had():
    source = EmptySource(10)
    first, second = source.take(4, worker=1), source.take(6, worker=2)
    source.finish(first[:1])
    source.lost(1)
    assert source.waiting == 3
    source.finish(second)
    assert not source.done
    source.finish(source.take(9, worker=2))
    assert source.done
