"""The HTTP service as an OpenAPI document, made of the tables by which the service checks requests."""

from typing import Any

from ... import __version__, games
from ...api.declarations import json_schema
from ...api.options import Options
from ..limits import DEFAULTS
from ..schema import ANSWER, CLUSTER, DONE, ERROR, ERRORS, LOOK, LOOKED, NODE, RANK, SEARCH, STATE, TREE, WATCH
from .batch import FORMATS
from .limits import HTTP_DEFAULTS, HTTP_ERRORS, status_of

_INTEGER, _NUMBER, _TEXT = ({"type": name} for name in ("integer", "number", "string"))
_PAIR = {"type": "array", "items": _INTEGER, "minItems": 2, "maxItems": 2}
_TYPES: dict[str, dict[str, Any]] = {
    "text": _TEXT,
    "integer": _INTEGER,
    "number": _NUMBER,
    "boolean": {"type": "boolean"},
    "id": {"type": ["integer", "string"]},
    "id or null": {"type": ["integer", "string", "null"]},
    "text or null": {"type": ["string", "null"]},
    "number or null": {"type": ["number", "null"]},
    "texts": {"type": "array", "items": _TEXT},
    "integer or null": {"type": ["integer", "null"]},
    "ranks": {"type": "array", "items": {"$ref": "#/components/schemas/Rank"}},
    "tree or null": {"anyOf": [{"$ref": "#/components/schemas/Tree"}, {"type": "null"}]},
    "nodes": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}},
    "list": {"type": "array", "items": {"type": "object"}},
    "rows or null": {"type": ["array", "null"], "items": {"type": "array", "items": _TEXT}},
    "object": {"type": "object"},
    "rules": {"type": "object", "additionalProperties": _TEXT},
    "window": _PAIR,
    "pairs": {"type": "array", "items": _PAIR},
}
_BOUNDS: dict[str, dict[str, Any]] = {
    "game": {"enum": list(games.names())},
    "position": {"maxLength": DEFAULTS.position},
    "positions": {"minItems": 1, "maxItems": DEFAULTS.positions},
    "load_factor": {"maximum": DEFAULTS.load_factor},
    "priority": {"minimum": -10, "maximum": 10},
    "progress": {"minimum": 0.01},
    "every": {"minimum": 0.1, "default": 0.5},
    "label": {"maxLength": 200},
}
_OF_THE_LINE = ("op", "id")  # fields of the socket's messages that an HTTP request is without
_EXAMPLE = {"game": "connect4", "position": "4453222", "exact": True}


def document() -> dict[str, Any]:
    """Return the OpenAPI document (3.1) as plain values."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "distsearch", "version": __version__, "description": "Game-tree searches by warm ranks."},
        "security": [{"bearer": []}, {"token": []}],
        "paths": {
            "/search": {"post": _search_by_body(), "get": _search_by_query()},
            "/look": {"post": _look()},
            "/batch": {"post": _batch()},
            "/status": {"get": _get("What the service does", _json("Status"))},
            "/cluster": {"get": _get("What every rank does, in the last tenth of a second", _json("Cluster"))},
            "/watch": {"get": _watch()},
            "/metrics": {"get": _get("The same and counts of requests, for Prometheus", {"text/plain": {}})},
            "/docs": {"get": _get("This document as a page", {"text/html": {}}, unreachable=False)},
            "/openapi.json": {"get": _get("This document", {"application/json": {}}, unreachable=False)},
            "/health": {
                "get": {**_get("Whether the service answers, without a token", _json("Health")), "security": []}
            },
        },
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "token": {"type": "apiKey", "in": "query", "name": "token", "description": "of GET"},
            },
        },
    }


def kinds() -> dict[str, str]:
    """Return the type of each field of a search, by its name."""
    return {field.name: field.type for field in SEARCH if field.name not in _OF_THE_LINE}


def _schemas():
    options = json_schema(Options, served=True)["properties"]
    search = _asked(SEARCH)
    for name, schema in search["properties"].items():
        checks = {key: value for key, value in options.get(name, {}).items() if key not in ("type", "description")}
        schema.update({**checks, **_BOUNDS.get(name, {})})
    search["example"] = _EXAMPLE
    answers = {"type": "array", "items": {"$ref": "#/components/schemas/Answer"}}
    done = {field.name: _field(field) for field in DONE if field.name in ("state", "error")}
    return {
        "Search": search,
        "Look": _asked(LOOK),
        "Looked": _object(LOOKED),
        "Answer": _object(ANSWER),
        "Result": {"type": "object", "required": ["answers", "state"], "properties": {"answers": answers, **done}},
        "Done": _object(DONE),
        "Error": {**_object(ERROR), "required": ["type", "error"], "description": _codes()},
        "Status": _object(STATE),
        "Cluster": _object(CLUSTER),
        "Rank": _object(RANK),
        "Tree": _object(TREE),
        "Node": _object(NODE),
        "Health": {"type": "object", "properties": {"state": {"type": "string"}}, "required": ["state"]},
    }


def _asked(fields):
    """Return the schema of a request with a message's fields."""
    asked = [field for field in fields if field.name not in _OF_THE_LINE]
    found = _object(asked)
    for name, schema in found["properties"].items():
        schema.update(_BOUNDS.get(name, {}))
    return {**found, "required": [field.name for field in asked if field.required], "additionalProperties": False}


def _codes():
    texts = {**ERRORS, **{code: text for code, (_, text) in HTTP_ERRORS.items()}}
    return "\n".join(f"- `{code}` ({status_of(code)}): {text}" for code, text in texts.items())


def _object(fields):
    return {"type": "object", "properties": {field.name: _field(field) for field in fields}}


def _field(field):
    return {**_TYPES[field.type], "description": field.meaning}


def _json(schema):
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}


def _responses(content, *statuses):
    refused = {
        str(status): {"description": "refused or failed, as `code` says", "content": _json("Error")}
        for status in sorted({401, 403, 429, 503, *statuses})
    }
    return {"200": {"description": "answered", "content": content}, **refused}


def _get(summary, content, unreachable=True):
    return {"summary": summary, "responses": _responses(content, *([500] if unreachable else []))}


_ANSWERED = {**_json("Result"), "application/x-ndjson": {"schema": _TEXT}, "text/event-stream": {"schema": _TEXT}}
_SEARCH_STATUSES = 400, 408, 413, 500, 504
_FORMS = (
    "`Accept` says how the answers come: as one JSON object; as `application/x-ndjson`, the socket's messages, a line "
    "each; or as `text/event-stream`, where `event` is a message's type and `data` the message. A client that goes "
    "cancels its search. `id` is 0 in all messages."
)


def _search_responses():
    responses = _responses(_ANSWERED, *_SEARCH_STATUSES)
    for status in ("500", "503"):  # a search that has begun ends with what is known
        either = [{"$ref": f"#/components/schemas/{name}"} for name in ("Error", "Result")]
        responses[status]["content"] = {"application/json": {"schema": {"anyOf": either}}}
    return responses


def _watch():
    fields = [field for field in WATCH if field.name not in _OF_THE_LINE]
    streams = {media_type: {"schema": _TEXT} for media_type in ("text/event-stream", "application/x-ndjson")}
    text = (
        "`Cluster` messages, as server-sent events whose `event` is `cluster`, or by `Accept` as lines of JSON. They "
        "end with `done`, or with an `error` after the seconds that a request may take; ask again then."
    )
    return {
        "summary": "The same again and again",
        "description": text,
        "parameters": [
            {
                "name": field.name,
                "in": "query",
                "description": field.meaning,
                "schema": {**_TYPES[field.type], **_BOUNDS[field.name]},
            }
            for field in fields
        ],
        "responses": _responses(streams, 400, 500),
    }


def _search_by_body():
    body = {"required": True, "content": _json("Search")}
    return {"summary": "Search", "description": _FORMS, "requestBody": body, "responses": _search_responses()}


def _search_by_query():
    return {
        "summary": "The same, asked by an address alone",
        "description": _FORMS,
        "parameters": _parameters(()),
        "responses": _search_responses(),
    }


def _look():
    return {
        "summary": "A position's board and legal moves, without a search",
        "requestBody": {"required": True, "content": _json("Look")},
        "responses": _responses(_json("Looked"), *_SEARCH_STATUSES),
    }


def _parameters(without):
    """Return the fields of a search as parameters of a query; those that are no plain values are JSON."""
    found, types = [], kinds()
    for name, schema in _schemas()["Search"]["properties"].items():
        if name in without:
            continue
        parameter = {"name": name, "in": "query", "description": schema.pop("description"), "required": name == "game"}
        if types[name] in ("rules", "pairs"):
            parameter["content"] = {"application/json": {"schema": schema}}
        else:
            parameter["schema"] = schema
        if types[name] == "window":
            parameter |= {"style": "form", "explode": False}
        found.append(parameter)
    return found


def _batch():
    formats = {"type": "string", "enum": list(FORMATS), "default": "jsonl"}
    fields = "of jsonl and csv: names of an answer's fields with commas between, default for a few that are short"
    text = (
        "The body is a file with a position a line; blank lines and comments are skipped. Once the file is there, its "
        "answers come in the order of the lines. An answer has the number of its `line`. A line that cannot be read "
        "has an `error`, "
        f"and the others are answered. A file has at most {HTTP_DEFAULTS.upload:,} bytes."
    )
    answers = {media_type: {"schema": _TEXT} for media_type in FORMATS.values()}
    return {
        "summary": "Search a file of positions",
        "description": text,
        "parameters": [
            *_parameters(("position", "positions", "progress")),
            {"name": "format", "in": "query", "description": "of the answers", "schema": formats, "required": False},
            {"name": "fields", "in": "query", "description": fields, "schema": _TEXT, "required": False},
        ],
        "requestBody": {"required": True, "content": {"text/plain": {"schema": _TEXT, "example": "4453222\n44\n"}}},
        "responses": _responses(answers, *_SEARCH_STATUSES),
    }
