"""Every message of the service, field by field: requests are checked by these tables, and docs/service.md shows them.

``python -m distsearch.server.schema`` prints the page's tables.
"""

from typing import NamedTuple

from ..api.declarations import declared
from ..api.options import Options, games_by_rule
from .limits import DEFAULTS, MEANINGS


class Field(NamedTuple):
    """A field of a message: its name, its type in words of ``protocol.TYPES`` or plainer ones, what it means."""

    name: str
    type: str
    meaning: str
    required: bool = False  # a client's message must have it


def _fields(text):
    """Return the Fields of a table, a line each: name, with a star if it is required, type and meaning."""
    rows = (line.split(" | ", 2) for line in text.strip().splitlines())
    return tuple(Field(name.rstrip("*"), kind, meaning, name.endswith("*")) for name, kind, meaning in rows)


_TYPES = {str: "text", int: "integer", float: "number", bool: "boolean", tuple[int, int]: "window"}  # others: "pairs"
_OPTIONS = tuple(
    Field(name, _TYPES.get(each.type, "pairs"), each.option.help)
    for name, each in declared(Options).items()
    if each.option.served
)
_REQUEST = _fields("""
op | text | `search`; may be left out
id* | id | repeated in every message about this request; unique among the client's open requests
game* | text | `othello`, `connect4`, `2048`, `2584` or another one that is installed
position | text | as on the command line; `startpos` if neither this nor `positions` is given
positions | texts | several of them instead; each gets an answer
board | text | rows x columns, `6x7`
""")
_MORE = (
    Field("rules", "rules", 'the game\'s own options by name, `{"empties": "none"}`'),
    *_OPTIONS,
    *_fields("""
priority | integer | -10 to 10, 0 if not given; requests of a higher one go first
progress | number | seconds, 0.01 or more, between two `progress` messages; none if not given
label | text | up to 200 characters, by which `watch` knows a search of another connection, such as one over HTTP
"""),
)
_TAKEN = {field.name for field in (*_REQUEST, *_MORE)}


def _rules():
    """Return a Field for each of the games' own options whose name is free; ``rules`` has the others."""
    owners = {name: " and ".join(game.NAME for game in games) for name, games in games_by_rule().items()}
    return tuple(Field(name, "text", f"one of the rules of {owners[name]}") for name in owners if name not in _TAKEN)


SEARCH = (*_REQUEST, *_rules(), *_MORE)

LINES = (
    *_fields("""
op* | text | `lines`: answers to the lines of a file of positions, as text
id* | id | as in a search
game* | text | as in a search
lines* | text | lines as `solve` reads them. Blank lines and comments are skipped. A score may follow; it is ignored
first | integer | the number of the first line, 1 if not given
format | text | of the answers: `jsonl` (the default), `csv`, or `plain`, as of `solve --plain`
fields | text | of `jsonl` and `csv`: names with commas between, as of `solve --fields`
board | text | rows x columns, `6x7`
"""),
    *(field for field in (*_rules(), *_MORE) if field.name != "progress"),
)

CANCEL = _fields("""
op* | text | `cancel`
id* | id | of the search or the watch to end; its `done` follows
""")

STATUS = _fields("""
op* | text | `status`
id | id | comes back with the reply
""")

LOOK = _fields("""
op* | text | `look`: the board and the legal moves, without a search
id* | id | comes back with the reply
game* | text | as in a search
position | text | as on the command line; `startpos` if not given
move | text | a move to play first; in a game against chance, chance then draws until a player is to move
seed | integer | of what chance draws, 0 if not given
board | text | rows x columns, `6x7`
rules | rules | the game's own options by name, `{"empties": "none"}`
""")

WATCH = _fields("""
op* | text | `watch`: a `cluster` message again and again, until `cancel`, or until the client is gone
id* | id | comes back with each of them
every | number | seconds between two of them, 0.1 or more, 0.5 if not given
label | text | searches of this label count as your own
""")

REQUESTS = {"search": SEARCH, "lines": LINES, "look": LOOK, "watch": WATCH, "cancel": CANCEL, "status": STATUS}

_FOUND = _fields("""
game | text | as asked
board | text | rows x columns
position | text | the board and the side to move, or the moves played
asked | text | the position as the request had it, where that is another text
move | text or null | the best move; null where there is none
score | number or null | for the side to move; null: not known yet
unit | text | what the score counts: `discs`, `stones` …, or `evaluation`
meaning | text | what the score says in words, where that is known: `wins by 12 discs`, `-3.5 discs expected`
bound | text | the score is `exact`, or the true one is at least (`lower`) or at most (`upper`) that
proved | boolean | the score is the true value of the game, and no evaluation
complete | boolean | the search ended as asked
moves | list | with `all_moves`: objects of `move`, `score`, and `bound` where it is not exact
depth | integer | plies
nodes | integer | nodes searched, without those of ordering searches
ordering_nodes | integer | nodes of ordering searches
seconds | number | wall time; for one of several positions the workers' time on it
cpu_seconds | number | the workers' CPU time
gpu_seconds | number | seconds that the workers' GPUs were at work, each rank's where some share one; absent without any
pv | texts | the principal variation, move by move
ranks | integer | MPI ranks
workers | integer | ranks that search
algorithm | text | as asked
runs | integer | of averaged, ida and mcts: sampled searches, or trees
width | integer | of averaged: outcomes of chance that are sampled at each node
goals | integer | of ida: runs that made a larger tile than the position has
seed | integer | of averaged, ida and mcts: of the runs
chance_to_move | boolean | true where chance is to move, so that there is no move
pruning | text | where an adversary chooses for chance (expectiminimax, minimax, alphabeta): `alphabeta` or `none`
par_depth | integer | of these three: plies at which jobs are, if asked for
jobs_used | integer | of these three: jobs whose value was still needed when it came
jobs_wasted | integer | of these three: jobs whose value was no longer needed
jobs_cut | integer | of these three: subtrees that were not handed out
selective | number | of a search that left lines out: as asked, or the default under a limit of time
rank_cut | number | of a search that left moves out by their rank: as asked
book | text | the opening book that has the answer, where it took no search
policy | text | as asked, or the default
load_factor | number | subtrees a worker
jobs | integer | subtrees handed out and not given up
tree_nodes | integer | of the stored node array
table_hits | integer | of the transposition table
table_near_hits | integer | those that a rank's own L1 table had
table_far_hits | integer | those that the shared table had, which the ranks of a host share
table_stores | integer | entries written
table_replacements | integer | entries of other positions written over
table_full | number | share of the shared table's entries that are used, by a sample, 0 to 1
time_share | object | of the workers' wall time: `busy`, `communication`, `idle`, 0 to 1
load_balance | number | mean by maximum of the workers' busy times
communication_computation | number | ratio of the workers' times
messages | integer | between the ranks
bytes | integer | of those messages
startup_seconds | number | before the workers were ready
master_seconds | number | CPU of the master meanwhile, where it is a rank of its own
per_worker | list | each worker's timers
boards_per_second | integer | `nodes` by `seconds`
version | text | of distsearch
""")

ANSWER = (
    *_fields("""
id | id | of the request
type | text | `answer`, once for each position, in any order; or `progress`, a partial one
index | integer | of the position in the request, from 0
"""),
    *_FOUND,
)

LOOKED = _fields("""
id | id | of the request
type | text | `look`
game | text | as asked
board | text | rows x columns
position | text | as `position` of a search may have it
points | integer | that `move` brought; 0 where only the end of a game counts
cells | rows or null | rows from the top, each a list of texts: `X`, `O`, a tile, `-` or `.` for nothing
drawing | text | the board as lines of text
side | text or null | `X` or `O` to move; null at the end, and against chance
moves | texts | the legal ones
over | boolean | no move is left
result | text or null | at the end of a game of two players, who wins
""")

TOLD_LINES = _fields("""
id | id | of the request
type | text | `lines`: answers to some more lines, in their order, a line each; further ones follow until `done`
answers | integer | how many of them are answers; the others tell of lines that cannot be read
head | text | of `csv`: the first line of a file of them, which `text` is without
text | text | the lines, each with its line break
""")

DONE = _fields("""
id | id | of the request, which may be used again from now on
type | text | `done`: nothing more about this request follows
state | text | `done`, `cancelled` or `failed`
answers | integer | how many were sent, of a watch `cluster` messages
error | object | where the state is `failed`: `code` and `message`
""")

ERROR = _fields("""
id | id or null | of the request that was refused; null where it is not known
type | text | `error`: the line had no other effect
index | integer | of the position that is the reason, if one is
error | object | `code`, a word of the table below, and `message`, a line for people
""")

STATE = _fields("""
id | id | the request's id, if it had one
type | text | `status`
state | text | `compiling` while kernels are compiled or loaded that requests may have to wait for, else `serving`
ranks | integer | MPI ranks
workers | integer | ranks that search
active | integer | requests at work
queued | integer | requests that wait
answered | integer | positions answered since the start
nodes | integer | searched since the start
boards_per_second | number | as of late
uptime_seconds | number | since the start
games | texts | that can be asked about
table_mib | integer | of each host's transposition table
clients | integer | connected now
version | text | of distsearch
""")

CLUSTER = _fields("""
id | id | of the watch
type | text | `cluster`
state | text | as of a status
active | integer | requests at work
queued | integer | requests that wait
seconds | number | over which shares and rates count
nodes_per_second | integer | of all ranks
table_full | number | share of the fullest host's transposition table that is used, 0 to 1
per_rank | ranks | a row for each rank, from rank 0 on
tree | tree or null | the top of the tree of your newest search at work; if you have none, of the oldest at work
""")

RANK = _fields("""
rank | integer | of MPI
host | text | its name
role | text | `master`, `sub-master` or `worker`; `alone` of a service of one rank
device | text | `cpu` or `gpu`
state | text | `ready`, `compiling` while it compiles or loads kernels, or `lost`
busy | number or null | share of its time in searches, 0 to 1; null where it has not answered, or has no timers
communication | number or null | share of its time on messages; for a master: the share of its time that it used the CPU
idle | number or null | the remaining share
nodes_per_second | integer or null | null as for the shares
jobs | integer | jobs done so far
at_work | integer | jobs at work here, also one of another rank that this rank has joined
queued | integer | jobs that wait at this rank
table_full | number | share of its host's table that is used, 0 to 1
""")

TREE = _fields("""
own | boolean | it is of a search of the same connection or label
request | integer | differs from one search to another
game | text | of the search
position | text | at the root
nodes | nodes | up to 60, from the root on, by plies
""")

NODE = _fields("""
id | integer | the same as long as the search is not begun anew for another depth
parent | integer | the `id` of the node above; -1 at the root
move | text or null | the move that led to this node; null where chance has drawn, or at the root
status | text | `waiting`, `sent` to a worker, `grown` where it has children, `done` where nothing more is asked
depth_left | integer | plies (in an exact search: moves) that are searched from here
worker | integer or null | the rank that has it, where it is `sent`
alpha | number or null | lower end of the window, by the node's side to move: lower scores are not asked for; null: none
beta | number or null | upper end of the window; null: none
low | number or null | the score is known to be this or more
high | number or null | the score is known to be this or less
cost | integer or null | nodes searched below it; null where that is not counted
""")

ERRORS = {
    "bad_json": "the line is not UTF-8 or not JSON (NaN, a field twice, a number of more than 20 digits … included)",
    "not_object": "the line is JSON, but not an object",
    "too_long": "the line has more bytes than allowed",
    "unknown_op": "`op` is not `search`, `lines`, `look`, `watch`, `cancel` or `status`",
    "unknown_field": "the message has a field that its `op` does not know",
    "bad_field": "a field is missing, of another type, or says what makes no sense",
    "duplicate_id": "an open request of this client has that `id`",
    "unknown_id": "no open request of this client has that `id`; perhaps it is done",
    "queue_full": "the queue is full (see Limits) and has requests of this client; try again when one is done",
    "too_many_positions": "a request has more positions than allowed",
    "too_many_watchers": "the service has all the watchers that it takes",
    "too_many_clients": "the service has all the clients that it takes; the connection is closed",
    "shutting_down": "the service ends and takes no more requests",
    "internal": "the service's own mistake; it goes on, and its stderr tells more",
}

_TABLES = {
    "Client → service: search": SEARCH,
    "Client → service: lines": LINES,
    "Client → service: look": LOOK,
    "Client → service: watch": WATCH,
    "Client → service: cancel": CANCEL,
    "Client → service: status": STATUS,
    "Service → client: answer and progress": ANSWER,
    "Service → client: lines": TOLD_LINES,
    "Service → client: look": LOOKED,
    "Service → client: cluster": CLUSTER,
    "Rows of `per_rank`": RANK,
    "`tree`": TREE,
    "Rows of `nodes`": NODE,
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
