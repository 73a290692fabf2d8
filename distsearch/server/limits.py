"""What the service allows a client. Plain standard library, for clients import it as well."""

from typing import NamedTuple


class Limits(NamedTuple):
    """Sizes in bytes, times in seconds; ``MEANINGS`` says what each one does."""

    line: int = 1 << 20
    positions: int = 10_000
    position: int = 4096
    load_factor: int = 1000
    open_requests: int = 1000
    queue: int = 20_000
    queued_positions: int = 1_000_000
    clients: int = 256
    output: int = 8 << 20
    patience: float = 30.0
    drain: float = 10.0


DEFAULTS = Limits()

MEANINGS = {
    "line": "bytes of a line; a longer one is skipped as it comes: `too_long`",
    "positions": "positions of a request; more: `too_many_positions`",
    "position": "characters of a position's text; more: `bad_field`",
    "load_factor": "subtrees a worker; more: `bad_field`",
    "open_requests": "open requests of a client; its further lines wait until some are done",
    "queue": "requests that wait, of all clients; more of a client that has some there: `queue_full`",
    "queued_positions": "positions of the requests that wait; more: the same",
    "clients": "clients at once; another one is told `too_many_clients` and let go",
    "output": "bytes that wait for a client to read them; from an eighth of it on, its further lines wait",
    "patience": "seconds above `output` after which a client is disconnected; above twice `output` it is at once",
    "drain": "seconds for open requests after SIGTERM; then they are cancelled",
}
