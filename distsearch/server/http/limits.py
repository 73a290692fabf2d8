"""What the service allows a client over HTTP, and the codes of its refusals."""

from typing import Annotated, NamedTuple, get_type_hints

from ..limits import DEFAULTS


class HttpLimits(NamedTuple):
    """Sizes in bytes, times in seconds; annotated with what each one does. An address is one client."""

    body: Annotated[int, "bytes of a search's body; more: `too_long`"] = DEFAULTS.line - 64  # with op and id a line
    upload: Annotated[int, "bytes of a file of positions; more: `too_long`"] = 256 << 20
    rate: Annotated[float, "requests a second of an address, after a burst of twice as many: `too_many_requests`"] = (
        500.0
    )
    open_requests: Annotated[int, "open requests of an address; more: `too_many_requests`"] = 64
    requests: Annotated[int, "open requests of all addresses; more: `busy`"] = 128
    strangers: Annotated[
        float, "requests a second of strangers that are dealt with at once; further ones wait, a second at most"
    ] = 50.0
    connections: Annotated[int, "connections; another one takes the place of one without the token, or idle"] = 512
    patience: Annotated[
        float, "seconds for the next bytes of a body, for the first request with the token, for reading an answer"
    ] = 30.0
    seconds: Annotated[float, "seconds of a request from its start to its end; then it is cancelled: `timed_out`"] = (
        3600.0
    )


HTTP_DEFAULTS = HttpLimits()
HTTP_MEANINGS = {name: hint.__metadata__[0] for name, hint in get_type_hints(HttpLimits, include_extras=True).items()}

# code → (status, meaning); codes of the socket have a status in STATUS
HTTP_ERRORS = {
    "bad_request": (400, "what came is not HTTP"),
    "unauthorized": (401, "the token is missing or wrong"),
    "other_origin": (403, "a page of another site asked"),
    "not_found": (404, "there is nothing at this path"),
    "wrong_method": (405, "this path has another method; the header `Allow` names it"),
    "too_slow": (408, "the body did not come in time"),
    "too_many_requests": (429, "the address asks too often, or has too many open requests; see `Retry-After`"),
    "busy": (503, "the service has all the open requests that it takes; see `Retry-After`"),
    "unreachable": (503, "the service does not answer, or has ended"),
    "timed_out": (504, "the request took too long and was cancelled"),
}
STATUS = {
    "too_long": 413,
    "too_many_positions": 413,
    "queue_full": 429,
    "too_many_clients": 503,
    "too_many_watchers": 503,
    "shutting_down": 503,
    "internal": 500,
    **{code: status for code, (status, _) in HTTP_ERRORS.items()},
}


def status_of(code: str) -> int:
    """Return the HTTP status of an error's code."""
    return STATUS.get(code, 400)


def reference() -> str:
    """Return the table of limits and that of codes as Markdown."""
    limits = [f"| `{name}` | {value:,} | {HTTP_MEANINGS[name]} |" for name, value in HTTP_DEFAULTS._asdict().items()]
    codes = [f"| `{code}` | {status} | {text} |" for code, (status, text) in HTTP_ERRORS.items()]
    heads = (
        ["| limit | value | meaning |", "| --- | --- | --- |"],
        ["| code | status | meaning |", "| --- | --- | --- |"],
    )
    return "\n".join([*heads[0], *limits, "", *heads[1], *codes])


if __name__ == "__main__":
    print(reference())
