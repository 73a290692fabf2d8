"""The fixed searches visit exactly the boards that they always did."""

import json

from distsearch.service.bench import EmptySource, bench, bench_json, bench_text
from distsearch.service.progress import Progress

# Changes only when a search is meant to visit other boards; say why in the commit that changes it.
SIGNATURE = 148960968


def test_signature():
    rows, signature = bench(Progress(), lambda: False)
    assert signature == SIGNATURE, "\n".join(f"{name}: {boards}" for name, boards, _ in rows)
    assert json.loads(bench_json(rows, signature))["signature"] == SIGNATURE
    assert str(SIGNATURE) in bench_text(rows, signature)


def test_empty_source_hands_every_job_out_once():
    source = EmptySource(10)
    assert [len(source.take(4, worker=1)) for _ in range(4)] == [4, 4, 2, 0]
    source.finish(range(10))
    assert source.done
