"""What the service allows a client. Plain standard library, for clients import it as well."""

from typing import Annotated, NamedTuple, get_type_hints


class Limits(NamedTuple):
    """Sizes in bytes, times in seconds; annotated with what each one does, which is in ``MEANINGS``."""

    line: Annotated[int, "bytes of a line; a longer one is skipped as it comes: `too_long`"] = 1 << 20
    positions: Annotated[int, "positions of a request; more: `too_many_positions`"] = 10_000
    position: Annotated[int, "characters of a position's text; more: `bad_field`"] = 4096
    load_factor: Annotated[int, "subtrees a worker; more: `bad_field`"] = 1000
    par_depth: Annotated[int, "plies; more: `bad_field`, as others would wait while such a tree is grown"] = 4
    open_requests: Annotated[int, "open requests of a client; its further lines wait until some are done"] = 1000
    clients: Annotated[int, "clients at once; another one is told `too_many_clients` and let go"] = 256
    output: Annotated[
        int, "bytes that wait for a client to read them; from an eighth of it on, its further lines wait"
    ] = 8 << 20
    patience: Annotated[
        float, "seconds above `output` after which a client is disconnected; above twice `output` it is at once"
    ] = 30.0
    drain: Annotated[float, "seconds for open requests after SIGTERM; then they are cancelled"] = 10.0
    queue: Annotated[int, "requests that wait, of all clients; more of a client that has some there: `queue_full`"] = (
        20_000
    )
    watchers: Annotated[int, "watches at once, of all clients; more: `too_many_watchers`"] = 32
    queued_positions: Annotated[int, "positions of the requests that wait; more: the same"] = 1_000_000


DEFAULTS = Limits()

MEANINGS = {name: hint.__metadata__[0] for name, hint in get_type_hints(Limits, include_extras=True).items()}
