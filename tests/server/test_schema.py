"""docs/service.md says what the code does: its tables, and its example."""

import re
from dataclasses import fields
from pathlib import Path

from distsearch.api.options import Options
from distsearch.api.result import Outcome
from distsearch.server import protocol
from distsearch.server.limits import DEFAULTS, MEANINGS
from distsearch.server.request import Refused
from distsearch.server.schema import ANSWER, ERRORS, SEARCH, reference

PAGE = (Path(__file__).parents[2] / "docs" / "service.md").read_text(encoding="utf-8")


def test_the_page_ends_with_the_reference():
    assert PAGE.endswith(f"\n{reference()}\n")


def test_the_page_keeps_to_its_width():
    assert max(len(line) for line in PAGE.splitlines() if not line.startswith("|")) <= 120


def test_the_example_is_understood():
    (block,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    refused = []
    for line in block.splitlines():
        message = protocol.decode(line.encode())
        try:
            if protocol.check(message) == "search":
                assert protocol.Query(message, DEFAULTS).advance(10)
        except Refused as error:
            refused.append((message["id"], error.code, str(error)))
    assert refused == [(3, "bad_field", "depth is not an integer")]


def test_the_tables_are_complete():
    assert MEANINGS.keys() == DEFAULTS._asdict().keys()
    assert {field.name for field in fields(Outcome)} - {"parallel", "drawing"} <= {field.name for field in ANSWER}
    unasked = {"prefetch", "clock"}  # batches are the cluster's business, and a clock is a game's
    assert {field.name for field in fields(Options)} - unasked <= {field.name for field in SEARCH}
    assert all(re.fullmatch("[a-z_]+", code) for code in ERRORS)
