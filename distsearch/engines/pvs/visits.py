"""Which nodes engines visit, in which window, and how many nodes each visit takes: for ``api.explain``.

Visits are recorded of nodes that ranks of a host share, see ``abdada``, and of roots. What is searched counts for the
lowest such node above it. An engine keeps in a *block* which visits are open on its path; visits that end become rows
of a log that all engines of a process write to, so that events can be ordered across engines. Engines that are not
explained have neither: one comparison a frame.

A frame's visit ends with an answer, or is given up: another rank has answered a node above, or the search has ended.
"""

import numpy as np

from ...core.jit import compiled
from ...core.pointers import address, int64_struct, new_record, record_view, set_fields, struct

# An engine's block, followed by its open visits, from the root down.
BLOCK = int64_struct(
    "log",  # address
    "engine",  # which one
    "root",  # of its latest search, the hash
    "root_depth",  # of its latest search, the depth
    "began",  # event at which its latest search began
    "counted",  # its nodes that are counted for some visit
    "open",  # visits
)
VISIT = int64_struct(
    "node",  # hash of the position
    "depth_left",
    "low",
    "high",  # the window, the side to move's
    "own",  # nodes below it, but not below another shared node
    "since",  # event at which it began
)
# The log: a head, followed by rows.
LOG = int64_struct(
    "events",  # so far
    "rows",
    "full",  # with how many rows it is full
)
ROW = int64_struct(
    "node",  # hash of the position
    "left",  # moves or plies
    "low",
    "high",  # the window, the side to move's
    "nodes",  # below it, but not below another shared node
    "since",
    "until",  # events of all engines: when it began and ended
    "answered",  # 1; 0: given up
    "engine",
    "root",  # whose, and the hash of the root of its search
)
_block_at, _visit_at, _log_at, _row_at = map(record_view, (BLOCK, VISIT, LOG, ROW))
_BLOCK_SIZE, _LOG_SIZE = BLOCK.itemsize, LOG.itemsize
_CAPACITY = 1 << 15
_SPARE = 1 << 12  # rows for what ends after the log is full: a path or two


@compiled
def begin(block, nodes, root, depth):
    """Begin a search of a root, by its hash, to a depth; the one before took so many nodes in all."""
    settle(block, nodes)
    resume(block, np.int64(0), root, depth)


@compiled
def resume(block, nodes, root, depth):
    """Go on after so many nodes with the search of another root, and without its visits."""
    give_up(block, nodes, 0)
    b = _block_at(block, 0)
    b.root, b.root_depth, b.counted = root, depth, nodes
    b.began = _log_at(b.log, 0).events


@compiled
def enter(block, nodes, node, depth_left, low, high):
    """Open a visit below the last one, after so many nodes of the search; the root has those before it as well."""
    b = _block_at(block, 0)
    log, visits = _log_at(b.log, 0), block + _BLOCK_SIZE
    v = _visit_at(visits, b.open)
    v.own = 0
    if b.open > 0:
        above = _visit_at(visits, b.open - 1)
        above.own += nodes - b.counted
        b.counted = nodes
    v.node, v.depth_left, v.low, v.high, v.since = node, depth_left, low, high, log.events
    b.open += 1
    log.events += 1


@compiled
def end(block, nodes, answered):
    """End the last visit, after so many nodes of the search."""
    b = _block_at(block, 0)
    log = _log_at(b.log, 0)
    b.open -= 1
    v, row = _visit_at(block + _BLOCK_SIZE, b.open), _row_at(b.log + _LOG_SIZE, log.rows)
    row.node, row.left, row.low, row.high = v.node, v.depth_left, v.low, v.high
    row.nodes = v.own + nodes - b.counted
    row.since, row.until, row.answered = v.since, log.events, answered
    row.engine, row.root = b.engine, b.root
    b.counted = nodes
    log.rows += 1
    log.events += 1


@compiled
def give_up(block, nodes, depth):
    """End the visits that are more than ``depth`` deep, without an answer."""
    while _block_at(block, 0).open > depth:
        end(block, nodes, np.int64(0))


@compiled
def settle(block, nodes):
    """End what is open. Nodes of a search that knew its answer without a visit make one of the root, of no window."""
    give_up(block, nodes, 0)
    b = _block_at(block, 0)
    if nodes > b.counted:
        enter(block, nodes, b.root, b.root_depth, 0, 0)
        end(block, nodes, np.int64(1))


@compiled
def is_full(block):
    """Whether the log must be emptied before the search goes on."""
    log = _log_at(_block_at(block, 0).log, 0)
    return log.rows >= log.full


def new_block(log, engine, frames, nodes):
    """Return the block of an engine with so many frames, whose nodes so far count for no visit.

    engine: its number, as ``Visits.add`` gives it.
    """
    block = new_record(struct(("head", BLOCK), ("open", VISIT, frames)))
    set_fields(block["head"], log=log.where, engine=engine, counted=nodes)
    return block


class Visits:
    """The log of engines of this process that are explained."""

    def __init__(self):
        self._log = new_record(struct(("head", LOG), ("rows", ROW, _CAPACITY + _SPARE)))
        self._head = self._log["head"]
        self._head["full"] = _CAPACITY
        self._parts, self._engines, self._dropped = [], [], []

    @property
    def where(self):
        """Address of the log."""
        return address(self._log)

    def add(self, engine):
        """Take in an engine that writes to the log; return its number."""
        self._engines.append(engine)
        return len(self._engines) - 1

    def empty(self):
        """Put the rows so far by, once the log is half full."""
        if 2 * self._head["rows"] >= self._head["full"]:
            self._put_by()

    def _put_by(self):
        if rows := int(self._head["rows"]):
            self._parts.append(self._log["rows"][:rows].copy())
            self._head["rows"] = 0

    def drop(self, block):
        """Note that what comes of the search of a block is thrown away, with what others found that joined it."""
        engine, root, began = (int(block["head"][name]) for name in ("engine", "root", "began"))
        self._dropped.append((self._engines[engine].table_at, root, began, int(self._head["events"])))

    def columns(self):
        """Return every visit so far, by when it began, as arrays by the names of ``ROW``.

        Besides these: ``host``, the same for engines with one shared table; ``dropped``, whether what came of it was
        thrown away. Visits that are open are given up.
        """
        for engine in self._engines:
            engine.end_visits()
        self._put_by()
        rows = np.concatenate([np.zeros(0, ROW), *self._parts])
        rows = rows[np.argsort(rows["since"])]
        found = {name: rows[name].copy() for name in ROW.names}
        tables = [engine.table_at for engine in self._engines]
        found["host"] = np.array(tables, np.int64)[found["engine"]]
        found["dropped"] = np.zeros(len(rows), bool)
        for host, root, began, dropped in self._dropped:
            part = slice(*np.searchsorted(found["since"], (began, dropped)))
            found["dropped"][part] |= (found["root"][part] == root) & (found["host"][part] == host)
        return found
