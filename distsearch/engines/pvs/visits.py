"""Which nodes engines visit, in which window, and how many boards each visit takes: for ``api.explain``.

Nodes are those that ranks of a host share, see ``abdada``, and roots. Boards belong to the lowest such node above them.
An engine keeps in a *block* (int64) which visits are open on its path; visits that end become rows of a log that all
engines of a process write to, so that what is before what can be told across engines. Engines that nobody wants to be
explained have neither: one comparison a frame.

A frame's visit ends with an answer, or is given up: another rank has answered a node above, or nobody wants to know.
"""

import numpy as np

from ...core.jit import compiled
from ...core.pointers import address, int64s

# A block: addresses of the log; which engine; of its latest search the root's hash, what is left there, and when it
# began; its boards that are some visit's already; how many visits are open. Then each of these, from the root down.
_LOG, ENGINE, _ROOT, _ROOT_LEFT, _BEGAN, _COUNTED, _OPEN, _FIRST = range(8)
_NODE, _NODE_LEFT, _LOW, _HIGH, _OWN, _SINCE, _SIZE = range(7)
# The log's head: events so far, rows, and with how many rows it is full.
_EVENTS, _ROWS, _FULL, _HEAD = range(4)
_ROOM = 1 << 15
_SPARE = 1 << 12  # rows for what ends after the log is full: a path or two

FIELDS = (
    "node",  # hash of the position
    "left",  # moves or plies
    "low",
    "high",  # the window, the side to move's
    "boards",  # below it, but not below another shared node
    "since",
    "until",  # events of all engines: when it began and ended
    "answered",  # 1; 0: given up
    "engine",
    "root",  # whose, and the hash of the root of its search
)
_COLUMNS = len(FIELDS)


@compiled
def begin(block, boards, root, left):
    """Begin a search of so much left from a root, by its hash; the one before took so many boards in all."""
    settle(block, boards)
    go_on(block, np.int64(0), root, left)


@compiled
def go_on(block, boards, root, left):
    """Go on after so many boards with the search of another root, and without its visits."""
    give_up(block, boards, 0)
    b = int64s(block)
    b[_ROOT], b[_ROOT_LEFT], b[_COUNTED] = root, left, boards
    b[_BEGAN] = int64s(b[_LOG])[_EVENTS]


@compiled
def enter(block, boards, node, left, low, high):
    """Open a visit below the last one, after so many boards of the search; the root has those before it as well."""
    b = int64s(block)
    log, at = int64s(b[_LOG]), _FIRST + _SIZE * b[_OPEN]
    b[at + _OWN] = 0
    if b[_OPEN] > 0:
        b[at - _SIZE + _OWN] += boards - b[_COUNTED]
        b[_COUNTED] = boards
    b[at + _NODE], b[at + _NODE_LEFT], b[at + _LOW], b[at + _HIGH] = node, left, low, high
    b[at + _SINCE] = log[_EVENTS]
    b[_OPEN] += 1
    log[_EVENTS] += 1


@compiled
def end(block, boards, answered):
    """End the last visit, after so many boards of the search."""
    b = int64s(block)
    log = int64s(b[_LOG])
    b[_OPEN] -= 1
    at = _FIRST + _SIZE * b[_OPEN]
    row = int64s(b[_LOG] + np.int64(8) * (_HEAD + _COLUMNS * log[_ROWS]))
    row[0], row[1], row[2], row[3] = b[at + _NODE], b[at + _NODE_LEFT], b[at + _LOW], b[at + _HIGH]
    row[4] = b[at + _OWN] + boards - b[_COUNTED]
    row[5], row[6], row[7] = b[at + _SINCE], log[_EVENTS], answered
    row[8], row[9] = b[ENGINE], b[_ROOT]
    b[_COUNTED] = boards
    log[_ROWS] += 1
    log[_EVENTS] += 1


@compiled
def give_up(block, boards, depth):
    """End the visits that are more than ``depth`` deep, without an answer."""
    while int64s(block)[_OPEN] > depth:
        end(block, boards, np.int64(0))


@compiled
def settle(block, boards):
    """End what is open. Boards of a search that knew its answer without a visit make one of the root, of no window."""
    give_up(block, boards, 0)
    b = int64s(block)
    if boards > b[_COUNTED]:
        enter(block, boards, b[_ROOT], b[_ROOT_LEFT], 0, 0)
        end(block, boards, np.int64(1))


@compiled
def is_full(block):
    """Whether the log is to be emptied before the search goes on."""
    log = int64s(int64s(block)[_LOG])
    return log[_ROWS] >= log[_FULL]


def new_block(log, engine, frames, boards):
    """Return the block of an engine with so many frames, whose boards so far are nobody's to explain.

    engine: its number, as ``Visits.add`` gives it.
    """
    block = np.zeros(_FIRST + _SIZE * frames, np.int64)
    block[[_LOG, ENGINE, _COUNTED]] = log.where, engine, boards
    return block


class Visits:
    """The log of engines of this process that are to be explained."""

    def __init__(self):
        self._words = np.zeros(_HEAD + _COLUMNS * (_ROOM + _SPARE), np.int64)
        self._words[_FULL] = _ROOM
        self._parts, self._engines, self._dropped = [], [], []

    @property
    def where(self):
        """Address of the log."""
        return address(self._words)

    def add(self, engine):
        """Take in an engine that writes to the log; return its number."""
        self._engines.append(engine)
        return len(self._engines) - 1

    def empty(self):
        """Put the rows so far by, once the log is half full."""
        if 2 * self._words[_ROWS] >= self._words[_FULL]:
            self._put_by()

    def _put_by(self):
        rows = int(self._words[_ROWS])
        if rows:
            self._parts.append(self._words[_HEAD : _HEAD + _COLUMNS * rows].copy().reshape(rows, _COLUMNS))
            self._words[_ROWS] = 0

    def drop(self, block):
        """Note that what comes of the search of a block is thrown away, with what others found that joined it."""
        engine, root, began = block[[ENGINE, _ROOT, _BEGAN]].tolist()
        self._dropped.append((self._engines[engine].table_at, root, began, int(self._words[_EVENTS])))

    def columns(self):
        """Return every visit so far, by when it began, as arrays by the names of ``FIELDS``.

        Besides these: ``host``, the same for engines with one far table; ``dropped``, whether what came of it was
        thrown away. Visits that are open are given up.
        """
        for engine in self._engines:
            engine.end_visits()
        self._put_by()
        rows = np.concatenate([np.zeros((0, _COLUMNS), np.int64), *self._parts])
        rows = rows[np.argsort(rows[:, FIELDS.index("since")])]
        found = dict(zip(FIELDS, rows.T.copy(), strict=True))
        tables = [engine.table_at for engine in self._engines]
        found["host"] = np.array(tables, np.int64)[found["engine"]]
        found["dropped"] = np.zeros(len(rows), bool)
        for host, root, began, dropped in self._dropped:
            part = slice(*np.searchsorted(found["since"], (began, dropped)))
            found["dropped"][part] |= (found["root"][part] == root) & (found["host"][part] == host)
        return found
