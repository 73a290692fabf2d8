"""Scores of many positions, or of one hard one, by a GPU: what feeds ``cuda/solver.cuh``.

A batch is begun, goes on by launches of a bounded time, and can be steered between them: windows narrowed, positions
dropped. Positions that are asked for are the roots of a forest in the GPU's memory, which the host may expand further
(``split``); equal positions behind equally many moves are one node of it. All else the GPU does by itself.
"""

import numpy as np

from ..core.errors import UserError
from . import connect4, offload
from .structs import COUNTER, struct, typed

GAMES = {connect4.NAME: connect4}  # those with a source, by name

_MOST_LEFT = 72  # more than moves are ever left
JOB = struct(  # a node of the forest: a position that was asked for, or one that the host expanded
    "Job",
    [
        ("state", "u8", 2),
        ("low", "i4"),  # bounds of its score; low is the lowest of all until a group looks at it
        ("high", "i4"),
        ("window_low", "i4"),  # of those asked for: the score matters no further
        ("window_high", "i4"),
        ("children", "i4"),  # where among ``children`` the nodes of its moves are; -1: the table has them
        ("depth", "i4"),  # plies to search, where that is not to the end
        ("guess", "i4"),  # what its score may be
        ("best", "i4"),  # a move and, before it, the score that it is known to take, from the lowest of all; 0: none
    ],
    align=16,
)
COUNTS = struct(  # takes a job's place, before the first one
    "Counts",
    [
        *((name, COUNTER) for name in ("expanded", "nodes", "looks", "hits", "stores")),  # looks: at the table
        ("next", "u4"),  # job that no group has taken
        ("busy", "u4"),  # groups that stopped in the middle
    ],
    align=16,
)
SUSPENDED_SEARCH = struct(  # a group between launches
    "SuspendedSearch", [("batch", "u4"), ("job", "i4"), ("level", "i4"), ("beta", "i4")]
)
TABLE = struct("Table", [("entries", typed("ulonglong2*")), ("buckets", "u4"), ("run", "u4")])  # run: modulo 65536
PARAMETERS = struct(
    "Parameters",
    [
        ("counts", typed("Counts*")),
        ("jobs", typed("Job*")),  # those asked for
        ("forest", typed("Job*")),  # those behind them
        ("children", typed("const int*")),
        ("evaluation", typed("const uint64_t*")),  # its tables, for searches to a depth
        ("node_counters", typed("unsigned*")),  # groups below positions, by hash; then those of jobs and of the forest
        ("stacks", typed("uint4*")),  # of all groups, between launches
        ("suspended", typed("SuspendedSearch*")),
        ("table", TABLE),
        ("count", "i4"),  # jobs asked for
        ("groups", "i4"),  # searches at a time
        ("levels", "i4"),  # frames of a stack
        ("counter_mask", "u4"),
        ("table_left", "i4"),  # moves left from which on the table is used
        ("share_left", "i4"),  # and from which on work is shared
        ("tolerance", "i4"),  # by which bounds of an asked position may differ where its score is known well enough
        ("batch", "u4"),
        ("nanoseconds", "u8"),  # of a launch
        ("max_groups_per_job", "u2", _MOST_LEFT),  # by moves left
        ("max_groups_per_node", "u2", _MOST_LEFT),  # below a position, before others are sent elsewhere
    ],
)
PART = offload.PART
OFFLOAD_PARAMETERS = struct(
    "OffloadParameters",
    [
        ("search", PARAMETERS),  # its ``groups`` are those of the GPU and of the parts
        ("parts", typed("Part*")),
        ("first", "i4"),  # the first of the parts' groups
        ("count", "i4"),
        ("wanted", "i4"),  # how many to offload
        ("left", "i4"),  # of positions with at most so many moves left
    ],
)

NO_MOVE = -2
_COUNTERS = 1 << 18  # counters of groups at work, by hash: 1 MiB, most of which stays in the L2 cache
_BUCKET = 32  # bytes
_MOST_BUCKETS = (1 << 32) - 1
_MOST_NODES = 1 << 26  # of a forest


def _doubling(first, every):
    """Return numbers (uint16) by moves left: 1, up to ``first``, then twice as many every so many moves."""
    return np.minimum(2.0 ** (np.maximum(np.arange(_MOST_LEFT) - first, 0) / every), 65535).astype(np.uint16)


class GpuSolver:
    """A solver on a GPU for one game and board, exact unless a subclass says otherwise; ``gpu`` is a ``device.Gpu``.

    game: its module, or what takes the place of a module of ``GAMES``; table_mib: of the table, in the GPU's memory;
    split: plies that the host expands; threads: of a block; seconds: that a launch lasts at most. The game's own if
    None: lanes of a search, a power of 2 up to 32; blocks that a multiprocessor is to hold, which bounds registers;
    moves left from which on the table is used (table_left), and work shared (share_left). Raises UserError.
    """

    def __init__(
        self,
        gpu,
        game,
        rules,
        table_mib=1024,
        split=0,
        lanes=None,
        threads=128,
        blocks=None,
        seconds=0.015,
        table_left=None,
        share_left=None,
    ):
        self._gpu, self._game, self._rules = gpu, _described(game), rules
        lanes, blocks = lanes or self._game.LANES, blocks or self._game.BLOCKS
        self._lowest, self._highest = np.iinfo(self._game.SCORE).min, np.iinfo(self._game.SCORE).max
        macros = {"LANES": lanes, "THREADS": threads, "BLOCKS": blocks, **self._game.defines(rules)}
        self.kernel = gpu.kernel(self._game.SOURCE, "solve", **macros)
        self._offloader = None
        if self._game.OFFLOADS:
            kernel = gpu.kernel(self._game.SOURCE, "offload", **macros)
            self._offloader = offload.Offloader(gpu, kernel, OFFLOAD_PARAMETERS)
        self.seconds = seconds
        self.split, self._lanes, self._threads = split, lanes, threads
        self._moves = self._game.moves(rules)
        self._frame = _frame_bytes(self._game.STATE, self._moves, np.dtype(self._game.SCORE).itemsize, self._game.FLAGS)
        self._arrays = {}
        self._record = np.zeros((), PARAMETERS)
        share = self._game.SHARE if share_left is None else share_left
        self._record["table_left"] = self._game.TABLE if table_left is None else table_left
        self._record["share_left"] = share
        self._record["max_groups_per_job"] = _doubling(share - 1, self._game.JOB_GROUPS_DOUBLE)
        self._record["max_groups_per_node"] = _doubling(share, self._game.NODE_GROUPS_DOUBLE)
        self._record["counter_mask"] = _COUNTERS - 1
        self._make_table(table_mib)
        self._busy = True

    def _make_table(self, mib):
        buckets = (mib << 20) // _BUCKET
        if not 0 < buckets <= _MOST_BUCKETS:
            raise UserError(f"table {mib}: a GPU's table has 1 to {_MOST_BUCKETS * _BUCKET >> 20} MiB")
        self._need(mib << 20, f"table {mib}")
        self._table = self._gpu.array((buckets, 4), np.uint64)
        self._table.zero()
        self._record["table"]["entries"], self._record["table"]["buckets"] = self._table.address, buckets

    def _need(self, size, what):
        free = self._gpu.free()
        if size > free:
            raise UserError(f"{what}: the GPU has {free >> 20} MiB of memory left, {-(-size >> 20)} are needed")

    def _array(self, name, count, dtype):
        """Return an array of at least ``count``, kept from one batch to the next; zeros if it is new."""
        array = self._arrays.get(name)
        if array is None or array.shape[0] < count:
            self._arrays.pop(name, None)
            size = 1 << int(count - 1).bit_length()
            self._need(size * np.dtype(dtype).itemsize, f"{count} {name}")
            array = self._arrays[name] = self._gpu.array(size, dtype)
            array.zero()
        return array

    def begin(self, states, low=None, high=None):
        """Start to solve ``states`` (uint64, shape (n, 2)); scores are told apart from ``low`` to ``high`` (int32).

        What was begun before is given up. Raises UserError if it does not fit the GPU's memory.
        """
        states = np.asarray(states, np.uint64).reshape(-1, 2)
        self._begin(states, self._game.left(states, self._rules), low, high)

    def _begin(self, states, left, low, high, **fields):
        """Start with states that have so many moves ``left`` (int64); fields: more of the records of their JOBs."""
        n = self._count = len(states)
        self._records = np.zeros(1 << int(n).bit_length(), JOB)
        self._counts = self._records[:1].view(COUNTS)[0]
        jobs = self._jobs = self._records[1 : n + 1]
        lowest, highest = self._lowest, self._highest
        jobs["state"], jobs["low"], jobs["high"], jobs["children"] = states, lowest, highest, -1
        jobs["window_low"] = lowest if low is None else np.maximum(low, lowest)
        jobs["window_high"] = highest if high is None else np.minimum(high, highest)
        for name, values in fields.items():
            jobs[name] = values
        self._dropped = np.zeros(n, bool)
        self._record["count"], self._record["batch"] = n, self._record["batch"] + 1
        self._record["table"]["run"] = self._record["batch"]
        forest = self._expand(states) if self.split and n else 0
        self._shape_launches(left, forest)
        self._device = self._array("positions", len(self._records), JOB)
        if self._device.shape[0] != len(self._records):
            self._records = np.resize(self._records, self._device.shape[0])
            self._counts, self._jobs = self._records[:1].view(COUNTS)[0], self._records[1 : n + 1]
        self._record["counts"], self._record["jobs"] = self._device.address, self._device.address + JOB.itemsize
        self._changed = True
        if self._offloader:
            self._offloader.clear()

    def _shape_launches(self, left, forest):
        """Choose blocks and groups: as many as there is room for, in warps of their own if they are few."""
        record, lanes, threads = self._record, self._lanes, self._threads
        levels = int(left.max(initial=0)) + 2 | 1  # an odd number: equal levels of groups lie in different banks
        self._shared = threads // lanes * levels * self._frame
        resident = self.kernel.resident(threads, self._shared)
        wanted = int(record["max_groups_per_job"][left].sum(dtype=np.int64))
        multiprocessors = self._gpu.multiprocessors
        self._blocks = multiprocessors * min(resident, max(1, -(-wanted // (threads // 32 * multiprocessors))))
        groups = min(self._blocks * threads // lanes, max(wanted, 1))
        record["levels"], record["groups"] = levels, groups
        counters = self._array("node_counters", _COUNTERS + len(left) + forest, np.uint32)
        if self._busy:
            counters.zero()  # groups that stopped in the middle are still counted
        record["node_counters"] = counters.address
        every = groups + offload.MOST
        record["stacks"] = self._array("frames", every * levels * self._frame // 16, "V16").address
        record["suspended"] = self._array("searches", every, SUSPENDED_SEARCH).address

    def _expand(self, states):
        """Expand the forest breadth-first by ``split`` plies; return how many nodes it has without the jobs."""
        rows, nodes, first, frontier = [], [], 0, states
        total = len(states)
        for _ in range(self.split):
            children, there = self._game.expanded(frontier, self._rules)
            found = self._game.canonical(children[there], self._rules)
            _, index, inverse = np.unique(self._game.keys(found), return_index=True, return_inverse=True)
            row = np.full(there.shape, -1, np.int32)
            row[there] = total + inverse.reshape(-1)
            rows.append(row)
            frontier = found[index]
            nodes.append(frontier)
            first, total = total, total + len(frontier)
            if total > _MOST_NODES:
                raise UserError(f"split {self.split}: that makes more than {_MOST_NODES} nodes")
        expanded = first  # the nodes before it have children
        forest = np.zeros(max(total - len(states), 1), JOB)
        forest["low"], forest["high"], forest["children"] = self._lowest, self._highest, -1
        places = np.arange(expanded, dtype=np.int32) * self._moves
        self._jobs["children"] = places[: len(states)]
        forest["children"][: expanded - len(states)] = places[len(states) :]
        forest["state"][: total - len(states)] = np.concatenate(nodes)
        self._record["forest"] = self._filled("nodes", forest).address
        self._record["children"] = self._filled("children", np.concatenate(rows).ravel()).address
        return total - len(states)

    def _filled(self, name, values):
        array = self._array(name, len(values), values.dtype)
        array.set(np.concatenate([values, np.zeros(array.shape[0] - len(values), values.dtype)]))
        return array

    def advance(self):
        """Search on for one launch; return whether all is known that was asked for."""
        if self._count == 0:
            return True
        self._bring()
        before = int(self._counts["busy"])
        self._record["nanoseconds"] = int(self.seconds * 1e9)
        self.kernel(self._record, self._blocks, self._threads, self._shared)
        self._records[:] = self._device.get()
        self._busy = int(self._counts["busy"]) != before or bool(self.offloaded)
        return bool(self._known().all())

    def _bring(self):
        if self._changed:
            self._device.set(self._records)
            self._changed = False

    @property
    def offloaded(self):
        """What others search for it, see ``Offloader.out``."""
        return self._offloader.out if self._offloader else {}

    def offload(self, wanted, left, answers):
        """Between two launches: take answers in, offload more; see ``Offloader.offload``.

        Positions that are offloaded have at least so much left that groups are counted there.
        """
        self._bring()
        left = max(left or self._game.OFFLOAD_LEFT, int(self._record["share_left"]) + 1)
        shared = 32 // self._lanes * int(self._record["levels"]) * self._frame
        self._busy = True
        return self._offloader.offload(
            self._record, int(self._record["groups"]), shared, self._lanes, wanted, left, answers
        )

    def _known(self):
        jobs = self._jobs
        low, high = jobs["low"], jobs["high"]
        return (low + self._record["tolerance"] >= high) | (low >= jobs["window_high"]) | (high <= jobs["window_low"])

    def narrow(self, i, low, high):
        """Have the score of the i-th position matter, from now on, no further than from ``low`` to ``high``."""
        job = self._jobs[i]
        job["window_low"] = max(int(job["window_low"]), low)
        job["window_high"] = min(int(job["window_high"]), high)
        self._changed = True

    def drop(self, i):
        """Search the i-th position no further."""
        self._dropped[i] |= not self._known()[i]
        self.narrow(i, 0, 0)
        self._jobs[i]["window_high"] = self._lowest

    def result(self):
        """Return (scores, complete, expanded, counts) so far: int32 and bool, shape (n,), int, dictionary.

        A complete score is the true one, or the end of the window that it lies at or beyond unless the game is over;
        else a lower bound. expanded: positions whose moves were all made; counts: ``nodes``, ``looks`` at the
        table, its ``hits`` and ``stores``.
        """
        jobs, known = self._jobs, self._known() & ~self._dropped
        scores = np.where(jobs["high"] <= jobs["window_low"], jobs["high"], jobs["low"])
        beyond = known & ~self._game.ended(jobs["state"], self._rules)
        scores = np.where(beyond, np.clip(scores, jobs["window_low"], jobs["window_high"]), scores)
        counts = {name: int(self._counts[name]) for name in ("nodes", "looks", "hits", "stores")}
        return scores, known, int(self._counts["expanded"]), counts

    def best(self):
        """Return the codes of moves (int64, shape (n,)) that have the score of ``result``, or NO_MOVE."""
        jobs, best = self._jobs, self._jobs["best"].astype(np.int64)
        takes = (best > 0) & ((best >> 8) + self._lowest >= jobs["low"]) & (jobs["low"] > jobs["window_low"])
        return np.where(takes, best & 0xFF, NO_MOVE)

    def solve(self, states, low=None, high=None):
        """Return what ``result`` does once all of ``states`` is known."""
        self.begin(states, low, high)
        while not self.advance():
            pass
        return self.result()


def _described(game):
    """Return what a module of ``GAMES`` has, for a game's own module or what is such a thing already."""
    if hasattr(game, "SOURCE"):
        return game
    name = game.__name__.rpartition(".")[2]
    if name not in GAMES:
        raise UserError(f"a GPU solves {', '.join(GAMES)} only, not {name}")
    return GAMES[name]


def _frame_bytes(state, moves, score, flags):
    """Return the size of a level of a kernel's stack: state, moves, three scores, flags and a counter."""
    return -(-(-(-(state + (moves + 8) // 8 * 8 + 3 * score + flags) // 4) * 4 + 4) // 16) * 16
