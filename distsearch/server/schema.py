"""Every message of the service, field by field: requests are checked by these tables, and docs/service.md shows them.

``python -m distsearch.server.schema`` prints the page's tables.
"""

from typing import NamedTuple

from .. import games
from ..api.declarations import declared
from ..api.options import Options
from .limits import DEFAULTS, MEANINGS


class Field(NamedTuple):
    """A field of a message: its name, its type in words of ``protocol.TYPES`` or plainer ones, what it means."""

    name: str
    type: str
    meaning: str
    required: bool = False  # of a client's message


_TYPES = {str: "text", int: "integer", float: "number", bool: "boolean"}  # others: "window"
_OPTIONS = tuple(
    Field(name, _TYPES.get(each.type, "window"), each.option.help)
    for name, each in declared(Options).items()
    if each.option.served
)
_RULES = {name: game.NAME for game in map(games.find, games.names(players=2)) for name in game.OPTIONS}

SEARCH = (
    Field("op", "text", "`search`; may be left out"),
    Field("id", "id", "repeated in every message about this request; unique among the client's open requests", True),
    Field("game", "text", "`othello`, `connect4` or another one that is installed", True),
    Field("position", "text", "as on the command line; `startpos` if neither this nor `positions` is given"),
    Field("positions", "texts", "several of them instead; each gets an answer"),
    Field("board", "text", "rows x columns, `6x7`"),
    *(Field(name, "text", f"one of the rules of {game}") for name, game in _RULES.items()),
    Field("rules", "rules", 'the game\'s own options by name, `{"empties": "none"}`'),
    *_OPTIONS,
    Field("priority", "integer", "-10 to 10, 0 if not given; requests of a higher one go first"),
    Field("progress", "number", "seconds, 0.01 or more, between two `progress` messages; none if not given"),
)

CANCEL = (Field("op", "text", "`cancel`", True), Field("id", "id", "of the request to end; its `done` follows", True))

STATUS = (Field("op", "text", "`status`", True), Field("id", "id", "comes back with the reply"))

REQUESTS = {"search": SEARCH, "cancel": CANCEL, "status": STATUS}

_FOUND = (
    Field("game", "text", "as asked"),
    Field("board", "text", "rows x columns"),
    Field("position", "text", "the board and the side to move, or the moves played"),
    Field("move", "text or null", "the best move; null where the game is over"),
    Field("score", "number or null", "for the side to move; null: not known yet"),
    Field("unit", "text", "what the score counts: `discs`, `stones` …, or `evaluation`"),
    Field("bound", "text", "the score is `exact`, or the true one is at least (`lower`) or at most (`upper`) that"),
    Field("proved", "boolean", "the score is the true value of the game, and no evaluation"),
    Field("complete", "boolean", "the search ended as asked"),
    Field("moves", "list", "with `all_moves`: objects of `move`, `score`, and `bound` where it is not exact"),
    Field("depth", "integer", "plies"),
    Field("nodes", "integer", "nodes searched, without those of ordering searches"),
    Field("ordering_nodes", "integer", "nodes of ordering searches"),
    Field("seconds", "number", "wall time; for one of several positions the workers' time on it"),
    Field("cpu_seconds", "number", "the workers' CPU time"),
    Field("pv", "texts", "the principal variation, move by move"),
    Field("ranks", "integer", "MPI ranks"),
    Field("workers", "integer", "ranks that search"),
    Field("algorithm", "text", "as asked"),
    Field("selective", "number", "as asked, if it was: the score is then that of a search that left lines out"),
    Field("policy", "text", "as asked, or the default"),
    Field("load_factor", "number", "subtrees a worker"),
    Field("jobs", "integer", "subtrees handed out"),
    Field("tree_nodes", "integer", "of the stored node array"),
    Field("table_hits", "integer", "of the transposition table"),
    Field("table_near_hits", "integer", "those that a rank's own L1 table had"),
    Field("table_far_hits", "integer", "those that the shared table had, which the ranks of a host share"),
    Field("table_stores", "integer", "entries written"),
    Field("table_replacements", "integer", "entries of other positions written over"),
    Field("table_full", "number", "share of the shared table's entries that are used, by a sample, 0 to 1"),
    Field("time_share", "object", "of the workers' wall time: `busy`, `communication`, `idle`, 0 to 1"),
    Field("load_balance", "number", "mean by maximum of the workers' busy times"),
    Field("communication_computation", "number", "ratio of the workers' times"),
    Field("messages", "integer", "between the ranks"),
    Field("bytes", "integer", "of those messages"),
    Field("startup_seconds", "number", "before the workers were ready"),
    Field("master_seconds", "number", "CPU of the master meanwhile, where it is a rank of its own"),
    Field("per_worker", "list", "each worker's timers"),
    Field("boards_per_second", "integer", "`nodes` by `seconds`"),
    Field("version", "text", "of distsearch"),
)

ANSWER = (
    Field("id", "id", "of the request"),
    Field("type", "text", "`answer`, once for each position, in any order; or `progress`, a partial one"),
    Field("index", "integer", "of the position in the request, from 0"),
    *_FOUND,
)

DONE = (
    Field("id", "id", "of the request, which may be used again from now on"),
    Field("type", "text", "`done`: nothing more about this request follows"),
    Field("state", "text", "`done`, `cancelled` or `failed`"),
    Field("answers", "integer", "how many were sent"),
    Field("error", "object", "where the state is `failed`: `code` and `message`"),
)

ERROR = (
    Field("id", "id or null", "of the request that was refused; null where it is not known"),
    Field("type", "text", "`error`: the line had no other effect"),
    Field("error", "object", "`code`, a word of the table below, and `message`, a line for people"),
)

STATE = (
    Field("id", "id", "the request's id, if it had one"),
    Field("type", "text", "`status`"),
    Field("ranks", "integer", "MPI ranks"),
    Field("workers", "integer", "ranks that search"),
    Field("active", "integer", "requests at work"),
    Field("queued", "integer", "requests that wait"),
    Field("answered", "integer", "positions answered since the start"),
    Field("boards", "integer", "searched since the start"),
    Field("boards_per_second", "number", "as of late"),
    Field("uptime_seconds", "number", "since the start"),
    Field("games", "texts", "that can be asked about"),
    Field("table_mib", "integer", "of each host's transposition table"),
    Field("clients", "integer", "connected now"),
    Field("version", "text", "of distsearch"),
)

ERRORS = {
    "bad_json": "the line is not UTF-8 or not JSON (NaN, a field twice, a number of more than 20 digits … included)",
    "not_object": "the line is JSON, but not an object",
    "too_long": "the line has more bytes than allowed",
    "unknown_op": "`op` is not `search`, `cancel` or `status`",
    "unknown_field": "the message has a field that its `op` does not know",
    "bad_field": "a field is missing, of another type, or says what makes no sense",
    "duplicate_id": "an open request of this client has that `id`",
    "unknown_id": "no open request of this client has that `id`; perhaps it is done",
    "queue_full": "the queue is full (see Limits) and has requests of this client; try again when one is done",
    "too_many_positions": "a request has more positions than allowed",
    "too_many_clients": "the service has all the clients that it takes; the connection is closed",
    "shutting_down": "the service ends and takes no more requests",
    "internal": "the service's own mistake; it goes on, and its stderr tells more",
}

_TABLES = {
    "Client → service: search": SEARCH,
    "Client → service: cancel": CANCEL,
    "Client → service: status": STATUS,
    "Service → client: answer and progress": ANSWER,
    "Service → client: done": DONE,
    "Service → client: error": ERROR,
    "Service → client: status": STATE,
}


def reference():
    """Return the reference of messages, error codes and limits as Markdown."""
    parts = [_section(title, ("field", "type", "meaning"), map(_row, table)) for title, table in _TABLES.items()]
    parts.append(_section("Error codes", ("code", "meaning"), ((f"`{code}`", text) for code, text in ERRORS.items())))
    rows = ((f"`{name}`", f"{value:,}", MEANINGS[name]) for name, value in DEFAULTS._asdict().items())
    parts.append(_section("Limits", ("limit", "value", "meaning"), rows))
    return "\n\n".join(parts)


def _row(field):
    return f"`{field.name}`", field.type, f"required: {field.meaning}" if field.required else field.meaning


def _section(title, heads, rows):
    lines = [heads, ("---",) * len(heads), *rows]
    return f"### {title}\n" + "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


if __name__ == "__main__":
    print(reference())
