"""The OpenAPI document as one page of HTML that loads nothing."""

import html
import json
import re
from typing import Any

_STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .2rem .6rem; border-bottom: 1px solid #8886 }
pre { overflow-x: auto; padding: .6rem; border: 1px solid #8886 }
"""


def page(document: dict[str, Any]) -> str:
    """Return the page of a document of ``openapi.document``."""
    info, schemas = document["info"], document["components"]["schemas"]
    parts = [f"<p>{_text(info['description'])} Version {_text(info['version'])}.</p>", f"<p>{_text(_TOKEN)}</p>"]
    for path, methods in document["paths"].items():
        parts += [_operation(path, method.upper(), each) for method, each in methods.items()]
    parts += [_schema(name, each) for name, each in schemas.items()]
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{_text(info["title"])}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>'
        f"<body><h1>{_text(info['title'])} over HTTP</h1>\n{body}\n</body></html>\n"
    )


_TOKEN = "A request has the header `Authorization: Bearer TOKEN`; a GET may have the parameter `token` instead."


def _text(text):
    """Return a text as HTML: what stands between backquotes as code, lines that begin with a dash as a list."""
    paragraph = re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(str(text)))
    if paragraph.startswith("- "):
        return "<ul>" + "".join(f"<li>{line[2:]}</li>" for line in paragraph.splitlines()) + "</ul>"
    return paragraph


def _operation(path, method, operation):
    parts = [f"<h2>{method} {_text(path)}</h2>", f"<p>{_text(operation['summary'])}.</p>"]
    if "description" in operation:
        parts.append(f"<p>{_text(operation['description'])}</p>")
    for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
        kind = content["schema"].get("$ref", "").rpartition("/")[2]
        where = f', <a href="#{kind}">{kind}</a>' if kind else ""
        parts.append(f"<p>Body: <code>{media_type}</code>{where}</p>")
    rows = [
        (each["name"], _kind(each.get("schema", {})), each["description"]) for each in operation.get("parameters", ())
    ]
    if rows:
        parts.append(_table(("parameter", "type", "meaning"), rows))
    answered = ", ".join(f"<code>{each}</code>" for each in operation["responses"]["200"]["content"])
    return "\n".join(
        [
            *parts,
            f"<p>Answer: {answered}; or an <a href='#Error'>error</a> of status "
            f"{', '.join(status for status in operation['responses'] if status != '200')}.</p>",
        ]
    )


def _schema(name, schema):
    rows = [(key, _kind(each), each.get("description", "")) for key, each in schema["properties"].items()]
    more = _text(schema["description"]) if "description" in schema else ""
    if "example" in schema:
        more += f"<pre>{html.escape(json.dumps(schema['example']))}</pre>"
    return f'<h2 id="{name}">{name}</h2>\n{_table(("field", "type", "meaning"), rows)}\n{more}'


def _kind(schema):
    kind = schema.get("type", "JSON")
    return " or ".join(kind) if isinstance(kind, list) else kind


def _table(heads, rows):
    head = "".join(f"<th scope='col'>{each}</th>" for each in heads)
    lines = "\n".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{lines}\n</tbody></table>"
