"""The OpenAPI document: what the socket's tables say, and the paths that there are."""

import json
import re

import pytest

from distsearch.server.limits import DEFAULTS
from distsearch.server.schema import ANSWER, ERRORS, SEARCH, STATE

pytest.importorskip("starlette", reason="the extra http is not installed")

from distsearch.server.http.app import Api, Settings  # noqa: E402
from distsearch.server.http.docs_page import page  # noqa: E402
from distsearch.server.http.limits import HTTP_DEFAULTS, HTTP_ERRORS, HTTP_MEANINGS, STATUS, status_of  # noqa: E402
from distsearch.server.http.openapi import document, kinds  # noqa: E402

DOCUMENT = document()
SCHEMAS = DOCUMENT["components"]["schemas"]


def names(fields, *without):
    return {field.name for field in fields} - set(without)


def test_messages_are_those_of_the_socket():
    search = SCHEMAS["Search"]
    assert search["properties"].keys() == names(SEARCH, "op", "id") == kinds().keys()
    assert (search["required"], search["additionalProperties"]) == (["game"], False)
    assert search["properties"]["depth"]["type"] == "integer"
    assert search["properties"]["positions"]["maxItems"] == DEFAULTS.positions
    assert SCHEMAS["Answer"]["properties"].keys() == names(ANSWER)
    assert SCHEMAS["Status"]["properties"].keys() == names(STATE)


def test_every_code_has_its_status():
    assert HTTP_MEANINGS.keys() == HTTP_DEFAULTS._asdict().keys()
    assert STATUS.keys() <= ERRORS.keys() | HTTP_ERRORS.keys()
    assert all(400 <= status_of(code) < 600 for code in ERRORS)
    for code in (*ERRORS, *HTTP_ERRORS):
        assert f"`{code}` ({status_of(code)})" in SCHEMAS["Error"]["description"]


def test_references_lead_somewhere():
    for name in re.findall(r'"#/components/schemas/(\w+)"', json.dumps(DOCUMENT)):
        assert name in SCHEMAS


def test_the_application_has_these_paths():
    api = Api(Settings("nowhere", "token", DOCUMENT, kinds(), []))
    methods = {route.path: route.methods - {"HEAD"} for route in api.routes}
    told = {path: {method.upper() for method in each} for path, each in DOCUMENT["paths"].items()}
    assert {path: each for path, each in methods.items() if path != "/"} == told


def test_the_page_has_everything_and_loads_nothing():
    text = page(DOCUMENT)
    for path in DOCUMENT["paths"]:
        assert path in text
    for name in names((*SEARCH, *ANSWER, *STATE), "op"):
        assert f"<td>{name}</td>" in text
    assert not re.search(r"<(?:script|link|img|iframe)|@import|url\(|https?:", text)
